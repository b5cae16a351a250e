//! Prompts with a file or an image in them. Many an agent tells these as text, in words of its own: a link, a mention, the
//! file itself. A message that is such a prompt with something of that kind in the places of what was attached is that
//! prompt.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde::Deserialize;
use serde_json::value::RawValue;

use super::event::text_of;
use super::images::{Images, Named};
use super::marks::{self, Attached, letters};
use super::typed::outside_elements;
use crate::reconcile::turn::sum::Sum;
use crate::transcript::is_for_agent_alone;

/// How many prompts are known, the last ones.
const MOST: usize = 256;
/// How many bytes of text such a prompt has at most.
const LONGEST: usize = 16 * 1024;
/// How many marks of a message may tell of something attached.
const MOST_MARKS: usize = 32;
/// At how many places of a message what is attached may come to its end.
const MOST_PLACES: usize = 64;

/// Prompts with something attached.
#[derive(Debug, Clone, Default)]
pub(in crate::reconcile) struct AttachedPrompts {
    prompts: VecDeque<Prompt>,
    /// What was said in all of them, also in those that are known no more, to the agent alone.
    for_agent: BTreeSet<Sum>,
    /// The images in all of them.
    images: Images,
}

/// One of them.
#[derive(Debug, Clone)]
struct Prompt {
    /// The letters before what is attached, between that, and behind it.
    letters: Vec<String>,
    /// What its client said to the agent alone is among it.
    attached: Vec<Attached>,
    /// How many content blocks are attached behind each of these letters.
    blocks: Vec<usize>,
}

/// What is taken for something attached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Marks {
    /// What is that for sure.
    Sure,
    /// What looks like it, too.
    Likely,
}

/// A content block that is no text, as far as it says what is attached.
#[derive(Deserialize)]
struct Block<'a> {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    uri: Option<String>,
    #[serde(default)]
    name: Option<String>,
    #[serde(borrow, default)]
    data: Option<&'a RawValue>,
    #[serde(rename = "mimeType", default)]
    media_type: Option<String>,
    #[serde(borrow, default)]
    resource: Option<Resource<'a>>,
}

/// A file that is attached with what is in it.
#[derive(Deserialize, Default)]
struct Resource<'a> {
    #[serde(default)]
    uri: Option<String>,
    #[serde(default)]
    text: Option<String>,
    #[serde(borrow, default)]
    blob: Option<&'a RawValue>,
    #[serde(rename = "mimeType", default)]
    media_type: Option<String>,
}

impl AttachedPrompts {
    /// Notes a prompt of these blocks, if something is attached to it.
    pub(super) fn note(&mut self, blocks: &[&RawValue]) {
        let for_agent = blocks.iter().filter(|block| is_for_agent_alone(block.get()));
        self.for_agent.extend(for_agent.filter_map(|block| text_of(block)).map(|text| Sum::of(&text)));
        let Some(prompt) = Prompt::of(blocks, &mut self.images) else { return };
        if self.prompts.len() == MOST {
            self.prompts.pop_front();
        }
        self.prompts.push_back(prompt);
    }

    /// A text with what stands for the addresses of images that were sent, if it has any.
    pub(super) fn named(&self, text: &str) -> Option<Named> {
        self.images.named(text)
    }

    /// Whether this content block is an image that was sent in one of the prompts.
    pub(super) fn has_image(&self, block: &RawValue) -> bool {
        let block = serde_json::from_str::<Block<'_>>(block.get()).ok();
        block.and_then(|block| block.image(|address| self.images.has(address))).unwrap_or_default()
    }

    /// Whether a client has said this to the agent alone, in one of its prompts.
    pub(super) fn has_for_agent(&self, text: &str) -> bool {
        !self.for_agent.is_empty() && self.for_agent.contains(&Sum::of(text))
    }

    /// Whether this was said in one of these prompts.
    pub(super) fn is_prompt(&self, said: Sum) -> bool {
        self.prompts.iter().any(|prompt| Sum::of(&prompt.text()) == said)
    }

    /// Whether this was said in a prompt behind whose last words something was attached.
    pub(super) fn is_prompt_with_more(&self, said: Sum) -> bool {
        let has_more = |prompt: &&Prompt| prompt.letters.last().is_some_and(String::is_empty);
        self.prompts.iter().filter(has_more).any(|prompt| Sum::of(&prompt.text()) == said)
    }

    /// A message without what tells of something attached, if it is known to be what the user said then: a prompt, or else what
    /// `is_known` says of.
    pub(super) fn as_sent(
        &self,
        message: &str,
        is_prompt: impl Fn(&str) -> bool,
        is_known: impl Fn(&str) -> bool,
    ) -> Option<String> {
        if self.prompts.is_empty() {
            return None;
        }
        let letters = letters(message);
        let whole = |marks| self.told_as(&letters, marks).map(Prompt::text);
        // What a user says may have a mention or a link itself, which is not taken out of the prompt that has it.
        if let Some(prompt) = whole(Marks::Sure) {
            return Some(prompt);
        }
        let without_attached = self.without_attached(&letters);
        if is_prompt(&without_attached) {
            return Some(without_attached);
        }
        whole(Marks::Likely).or_else(|| is_known(&without_attached).then_some(without_attached))
    }

    /// The last prompt of which these are the content blocks, told by an agent that has other words for what is attached.
    pub(super) fn told_in_parts<'t>(&self, parts: impl Iterator<Item = &'t str>) -> Option<String> {
        if self.prompts.is_empty() {
            return None;
        }
        let parts: Vec<String> = parts.map(letters).collect();
        let prompt = self.prompts.iter().rev().find(|prompt| prompt.is_told_in_parts(&parts));
        prompt.filter(|_| parts.len() > 1).map(Prompt::text)
    }

    /// These letters without what tells of something attached.
    fn without_attached(&self, letters: &str) -> String {
        let (mut text, mut rest) = (String::new(), letters);
        for _ in 0..MOST_MARKS {
            let Some(at) = marks::next(rest) else { break };
            let (before, marked) = rest.split_at(at);
            text.push_str(before);
            let length = self.marked(marked);
            if length.is_none() {
                text.push_str(&marked[..1]);
            }
            rest = &marked[length.unwrap_or(1)..];
        }
        text + rest
    }

    /// How many bytes these letters begin with that tell of something attached to one of the prompts.
    fn marked(&self, told: &str) -> Option<usize> {
        let prompts = || self.prompts.iter().rev();
        let likely = || prompts().find_map(|prompt| marks::likely(&prompt.attached, told).first().copied());
        prompts().find_map(|prompt| marks::sure(&prompt.attached, told)).or_else(likely)
    }

    /// The prompt that these letters are, with what was attached to it told as text: of several that of which the fewest of them
    /// only look like something attached, since a file may have the words of another prompt in it, and of those the last.
    fn told_as(&self, letters: &str, marks: Marks) -> Option<&Prompt> {
        let told = self.prompts.iter().rev().filter_map(|prompt| Some((prompt.told_as(letters, marks)?, prompt)));
        told.min_by_key(|(guessed, _)| *guessed).map(|(_, prompt)| prompt)
    }
}

impl Block<'_> {
    /// What comes of the address that has all of the data of an image, if this is one.
    fn image<T>(&self, with: impl FnOnce(&[&str]) -> T) -> Option<T> {
        let resource = self.resource.as_ref();
        let (data, media_type) = match self.kind.as_str() {
            "image" => (self.data, self.media_type.as_deref()),
            _ => (resource?.blob, resource?.media_type.as_deref().filter(|kind| kind.starts_with("image/"))),
        };
        let data = string(data?)?;
        Some(with(&["data:", media_type?, ";base64,", &data]))
    }
}

/// The parts behind those that are this text.
fn behind_text<'p>(text: &str, parts: &'p [String]) -> Option<&'p [String]> {
    let (mut text, mut parts) = (text, parts);
    while !text.is_empty() {
        let (part, rest) = parts.split_first()?;
        (text, parts) = (text.strip_prefix(part.as_str())?, rest);
    }
    Some(parts)
}

/// What this JSON says, if it is a string.
fn string(json: &RawValue) -> Option<Cow<'_, str>> {
    match serde_json::from_str::<&str>(json.get()) {
        Ok(text) => Some(Cow::Borrowed(text)),
        // It has something escaped.
        Err(_) => serde_json::from_str::<String>(json.get()).ok().map(Cow::Owned),
    }
}

impl Prompt {
    fn of(blocks: &[&RawValue], images: &mut Images) -> Option<Self> {
        let mut prompt = Self { letters: vec![String::new()], attached: Vec::new(), blocks: Vec::new() };
        let (mut length, mut is_text) = (0, true);
        let has_words = |block: &RawValue| text_of(block).is_some_and(|text| !text.trim().is_empty());
        let is_users = |block: &RawValue| !is_for_agent_alone(block.get()) && has_words(block);
        for block in blocks {
            if let Some(more) = text_of(block) {
                length += more.len();
                // Some agents tell that among what the user said, some as what it is, and some leave it out.
                if is_for_agent_alone(block.get()) && blocks.iter().any(|block| is_users(block)) {
                    prompt.attached.push(Attached::file(std::iter::empty(), Some(&more)));
                    prompt.add_block();
                    is_text = false;
                    continue;
                }
                if !std::mem::replace(&mut is_text, true) {
                    prompt.letters.push(String::new());
                }
                prompt.letters.last_mut()?.push_str(&letters(&more));
                continue;
            }
            prompt.add_block();
            is_text = false;
            let block: Block<'_> = serde_json::from_str(block.get()).ok()?;
            let image = block.image(|address| images.note(address));
            let Block { kind, uri, name, resource, .. } = block;
            let Resource { uri: address, text, .. } = resource.unwrap_or_default();
            let names = [uri, name, address, image].into_iter().flatten();
            prompt.attached.push(Attached::file(names, text.as_deref()));
            if matches!(kind.as_str(), "image" | "audio") {
                prompt.attached.push(Attached::Medium(kind));
            }
        }
        if !is_text {
            prompt.letters.push(String::new());
        }
        let is_one = prompt.letters.len() > 1 && length <= LONGEST;
        is_one.then(|| prompt.without_elements())
    }

    /// Something is attached behind the last of its letters.
    fn add_block(&mut self) {
        self.blocks.resize(self.letters.len(), 0);
        self.blocks.last_mut().into_iter().for_each(|blocks| *blocks += 1);
    }

    /// Whether these parts of a message, one for each of its content blocks at most, are its letters with something else in the
    /// places of what is attached. Without letters any part could be that.
    fn is_told_in_parts(&self, parts: &[String]) -> bool {
        let mut ways = vec![parts];
        for (at, text) in self.letters.iter().enumerate() {
            let blocks = self.blocks.get(at).copied().unwrap_or_default();
            let behind = ways.into_iter().filter_map(|parts| behind_text(text, parts));
            ways = behind.flat_map(|parts| (0..=blocks.min(parts.len())).map(|told| &parts[told..])).collect();
            ways.truncate(MOST_PLACES);
        }
        ways.iter().any(|rest| rest.is_empty()) && self.letters.iter().any(|text| !text.is_empty())
    }

    /// The same without what agents leave out of a user's words, unless there is nothing else.
    fn without_elements(self) -> Self {
        let without = |text: &String| outside_elements(text).unwrap_or_else(|| text.clone());
        let letters: Vec<String> = self.letters.iter().map(without).collect();
        if letters.iter().all(String::is_empty) { self } else { Self { letters, ..self } }
    }

    /// What the user said in it.
    fn text(&self) -> String {
        self.letters.concat()
    }

    /// How many of these letters, in bytes, only look like something attached, if they are its own, with what is attached told in
    /// its places, before all or behind all: some tell a link where it was, and the file that it links to at the end.
    fn told_as(&self, told: &str, marks: Marks) -> Option<usize> {
        // Most prompts are something else, which is cheaper to see than where what is attached has its end.
        self.letters.iter().try_fold(told, |told, text| Some(told.split_once(text.as_str())?.1))?;
        let mut ends = BTreeMap::from([(0, 0)]);
        for text in &self.letters {
            let begins = self.behind_attached(told, marks, ends).into_iter();
            let is_told = |(at, _): &(usize, usize)| told[*at..].starts_with(text);
            ends = begins.filter(is_told).map(|(at, guessed)| (at + text.len(), guessed)).collect();
        }
        self.behind_attached(told, marks, ends).get(&told.len()).copied()
    }

    /// These places of a message, and those behind them where nothing is between but what tells of something attached; each with how
    /// many letters before it only look like that.
    fn behind_attached(&self, told: &str, marks: Marks, mut places: BTreeMap<usize, usize>) -> BTreeMap<usize, usize> {
        let mut from = 0;
        for _ in 0..MOST_PLACES {
            let Some((at, guessed)) = places.range(from..).next().map(|(at, guessed)| (*at, *guessed)) else { break };
            from = at + 1;
            let rest = &told[at..];
            let likely = if marks == Marks::Likely { marks::likely(&self.attached, rest) } else { Vec::new() };
            let marked = marks::sure(&self.attached, rest).into_iter().chain(marks::bare(&self.attached, rest));
            let ends = marked.map(|length| (length, 0)).chain(likely.into_iter().map(|length| (length, length)));
            for (length, more) in ends {
                let fewest = places.entry(at + length).or_insert(usize::MAX);
                *fewest = (guessed + more).min(*fewest);
            }
        }
        places
    }
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
        let file_named = |name: &str, text: &str| {
            let uri = format!("file:///a(b)/{name}");
            json!({"type": "resource", "resource": {"uri": uri, "text": text}})
        };
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
            (vec![text("this "), image()], "this \n[screenshot]", true),
            (vec![image()], "[screenshot]", true),
            (vec![image(), image()], "[screenshot]\n[screenshot]", true),
            (vec![link()], "[screenshot]", false),
            (vec![text("this "), image()], "this and that", false),
            (vec![link()], "[@a.rs](file:///work/a.rs)", true),
            (vec![link()], "[@a.rs](file:///work/a.rs) now", false),
            (vec![image()], "[Image #1]", true),
            (vec![image()], "[draft]", false),
            (vec![text("look at "), link(), text(" now")], "look at \n[Context] file:///work/a.rs now", true),
            (vec![text("look at "), link()], "look at \n[Context] file:///work/a.rs", true),
            (vec![text("look at "), link(), text(" now")], "look at \n[Context] file:///work/b.rs now", false),
            (vec![text("look at "), link(), text(" now")], "look at \n[Context] a.rs now", false),
            (vec![text("look at "), link(), text(" now")], "look at \n[Context] file:///work/a.rs:1 now", false),
            (vec![image()], "<div>", false),
            (vec![file(), file()], "<context ref=\"file:///work/a.rs\">fn main() {}</context> @a.rs", true),
            (vec![text("this")], "this", false),
            (
                vec![text("this "), file(), image()],
                "this [@a.rs](file:///work/a.rs)[image]<context ref=\"file:///work/a.rs\">fn main() {}</context>",
                true,
            ),
            (vec![image(), text(" in "), file()], "<image/png> in <file path=\"a.rs\">fn main() { 1 }</file>", true),
            (vec![text("this "), file()], "<context ref=\"file:///work/a.rs\">fn main() {}</context> this", true),
            (vec![text("look at "), link()], "look at file:///work/a.rs", true),
            (vec![text("look at "), file()], "look at fn main() {}", true),
            (vec![text("look at "), file()], "look at fn main() {} and more", false),
            (
                vec![text("a <b> @c "), file(), text(" > [d](e) --- f")],
                "a <b> @c @file:///work/a.rs > [d](e) --- f\n--- Content from referenced context ---\n\
                 Content from @file:///work/a.rs:\nfn main() {}",
                true,
            ),
            (
                vec![text("look at "), link(), text(" now")],
                "look at @/work/a.rs now\n--- Content from referenced files ---\nContent from @/work/a.rs:\n\
                 fn main() {}\n--- End of content ---",
                true,
            ),
            (
                vec![text("look at "), link(), text(" now")],
                "look at @/work/a.rs\n--- Content from referenced files ---\nContent from @/work/a.rs:\nnow",
                false,
            ),
            (
                vec![
                    text("this "),
                    json!({"type": "image", "data": "aGk=", "mimeType": "image/png", "uri": "file:///a/b.png"}),
                ],
                "this @b.png",
                true,
            ),
            (vec![image(), text("look at "), link()], "[image]look at [@a.rs](file:///work/a.rs)", true),
            (vec![text("look at "), file_named("[id].rs", "")], "look at [@[id].rs](file:///a(b)/[id].rs)", true),
            (
                vec![text("look at "), file_named("x.md", "</context> and </context>")],
                "look at <context ref=\"file:///a(b)/x.md\"></context> and </context></context>",
                true,
            ),
        ] {
            let (prompts, told_letters) = (noted(&blocks), letters(told));
            let is_told_by = |marks| prompts.told_as(&told_letters, marks).is_some();
            let has_told = is_told_by(Marks::Sure) || is_told_by(Marks::Likely);
            assert_eq!(has_told, is_it, "{told}");
        }
    }

    #[test]
    fn what_is_attached_is_taken_out_of_what_was_said_with_it_and_nothing_more() {
        let file = |name: &str, text: &str| json!({"type": "resource", "resource": {"uri": format!("file:///work/{name}"), "text": text}});
        let context = |name: &str, text: &str| format!("<context ref=\"file:///work/{name}\">\n{text}\n</context>");
        let section = |name: &str, text: &str| {
            format!("\n--- Content from referenced context ---\nContent from @file:///work/{name}:\n{text}")
        };
        let prompts = noted(&[
            json!({"type": "text", "text": "and fix it"}),
            file("a.rs", "a<b>()"),
            json!({"type": "text", "text": "and @b.rs"}),
            file("b.rs", "--- </context>"),
        ]);
        let (one, other) = (context("a.rs", "a<b>()"), context("b.rs", "--- </context>"));
        let (one_section, other_section) = (section("a.rs", "a<b>()"), section("b.rs", "--- </context>"));
        for (told, known, expected) in [
            (format!("and fix it{one}and @b.rs{other}"), "andfixit", Some("andfixitand@b.rs")),
            (format!("and fix it{one}and @b.rs{other}No"), "andfixitandNo", Some("andfixitandNo")),
            (format!("and fix it{one}{other}"), "andfixit", Some("andfixit")),
            (format!("and fix it and @b.rs{one_section}{other_section}"), "andfixit", Some("andfixitand@b.rs")),
            (format!("No, do it{one_section} then"), "No,doitthen", Some("No,doitthen")),
            (format!("and fix it{one}or not"), "andfixit", None),
        ] {
            assert_eq!(prompts.as_sent(&told, |text| text == known, |_| false).as_deref(), expected, "{told}");
        }
    }
}
