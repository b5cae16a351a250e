//! A session/load that takes its time.

use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use agent_client_protocol::Error;
use serde_json::{Value, json};

use super::Habits;

/// How long it waits between two things that it says.
const PAUSE: Duration = Duration::from_millis(50);

/// Until when the load takes, and what is heard of it by then.
pub(super) struct SlowLoad {
    gate: PathBuf,
    is_silent: bool,
}

impl SlowLoad {
    pub(super) fn of(habits: &Habits) -> Option<Self> {
        let gate = habits.load_gate.clone()?;
        Some(Self { gate, is_silent: habits.silent_load })
    }

    /// Tells the history, then how much of the model's window it fills, again and again, until the gate is open. On a
    /// thread of its own, which goes with the process.
    pub(super) fn start(
        self,
        history: Vec<Value>,
        tell: impl Fn(Value) -> Result<(), Error> + Send + 'static,
        answer: impl FnOnce() -> Result<(), Error> + Send + 'static,
    ) {
        // Nobody is there to be told when the connection has ended meanwhile.
        thread::spawn(move || self.run(history, tell).and_then(|()| answer()).ok());
    }

    fn run(self, history: Vec<Value>, tell: impl Fn(Value) -> Result<(), Error>) -> Result<(), Error> {
        if self.is_silent {
            while !self.gate.exists() {
                thread::sleep(PAUSE);
            }
        }
        history.into_iter().try_for_each(&tell)?;
        while !self.gate.exists() {
            thread::sleep(PAUSE);
            tell(json!({"sessionUpdate": "usage_update", "used": 10, "size": 1000}))?;
        }
        Ok(())
    }
}
