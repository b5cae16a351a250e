//! How a connection ends in time.

use std::time::{Duration, Instant};

use crate::downstream::Agent;

/// After its input was closed an agent has this long to end by itself.
const TERMINATE_AFTER: Duration = Duration::from_millis(500);
/// It is killed this long after its input was closed.
const KILL_AFTER: Duration = Duration::from_secs(1);
/// Nothing more is waited for this long after.
const GIVE_UP_AFTER: Duration = Duration::from_millis(1300);

/// After its output has ended, an agent has this long to end before it is asked to, and again before it is killed.
const GRACE: Duration = Duration::from_millis(150);

/// The end of an agent, step by step, while its last lines are still taken.
#[derive(Debug)]
pub(super) struct Shutdown {
    begun: Instant,
    terminated: bool,
    killed: bool,
}

impl Shutdown {
    pub(super) fn begin() -> Self {
        Self { begun: Instant::now(), terminated: false, killed: false }
    }

    /// When the next step is due.
    pub(super) fn next_step(&self) -> Instant {
        self.begun
            + match (self.terminated, self.killed) {
                (false, _) => TERMINATE_AFTER,
                (true, false) => KILL_AFTER,
                (true, true) => GIVE_UP_AFTER,
            }
    }

    /// Takes the step that is due, if one is. Returns whether there is nothing more to wait for.
    pub(super) fn step(&mut self, agent: &dyn Agent) -> bool {
        if Instant::now() < self.next_step() {
            return false;
        }
        if !self.terminated {
            agent.terminate();
            self.terminated = true;
        } else if !self.killed {
            agent.kill();
            self.killed = true;
        } else {
            return true;
        }
        false
    }
}

/// Ends an agent whose output is of no more interest. Returns how it ended by itself, if it did.
pub(super) fn finish(agent: &dyn Agent) -> Option<String> {
    if let Some(ended) = agent.ended(GRACE) {
        return Some(ended);
    }
    agent.terminate();
    if agent.ended(GRACE).is_none() {
        agent.kill();
        agent.ended(GRACE);
    }
    None
}
