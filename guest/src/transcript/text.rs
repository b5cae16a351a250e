//! What of a transcript entry can be searched for: what the user and the agent said, and what tool calls were called.

use super::Entry;
use crate::index;
use crate::rpc::Object;

/// The visible text of a log entry; empty where it has none.
pub fn of_entry(value: &str) -> String {
    let Some(entry) = Entry::parse(value) else { return String::new() };
    let mut texts = entry.updates().into_iter().filter_map(|update| of_update(&update));
    let mut text = texts.next().unwrap_or_default();
    for next in texts {
        text.push('\n');
        text.push_str(&next);
    }
    text
}

/// What a log entry is found by.
pub fn tokens_of_entry(value: &str) -> String {
    index::tokenise(&of_entry(value))
}

fn of_update(update: &str) -> Option<String> {
    let update = Object::parse(update)?;
    match update.get_string("sessionUpdate")?.as_str() {
        "user_message_chunk" | "agent_message_chunk" | "agent_thought_chunk" => {
            Object::parse(update.get("content")?)?.get_string("text")
        }
        "tool_call" | "tool_call_update" => update.get_string("title"),
        _ => None,
    }
}
