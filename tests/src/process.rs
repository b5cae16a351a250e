//! Signals, and whether a process is still there.

use std::process::Command;

/// Sends a signal, such as `TERM` or `KILL`, to a process.
pub fn signal(name: &str, pid: u32) {
    let status = Command::new("kill").arg(format!("-{name}")).arg(pid.to_string()).status();
    assert!(status.expect("the command `kill`").success(), "process {pid} was not there to be sent {name}");
}

/// Whether a process runs. One that has ended but that nobody has waited for does not.
pub fn is_running(pid: u32) -> bool {
    let output = Command::new("ps").args(["-o", "stat=", "-p", &pid.to_string()]).output().expect("the command `ps`");
    let state = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    !state.is_empty() && !state.starts_with('Z')
}
