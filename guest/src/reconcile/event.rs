//! What an entry of a log says.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::rpc::Code;
use crate::transcript::{Entry, Kind};

/// An entry, as far as it matters who said what.
#[derive(Debug)]
pub(super) enum Event<'a> {
    /// A prompt that went through the layer.
    Prompt { blocks: Vec<&'a RawValue>, with: Option<(String, String)> },
    /// A part of this message of the user.
    User { message: Option<&'a str>, content: Option<&'a RawValue> },
    /// A part of this message of the agent.
    Agent { message: Option<&'a str>, content: Option<&'a RawValue> },
    /// Something the agent did.
    Done,
    /// A turn came to its end.
    End(Ended),
    /// Something that belongs to what it stands in.
    Other,
}

/// How a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    /// The answer was at its end.
    Well,
    Cancelled,
    /// With an error, or nobody knows how.
    Failed,
    /// The agent said that it has no such session, or not what it was given.
    Refused,
}

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(borrow)]
    update: Update<'a>,
}

#[derive(Deserialize)]
struct Update<'a> {
    #[serde(borrow, rename = "sessionUpdate")]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(borrow, rename = "messageId", default)]
    message: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    text: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Prompt<'a> {
    #[serde(borrow)]
    prompt: Vec<&'a RawValue>,
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

impl<'a> Event<'a> {
    /// Reads an entry as the log holds it. What cannot be read belongs to what it stands in.
    pub(super) fn parse(text: &'a str) -> Self {
        let Some(entry) = Entry::parse(text) else { return Self::Other };
        match entry.kind {
            Kind::Prompt => {
                let prompt: Option<Prompt<'_>> = serde_json::from_str(entry.json).ok();
                Self::Prompt { blocks: prompt.map(|prompt| prompt.prompt).unwrap_or_default(), with: entry.with() }
            }
            Kind::Update => {
                let Ok(Params { update }) = serde_json::from_str::<Params<'_>>(entry.json) else { return Self::Other };
                let Update { kind, content, message } = update;
                let message = message.map(RawValue::get);
                match kind.as_ref() {
                    "user_message_chunk" => Self::User { message, content },
                    "agent_message_chunk" => Self::Agent { message, content },
                    _ => Self::Done,
                }
            }
            Kind::TurnEnd => {
                let end: Option<End<'_>> = serde_json::from_str(entry.json).ok();
                let (reason, error) = end.map_or((None, None), |end| (end.stop_reason, end.error));
                Self::End(match (error.map(RawValue::get), reason.as_deref()) {
                    (Some(error), _) if is_refusal(error) => Ended::Refused,
                    (Some(_), _) | (None, None) => Ended::Failed,
                    (None, Some("cancelled")) => Ended::Cancelled,
                    (None, Some(_)) => Ended::Well,
                })
            }
            _ => Self::Other,
        }
    }
}

fn is_refusal(error: &str) -> bool {
    let failure: Option<Failure> = serde_json::from_str(error).ok();
    failure.is_some_and(|failure| failure.code == Code::ResourceNotFound as i64)
}

/// The text of a content block, if it is one of text.
pub(super) fn text_of(block: &RawValue) -> Option<Cow<'_, str>> {
    let block: Block<'_> = serde_json::from_str(block.get()).ok()?;
    block.text.filter(|_| block.kind == "text")
}
