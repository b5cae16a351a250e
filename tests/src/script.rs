//! What `reciting_agent` says: lines that a test decides byte by byte, also such as no JSON value of this language can hold.

use std::fmt::{Display, Write as _};
use std::path::Path;

use crate::launch::{Launch, built};

/// The lines of an agent, by the method that they follow.
#[derive(Debug, Clone, Default)]
pub struct Script(String);

impl Script {
    /// An agent that opens one session, of this id.
    pub fn new(session: &str) -> Self {
        let session = serde_json::json!({"sessionId": session});
        Self::default()
            .answers("initialize", r#"{"protocolVersion":1,"agentCapabilities":{}}"#)
            .answers("session/new", session)
    }

    /// Says this line, once for each message with this method.
    #[must_use]
    pub fn says(mut self, method: &str, line: impl Display) -> Self {
        let _ = writeln!(self.0, "{method} {line}");
        self
    }

    /// Answers requests of this method so.
    #[must_use]
    pub fn answers(self, method: &str, result: impl Display) -> Self {
        self.says(method, format_args!(r#"{{"jsonrpc":"2.0","id":$ID,"result":{result}}}"#))
    }

    /// Tells this update of a session with each prompt.
    #[must_use]
    pub fn tells(self, session: &str, update: impl Display) -> Self {
        let session = serde_json::json!(session);
        let params = format_args!(r#"{{"sessionId":{session},"update":{update}}}"#).to_string();
        self.says("session/prompt", format_args!(r#"{{"jsonrpc":"2.0","method":"session/update","params":{params}}}"#))
    }

    /// Ends turns as they should.
    #[must_use]
    pub fn ends_turns(self) -> Self {
        self.answers("session/prompt", r#"{"stopReason":"end_turn"}"#)
    }

    /// The agent that keeps to this, written to this file.
    pub fn agent(&self, file: &Path) -> Launch {
        std::fs::write(file, &self.0).expect("the script is written");
        Launch::new(&built("reciting_agent")).arg(file)
    }
}
