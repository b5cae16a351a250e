//! What a prompt says, as text.

use serde_json::Value;

/// The text of one block of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) text: String,
    /// It was put there by the session layer, to tell an agent that has forgotten it what was said before.
    pub(super) rehydrated: bool,
}

/// Reads the `prompt` of a `session/prompt`; none if it is not a list of content blocks.
pub(super) fn blocks(prompt: &Value) -> Option<Vec<Block>> {
    prompt.as_array()?.iter().map(block).collect()
}

fn block(block: &Value) -> Option<Block> {
    let kind = block.get("type")?.as_str()?;
    let text = match kind {
        "text" => block.get("text")?.as_str()?.to_owned(),
        "resource_link" => block.get("uri")?.as_str()?.to_owned(),
        "resource" => match block.pointer("/resource/text") {
            Some(text) => text.as_str()?.to_owned(),
            None => block.pointer("/resource/uri")?.as_str()?.to_owned(),
        },
        other => format!("[{other}]"),
    };
    let rehydrated = block.pointer("/_meta/acp-sessions/rehydrated") == Some(&Value::Bool(true));
    Some(Block { text, rehydrated })
}

/// All the text, a line end between blocks.
pub(super) fn join<'a>(blocks: impl IntoIterator<Item = &'a Block>) -> String {
    blocks.into_iter().map(|block| block.text.as_str()).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_kind_of_block_has_a_text() {
        let prompt = json!([
            { "type": "text", "text": "a", "_meta": { "acp-sessions": { "rehydrated": true } } },
            { "type": "resource_link", "uri": "file:///b", "name": "b" },
            { "type": "resource", "resource": { "uri": "file:///c", "text": "c" } },
            { "type": "resource", "resource": { "uri": "file:///d", "blob": "AA==" } },
            { "type": "image", "data": "AA==", "mimeType": "image/png" },
        ]);
        let blocks = blocks(&prompt).expect("blocks");
        assert_eq!(join(&blocks), "a\nfile:///b\nc\nfile:///d\n[image]");
        assert_eq!(blocks.iter().map(|block| block.rehydrated).collect::<Vec<_>>(), [true, false, false, false, false]);
    }

    #[test]
    fn what_is_not_a_list_of_blocks_is_refused() {
        assert_eq!(blocks(&json!("hello")), None);
        assert_eq!(blocks(&json!([{ "type": "text" }])), None);
        assert_eq!(blocks(&json!(["hello"])), None);
    }
}
