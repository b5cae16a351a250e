//! An agent that is a command: lines on its standard input and output.

use std::ffi::OsString;
use std::io::{self, PipeReader, pipe};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::process::{self, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::Agent;
use super::process_group::{self, ProcessGroup};
use crate::transport::{Input, Output, Side};

/// The longest line taken from an agent. Results of tools are passed on whole.
const LONGEST_LINE: usize = 64 << 20;

/// Why an agent was not started.
#[derive(Debug, thiserror::Error)]
#[error("cannot start the agent `{}`: {cause}", program.to_string_lossy())]
pub struct SpawnError {
    /// The program.
    pub program: OsString,
    /// What the system said.
    pub cause: io::Error,
}

/// A dropped agent that still runs is killed; its end is waited for this long.
const LAST_MOMENTS: Duration = Duration::from_secs(1);

/// A running agent. Dropping it leaves nothing of it.
#[derive(Debug)]
pub struct Command {
    group: Arc<ProcessGroup>,
    exit: Arc<Exit>,
    /// The thread that waits for the end holds the other side, and lets go of it then.
    hangs_up: PipeReader,
}

#[derive(Debug, Default)]
struct Exit {
    status: Mutex<Option<ExitStatus>>,
    known: Condvar,
}

impl Command {
    /// Starts it. Its standard error is this program's.
    pub fn spawn(program: &OsString, arguments: &[OsString]) -> Result<(Self, Side), SpawnError> {
        Self::start(program, arguments).map_err(|cause| SpawnError { program: program.clone(), cause })
    }

    fn start(program: &OsString, arguments: &[OsString]) -> io::Result<(Self, Side)> {
        let (hangs_up, held) = pipe()?;
        let mut command = process::Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        let (mut child, group) = process_group::spawn(&mut command)?;
        let (stdin, stdout) = child.stdin.take().zip(child.stdout.take()).ok_or(io::ErrorKind::BrokenPipe)?;
        let side = Side { from: Input::new(stdout, LONGEST_LINE), to: Output::new(stdin) };
        let (group, exit) = (Arc::new(group), Arc::new(Exit::default()));
        let agent = Self { group: Arc::clone(&group), exit: Arc::clone(&exit), hangs_up };
        thread::spawn(move || {
            match group.wait(&mut child) {
                Ok(status) => exit.set(status),
                Err(error) => tracing::warn!(%error, "cannot learn how the agent ended"),
            }
            drop(held);
        });
        Ok((agent, side))
    }
}

impl Exit {
    fn set(&self, status: ExitStatus) {
        *self.status.lock().unwrap_or_else(PoisonError::into_inner) = Some(status);
        self.known.notify_all();
    }

    fn wait(&self, limit: Duration) -> Option<ExitStatus> {
        let status = self.status.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.known.wait_timeout_while(status, limit, |status| status.is_none());
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

impl Agent for Command {
    fn exit(&self) -> Option<BorrowedFd<'_>> {
        Some(self.hangs_up.as_fd())
    }

    fn terminate(&self) {
        self.group.terminate();
    }

    fn kill(&self) {
        self.group.kill();
    }

    fn ended(&self, wait: Duration) -> Option<String> {
        self.exit.wait(wait).map(|status| status.to_string())
    }
}

impl Drop for Command {
    fn drop(&mut self) {
        self.group.kill();
        self.exit.wait(LAST_MOMENTS);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::component::connection::Content;
    use crate::transport::readiness::{self, Watch};

    fn spawn(script: &str) -> (Command, Side) {
        Command::spawn(&"sh".into(), &["-c".into(), script.into()]).expect("started")
    }

    /// The next lines it says; none once its output has ended.
    fn next(input: &mut Input) -> Vec<String> {
        let mut said = Vec::new();
        while said.is_empty() && !input.has_ended() {
            said.extend(input.read().into_iter().map(|content| match content {
                Content::Line(line) => line,
                other => panic!("{other:?}"),
            }));
        }
        said
    }

    /// All it says until it ends.
    fn hear(input: &mut Input) -> Vec<String> {
        let mut said = Vec::new();
        while !input.has_ended() {
            said.extend(next(input));
        }
        said
    }

    const STUBBORN: &str = "trap '' TERM; (trap '' TERM; echo child; sleep 1000) & wait; sleep 1000";

    #[test]
    fn lines_go_in_and_come_out() {
        let (command, mut side) = spawn("while read line; do echo \"<$line>\"; done; echo bye; exit 3");
        side.to.extend(["one", "two"]);
        side.to.close();
        assert_eq!(hear(&mut side.from), ["<one>", "<two>", "bye"]);
        assert_eq!(command.ended(Duration::from_mins(1)).as_deref(), Some("exit status: 3"));
    }

    #[test]
    fn an_agent_ends_with_all_it_has_started() {
        let (command, mut side) = spawn(STUBBORN);
        assert_eq!(next(&mut side.from), ["child"]);
        command.terminate();
        assert_eq!(command.ended(Duration::ZERO), None);
        command.kill();
        // The child holds the output open: that this returns means that it is gone too.
        assert_eq!(hear(&mut side.from), [""; 0]);
        assert_eq!(command.ended(Duration::from_mins(1)).as_deref(), Some("signal: 9 (SIGKILL)"));
    }

    #[test]
    fn the_end_of_an_agent_is_told_though_what_it_leaves_behind_holds_its_output() {
        // It ends only when what it leaves behind is out of its group.
        let (command, mut side) = spawn("setsid sh -c 'echo $$; exec sleep 60' < /dev/null & read line; exit 0");
        let said = next(&mut side.from);
        side.to.extend(["end"]);
        side.to.write();
        let exit = command.exit().expect("a process has one");
        let deadline = Instant::now() + Duration::from_mins(1);
        assert_eq!(readiness::wait(&[(exit, Watch::HangUp)], Some(deadline)).expect("polled"), [true]);
        assert_eq!(command.ended(Duration::from_mins(1)).as_deref(), Some("exit status: 0"));
        assert!(!side.from.has_ended());
        let loose = said[0].parse().ok().and_then(rustix::process::Pid::from_raw).expect("a process");
        rustix::process::kill_process(loose, rustix::process::Signal::KILL).expect("it was loose");
    }

    #[test]
    fn dropping_it_leaves_nothing() {
        let (command, mut side) = spawn(STUBBORN);
        assert_eq!(next(&mut side.from), ["child"]);
        drop(command);
        // The child holds the output open: that this returns means that it is gone too.
        assert_eq!(hear(&mut side.from), [""; 0]);
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let error = Command::spawn(&"no-such-agent".into(), &[]).expect_err("none");
        assert!(error.to_string().starts_with("cannot start the agent `no-such-agent`: "), "{error}");
    }
}
