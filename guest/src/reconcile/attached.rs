//! Prompts with a file or an image in them. Many an agent tells these as text, in words of its own: a link, a mention, the
//! file itself. A message that is such a prompt with something of that kind in the places of what was attached is that
//! prompt.

use std::collections::VecDeque;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::event::text_of;

/// How many prompts are known, the last ones.
const MOST: usize = 256;
/// How many bytes of text such a prompt has at most.
const LONGEST: usize = 16 * 1024;
/// In how many bytes an image or a sound is told at most.
const LONGEST_MEDIUM: usize = 128;
/// How many marks of a message may tell of something attached.
const MOST_MARKS: usize = 32;
/// In how many places it is looked for the text behind the last of what is attached.
const MOST_PLACES: usize = 16;
/// A name with less would be found anywhere.
const SHORTEST_NAME: usize = 3;

/// Prompts with something attached.
#[derive(Debug, Clone, Default)]
pub(super) struct AttachedPrompts(VecDeque<Prompt>);

/// One of them.
#[derive(Debug, Clone)]
struct Prompt {
    /// The letters before what is attached, between that, and behind it.
    letters: Vec<String>,
    /// What a link or a file is told by: its address, its name.
    names: Vec<String>,
    /// An image or a sound is among what is attached: it is told by no name.
    has_medium: bool,
}

/// A content block that is no text, as far as it says what is attached.
#[derive(Deserialize)]
struct Block {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    uri: Option<String>,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    resource: Option<Resource>,
}

/// A file that is attached with its text.
#[derive(Deserialize)]
struct Resource {
    #[serde(default)]
    uri: Option<String>,
}

impl AttachedPrompts {
    /// Notes a prompt of these blocks, if something is attached to it, and it has text as well.
    pub(super) fn note(&mut self, blocks: &[&RawValue]) {
        let Some(prompt) = Prompt::of(blocks) else { return };
        if self.0.len() == MOST {
            self.0.pop_front();
        }
        self.0.push_back(prompt);
    }

    /// A message without what tells of something attached, if it is known to be what the user said then.
    pub(super) fn as_sent(&self, message: &str, is_known: impl Fn(&str) -> bool) -> Option<String> {
        if self.0.is_empty() {
            return None;
        }
        let letters = letters(message);
        let whole = || Some(self.told_as(&letters)?.text());
        Some(self.without_attached(&letters)).filter(|text| is_known(text)).or_else(whole)
    }

    /// These letters without what tells of something attached.
    fn without_attached(&self, letters: &str) -> String {
        let (mut text, mut rest) = (String::new(), letters);
        for _ in 0..MOST_MARKS {
            let Some(at) = rest.find(['@', '<', '[', '!']) else { break };
            let (before, marked) = rest.split_at(at);
            text.push_str(before);
            let length = self.0.iter().rev().find_map(|prompt| prompt.marked(marked));
            if length.is_none() {
                text.push_str(&marked[..1]);
            }
            rest = &marked[length.unwrap_or(1)..];
        }
        text + rest
    }

    /// The prompt that these letters are, with what was attached to it told as text.
    fn told_as(&self, letters: &str) -> Option<&Prompt> {
        self.0.iter().rev().find(|prompt| prompt.is_told_as(letters))
    }
}

impl Prompt {
    fn of(blocks: &[&RawValue]) -> Option<Self> {
        let mut prompt = Self { letters: vec![String::new()], names: Vec::new(), has_medium: false };
        let (mut length, mut is_text) = (0, true);
        for block in blocks {
            if let Some(more) = text_of(block) {
                if !std::mem::replace(&mut is_text, true) {
                    prompt.letters.push(String::new());
                }
                prompt.letters.last_mut()?.push_str(&letters(&more));
                length += more.len();
                continue;
            }
            is_text = false;
            let Block { kind, uri, name, resource } = serde_json::from_str(block.get()).ok()?;
            prompt.has_medium |= matches!(kind.as_str(), "image" | "audio");
            let names = [uri, name, resource.and_then(|resource| resource.uri)].into_iter().flatten();
            for name in names.map(|name| letters(&name)) {
                let path = name.strip_prefix("file://").unwrap_or_default().to_owned();
                let file = name.rsplit('/').next().unwrap_or_default().to_owned();
                prompt.names.extend([name, path, file].into_iter().filter(|name| name.len() >= SHORTEST_NAME));
            }
        }
        if !is_text {
            prompt.letters.push(String::new());
        }
        let has_text = prompt.letters.iter().any(|letters| !letters.is_empty());
        (prompt.letters.len() > 1 && length <= LONGEST && has_text).then_some(prompt)
    }

    /// What the user said in it.
    fn text(&self) -> String {
        self.letters.concat()
    }

    /// Whether these letters are its own, with something in the places of what is attached, or behind all.
    fn is_told_as(&self, told: &str) -> bool {
        let [first, between @ .., last] = self.letters.as_slice() else { return false };
        let Some(mut rest) = told.strip_prefix(first.as_str()) else { return false };
        for text in between {
            let Some((attached, behind)) = rest.split_once(text.as_str()) else { return false };
            if !self.may_be_told_as(attached) {
                return false;
            }
            rest = behind;
        }
        // Some tell a link where it was, and the file that it links to at the end.
        let its_end = rest.strip_suffix(last.as_str());
        let mut its_places = rest.match_indices(last.as_str()).take(MOST_PLACES).filter(|_| !last.is_empty());
        let is_told_around =
            |at: usize| self.may_be_told_as(&rest[..at]) && self.may_be_told_as(&rest[at + last.len()..]);
        its_end.is_some_and(|attached| self.may_be_told_as(attached)) || its_places.any(|(at, _)| is_told_around(at))
    }

    /// Whether something that is attached, or nothing, may be told in these letters.
    fn may_be_told_as(&self, told: &str) -> bool {
        told.is_empty() || self.is_attached(told)
    }

    /// Whether these letters are nothing but things that are attached, as agents mark them.
    fn is_attached(&self, told: &str) -> bool {
        let mut rest = told;
        while let Some(length) = self.marked(rest) {
            rest = &rest[length..];
        }
        rest.is_empty() && !told.is_empty()
    }

    /// How many bytes these letters begin with that tell of something attached: a mention, a link, something in brackets.
    fn marked(&self, told: &str) -> Option<usize> {
        let has_name = |length: usize| self.names.iter().any(|name| told[..length].contains(name));
        let is_medium = |length: usize| self.has_medium && length <= LONGEST_MEDIUM;
        if let Some(mention) = told.strip_prefix('@') {
            let name = self.names.iter().filter(|name| mention.starts_with(name.as_str())).map(String::len).max()?;
            return Some(1 + name);
        }
        if told.starts_with('<') {
            let (tag, element) = (told.find('>')? + 1, told.rfind('>')? + 1);
            return if is_medium(tag) { Some(tag) } else { Some(element).filter(|element| has_name(*element)) };
        }
        if !told.starts_with('[') && !told.starts_with("![") {
            return None;
        }
        let label = told.find(']')? + 1;
        let length = match told[label..].strip_prefix('(') {
            Some(address) => label + 1 + address.find(')')? + 1,
            None => label,
        };
        (is_medium(length) || has_name(length)).then_some(length)
    }
}

/// What of a text counts here. That is less than what counts of what was said: some agents mark a space in a name, or what is
/// Markdown in a text, with a backslash, so none of those counts.
fn letters(text: &str) -> String {
    let does_count = |letter: &char| !letter.is_whitespace() && !matches!(letter, '\\' | '\u{200b}' | '\u{feff}');
    text.chars().filter(does_count).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn noted(blocks: &[Value]) -> AttachedPrompts {
        let blocks: Vec<Box<RawValue>> =
            blocks.iter().map(|block| serde_json::value::to_raw_value(block).unwrap()).collect();
        let mut prompts = AttachedPrompts::default();
        prompts.note(&blocks.iter().map(AsRef::as_ref).collect::<Vec<_>>());
        prompts
    }

    #[test]
    fn what_is_attached_may_be_told_as_text_in_its_place_and_nothing_else_may() {
        let text = |text: &str| json!({"type": "text", "text": text});
        let link = || json!({"type": "resource_link", "uri": "file:///work/a.rs", "name": "a.rs"});
        let file = || json!({"type": "resource", "resource": {"uri": "file:///work/a.rs", "text": "fn main() {}"}});
        let image = || json!({"type": "image", "data": "aGk=", "mimeType": "image/png"});
        for (blocks, told, is_it) in [
            (vec![text("look at "), link(), text(" now")], "look at [@a.rs](file:///work/a.rs) now", true),
            (vec![text("look at "), link(), text(" now")], "look at @a.rs\nnow", true),
            (vec![text("look at "), link(), text(" now")], "look at now", true),
            (vec![text("look at "), link(), text(" now")], "look at it now", false),
            (vec![text("look at "), link(), text(" now")], "look at [@a.rs](file:///work/a.rs) then", false),
            (vec![text("look at "), link(), text(" now")], "please look at [@a.rs](file:///work/a.rs) now", false),
            (
                vec![text("look at "), file()],
                "look at [@a.rs](file:///work/a.rs)\n<context ref=\"file:///work/a.rs\">fn main() {}</context>",
                true,
            ),
            (
                vec![text("look at "), file(), text(".")],
                "look at @/work/a.rs. <context ref=\"file:///work/a.rs\">fn main() {}</context>",
                true,
            ),
            (vec![text("look at "), link()], "look at [@a.rs](file:///work/a.rs) and do it", false),
            (vec![text("this "), image()], "this [Image] and that", false),
            (vec![text("this "), image()], "this ![image](https://a/b.png)", true),
            (vec![link(), text(" what is "), link(), text("?")], "@a.rs what is @a.rs?", true),
            (vec![link(), text(" what is "), link(), text("?")], "what is @a.rs?", true),
            (vec![text("this "), image()], "this [Image #1]", true),
            (vec![image(), image(), text(" and this")], "<image><image> and this", true),
            (vec![text("this "), image()], "this and that", false),
            (vec![link()], "[@a.rs](file:///work/a.rs)", false),
            (vec![text("this")], "this", false),
        ] {
            let has_told = noted(&blocks).told_as(&letters(told)).is_some();
            assert_eq!(has_told, is_it, "{told}");
        }
    }
}
