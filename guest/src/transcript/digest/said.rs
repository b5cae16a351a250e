//! What an entry says, as an account tells it.

use serde_json::Value;

use crate::transcript::entry::{Entry, Kind};

/// What an account calls the agent.
pub(super) const ASSISTANT: &str = "Assistant";

/// Who said what in an entry.
pub(super) fn said(entry: &Entry<'_>) -> Vec<(String, String)> {
    if entry.kind == Kind::Gap {
        return vec![("Note".to_owned(), "(some of the conversation was not recorded)".to_owned())];
    }
    let updates = entry.updates();
    updates
        .iter()
        .filter_map(|update| {
            let update: Value = serde_json::from_str(update).ok()?;
            let (speaker, text) = match update["sessionUpdate"].as_str()? {
                "user_message_chunk" => ("User", block_text(&update["content"])),
                "agent_message_chunk" => (ASSISTANT, block_text(&update["content"])),
                "tool_call" => ("Tool call", update["title"].as_str().map(|title| format!("{title}\n"))),
                _ => return None,
            };
            // Blocks of one prompt are told apart, chunks of one answer are not.
            let separator = if entry.kind == Kind::Prompt { "\n" } else { "" };
            Some((speaker.to_owned(), text? + separator))
        })
        .collect()
}

fn block_text(block: &Value) -> Option<String> {
    match block["type"].as_str()? {
        "text" => block["text"].as_str().map(str::to_owned),
        "resource_link" => block["uri"].as_str().map(|uri| format!("[{uri}]")),
        "resource" => block["resource"]["uri"].as_str().map(|uri| format!("[{uri}]")),
        other => Some(format!("[{other}]")),
    }
}
