//! What is told of a user's message, and which prompt that is.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use super::attached::AttachedPrompts;
use super::images::{self, Named};
use super::typed::without_elements;
use super::wanted::Wanted;
use crate::reconcile::turn::Strip;
use crate::reconcile::turn::sum::Sum;
use crate::reconcile::turn::text::Writer;
use crate::transcript::before_hook;

/// How much of a user's message is looked through for the layer's own words, which stand in front.
const LOOKED_THROUGH: usize = 256 * 1024;
/// At how many places of what is told as one message it is looked whether another begins.
const MOST_BEGUN: usize = 32;
/// Up to how many bytes it is looked whether what stands before such a place is prompts.
const LONGEST_BEFORE: usize = 16 * 1024;

/// What is told of a user's message that is under way.
#[derive(Debug, Default)]
pub(super) struct Heard {
    /// What the user said.
    said: String,
    /// What the user said with what is told among it of what clients have said in their prompts to the agent alone, if
    /// anything is.
    all: Option<String>,
    /// What stands in both for the addresses of images, and what these are.
    addresses: BTreeMap<String, Sum>,
    /// Images that were sent in prompts are told, and nothing else yet.
    is_images: bool,
    /// Something is told that is no text.
    has_attached: bool,
    /// Where more was said that need not be of the same message.
    begun: Vec<PossibleBeginning>,
}

/// A place in what the user said where another message may begin.
#[derive(Debug, Clone, Copy)]
struct PossibleBeginning {
    /// The entry with which it would.
    number: u64,
    /// How much was said before.
    length: usize,
    /// It has another id, or something that is no text was told before.
    is_sure: bool,
}

impl Heard {
    /// What the user said, with what stands for the addresses of images.
    pub(super) fn said(&self) -> &str {
        &self.said
    }

    /// Whether the user said more than is looked through.
    pub(super) fn is_long(&self) -> bool {
        self.said.len() > LOOKED_THROUGH
    }

    /// The user says more.
    pub(super) fn hear(&mut self, text: &str, attached: &AttachedPrompts) {
        let named = attached.named(text);
        let text = named.as_ref().map_or(text, |named| &named.text);
        self.said.push_str(text);
        self.hear_in_all(text);
        if let Some(Named { addresses, .. }) = named {
            self.addresses.extend(addresses);
        }
    }

    /// Writes a part of it as it was told.
    pub(super) fn write(&self, text: &str, writer: &mut Writer) {
        images::write(text, &self.addresses, writer);
    }

    /// The user adds something that is no text: an image that was sent in a prompt, or something else.
    pub(super) fn see(&mut self, is_sent_image: bool, is_first: bool) {
        self.is_images = self.said.is_empty() && is_sent_image && (is_first || self.is_images);
        self.has_attached = true;
    }

    /// With this entry the user may begin another message; `has_other_id` where the agent says so.
    pub(super) fn note_possible_beginning(&mut self, number: u64, has_other_id: bool) {
        if (!self.said.is_empty() || self.is_images) && self.begun.len() < MOST_BEGUN {
            let is_sure = has_other_id || self.has_attached;
            self.begun.push(PossibleBeginning { number, length: self.said.len(), is_sure });
        }
    }

    /// Where another message begins behind prompts of which nobody has seen more than those, if the whole is none that the user has sent:
    /// the entry, what was said up to there, and the rest.
    pub(super) fn parted(
        &self,
        strip: Strip,
        attached: &AttachedPrompts,
        wanted: &Wanted,
    ) -> Option<(u64, Self, Self)> {
        if self.all.is_some() || self.begun.is_empty() || !wanted.has_alone() {
            return None;
        }
        let is_alone = |place: &(usize, PossibleBeginning)| {
            let (at, PossibleBeginning { length, is_sure, .. }) = *place;
            if length > LONGEST_BEFORE {
                return false;
            }
            if length == 0 {
                return wanted.has_wordless_unanswered();
            }
            let before = self.part(0..length, at);
            let sent = before.as_sent(strip, attached, wanted);
            // What is attached to a prompt is not always told as such, and more often behind it than before it.
            let may_be_attached = !is_sure && Sum::of(&sent) == Sum::of(&before.said);
            let prompts = if is_sure { wanted.alone(&sent) } else { wanted.unanswered(&sent) };
            let has_more = || prompts.iter().any(|prompt| attached.is_prompt_with_more(*prompt));
            !prompts.is_empty() && (!may_be_attached || !has_more())
        };
        let (at, begun) = self.begun.iter().copied().enumerate().rev().find(is_alone)?;
        let sent = self.as_sent(strip, attached, wanted);
        if self.is_prompt(&sent, wanted) || !wanted.pieces_of(&sent).is_empty() {
            return None;
        }
        let PossibleBeginning { number, length, .. } = begun;
        Some((number, self.part(0..length, at), self.part(length..self.said.len(), 0)))
    }

    /// A part of what was said, with the first so many places in it where another message may begin.
    fn part(&self, range: Range<usize>, begun: usize) -> Self {
        let (said, addresses) = (self.said[range].to_owned(), self.addresses.clone());
        Self { said, addresses, begun: self.begun[..begun].to_vec(), ..Self::default() }
    }

    /// Something is told that a client has said to the agent alone.
    pub(super) fn hear_for_agent(&mut self, text: &str) {
        self.all.get_or_insert_with(|| self.said.clone());
        self.hear_in_all(text);
    }

    fn hear_in_all(&mut self, text: &str) {
        if let Some(all) = self.all.as_mut().filter(|all| all.len() <= LOOKED_THROUGH) {
            all.push_str(text);
        }
    }

    /// Whether this, which is a part of it, is a prompt.
    fn is_prompt(&self, text: &str, wanted: &Wanted) -> bool {
        let mut writer = Writer::default();
        self.write(text, &mut writer);
        wanted.is_prompt(writer.sum())
    }

    /// What the user has said, without what tells of something that was attached to a prompt.
    pub(super) fn as_sent(&self, strip: Strip, attached: &AttachedPrompts, wanted: &Wanted) -> Cow<'_, str> {
        let is_prompt = |text: &str| self.is_prompt(text, wanted);
        let is_of_prompts = |text: &str| !wanted.pieces_of(text).is_empty();
        let all = self.all.as_deref().filter(|all| all.len() <= LOOKED_THROUGH).map(strip).map(without_elements);
        let as_told = strip(&self.said);
        let as_told = before_hook(&as_told).map(|prompt| Cow::Owned(prompt.to_owned())).unwrap_or(as_told);
        let said = without_elements(as_told.clone());
        let told = || all.iter().chain([&said]);
        // What a client has said to the agent alone may be a prompt by itself, or a part of one.
        if let Some(prompt) = told().find(|text| is_prompt(text)) {
            return prompt.clone();
        }
        if let Some(prompts) = all.iter().find(|text| is_of_prompts(text)) {
            return prompts.clone();
        }
        // What was attached may have such elements in it.
        let with_elements = Some(&as_told).filter(|as_told| as_told.len() != said.len());
        let sent = told().chain(with_elements).find_map(|text| attached.as_sent(text, is_prompt, is_of_prompts));
        // One that nobody answered may have another message behind it.
        let is_told = |sent: &String| is_prompt(sent) && wanted.unanswered(sent).is_empty();
        let sent = sent.or_else(|| attached.told_in_parts(self.parts()?).filter(is_told));
        sent.map_or(said, |sent| without_elements(Cow::Owned(sent)))
    }

    /// What the user said, as it was told part by part, if all of it may be one message and is told as text.
    fn parts(&self) -> Option<impl Iterator<Item = &str>> {
        if self.has_attached || self.begun.iter().any(|begun| begun.is_sure) {
            return None;
        }
        let begins = self.begun.iter().map(|begun| begun.length);
        let ends = begins.clone().chain([self.said.len()]);
        Some([0].into_iter().chain(begins).zip(ends).map(|(begin, end)| &self.said[begin..end]))
    }
}
