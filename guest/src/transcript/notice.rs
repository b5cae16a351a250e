//! What an agent says of its work by the way, as its own words, and does not keep: that it tries again, or how many prompts wait. It is
//! shown, and counts for no words where what was said is compared with what the agent tells of it later.

/// How such notices begin and end, by agent; each is said by itself.
const NOTICES: [(&str, &str); 9] = [
    // Pi.
    ("Retrying (attempt ", "s)..."),
    ("Retrying...", ""),
    ("Retry finished, resuming.", ""),
    ("Queued message (position ", ")."),
    ("Starting queued message. (", " remaining)"),
    ("Cleared queued prompts.", ""),
    ("Context nearing limit, running automatic compaction...", ""),
    ("Automatic compaction finished; context was summarized to continue the session.", ""),
    ("Pi ", " UI request is not supported in ACP yet; cancelling it."),
];

/// Longer than any of them, and than an update that tells one.
const LONGEST: usize = 160;
const LONGEST_UPDATE: usize = 1024;

/// The member that a text is in (JSON), and what may stand before its first word there.
const TEXT: &str = "\"text\":";
const BLANKS: [&str; 4] = [" ", "\\n", "\\r", "\\t"];

/// Whether this, which an agent says at once, is nothing but such a notice.
pub fn is_notice(text: &str) -> bool {
    let text = text.trim();
    let is_one = |(begins, ends): &(&str, &str)| {
        let between = text.strip_prefix(begins).and_then(|rest| rest.strip_suffix(ends));
        between.is_some_and(|between| if ends.is_empty() { between.is_empty() } else { !between.contains(['.', '\n']) })
    };
    text.len() <= LONGEST && NOTICES.iter().any(is_one)
}

/// Whether an update (JSON) may tell one. Most do not, and each chunk of an answer is asked: only how its text begins is looked at.
pub fn may_be_notice(json: &str) -> bool {
    json.len() <= LONGEST_UPDATE && json.match_indices(TEXT).any(|(at, _)| begins_notice(&json[at + TEXT.len()..]))
}

/// Whether this, behind the name of a member (JSON), may be a text that is one.
fn begins_notice(behind: &str) -> bool {
    let Some(mut text) = behind.trim_start().strip_prefix('"') else { return false };
    while let Some(rest) = BLANKS.iter().find_map(|blank| text.strip_prefix(blank)) {
        text = rest;
    }
    NOTICES.iter().any(|(begins, ends)| text.strip_prefix(begins).is_some_and(|rest| rest.contains(ends)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notice_is_all_that_is_said() {
        for (text, expected) in [
            ("Retrying (attempt 1/3, waiting 1s)...", true),
            ("Retrying...", true),
            ("Retry finished, resuming.\n", true),
            ("\n\n \tRetrying...", true),
            ("Queued message (position 12).", true),
            ("Starting queued message. (0 remaining)", true),
            ("Pi editor UI request is not supported in ACP yet; cancelling it.", true),
            ("Retrying... and once more.", false),
            ("Retrying (attempt 1/3, waiting 1s)...It is done.", false),
            ("Retrying (attempt 1/3). It is done. That took 3s)...", false),
            ("Queued", false),
            ("Pi is 3.14.", false),
            ("", false),
        ] {
            assert_eq!(is_notice(text), expected, "{text}");
            let text = serde_json::json!(text);
            for update in [
                format!(r#"{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":{text}}}}}"#),
                format!(r#"{{"content": {{"text": {text}, "type": "text"}}, "messageId": "m"}}"#),
                format!(r#"{{"_meta":{{"text":"Pi"}},"content":{{"type":"text","text":{text}}}}}"#),
            ] {
                assert!(!expected || may_be_notice(&update), "{update}");
            }
        }
        for update in [
            r#"{"text": "Pi is 3.14."}"#,
            r#"{"text":"It said: Retrying... and then: Retry finished, resuming."}"#,
            r#"{"messageId":"Retrying...","content":{"type":"text","text":"Yes."}}"#,
            r#"{"content":{"type":"text","text":"It is: {\"text\":\"Retrying...\"}"}}"#,
            r#"{"text":7}"#,
            r#"{"text":"#,
        ] {
            assert!(!may_be_notice(update), "{update}");
        }
    }
}
