//! What an entry says, as an account tells it.

use crate::rpc::Object;
use crate::transcript::audience::is_for_agent_alone;
use crate::transcript::entry::{Entry, Kind};

/// What an account calls the agent.
pub(super) const ASSISTANT: &str = "Assistant";

/// The updates that say something.
const SAYING: [&str; 3] = ["user_message_chunk", "agent_message_chunk", "tool_call"];

/// What somebody said in an entry.
#[derive(Debug, Clone)]
pub(super) struct Contribution {
    pub(super) speaker: String,
    pub(super) text: String,
    /// The id of the message that it is of, as JSON, where what follows need not be of the same.
    pub(super) message: Option<String>,
}

impl Contribution {
    pub(super) fn new(speaker: &str, text: String) -> Self {
        Self { speaker: speaker.to_owned(), text, message: None }
    }
}

/// Who said what in an entry.
pub(super) fn said(entry: &Entry<'_>) -> Vec<Contribution> {
    if entry.kind == Kind::Gap {
        return vec![Contribution::new("Note", "(some of the conversation was not recorded)".to_owned())];
    }
    // Most of what stands in a long log says nothing, and is not read to its end.
    if entry.update_name().is_some_and(|name| !SAYING.contains(&&*name)) {
        return Vec::new();
    }
    let updates = entry.updates();
    updates
        .iter()
        .filter_map(|update| {
            let update = Object::parse(update)?;
            let (speaker, text) = match update.get_string("sessionUpdate")?.as_str() {
                // What an agent has read by itself is not what its user said.
                "user_message_chunk"
                    if entry.kind != Kind::Prompt && update.get("content").is_some_and(is_for_agent_alone) =>
                {
                    return None;
                }
                "user_message_chunk" => ("User", block_text(&update.get_object("content"))),
                "agent_message_chunk" => (ASSISTANT, block_text(&update.get_object("content"))),
                "tool_call" => ("Tool call", update.get_text("title").map(|title| format!("{title}\n"))),
                _ => return None,
            };
            // Blocks of one prompt are told apart, chunks of one message are not.
            if entry.kind == Kind::Prompt {
                return Some(Contribution::new(speaker, text? + "\n"));
            }
            let message = update.get_some("messageId").map(str::to_owned);
            Some(Contribution { message, ..Contribution::new(speaker, text?) })
        })
        .collect()
}

fn block_text(block: &Object<'_>) -> Option<String> {
    let named = |uri: String| format!("[{uri}]");
    match block.get_string("type")?.as_str() {
        "text" => block.get_string("text"),
        "resource_link" => block.get_string("uri").map(named),
        "resource" => block.get_object("resource").get_string("uri").map(named),
        other => Some(format!("[{other}]")),
    }
}
