//! A stream of log entries as turns.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::text::{Sum, Text, Writer};
use crate::storage::{Bounds, Result, Storage};
use crate::store::{Segment, Session};
use crate::transcript::{Entry, Kind};

/// Takes the layer's own words (the digest of a rehydration) out of what a user is said to have said.
pub type Strip = for<'a> fn(&'a str) -> Cow<'a, str>;

/// How much of a user's message is looked through for the layer's own words, which stand in front.
const LOOKED_THROUGH: usize = 256 * 1024;
/// How many bytes of unfinished answers are kept in all.
const KEPT_IN_ALL: usize = 4 * 1024 * 1024;
const BATCH: Bounds = Bounds { limit: 512, max_bytes: 256 * 1024 };

/// What a user said and what came of it: text, thoughts, tool calls and marks, up to the next thing a user said.
#[derive(Debug, Clone)]
pub struct Turn {
    /// Its entries, by number. In a transcript they are counted from 1 over all segments, so that an entry's number is
    /// the position behind it; in a log they are the log's own.
    pub at: RangeInclusive<u64>,
    /// What the user said. Empty before the first thing a user said, and where that was no text.
    pub user: Sum,
    /// What the agent said, thoughts excluded.
    pub agent: Text,
    /// Whether it came to its end, neither cut off nor cancelled nor failed.
    pub finished: bool,
}

impl Turn {
    /// Whether nobody says anything.
    pub fn is_silent(&self) -> bool {
        self.user.is_empty() && self.agent.sum().is_empty()
    }

    /// How many entries it has.
    pub fn length(&self) -> u64 {
        (self.at.end() + 1).saturating_sub(*self.at.start())
    }
}

/// Folds entries into turns.
#[derive(Debug)]
pub struct Fold {
    strip: Strip,
    turns: Vec<Turn>,
    open: Option<Open>,
    beginnings: Wanted,
}

/// What is to be known of the beginnings of answers.
#[derive(Debug)]
enum Wanted {
    /// Those of answers that the layer has seen cut off, as far as there is room.
    OfUnfinished { room: usize },
    /// For what a user said, those of these lengths.
    OfLength(BTreeMap<Sum, Vec<u64>>),
}

/// The turn under way.
#[derive(Debug)]
struct Open {
    first: u64,
    /// It went through the layer, so its end is in the log if it had one.
    is_ours: bool,
    said: Said,
    /// How it ended, if it did.
    ended_well: Option<bool>,
}

#[derive(Debug)]
enum Said {
    /// The user is speaking; the layer's own words are still to be taken out of this.
    User(String),
    /// The user is speaking at length.
    UserAtLength(Writer),
    /// The user is done.
    Agent { user: Sum, agent: Writer },
}

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(borrow)]
    update: Update<'a>,
}

#[derive(Deserialize)]
struct Update<'a> {
    #[serde(borrow, rename = "sessionUpdate")]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    text: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Prompt<'a> {
    #[serde(borrow)]
    prompt: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
struct End<'a> {
    #[serde(borrow, rename = "stopReason", default)]
    stop_reason: Option<Cow<'a, str>>,
}

impl Fold {
    /// Of a transcript.
    pub fn new(strip: Strip) -> Self {
        Self::wanting(strip, Wanted::OfUnfinished { room: KEPT_IN_ALL })
    }

    /// Of a replay that is to be compared with these turns of a transcript.
    pub fn beside(strip: Strip, transcript: &[Turn]) -> Self {
        let mut lengths: BTreeMap<Sum, Vec<u64>> = BTreeMap::new();
        for turn in transcript.iter().filter(|turn| !turn.finished && !turn.agent.sum().is_empty()) {
            lengths.entry(turn.user).or_default().push(turn.agent.sum().length());
        }
        Self::wanting(strip, Wanted::OfLength(lengths))
    }

    fn wanting(strip: Strip, beginnings: Wanted) -> Self {
        Self { strip, turns: Vec::new(), open: None, beginnings }
    }

    /// The next entry, as the log holds it. What cannot be read belongs to the turn it stands in.
    pub fn push(&mut self, number: u64, text: &str) {
        let Some(entry) = Entry::parse(text) else { return self.anything_else(number) };
        match entry.kind {
            Kind::Prompt => {
                let prompt: Option<Prompt<'_>> = serde_json::from_str(entry.json).ok();
                let blocks = prompt.map(|prompt| prompt.prompt).unwrap_or_default();
                self.user(number, blocks.into_iter().filter_map(block_text));
                if let Some(open) = &mut self.open {
                    open.is_ours = true;
                }
            }
            Kind::Update => {
                let Ok(Params { update }) = serde_json::from_str(entry.json) else { return self.anything_else(number) };
                match update.kind.as_ref() {
                    "user_message_chunk" => self.user(number, update.content.and_then(block_text).into_iter()),
                    "agent_message_chunk" => {
                        self.anything_else(number);
                        if let Some(text) = update.content.and_then(block_text)
                            && let Some(Open { said: Said::Agent { agent, .. }, .. }) = &mut self.open
                        {
                            agent.push(&text);
                        }
                    }
                    _ => self.anything_else(number),
                }
            }
            Kind::TurnEnd => {
                self.anything_else(number);
                let end: Option<End<'_>> = serde_json::from_str(entry.json).ok();
                let reason = end.and_then(|end| end.stop_reason);
                if let Some(open) = &mut self.open {
                    open.ended_well = Some(reason.is_some_and(|reason| reason != "cancelled"));
                }
            }
            _ => self.anything_else(number),
        }
    }

    /// The turns of everything up to this number, without a gap.
    pub fn finish(mut self, until: u64) -> Vec<Turn> {
        if until > 0 && self.open.is_none() {
            self.anything_else(until);
        }
        self.close(until, false);
        self.turns
    }

    fn user<'a>(&mut self, number: u64, texts: impl Iterator<Item = Cow<'a, str>>) {
        let is_speaking =
            self.open.as_ref().is_some_and(|open| matches!(open.said, Said::User(_) | Said::UserAtLength(_)));
        if !is_speaking {
            self.close(number - 1, true);
            self.open = Some(Open::at(number));
        }
        let strip = self.strip;
        if let Some(open) = &mut self.open {
            texts.for_each(|text| open.said.hear(&text, strip));
        }
    }

    /// Something that no user said: the user is done.
    fn anything_else(&mut self, number: u64) {
        let open = self.open.get_or_insert_with(|| Open::at(number));
        let user = match std::mem::replace(&mut open.said, Said::User(String::new())) {
            Said::User(text) => Sum::of(&(self.strip)(&text)),
            Said::UserAtLength(writer) => writer.finish().sum(),
            said @ Said::Agent { .. } => {
                open.said = said;
                return;
            }
        };
        let agent = match &self.beginnings {
            Wanted::OfUnfinished { room: 0 } => Writer::default(),
            Wanted::OfUnfinished { .. } => Writer::keeping(),
            Wanted::OfLength(lengths) => {
                lengths.get(&user).map(|lengths| Writer::watching(lengths)).unwrap_or_default()
            }
        };
        open.said = Said::Agent { user, agent };
    }

    fn close(&mut self, until: u64, goes_on: bool) {
        if self.open.is_none() {
            return;
        }
        self.anything_else(until);
        let Some(Open { first, is_ours, said: Said::Agent { user, agent }, ended_well }) = self.open.take() else {
            return;
        };
        // What an agent replays has no ends; it came to one if something follows it.
        let finished = ended_well.unwrap_or(goes_on && !is_ours);
        let mut agent = agent.finish();
        if let Wanted::OfUnfinished { room } = &mut self.beginnings {
            // An agent that replays less than it did has not forgotten the rest but changed it.
            if finished || !is_ours {
                agent = agent.settled();
            }
            *room = room.saturating_sub(agent.kept());
        }
        let first = if self.turns.is_empty() { 1 } else { first };
        self.turns.push(Turn { at: first..=until, user, agent, finished });
    }
}

impl Open {
    fn at(number: u64) -> Self {
        Self { first: number, is_ours: false, said: Said::User(String::new()), ended_well: None }
    }
}

impl Said {
    fn hear(&mut self, text: &str, strip: Strip) {
        match self {
            Self::User(heard) => {
                heard.push_str(text);
                if heard.len() > LOOKED_THROUGH {
                    let mut writer = Writer::default();
                    writer.push(&strip(heard));
                    *self = Self::UserAtLength(writer);
                }
            }
            Self::UserAtLength(writer) => writer.push(text),
            Self::Agent { .. } => {}
        }
    }
}

fn block_text(block: &RawValue) -> Option<Cow<'_, str>> {
    let block: Block<'_> = serde_json::from_str(block.get()).ok()?;
    block.text.filter(|_| block.kind == "text")
}

/// The turns of a session's transcript, its own log up to the entry `own_end`.
pub fn of_transcript<S: Storage>(storage: &S, session: &Session, own_end: u64, strip: Strip) -> Result<Vec<Turn>> {
    let own = Segment { log: session.id.clone(), from: session.tail, until: own_end };
    let mut fold = Fold::new(strip);
    let mut before = 0;
    for segment in session.segments.iter().chain([&own]) {
        read(storage, segment, |number, text| fold.push(before + number, text))?;
        before += segment.length();
    }
    Ok(fold.finish(before))
}

/// The turns of a replay that was recorded into this log, to be compared with those of a transcript.
pub fn of_replay<S: Storage>(storage: &S, staging: &str, transcript: &[Turn], strip: Strip) -> Result<Vec<Turn>> {
    let whole = Segment { log: staging.to_owned(), from: 1, until: storage.log_end(staging)? };
    let mut fold = Fold::beside(strip, transcript);
    read(storage, &whole, |number, text| fold.push(number, text))?;
    Ok(fold.finish(whole.length()))
}

/// Reads a part of a log, numbered from 1.
fn read<S: Storage>(storage: &S, segment: &Segment, mut take: impl FnMut(u64, &str)) -> Result<()> {
    let mut next = segment.from;
    while next <= segment.until {
        let page = storage.read_log(&segment.log, next, BATCH)?;
        for entry in page.entries.iter().filter(|entry| entry.seq <= segment.until) {
            take(entry.seq + 1 - segment.from, &entry.value);
        }
        let Some(last) = page.entries.last().filter(|_| page.more) else { break };
        next = last.seq + 1;
    }
    Ok(())
}
