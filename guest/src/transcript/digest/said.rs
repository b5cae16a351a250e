//! What an entry says, as an account tells it.

use crate::rpc::Object;
use crate::transcript::entry::{Entry, Kind};

/// What an account calls the agent.
pub(super) const ASSISTANT: &str = "Assistant";

/// The updates that say something.
const SAYING: [&str; 3] = ["user_message_chunk", "agent_message_chunk", "tool_call"];

/// Who said what in an entry.
pub(super) fn said(entry: &Entry<'_>) -> Vec<(String, String)> {
    if entry.kind == Kind::Gap {
        return vec![("Note".to_owned(), "(some of the conversation was not recorded)".to_owned())];
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
                "user_message_chunk" => ("User", block_text(&update.get_object("content"))),
                "agent_message_chunk" => (ASSISTANT, block_text(&update.get_object("content"))),
                "tool_call" => ("Tool call", update.get_text("title").map(|title| format!("{title}\n"))),
                _ => return None,
            };
            // Blocks of one prompt are told apart, chunks of one answer are not.
            let separator = if entry.kind == Kind::Prompt { "\n" } else { "" };
            Some((speaker.to_owned(), text? + separator))
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
