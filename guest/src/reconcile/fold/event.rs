//! What an entry of a log says.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::transcript::{Ended, Entry, Kind, Remark, is_for_agent_alone, is_notice, without_marks};

/// How a compaction stands that has come to its end, and a tool call that has failed, as JSON.
const COMPLETED: &str = "\"completed\"";
const FAILED: &str = "\"failed\"";

/// An entry, as far as it matters who said what.
#[derive(Debug)]
pub(in crate::reconcile) enum Event<'a> {
    /// A prompt that went through the layer.
    Prompt { blocks: Vec<&'a RawValue>, with: Option<(String, String)> },
    /// A part of this message of the user.
    User { message: Option<&'a str>, content: Option<&'a RawValue> },
    /// A part of a message that is told as the user's and is for the agent alone.
    ForAgent { message: Option<&'a str>, content: &'a RawValue },
    /// Something that is told as the user's and that no user has said, or only by chance.
    Remark { remark: Remark, message: Option<&'a str>, content: Option<&'a RawValue> },
    /// A part of this message of the agent.
    Agent { message: Option<&'a str>, content: Option<&'a RawValue> },
    /// The agent has compacted what was said before.
    Compaction,
    /// The agent compacts what was said before, told as a tool call of this id: it may fail.
    Compacting { call: Option<&'a str> },
    /// The tool call of this id has failed.
    Failed { call: &'a str },
    /// Something else the agent did.
    Done,
    /// A turn came to its end.
    End(Ended),
    /// Something that belongs to what it stands in.
    Other,
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
    #[serde(borrow, rename = "_meta", default)]
    meta: Option<&'a RawValue>,
    #[serde(borrow, default)]
    status: Option<&'a RawValue>,
    #[serde(borrow, rename = "toolCallId", default)]
    call: Option<&'a RawValue>,
}

/// What Claude Code tells of a tool call of its own.
#[derive(Deserialize)]
struct Meta<'a> {
    #[serde(borrow, rename = "claudeCode")]
    claude: Called<'a>,
}

#[derive(Deserialize)]
struct Called<'a> {
    #[serde(borrow, rename = "toolName")]
    tool: Cow<'a, str>,
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

impl<'a> Event<'a> {
    /// Reads an entry as the log holds it. What cannot be read belongs to what it stands in.
    pub(in crate::reconcile) fn parse(text: &'a str) -> Self {
        let Some(entry) = Entry::parse(text) else { return Self::Other };
        match entry.kind {
            Kind::Prompt => {
                let prompt: Option<Prompt<'_>> = serde_json::from_str(entry.json).ok();
                Self::Prompt { blocks: prompt.map(|prompt| prompt.prompt).unwrap_or_default(), with: entry.with() }
            }
            Kind::Update => {
                let Ok(Params { update }) = serde_json::from_str::<Params<'_>>(entry.json) else { return Self::Other };
                let Update { kind, content, message, meta, status, call } = update;
                let (message, call) = (message.map(RawValue::get), call.map(RawValue::get));
                let is_failed = status.is_some_and(|status| status.get() == FAILED);
                match kind.as_ref() {
                    "user_message_chunk"
                        if let Some(content) = content.filter(|block| is_for_agent_alone(block.get())) =>
                    {
                        Self::ForAgent { message, content }
                    }
                    "user_message_chunk" if let Some(remark) = content.and_then(|block| Remark::of(block.get())) => {
                        Self::Remark { remark, message, content }
                    }
                    "user_message_chunk" => Self::User { message, content },
                    "agent_message_chunk" => Self::Agent { message, content },
                    "agent_thought_chunk"
                        if content.is_some_and(|block| Remark::of(block.get()) == Some(Remark::Snapshot)) =>
                    {
                        Self::Remark { remark: Remark::Summary, message, content }
                    }
                    "compaction_update" if status.is_none_or(|status| status.get() == COMPLETED) => Self::Compaction,
                    "tool_call" if meta.is_some_and(is_of_compaction) && !is_failed => Self::Compacting { call },
                    "tool_call_update" if is_failed => call.map_or(Self::Done, |call| Self::Failed { call }),
                    _ => Self::Done,
                }
            }
            Kind::TurnEnd => Ended::of(&entry).map_or(Self::Other, Self::End),
            _ => Self::Other,
        }
    }
}

/// Whether a tool call with this beside it is Claude Code's for a compaction.
fn is_of_compaction(meta: &RawValue) -> bool {
    serde_json::from_str(meta.get()).is_ok_and(|Meta { claude }: Meta<'_>| claude.tool == "compact")
}

/// What an agent says in a content block, if that is text. A notice counts for no words.
pub(in crate::reconcile) fn agents_text(block: &RawValue) -> Option<Cow<'_, str>> {
    let text = text_of(block)?;
    if is_notice(&text) {
        return Some(Cow::Borrowed(""));
    }
    let words = without_marks(&text);
    Some(if words.len() == text.len() { text } else { Cow::Owned(words.to_owned()) })
}

/// The text of a content block, if it is one of text.
pub(in crate::reconcile) fn text_of(block: &RawValue) -> Option<Cow<'_, str>> {
    let block: Block<'_> = serde_json::from_str(block.get()).ok()?;
    block.text.filter(|_| block.kind == "text")
}
