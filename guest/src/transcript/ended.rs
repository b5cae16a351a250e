//! How a turn ended.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::entry::{Entry, Kind};
use crate::rpc::Code;

/// How a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// The answer was at its end.
    Well,
    /// The client has cancelled it, and the agent did not fail at it.
    Cancelled,
    /// With an error.
    Failed,
    /// The agent said that it has no such session, or not what it was given.
    Refused,
    /// Nobody knows how.
    Unclear,
}

#[derive(Deserialize)]
struct End<'a> {
    #[serde(borrow, rename = "stopReason", default)]
    stop_reason: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Failure {
    code: i64,
}

impl Ended {
    /// What an entry says of it; nothing, unless it is the end of a turn.
    pub fn of(entry: &Entry<'_>) -> Option<Self> {
        if entry.kind != Kind::TurnEnd {
            return None;
        }
        Some(Self::with_reason(entry.json))
    }

    /// How a turn ends of whose end this is said, as JSON.
    pub fn with_reason(end: &str) -> Self {
        let end: Option<End<'_>> = serde_json::from_str(end).ok();
        let (reason, error) = end.map_or((None, None), |end| (end.stop_reason, end.error));
        match (error.map(RawValue::get), reason.as_deref()) {
            (Some(error), _) => Self::with_error(error),
            (None, None) => Self::Unclear,
            (None, Some("cancelled")) => Self::Cancelled,
            (None, Some(_)) => Self::Well,
        }
    }

    /// How a turn ends that the agent answers with this error (JSON).
    pub fn with_error(error: &str) -> Self {
        let failure: Option<Failure> = serde_json::from_str(error).ok();
        let is_refusal = failure.is_some_and(|failure| failure.code == Code::ResourceNotFound as i64);
        if is_refusal { Self::Refused } else { Self::Failed }
    }
}
