//! Signals to a process, and what the system knows of it.

use std::process::Command;

/// Sends a signal, such as `TERM` or `KILL`, to a process.
pub fn signal(name: &str, pid: u32) {
    let status = Command::new("kill").arg(format!("-{name}")).arg(pid.to_string()).status();
    assert!(status.expect("the command `kill`").success(), "process {pid} was not there to be sent {name}");
}

/// Whether a process runs. One that has ended but that nobody has waited for does not.
pub fn is_running(pid: u32) -> bool {
    let state = ps(pid, "stat=");
    !state.is_empty() && !state.starts_with('Z')
}

/// How much memory a process has, in bytes.
pub fn memory(pid: u32) -> u64 {
    let kilobytes: u64 = ps(pid, "rss=").parse().expect("a process that runs has a size");
    kilobytes * 1024
}

/// The most memory that a process has had so far, in bytes.
pub fn peak(pid: u32) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("its status");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("its peak");
    line.trim().trim_end_matches(" kB").parse::<usize>().expect("a number") * 1024
}

fn ps(pid: u32, column: &str) -> String {
    let output = Command::new("ps").args(["-o", column, "-p", &pid.to_string()]).output().expect("the command `ps`");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}
