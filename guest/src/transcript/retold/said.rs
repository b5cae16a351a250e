//! What an update says, as far as that can be said again.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::rpc::{self, Object};
use crate::transcript::audience::is_for_agent_alone;
use crate::transcript::echo::dense;
use crate::transcript::own_words::strip;
use crate::transcript::remark::{Remark, handed_on, typed_in_shell, without_marks};

/// What stands for a piece of JSON, and the name of what it is of: see [`rpc::print_of`].
pub(super) type Print = u64;

/// What an update says, without white space.
#[derive(Debug)]
pub(super) enum Said {
    User(String),
    /// What is told as the user's and is for the agent alone.
    ForAgent(String),
    /// Something else than text.
    Attached(Print),
    Agent(String),
    Thought(String),
    /// Something of a tool call, and whether that is all there is to say of it.
    Call {
        id: String,
        told: Vec<Print>,
        status: Option<Status>,
        is_whole: bool,
    },
    Other(Print),
}

/// How far a tool call has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    Pending,
    InProgress,
    Completed,
    Failed,
}

impl Status {
    /// What an update says of it; none where it says nothing, or something that is not known.
    pub(super) fn of(update: &Object<'_>) -> Option<Self> {
        match update.get_string("status")?.as_str() {
            "pending" => Some(Self::Pending),
            "in_progress" => Some(Self::InProgress),
            "completed" => Some(Self::Completed),
            "failed" => Some(Self::Failed),
            _ => None,
        }
    }

    /// Whether a call that has come to this was at that one, or is.
    pub(super) fn has_passed(self, other: Self) -> bool {
        match other {
            Self::Pending => true,
            Self::InProgress => self != Self::Pending,
            Self::Completed | Self::Failed => self == other,
        }
    }
}

impl Said {
    /// Reads it. An account of the layer's is nobody's words.
    pub(super) fn read(update: &str) -> Self {
        let object = Object::parse_or_empty(update);
        let kind = object.get_string("sessionUpdate").unwrap_or_default();
        let content = object.get("content");
        let parts = object.get_object("content");
        let text = parts.get_text("text").filter(|_| parts.get_string("type").as_deref() == Some("text"));
        let is_for_agent = || content.is_some_and(|block| is_for_agent_alone(block) || Remark::is_hidden(block));
        match (kind.as_str(), text) {
            ("user_message_chunk", Some(text)) if is_for_agent() => Self::ForAgent(dense(&strip(&text))),
            ("user_message_chunk", Some(text)) => {
                let typed = typed_in_shell(&text);
                let behind = handed_on(&text).map_or(&*text, |(_, behind)| behind);
                Self::User(dense(&strip(typed.as_deref().unwrap_or(behind))))
            }
            ("user_message_chunk", None) => Self::Attached(print(&kind, content.unwrap_or_default())),
            ("agent_message_chunk", Some(text)) => Self::Agent(dense(without_marks(&text))),
            ("agent_thought_chunk", Some(text)) => Self::Thought(dense(&text)),
            ("tool_call" | "tool_call_update", _) if let Some(id) = object.get_string("toolCallId") => {
                let (told, status) = (told_of_call(&object), Status::of(&object));
                Self::Call { id, told, status, is_whole: kind == "tool_call" }
            }
            _ => Self::Other(print(&kind, content.unwrap_or(update))),
        }
    }

    /// Whether the user says it.
    pub(super) fn is_users(&self) -> bool {
        matches!(self, Self::User(_) | Self::ForAgent(_) | Self::Attached(_))
    }

    /// How long its text is, in bytes.
    pub(super) fn length(&self) -> usize {
        match self {
            Self::User(text) | Self::Agent(text) | Self::Thought(text) => text.len(),
            Self::ForAgent(_) | Self::Attached(_) | Self::Call { .. } | Self::Other(_) => 0,
        }
    }
}

/// What stands in a text behind so many bytes of it, white space not counted.
pub(super) fn behind(text: &str, length: usize) -> &str {
    let mut left = length;
    let first = text.char_indices().find(|(_, c)| {
        let is_behind = left == 0;
        left = left.saturating_sub(if c.is_whitespace() { 0 } else { c.len_utf8() });
        is_behind
    });
    first.map_or("", |(at, _)| &text[at..])
}

/// What an update tells of its tool call: each member, and of those that are lists each part, which agents tell one by one or all at
/// once.
pub(super) fn told_of_call(update: &Object<'_>) -> Vec<Print> {
    let names = ["sessionUpdate", "toolCallId", "_meta"];
    let told = update.iter().filter(|(name, _)| !names.contains(&&**name));
    told.flat_map(|(name, value)| match rpc::elements(value) {
        Some(parts) => parts.into_iter().map(|part| print(name, part)).collect(),
        None => vec![print(name, value)],
    })
    .collect()
}

fn print(name: &str, json: &str) -> Print {
    let mut hasher = DefaultHasher::new();
    (name, rpc::print_of(json)).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::behind;

    #[test]
    fn white_space_is_not_counted_and_stays_with_what_follows() {
        for (text, length, expected) in [
            ("one two", 0, "one two"),
            ("one two", 2, "e two"),
            ("one two", 3, " two"),
            (" öne", 2, "ne"),
            ("one", 3, ""),
            ("one", 9, ""),
        ] {
            assert_eq!(behind(text, length), expected, "{text} {length}");
        }
    }
}
