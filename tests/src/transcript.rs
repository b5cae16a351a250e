//! Conversations made comparable: adjacent text chunks of one kind are one text, each tool call is its last state, and
//! what is state rather than history stays out.

use serde_json::{Map, Value, json};

/// One entry of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum Entry {
    /// A joined message: which kind of chunk, and its text.
    Text(String, String),
    /// A chunk that is not text, as it came.
    Content(String, Value),
    /// A tool call, with all its updates applied.
    ToolCall(Map<String, Value>),
}

/// Joins what came one by one. A tool call stands where it began.
pub fn join(updates: &[Value]) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    for update in updates {
        match kind(update) {
            "user_message_chunk" | "agent_message_chunk" | "agent_thought_chunk" => add_chunk(&mut entries, update),
            "tool_call" | "tool_call_update" => add_tool_call(&mut entries, update),
            _ => {}
        }
    }
    entries
}

/// The text of all chunks of this kind, joined.
pub fn text_of(updates: &[Value], chunk: &str) -> String {
    let texts = updates.iter().filter(|update| kind(update) == chunk);
    texts.filter_map(|update| update["content"]["text"].as_str()).collect()
}

/// Who said what: the texts of users and agents, each message in one, with a mark for who it is.
pub fn spoken(updates: &[Value]) -> Vec<String> {
    let entries = join(updates).into_iter();
    let texts = entries.filter_map(|entry| match entry {
        Entry::Text(chunk, text) if chunk == "user_message_chunk" => Some(format!("> {text}")),
        Entry::Text(chunk, text) if chunk == "agent_message_chunk" => Some(format!("< {text}")),
        _ => None,
    });
    texts.collect()
}

/// The conversation as a client saw it: its own prompt, then what came.
pub fn with_prompt(prompt: &str, updates: &[Value]) -> Vec<Value> {
    let mut all = vec![json!({"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": prompt}})];
    all.extend(updates.iter().filter(|update| kind(update) != "user_message_chunk").cloned());
    all
}

/// The discriminator of an update.
pub fn kind(update: &Value) -> &str {
    update["sessionUpdate"].as_str().unwrap_or_default()
}

fn add_chunk(entries: &mut Vec<Entry>, update: &Value) {
    let chunk = kind(update);
    let Some(text) = update["content"]["text"].as_str() else {
        entries.push(Entry::Content(chunk.to_owned(), update["content"].clone()));
        return;
    };
    match entries.last_mut() {
        Some(Entry::Text(last, joined)) if last == chunk => joined.push_str(text),
        // An agent's bookkeeping: an empty chunk with nothing but `_meta`.
        _ if text.is_empty() => {}
        _ => entries.push(Entry::Text(chunk.to_owned(), text.to_owned())),
    }
}

fn add_tool_call(entries: &mut Vec<Entry>, update: &Value) {
    let fields = update.as_object().into_iter().flatten();
    let fields = fields.filter(|(name, value)| *name != "sessionUpdate" && *name != "_meta" && !value.is_null());
    let id = &update["toolCallId"];
    let known = entries.iter_mut().find_map(|entry| match entry {
        Entry::ToolCall(call) if call["toolCallId"] == *id => Some(call),
        _ => None,
    });
    let fields: Map<String, Value> = fields.map(|(name, value)| (name.clone(), value.clone())).collect();
    match known {
        Some(call) => call.extend(fields),
        None => entries.push(Entry::ToolCall(fields)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(kind: &str, text: &str) -> Value {
        json!({"sessionUpdate": kind, "content": {"type": "text", "text": text}})
    }

    #[test]
    fn chunks_of_one_message_are_one_text() {
        let joined = join(&[chunk("agent_message_chunk", "a "), chunk("agent_message_chunk", "b")]);
        assert_eq!(joined, [Entry::Text("agent_message_chunk".into(), "a b".into())]);
    }

    #[test]
    fn a_tool_call_is_its_last_state() {
        let started = json!({"sessionUpdate": "tool_call", "toolCallId": "1", "title": "t", "status": "pending"});
        let ended = json!({"sessionUpdate": "tool_call_update", "toolCallId": "1", "status": "completed"});
        let [Entry::ToolCall(call)] = &join(&[started, ended])[..] else { panic!("one call") };
        assert_eq!(json!(call), json!({"toolCallId": "1", "title": "t", "status": "completed"}));
    }
}
