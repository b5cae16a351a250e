//! Commands that are stopped together with everything they have started.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Mutex, PoisonError};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// The group of a child that was started by [`spawn`]: the child and what it has started.
#[derive(Debug)]
pub(super) struct ProcessGroup {
    leader: Pid,
    /// Whether the number still belongs to this group. Held while a signal is sent, so that it cannot reach another.
    alive: Mutex<bool>,
}

/// Starts a command as the leader of a process group of its own.
pub(super) fn spawn(command: &mut Command) -> io::Result<(Child, ProcessGroup)> {
    let child = command.process_group(0).spawn()?;
    let id = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let leader = id.ok_or_else(|| io::Error::other("the system gave a process a number that none can have"))?;
    Ok((child, ProcessGroup { leader, alive: Mutex::new(true) }))
}

impl ProcessGroup {
    /// Asks every process in it to end.
    pub(super) fn terminate(&self) {
        if *self.alive.lock().unwrap_or_else(PoisonError::into_inner) {
            self.signal(Signal::TERM);
        }
    }

    /// Ends every process in it.
    pub(super) fn kill(&self) {
        if *self.alive.lock().unwrap_or_else(PoisonError::into_inner) {
            self.signal(Signal::KILL);
        }
    }

    /// Waits until the leader has ended, then ends what it left behind.
    pub(super) fn wait(&self, child: &mut Child) -> io::Result<ExitStatus> {
        // Without reaping it yet: until then nobody else can be given its number.
        while let Err(error) = waitid(WaitId::Pid(self.leader), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {
            if error != Errno::INTR {
                return Err(error.into());
            }
        }
        let mut alive = self.alive.lock().unwrap_or_else(PoisonError::into_inner);
        self.signal(Signal::KILL);
        *alive = false;
        child.wait()
    }

    fn signal(&self, signal: Signal) {
        if let Err(error) = kill_process_group(self.leader, signal) {
            tracing::debug!(%error, ?signal, "a process group was not signalled");
        }
    }
}
