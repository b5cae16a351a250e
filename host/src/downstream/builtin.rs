//! The small built-in agent: it streams back what it was sent, or what a command makes of it.
//!
//! It speaks the same lines as any other agent, without a process in between, and keeps nothing.

mod content;
mod exec;
mod requests;
mod rpc;
mod session;
mod turn;

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use self::session::Sessions;
use super::Agent;
use crate::component::connection::{Content, Peer};
use crate::transport::{Inbox, Outbox, Source};

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
    client: Source,
}

impl Builtin {
    /// Starts it. What it says goes into the inbox, what is put in the outbox goes to it.
    pub fn start(exec: Option<String>, inbox: &Inbox, outbox: &Outbox) -> Self {
        let state = Arc::new(State {
            exec,
            sessions: Mutex::default(),
            working: Mutex::new(0),
            rested: Condvar::new(),
            client: inbox.source(Peer::Agent),
        });
        let shared = Arc::clone(&state);
        let outbox = outbox.clone();
        state.work(move || serve(&shared, &outbox));
        Self { state }
    }
}

/// Answers line after line. Prompts go on beside, on threads of their own, and are cut short at the end.
fn serve(state: &Arc<State>, outbox: &Outbox) {
    let mut buffer = Vec::new();
    while outbox.take(&mut buffer) {
        let length = buffer.len();
        for line in buffer.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            requests::handle(state, line);
        }
        outbox.written(length);
    }
    state.sessions().cancel_all();
}

impl State {
    fn sessions(&self) -> MutexGuard<'_, Sessions> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn send(&self, message: &serde_json::Value) {
        self.client.push(&mut vec![Content::Line(message.to_string())], || false);
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
                state.client.end();
                state.rested.notify_all();
            }
        });
    }
}

impl Agent for Builtin {
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
