//! The small built-in agent: it streams back what it was sent, or what a command makes of it.
//!
//! It speaks the same lines as any other agent, without a process in between, and keeps nothing.

mod content;
mod exec;
mod requests;
mod session;
mod turn;

use std::io::{self, BufRead as _, BufReader, PipeReader, PipeWriter, Write as _, pipe};
use std::os::fd::BorrowedFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use self::session::Sessions;
use super::Agent;
use crate::transport::{Input, Output, Side};

/// The longest line taken from it: its answer to the longest that a client may send, with what every byte may become
/// when it is escaped.
const LONGEST_LINE: usize = 128 << 20;

/// The running agent.
#[derive(Debug)]
pub struct Builtin {
    state: Arc<State>,
}

/// What its threads share.
#[derive(Debug)]
struct State {
    /// The shell command that answers prompts; none: they are echoed.
    exec: Option<String>,
    sessions: Mutex<Sessions>,
    /// How many threads are at work.
    working: Mutex<usize>,
    rested: Condvar,
    /// Where its messages go, each as one line; none once nothing more comes.
    output: Mutex<Option<PipeWriter>>,
}

impl Builtin {
    /// Starts it.
    pub fn start(exec: Option<String>) -> io::Result<(Self, Side)> {
        let (heard, to) = pipe()?;
        let (from, said) = pipe()?;
        let state = Arc::new(State {
            exec,
            sessions: Mutex::default(),
            working: Mutex::new(0),
            rested: Condvar::new(),
            output: Mutex::new(Some(said)),
        });
        let shared = Arc::clone(&state);
        state.work(move || serve(&shared, heard));
        Ok((Self { state }, Side { from: Input::new(from, LONGEST_LINE), to: Output::new(to) }))
    }
}

/// Answers line after line. Prompts go on beside, on threads of their own, and are cut short at the end.
fn serve(state: &Arc<State>, heard: PipeReader) {
    let mut heard = BufReader::new(heard);
    let mut line = Vec::new();
    while heard.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
        requests::handle(state, &line);
        line.clear();
    }
    state.sessions().cancel_all();
}

impl State {
    fn sessions(&self) -> MutexGuard<'_, Sessions> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn send(&self, message: &serde_json::Value) {
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(stream) = &mut *output
            && stream.write_all(format!("{message}\n").as_bytes()).is_err()
        {
            // Nobody listens any more.
            *output = None;
        }
    }

    /// Runs something on a thread of its own. After the last of them nothing more comes from the agent.
    fn work(self: &Arc<Self>, run: impl FnOnce() + Send + 'static) {
        *self.working.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        let state = Arc::clone(self);
        thread::spawn(move || {
            run();
            let mut working = state.working.lock().unwrap_or_else(PoisonError::into_inner);
            *working -= 1;
            if *working == 0 {
                *state.output.lock().unwrap_or_else(PoisonError::into_inner) = None;
                state.rested.notify_all();
            }
        });
    }
}

impl Agent for Builtin {
    fn exit(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    fn terminate(&self) {
        self.state.sessions().cancel_all();
    }

    fn kill(&self) {
        self.state.sessions().cancel_all();
    }

    fn ended(&self, wait: Duration) -> Option<String> {
        let working = self.state.working.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.state.rested.wait_timeout_while(working, wait, |working| *working > 0);
        let working = *waited.unwrap_or_else(PoisonError::into_inner).0;
        (working == 0).then(|| "it was told to".to_owned())
    }
}

#[cfg(test)]
mod tests;
