//! Starting an agent again that has ended, not more than a few times a minute.

use std::collections::VecDeque;
use std::error::Error;
use std::fmt;
use std::time::{Duration, Instant};

use crate::downstream::Agent;
use crate::transport::Side;

/// How often within [`WITHIN`] it is started again.
const MOST: usize = 5;
const WITHIN: Duration = Duration::from_mins(1);

/// An agent that was started, and its pipes.
pub type Started = (Box<dyn Agent>, Side);

/// How the agent is started again, and when it was.
pub struct Restart {
    start: Box<dyn FnMut() -> Result<Started, Box<dyn Error>> + Send>,
    times: VecDeque<Instant>,
}

/// Why an agent that has ended is not started again.
#[derive(Debug, thiserror::Error)]
pub(super) enum NotStarted {
    /// It ends again and again.
    #[error("it was started again {MOST} times within a minute")]
    TooOften,
    /// The system does not start it.
    #[error("{0}")]
    Failed(Box<dyn Error>),
}

impl Restart {
    /// By this function, which has started the agent before.
    pub fn by<E: Into<Box<dyn Error>>>(mut start: impl FnMut() -> Result<Started, E> + Send + 'static) -> Self {
        Self { start: Box::new(move || start().map_err(Into::into)), times: VecDeque::new() }
    }

    /// Starts it again, unless that was done too often.
    pub(super) fn start(&mut self, now: Instant) -> Result<Started, NotStarted> {
        self.times.retain(|time| now.saturating_duration_since(*time) < WITHIN);
        if self.times.len() >= MOST {
            return Err(NotStarted::TooOften);
        }
        self.times.push_back(now);
        (self.start)().map_err(NotStarted::Failed)
    }
}

impl fmt::Debug for Restart {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Restart").field("times", &self.times).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn an_agent_is_started_a_few_times_a_minute() {
        let started = Arc::new(AtomicU32::new(0));
        let count = Arc::clone(&started);
        let mut restart = Restart::by(move || {
            count.fetch_add(1, Ordering::SeqCst);
            Err::<Started, _>(io::Error::other("there is no such program"))
        });
        let now = Instant::now();
        let at = |seconds: u64| now + Duration::from_secs(seconds);
        let told = |not: Result<Started, NotStarted>| not.map(|_| ()).expect_err("it cannot be").to_string();
        for second in [0, 0, 20, 40, 59] {
            assert_eq!(told(restart.start(at(second))), "there is no such program");
        }
        assert_eq!(told(restart.start(at(59))), "it was started again 5 times within a minute");
        assert_eq!(started.load(Ordering::SeqCst), 5);
        for second in [60, 60] {
            assert_eq!(told(restart.start(at(second))), "there is no such program");
        }
        assert_eq!(told(restart.start(at(60))), "it was started again 5 times within a minute");
    }
}
