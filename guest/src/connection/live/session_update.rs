//! A `session/update` from the agent, read.

use serde::Deserialize;
use serde_json::json;

use crate::rpc::Object;
use crate::transcript::{Remark, UpdateKind};

/// What Codex says of its settings begins so: of a program's own, of what it finds as it opens a session, and of a model that is
/// another than the one with which the session was last at work.
const OF_SETTINGS: [&str; 3] =
    ["Config warning: ", "Warning: Codex is ignoring ", "Warning: This session was recorded with model "];

/// A `session/update` that names a session and a kind of update.
#[derive(Debug)]
#[expect(clippy::struct_field_names, reason = "it is the protocol's name for the member")]
pub(in crate::connection) struct Update<'a> {
    pub(in crate::connection) line: &'a str,
    /// The notification's params, read from the line.
    pub(in crate::connection) params: &'a Object<'a>,
    /// Its `update` member.
    pub(in crate::connection) update: &'a str,
    /// Its `sessionUpdate`.
    pub(in crate::connection) name: String,
    pub(in crate::connection) kind: UpdateKind,
}

#[derive(Deserialize)]
struct Discriminator<'a> {
    #[serde(borrow, rename = "sessionUpdate")]
    kind: std::borrow::Cow<'a, str>,
}

impl<'a> Update<'a> {
    /// Reads it; `None` where it says nothing the engine understands.
    pub(in crate::connection) fn read(line: &'a str, params: &'a Object<'a>) -> Option<Self> {
        let update = params.get("update")?;
        let Discriminator { kind: name } = serde_json::from_str(update).ok()?;
        let kind = UpdateKind::of(&name);
        Some(Self { line, params, update, name: name.into_owned(), kind })
    }

    /// The text of a chunk of plain text.
    pub(in crate::connection) fn text(&self) -> Option<String> {
        let update = Object::parse(self.update)?;
        let content = Object::parse(update.get("content")?)?;
        (content.get_string("type").as_deref() == Some("text")).then(|| content.get_string("text")).flatten()
    }

    /// Whether it says something that nobody is shown as its user's.
    pub(in crate::connection) fn is_hidden(&self) -> bool {
        Object::parse_or_empty(self.update).get("content").is_some_and(Remark::is_hidden)
    }

    /// Whether Codex warns of its settings with this, which it does in each of its programs: it is no part of the conversation.
    pub(in crate::connection) fn is_of_settings(&self) -> bool {
        let is_alone = self.name == "agent_message_chunk" && !self.update.contains("\"messageId\"");
        let is_warning =
            |text: &String| OF_SETTINGS.iter().any(|begins| text.starts_with(begins)) && text.ends_with("\n\n");
        is_alone
            && OF_SETTINGS.iter().any(|begins| self.update.contains(begins))
            && self.text().as_ref().is_some_and(is_warning)
    }

    /// The `update` member with another text in its content.
    pub(in crate::connection) fn with_text(&self, text: &str) -> String {
        let mut update = Object::parse_or_empty(self.update);
        let content = update.get("content").unwrap_or("{}").to_owned();
        let mut content = Object::parse_or_empty(&content);
        content.set("text", json!(text).to_string());
        let content = content.to_json();
        update.set("content", content);
        update.to_json()
    }

    /// The params without the session's id and with another `update`, as history keeps them.
    pub(in crate::connection) fn kept(&self, update: Option<&str>) -> String {
        let mut rest = self.params.clone();
        rest.remove("sessionId");
        if let Some(update) = update {
            rest.set("update", update.to_owned());
        }
        rest.to_json()
    }
}

/// The id of the message that an update is a part of (JSON).
pub(super) fn message_of(update: &Update<'_>) -> Option<String> {
    Object::parse_or_empty(update.update).get_some("messageId").map(str::to_owned)
}
