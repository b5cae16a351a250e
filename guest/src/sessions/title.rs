//! The automatic title: the first meaningful line of the first prompt.

/// The longest automatic title, in characters.
pub const LONGEST: usize = 80;

/// A title for a conversation that begins with this prompt (the JSON of `prompt`); `None` if there is no text in it.
pub fn from_prompt(prompt: &str) -> Option<String> {
    let blocks: Vec<serde_json::Value> = serde_json::from_str(prompt).ok()?;
    let texts = blocks.iter().filter(|block| block["type"] == "text").filter_map(|block| block["text"].as_str());
    texts.flat_map(str::lines).map(clean).find(|line| line.chars().any(char::is_alphanumeric)).map(|line| cut(&line))
}

/// One line without control characters, markup at its beginning, or runs of white space.
fn clean(line: &str) -> String {
    let words = line.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    let line = words.collect::<Vec<_>>().join(" ");
    line.trim_start_matches(['#', '>', '*', '-', '`', ' ']).to_owned()
}

/// At most [`LONGEST`] characters, cut at a word where there is one to cut at.
fn cut(line: &str) -> String {
    let Some((end, _)) = line.char_indices().nth(LONGEST) else { return line.to_owned() };
    // One character is the ellipsis.
    let room = line.char_indices().nth(LONGEST - 1).map_or(end, |(at, _)| at);
    let head = &line[..room];
    let ends_at_word = line[room..].starts_with(' ');
    let word = if ends_at_word { head } else { head.rsplit_once(' ').map_or(head, |(words, _)| words) };
    format!("{}…", word.trim_end_matches([' ', ',', ';', ':', '.']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_from_prompts() {
        let long = "word ".repeat(40);
        for (prompt, expected) in [
            (serde_json::json!([{"type": "text", "text": "Fix the bug\nin utils.ts"}]), Some("Fix the bug".to_owned())),
            (
                serde_json::json!([{"type": "text", "text": "\n  ---\n## Hello   world\u{7}"}]),
                Some("Hello world".to_owned()),
            ),
            (
                serde_json::json!([{"type": "image", "data": ""}, {"type": "text", "text": "what is it?"}]),
                Some("what is it?".to_owned()),
            ),
            (serde_json::json!([{"type": "image", "data": ""}]), None),
            (
                serde_json::json!([{"type": "text", "text": "日本語".repeat(40)}]),
                Some(format!("{}…", "日本語".repeat(40).chars().take(79).collect::<String>())),
            ),
            (serde_json::json!([{"type": "text", "text": long}]), Some(format!("{}…", ["word"; 16].join(" ")))),
        ] {
            let title = from_prompt(&prompt.to_string());
            assert_eq!(title, expected);
            assert!(title.is_none_or(|title| title.chars().count() <= LONGEST));
        }
    }
}
