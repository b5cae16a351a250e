//! What a connection is between, what it takes its time for, and how it ends.

use std::os::fd::OwnedFd;
use std::time::Duration;

use super::restart::Restart;
use crate::downstream::Agent;
use crate::engine::EngineError;
use crate::transport::Side;

/// What a connection takes its time for.
#[derive(Debug, Clone, Copy)]
pub struct Timing {
    /// After an arrival the engine is told of the passing of time this much later.
    pub flush_after: Duration,
    /// How long the agent may take to end by itself when the client has gone. Agents finish then what they were asked
    /// last, and some take seconds.
    pub agent_grace: Duration,
}

/// As the program has it where its options say nothing else: 100 ms and 10 s.
impl Default for Timing {
    fn default() -> Self {
        Self { flush_after: Duration::from_millis(100), agent_grace: Duration::from_secs(10) }
    }
}

/// Why a connection cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The engine cannot.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The system does not let the streams be waited for.
    #[error("the connection's streams cannot be waited for: {0}")]
    Streams(std::io::Error),
}

/// How a connection ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// The client closed its side.
    ClientGone,
    /// The program was asked to stop.
    Stopped,
    /// The agent ended by itself; the text says how.
    AgentGone(String),
    /// However it ended: the text says what of it could not be stored until then.
    Undone(String),
}

/// What a connection is between.
pub struct Ends {
    /// The client.
    pub client: Side,
    /// The agent's pipes.
    pub agent: Side,
    /// The agent itself.
    pub downstream: Box<dyn Agent>,
    /// How it is started again when it has ended though the client is there; none where the connection ends then.
    pub restart: Option<Restart>,
    /// Something can be read from it once for each time the program is asked to stop.
    pub stop: OwnedFd,
}
