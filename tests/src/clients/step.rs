//! What is said between the story and the driver of an official client: one step a line, and one report for each.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What the client is to do next. Each is one call of its SDK.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[expect(missing_docs, reason = "the fields are named and meant as in the protocol")]
pub enum Step {
    /// Start the agent and say hello. The result is what it says of itself.
    Start,
    /// `session/new`.
    New { cwd: String },
    /// `session/load`.
    Load { session_id: String, cwd: String },
    /// `session/resume`.
    Resume { session_id: String, cwd: String },
    /// `session/fork`.
    Fork { session_id: String, cwd: String },
    /// One page of `session/list`.
    List {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cursor: Option<String>,
    },
    /// `session/set_mode`.
    SetMode { session_id: String, mode_id: String },
    /// `session/close`.
    Close { session_id: String },
    /// `session/delete`.
    Delete { session_id: String },
    /// `session/cancel`.
    Cancel { session_id: String },
    /// Send a `session/prompt` and do not wait.
    Prompt { session_id: String, text: String },
    /// Wait for the end of the turn. Its result is the prompt's.
    Finish,
    /// Wait until there is an update to report.
    Hear,
    /// Hang up and wait for the agent's end. The result has the exit code, where the SDK leaves that to the client.
    End,
}

/// What came of a step.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Report {
    /// What the SDK gave.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// The updates that the SDK handed out since the last report.
    pub updates: Vec<Update>,
}

/// The result of a step's call, or the agent's error. Whatever else goes wrong ends the driver.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Outcome {
    /// By the protocol's names, without what is not there.
    Result(Value),
    /// The agent said no.
    Error {
        /// The JSON-RPC code.
        code: i64,
        /// More of it, for programs.
        #[serde(default)]
        data: Value,
    },
}

/// The params of a `session/update`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Update {
    /// The session it is of.
    pub session_id: String,
    /// The update itself.
    pub update: Value,
}
