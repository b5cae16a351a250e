//! What is told of a user's message, and which prompt that is.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::attached::AttachedPrompts;
use super::images::{self, Named};
use super::sum::Sum;
use super::text::Writer;
use super::turn::Strip;
use super::typed::without_elements;
use super::wanted::Wanted;
use crate::transcript::before_hook;

/// How much of a user's message is looked through for the layer's own words, which stand in front.
const LOOKED_THROUGH: usize = 256 * 1024;
/// At how many places of what is told as one message it is looked whether another begins.
const MOST_BEGUN: usize = 32;

/// What is told of a user's message that is under way.
#[derive(Debug, Default)]
pub(super) struct Heard {
    /// What the user said.
    said: String,
    /// The same with what is told among it of what clients have said in their prompts to the agent alone, if anything is.
    all: Option<String>,
    /// What stands in both for the addresses of images, and what these are.
    addresses: BTreeMap<String, Sum>,
    /// Images that were sent in prompts are told, and nothing else yet.
    is_images: bool,
    /// The entries with which more was said that need not be of the same message, and how much was said before each.
    begun: Vec<(u64, usize)>,
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
    }

    /// With this entry the user may begin another message.
    pub(super) fn may_begin(&mut self, number: u64) {
        if (!self.said.is_empty() || self.is_images) && self.begun.len() < MOST_BEGUN {
            self.begun.push((number, self.said.len()));
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
        if self.all.is_some() {
            return None;
        }
        let said_before = |length: usize| without_elements(strip(&self.said[..length]));
        let is_alone = |(_, length): &&(u64, usize)| match length {
            0 => wanted.has_wordless_unanswered(),
            length => wanted.is_unanswered(&said_before(*length), attached),
        };
        let (number, length) = *self.begun.iter().rev().find(is_alone)?;
        let sent = self.as_sent(strip, attached, wanted);
        let mut whole = Writer::default();
        self.write(&sent, &mut whole);
        if wanted.is_prompt(whole.sum()) || !wanted.pieces_of(&sent).is_empty() {
            return None;
        }
        let part = |said: &str| Self { said: said.to_owned(), addresses: self.addresses.clone(), ..Self::default() };
        let (before, behind) = self.said.split_at(length);
        Some((number, part(before), part(behind)))
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

    /// What the user has said, without what tells of something that was attached to a prompt.
    pub(super) fn as_sent(&self, strip: Strip, attached: &AttachedPrompts, wanted: &Wanted) -> Cow<'_, str> {
        let is_prompt = |text: &str| {
            let mut writer = Writer::default();
            self.write(text, &mut writer);
            wanted.is_prompt(writer.sum())
        };
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
        let sent = sent.or_else(|| attached.told_in_parts(self.parts()).filter(|sent| is_prompt(sent)));
        sent.map_or(said, |sent| without_elements(Cow::Owned(sent)))
    }

    /// What the user said, as it was told part by part.
    fn parts(&self) -> impl Iterator<Item = &str> {
        let begins = self.begun.iter().map(|(_, length)| *length);
        let ends = begins.clone().chain([self.said.len()]);
        [0].into_iter().chain(begins).zip(ends).map(|(begin, end)| &self.said[begin..end])
    }
}
