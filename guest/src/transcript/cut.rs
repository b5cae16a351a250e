//! A piece of a message that somebody was given while it could still grow, and what has come to it since. The last entry of a
//! log may be such a piece: it is written again, longer, until something follows it.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::entry::{Entry, Kind};
use crate::checksum;
use crate::rpc::Object;
use crate::storage::{Bounds, Result, Storage};

/// The beginning of a text, as JSON without its quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Prefix {
    /// How long it is, in bytes.
    pub(super) length: u64,
    /// By what it is told from another one of this length.
    pub(super) sum: u32,
}

impl Prefix {
    fn of(text: &str) -> Self {
        let sum = checksum::hash(&[text]) & u64::from(u32::MAX);
        Self { length: text.len() as u64, sum: u32::try_from(sum).unwrap_or_default() }
    }

    /// What stands behind it in a text; `None` where that begins otherwise.
    fn rest_of<'a>(&self, text: &'a str) -> Option<&'a str> {
        let (before, rest) = text.split_at_checked(usize::try_from(self.length).ok()?)?;
        // An escape that is cut through is none of what was given.
        let is_whole = || serde_json::from_str::<&RawValue>(&format!("\"{before}\"")).is_ok();
        (*self == Self::of(before) && is_whole()).then_some(rest)
    }
}

/// A piece of a message that was shown while it could still grow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cut {
    /// Its turn; none: it was said between turns.
    pub(super) turn: Option<String>,
    /// The number of its entry.
    pub(super) seq: u32,
    /// How much of its text was shown.
    pub(super) given: Prefix,
}

impl Cut {
    /// Of this entry, if it is one that can grow: plain text of a turn, or what somebody has said between turns.
    pub(super) fn of(seq: u32, text: &str) -> Option<Self> {
        let entry = Entry::parse(text)?;
        if entry.turn.is_none() && entry.speaker.is_none() {
            return None;
        }
        let given = Prefix::of(&plain_text(&entry)?);
        Some(Self { turn: entry.turn.map(str::to_owned), seq, given })
    }

    /// What has been added to it since, as an entry, and it with that; none where nothing was.
    pub(super) fn grown<S: Storage>(&self, storage: &S, log: &str) -> Result<Option<(String, Self)>> {
        let page = storage.read_log(log, self.seq, Bounds { limit: 1, max_bytes: 1 })?;
        let Some(now) = page.entries.first().filter(|entry| entry.seq == self.seq) else { return Ok(None) };
        let rest = Entry::parse(&now.value).and_then(|entry| self.rest_of(&entry));
        Ok(rest.zip(Self::of(self.seq, &now.value)))
    }

    /// What has been added to it since in the entry as it is now; none where nothing was.
    pub(super) fn rest_of(&self, entry: &Entry<'_>) -> Option<String> {
        match Since::of(&self.given, entry) {
            Since::Grown(rest) => Some(rest),
            Since::Same | Since::Another => None,
        }
    }
}

/// What has become of an entry since a piece of it was given.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Since {
    /// It is as it was.
    Same,
    /// It has grown by this, which is an entry of its own.
    Grown(String),
    /// Another one stands in its place.
    Another,
}

impl Since {
    /// Of this entry, as it is now.
    pub(super) fn of(given: &Prefix, entry: &Entry<'_>) -> Self {
        let Some(text) = plain_text(entry) else { return Self::Another };
        match given.rest_of(&text) {
            None => Self::Another,
            Some("") => Self::Same,
            Some(rest) => Self::Grown(with_text(entry, rest)),
        }
    }
}

/// A piece of a message with another text, JSON without its quotes.
pub(super) fn with_text(entry: &Entry<'_>, text: &str) -> String {
    let params = Object::parse_or_empty(entry.json);
    let update = params.get_object("update");
    let content = update.get_object("content").with("text", &format!("\"{text}\""));
    let params = params.with("update", &update.with("content", &content));
    Entry::tagged(Kind::Update, entry.time, entry.turn, &params)
}

/// The text of an entry that is a piece of a message, as JSON without its quotes.
pub(super) fn plain_text(entry: &Entry<'_>) -> Option<String> {
    let name = entry.update_name()?;
    if !name.ends_with("_chunk") {
        return None;
    }
    let params = Object::parse(entry.json)?;
    let update = params.get_object("update");
    let content = update.get_object("content");
    let text = content.get("text")?.strip_prefix('"')?.strip_suffix('"')?;
    Some(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(text: &str) -> String {
        let json = format!(
            r#"{{"update":{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":"{text}"}},"messageId":"m"}}}}"#
        );
        Entry::tagged(Kind::Update, 1, Some("t"), &json)
    }

    fn since(given: &Prefix, text: &str) -> Since {
        Since::of(given, &Entry::parse(&entry(text)).unwrap())
    }

    #[test]
    fn what_is_added_to_a_text_is_as_it_was_written() {
        for (given, more) in [("", "a"), ("a", ""), ("é", "é"), (r"\n\u00e9", r"\\"), (r"\ud83d", r"\ude00")] {
            let cut = Cut::of(1, &entry(given)).unwrap();
            let expected = if more.is_empty() { Since::Same } else { Since::Grown(entry(more)) };
            assert_eq!(since(&cut.given, &format!("{given}{more}")), expected, "{given} {more}");
        }
    }

    #[test]
    fn a_text_that_begins_otherwise_is_another() {
        let Cut { given, .. } = Cut::of(1, &entry("So far")).unwrap();
        for text in ["", "So fa", "So fär, so good", "No far, so good"] {
            assert_eq!(since(&given, text), Since::Another, "{text}");
        }
        assert_eq!(since(&Prefix::of("\\"), r"\n"), Since::Another, "an escape is not cut through");
        let gap = Entry::text(Kind::Gap, 1, r#"{"reason":"the store was damaged","entries":1}"#);
        assert_eq!(Since::of(&given, &Entry::parse(&gap).unwrap()), Since::Another);
    }
}
