//! The layer's own words: the account of an earlier conversation that is put before a prompt. They are meant for an
//! agent that forgot; where the agent gives them back, as a title or as what the user said, nobody is to see them.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use serde_json::json;

use crate::rpc::Object;

/// How every account begins; what follows up to the end of the line differs.
pub const OPENING: &str = "[Earlier conversation of this session, restored for you";
/// How the first line of an account may go on.
pub const ONLY_LAST_PART: &str = "; only its last part fits here";
/// How the first line of an account may go on for an agent that took part before.
pub const CONTINUATION: &str = "; this is what was said since you last took part";
/// How the first line ends.
pub const CONTEXT: &str = ". It is context, not a new request.]";
/// How every account ends.
pub const CLOSING: &str = "[End of the earlier conversation. What follows is new.]";

/// Fewer letters than this are not enough to tell a piece of an account from what somebody else might say.
const TELLING: usize = 12;
/// So much of the opening tells an account, whatever follows it.
const TELLING_OPENING: &str = "[Earlier conversation of this session";

/// The text without the layer's words: every account in it goes, with the white space that joined it to what follows.
/// One that is cut off goes to the end.
pub fn strip(text: &str) -> Cow<'_, str> {
    let mut stream = Stream::default();
    let mut rest = stream.feed(text);
    rest.push_str(&stream.finish());
    if rest == text { Cow::Borrowed(text) } else { Cow::Owned(rest) }
}

/// Whether a title is the layer's: an account, the beginning of one, or cut from its sentences. Punctuation, white space
/// and case do not count, since agents change them.
pub fn is_ours(title: &str) -> bool {
    let title = letters(title);
    if title.contains(&letters(TELLING_OPENING)) {
        return true;
    }
    let opening = |scope: &str| letters(&format!("{OPENING}{scope}{CONTEXT}"));
    let both = format!("{CONTINUATION}{ONLY_LAST_PART}");
    let sentences = ["", ONLY_LAST_PART, CONTINUATION, &both].map(opening);
    let closing = letters(CLOSING);
    let is_cut = || sentences.iter().chain([&closing]).any(|sentence| sentence.contains(&title));
    title.contains(&closing) || title.chars().count() >= TELLING && is_cut()
}

/// Folded letters and digits, and nothing else.
fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Takes accounts out of a text that comes in pieces. Keeps at most the length of a sentence.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Stream {
    place: Place,
    /// The end of what came, where it may be the beginning of a sentence that is waited for.
    held: String,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Place {
    #[default]
    Outside,
    /// In an account.
    Inside,
    /// Behind one, where white space is still a part of it.
    Behind,
}

/// What may be shown of a piece of text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Parted {
    /// Before the first account that begins in the piece; all of it where none does.
    pub before: String,
    /// Behind that, if one does.
    pub behind: Option<String>,
}

impl Stream {
    /// Takes the next piece, and gives what may be shown of all so far and was not given before.
    pub fn feed(&mut self, text: &str) -> String {
        let Parted { before, behind } = self.feed_parted(text);
        before + &behind.unwrap_or_default()
    }

    /// Takes the next piece, and gives what may be shown, taken apart where an account begins: what comes behind it is
    /// another thing than what stood before.
    pub fn feed_parted(&mut self, text: &str) -> Parted {
        let mut shown = Parted::default();
        let mut rest = std::mem::take(&mut self.held) + text;
        loop {
            let awaited = match self.place {
                Place::Behind => {
                    rest.drain(..rest.len() - rest.trim_start().len());
                    if rest.is_empty() {
                        return shown;
                    }
                    self.place = Place::Outside;
                    continue;
                }
                Place::Outside => OPENING,
                Place::Inside => CLOSING,
            };
            let found = rest.find(awaited);
            let known = found.unwrap_or_else(|| rest.len() - beginning_at_end(&rest, awaited));
            if self.place == Place::Outside {
                shown.behind.as_mut().unwrap_or(&mut shown.before).push_str(&rest[..known]);
            }
            if found.is_none() {
                self.held = rest.split_off(known);
                return shown;
            }
            rest.drain(..known + awaited.len());
            self.place = if self.place == Place::Outside {
                shown.behind.get_or_insert_default();
                Place::Inside
            } else {
                Place::Behind
            };
        }
    }

    /// Nothing more comes: gives what was held back, unless it is an account that was cut off. What is fed next is
    /// another text.
    pub fn finish(&mut self) -> String {
        let Self { place, held } = std::mem::take(self);
        if place == Place::Outside && letters(&held).len() < TELLING { held } else { String::new() }
    }

    /// Whether the text is in the midst of an account, as far as can be told.
    pub fn is_inside(&self) -> bool {
        self.place == Place::Inside || letters(&self.held).len() >= TELLING
    }

    /// What is held back without being known for the beginning of an account yet.
    pub fn undecided(&self) -> &str {
        if self.place == Place::Outside && !self.is_inside() { &self.held } else { "" }
    }

    /// As [`Stream::feed`], for a content block (JSON): one without text stays as it is.
    pub fn feed_content(&mut self, content: &str) -> Shown {
        let block = Object::parse_or_empty(content);
        let is_text = block.get_string("type").as_deref() == Some("text");
        let Some(text) = block.get_string("text").filter(|_| is_text) else { return Shown::Unchanged };
        let shown = self.feed(&text);
        if shown == text {
            return Shown::Unchanged;
        }
        if shown.is_empty() {
            return Shown::Nothing;
        }
        Shown::Changed(block.with("text", &json!(shown).to_string()))
    }
}

/// No account is longer, in bytes.
const LONGEST: usize = 64 * 1024;

/// Takes whole accounts out of what an agent says as its own, which comes in pieces. An agent may begin with the words of one
/// and go on with its own: what has no end like one's is given when it is known.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Quoted {
    /// The end of what came, from where an account may begin.
    held: String,
    /// Up to where the end of an account was looked for in that.
    searched: usize,
    /// An account has just ended; white space behind it is still a part of it.
    is_behind: bool,
}

impl Quoted {
    /// Takes the next piece, and gives what may be shown of all so far and was not given before.
    pub fn feed(&mut self, text: &str) -> String {
        let mut shown = String::new();
        self.held.push_str(text);
        loop {
            if self.is_behind {
                self.held.drain(..self.held.len() - self.held.trim_start().len());
                self.is_behind = self.held.is_empty();
            }
            let begin =
                self.held.find(OPENING).unwrap_or_else(|| self.held.len() - beginning_at_end(&self.held, OPENING));
            shown.extend(self.held.drain(..begin));
            if begin > 0 {
                self.searched = 0;
            }
            let from = self.held.floor_char_boundary(self.searched.saturating_sub(CLOSING.len()));
            let Some(end) = self.held[from..].find(CLOSING).map(|at| from + at + CLOSING.len()) else {
                self.searched = self.held.len();
                if self.held.len() > LONGEST {
                    shown.push_str(&self.finish());
                }
                return shown;
            };
            let account = self.held.drain(..end);
            (self.searched, self.is_behind) = (0, end <= LONGEST);
            if !self.is_behind {
                shown.extend(account);
            }
        }
    }

    /// Nothing more comes: gives what was held back. What is fed next is another text.
    pub fn finish(&mut self) -> String {
        std::mem::take(self).held
    }

    /// Whether something is held back.
    pub fn holds(&self) -> bool {
        !self.held.is_empty()
    }
}

/// What may be shown of a content block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shown {
    /// All of it, as it came.
    Unchanged,
    /// This block (JSON) in its place.
    Changed(String),
    /// Nothing of it, yet or ever.
    Nothing,
}

/// The length of the longest end of `text` that `sentence` begins with.
fn beginning_at_end(text: &str, sentence: &str) -> usize {
    let longest = text.len().min(sentence.len() - 1);
    let is_beginning = |length: &usize| text.as_bytes()[text.len() - length..] == sentence.as_bytes()[..*length];
    (1..=longest).rev().find(is_beginning).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn account(said: &str) -> String {
        format!("{OPENING}{CONTINUATION}{CONTEXT}\n\n{said}\n\n{CLOSING}")
    }

    #[test]
    fn accounts_are_taken_out_wherever_they_stand() {
        let one = account("User: hi\n\nAssistant: [ok]");
        for (text, expected) in [
            ("fix the bug".to_owned(), "fix the bug"),
            (one.clone(), ""),
            (format!("{one}fix the bug"), "fix the bug"),
            (format!("{one}\n\n fix the bug\n"), "fix the bug\n"),
            (format!("before {one} after{one}\n{one} end"), "before afterend"),
            (one[..one.len() - 1].to_owned(), ""),
            (format!("fix it {}", &one[..70]), "fix it "),
            (format!("fix it {}", &one[..30]), "fix it "),
            (format!("a list [{}", &one[..3]), "a list [[Ea"),
            (CLOSING.to_owned(), CLOSING),
        ] {
            assert_eq!(strip(&text), expected, "{text}");
        }
    }

    #[test]
    fn titles_made_of_an_account_are_told_from_others() {
        let one = account("User: fix the bug").replace('\n', " ");
        for title in [
            one.as_str(),
            &one[..40],
            "Earlier conversation of this session, restored…",
            "**Earlier Conversation of this Session**",
            "earlier conver",
            "User: [Earlier conversation of this session, restored for you. It",
            "only its last part fits here",
            "It is context, not a new request.",
            "End of the earlier conversation. What follows is new.] fix the bug",
        ] {
            assert!(is_ours(title), "{title}");
        }
        for title in
            ["", "…", "Earlier", "Fix the bug", "Earlier conversation view: add paging", "A new request", "会话"]
        {
            assert!(!is_ours(title), "{title}");
        }
    }

    #[test]
    fn a_content_block_keeps_everything_but_the_account() {
        let mut stream = Stream::default();
        let one = account("User: hi");
        let (head, tail) = one.split_at(90);
        let block = |text: &str| json!({"type": "text", "text": text, "annotations": {}}).to_string();
        assert_eq!(stream.feed_content(&block(head)), Shown::Nothing);
        assert_eq!(stream.feed_content(r#"{"type":"image","data":""}"#), Shown::Unchanged);
        assert_eq!(stream.feed_content(&block(&format!("{tail}\n\nfix"))), Shown::Changed(block("fix")));
        assert_eq!(stream.feed_content(&block(" it")), Shown::Unchanged);
        let block = |text: &str| {
            format!(
                "{{\"n\":[1e400,18446744073709551617],\"text\":{},\"type\":\"text\",\"b\":1.0,\"a\":1E0}}",
                json!(text)
            )
        };
        assert_eq!(stream.feed_content(&block(&format!("{one}\n\nfix"))), Shown::Changed(block("fix")));
    }

    #[test]
    fn of_what_an_agent_says_only_whole_accounts_are_taken_out() {
        let one = account("User: hi\n\nAssistant: [ok]");
        let long = format!("{OPENING}{CONTEXT}{}{CLOSING}", "word ".repeat(LONGEST));
        for (text, expected) in [
            ("fix the [bug".to_owned(), "fix the [bug".to_owned()),
            (one.clone(), String::new()),
            (format!("{one}\n\n fixed\n"), "fixed\n".to_owned()),
            (format!("before {one} after{one}\n{one} end"), "before afterend".to_owned()),
            (one[..one.len() - 1].to_owned(), one[..one.len() - 1].to_owned()),
            (format!("I was told {OPENING}, it said"), format!("I was told {OPENING}, it said")),
            (format!("{OPENING} {one}end"), "end".to_owned()),
            (CLOSING.to_owned(), CLOSING.to_owned()),
            (long.clone(), long),
        ] {
            for size in [1, 7, 100, 1 << 20] {
                let mut quoted = Quoted::default();
                let chars: Vec<char> = text.chars().collect();
                let mut shown: String =
                    chars.chunks(size).map(|piece| quoted.feed(&piece.iter().collect::<String>())).collect();
                assert!(quoted.held.len() <= LONGEST, "{size} at a time");
                shown += &quoted.finish();
                assert!(shown == expected, "{size} at a time: {} of {}", shown.len(), expected.len());
            }
        }
    }

    proptest! {
        #[test]
        fn pieces_show_what_the_whole_shows(
            parts in prop::collection::vec(prop_oneof![
                "[a-zé \\[E\n]{0,12}",
                Just(OPENING.to_owned()), Just(CLOSING.to_owned()),
                (0..OPENING.len()).prop_map(|end| OPENING[..end].to_owned()),
                (0..CLOSING.len()).prop_map(|end| CLOSING[..end].to_owned()),
            ], 0..8),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
        ) {
            let text: String = parts.concat();
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| text.floor_char_boundary(cut.index(text.len() + 1))).collect();
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            let mut stream = Stream::default();
            let mut shown = String::new();
            for piece in cuts.windows(2) {
                shown += &stream.feed(&text[piece[0]..piece[1]]);
                prop_assert!(stream.held.len() < OPENING.len().max(CLOSING.len()));
            }
            shown += &stream.finish();
            prop_assert_eq!(&shown, &strip(&text));
            prop_assert!(!shown.contains(OPENING) || text.matches(OPENING).count() > 1);
        }
    }
}
