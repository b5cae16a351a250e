//! A compact account of a conversation, for an agent that has forgotten it or never knew it.

use serde_json::{Value, json};

use super::entry::{Entry, Kind};
use super::replay::{Position, Progress, Replay, Start};
use crate::storage::{Result, Storage};
use crate::store::Session;

/// The longest account, in bytes; the newest part is kept.
const LIMIT: usize = 48 * 1024;
/// The longest single contribution.
const LONGEST_PART: usize = 8 * 1024;
/// How many updates from the end are considered.
const CONSIDERED: u64 = 2000;
const READ: u32 = 256 * 1024;

/// A content block (JSON) that tells what was said, marked as the layer's; `None` if nothing was said.
pub fn digest<S: Storage>(storage: &S, session: &Session) -> Result<Option<String>> {
    let mut replay = Replay::open(storage, session, Start::Last(CONSIDERED))?;
    let mut whole = replay.position() == Position::default();
    let mut parts: Vec<(String, String)> = Vec::new();
    let mut bytes = 0;
    while let Progress::Entries(entries) = replay.next(storage, READ)? {
        for entry in entries.iter().filter_map(|(_, text)| Entry::parse(text)) {
            for (speaker, text) in said(&entry) {
                bytes += text.len();
                match parts.last_mut().filter(|(last, _)| *last == speaker) {
                    Some((_, joined)) => joined.push_str(&text),
                    None => parts.push((speaker, text)),
                }
            }
        }
        while bytes > LIMIT * 2 && parts.len() > 1 {
            bytes -= parts.remove(0).1.len();
            whole = false;
        }
    }
    let mut lines = Vec::new();
    let mut length = 0;
    for (speaker, text) in parts.iter().rev() {
        let line = format!("{speaker}: {}", shorten(text.trim()));
        if length + line.len() > LIMIT {
            whole = false;
            break;
        }
        length += line.len();
        lines.push(line);
    }
    if lines.is_empty() {
        return Ok(None);
    }
    lines.reverse();
    let scope = if whole { "" } else { "; only its last part fits here" };
    let text = format!(
        "[Earlier conversation of this session, restored for you{scope}. It is context, not a new request.]\n\n{}\n\n\
         [End of the earlier conversation. What follows is new.]",
        lines.join("\n\n")
    );
    Ok(Some(json!({"type": "text", "text": text, "_meta": {"acp-sessions": {"rehydrated": true}}}).to_string()))
}

/// Who said what in an entry.
fn said(entry: &Entry<'_>) -> Vec<(String, String)> {
    let updates = entry.updates();
    updates
        .iter()
        .filter_map(|update| {
            let update: Value = serde_json::from_str(update).ok()?;
            let (speaker, text) = match update["sessionUpdate"].as_str()? {
                "user_message_chunk" => ("User", block_text(&update["content"])),
                "agent_message_chunk" => ("Assistant", block_text(&update["content"])),
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

fn shorten(text: &str) -> String {
    if text.len() <= LONGEST_PART {
        return text.to_owned();
    }
    let half = LONGEST_PART / 2;
    let head = text.floor_char_boundary(half);
    let tail = text.ceil_char_boundary(text.len() - half);
    format!("{} […] {}", &text[..head], &text[tail..])
}
