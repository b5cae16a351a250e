//! An agent that is a command: lines on its standard input and output.

use std::ffi::OsString;
use std::io;
use std::process::{self, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::Agent;
use super::process_group::{self, ProcessGroup};
use crate::component::connection::Peer;
use crate::transport::{Inbox, Outbox, reader, writer};

/// The longest line taken from an agent. Results of tools are passed on whole.
const LONGEST_LINE: usize = 64 << 20;

/// After an agent has ended, its output is at an end when nothing has come from it for this long.
const LAST_WORDS: Duration = Duration::from_millis(200);

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
}

#[derive(Debug, Default)]
struct Exit {
    status: Mutex<Option<ExitStatus>>,
    known: Condvar,
}

impl Command {
    /// Starts it. What comes from it goes into the inbox, what is put in the outbox goes to it. Its standard error is
    /// this program's.
    pub fn spawn(
        program: &OsString,
        arguments: &[OsString],
        inbox: &Inbox,
        outbox: &Outbox,
    ) -> Result<Self, SpawnError> {
        let mut command = process::Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        let (mut child, group) =
            process_group::spawn(&mut command).map_err(|cause| SpawnError { program: program.clone(), cause })?;
        let source = inbox.source(Peer::Agent);
        if let Some(stdin) = child.stdin.take() {
            writer::spawn(stdin, outbox.clone(), inbox.clone(), source.clone());
        }
        if let Some(stdout) = child.stdout.take() {
            reader::spawn(stdout, LONGEST_LINE, source.clone());
        }
        let group = Arc::new(group);
        let exit = Arc::new(Exit::default());
        {
            let (group, exit) = (Arc::clone(&group), Arc::clone(&exit));
            thread::spawn(move || {
                match group.wait(&mut child) {
                    Ok(status) => exit.set(status),
                    Err(error) => tracing::warn!(%error, "cannot learn how the agent ended"),
                }
                // Its output ends with it, unless something that it has set loose holds it open.
                source.end_when_quiet(LAST_WORDS);
            });
        }
        Ok(Self { group, exit })
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
    use super::*;
    use crate::component::connection::{Arrival, Content};
    use crate::transport::Event;
    use crate::transport::inbox::Wanted;

    fn spawn(script: &str) -> (Command, Inbox, Outbox) {
        let (inbox, outbox) = (Inbox::default(), Outbox::default());
        let arguments = ["-c".into(), script.into()];
        let command = Command::spawn(&"sh".into(), &arguments, &inbox, &outbox).expect("started");
        (command, inbox, outbox)
    }

    /// All it says until it ends.
    fn hear(inbox: &Inbox) -> Vec<String> {
        let mut said = Vec::new();
        loop {
            match inbox.next(Wanted { client: true, agent: true }, None) {
                Event::Arrived(arrivals) => said.extend(arrivals.into_iter().map(|Arrival { content, .. }| {
                    let Content::Line(line) = content else { panic!("{content:?}") };
                    line
                })),
                Event::Ended(_) => return said,
                _ => {}
            }
        }
    }

    /// What it says next.
    fn next_line(inbox: &Inbox) -> String {
        match inbox.next(Wanted { client: true, agent: true }, None) {
            Event::Arrived(arrivals) => match &arrivals[..] {
                [Arrival { content: Content::Line(line), .. }] => line.clone(),
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        }
    }

    /// One that does not end when it is asked to, nor does the child that it has started.
    fn stubborn_with_child() -> (Command, Inbox, Outbox) {
        let started = spawn("trap '' TERM; (trap '' TERM; echo child; sleep 1000) & wait; sleep 1000");
        assert_eq!(next_line(&started.1), "child");
        started
    }

    #[test]
    fn lines_go_in_and_come_out() {
        let (command, inbox, outbox) = spawn("while read line; do echo \"<$line>\"; done; echo bye; exit 3");
        outbox.extend(["one", "two"]);
        outbox.close();
        assert_eq!(hear(&inbox), ["<one>", "<two>", "bye"]);
        assert_eq!(command.ended(Duration::from_mins(1)).as_deref(), Some("exit status: 3"));
    }

    #[test]
    fn it_ends_with_all_it_has_started() {
        let (command, inbox, _outbox) = stubborn_with_child();
        command.terminate();
        assert_eq!(command.ended(Duration::ZERO), None);
        command.kill();
        // The child holds the output open: that this returns means that it is gone too.
        assert_eq!(hear(&inbox), [""; 0]);
        assert_eq!(command.ended(Duration::from_mins(1)).as_deref(), Some("signal: 9 (SIGKILL)"));
    }

    #[test]
    fn what_it_leaves_behind_does_not_keep_it_alive() {
        // It ends only when what it leaves behind is out of its group.
        let (command, inbox, outbox) = spawn("setsid sh -c 'echo $$; exec sleep 60' < /dev/null & read line; exit 0");
        let loose = next_line(&inbox).parse().ok().and_then(rustix::process::Pid::from_raw).expect("a process");
        outbox.extend(["end"]);
        assert_eq!(hear(&inbox), [""; 0]);
        assert_eq!(command.ended(Duration::from_mins(1)).as_deref(), Some("exit status: 0"));
        rustix::process::kill_process(loose, rustix::process::Signal::KILL).expect("it was loose");
    }

    #[test]
    fn dropping_it_leaves_nothing() {
        let (command, inbox, _outbox) = stubborn_with_child();
        drop(command);
        // The child holds the output open: that this returns means that it is gone too.
        assert_eq!(hear(&inbox), [""; 0]);
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let error =
            Command::spawn(&"no-such-agent".into(), &[], &Inbox::default(), &Outbox::default()).expect_err("none");
        assert!(error.to_string().starts_with("cannot start the agent `no-such-agent`: "), "{error}");
    }
}
