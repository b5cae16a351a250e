//! A stream of entries as turns.

pub(super) mod asides;
mod attached;
pub(super) mod brought;
pub(super) mod compactions;
pub(super) mod event;
pub(super) mod grain;
mod heard;
mod images;
mod late;
mod marks;
pub(super) mod messages;
mod open_turn;
pub(super) mod pieces;
mod review;
mod typed;
mod wanted;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use super::compare::commands;
use super::turn::parts::Parts;
use super::turn::places::gaps;
use super::turn::sum::Sum;
use super::turn::{Outcome, Strip, Turn, Uncopied};
use crate::store::Known;
use crate::transcript::{Ended, Entry, Remark, WINDOW, is_in_answers, speakers};
use asides::{Apart, Asides};
use attached::AttachedPrompts;
use brought::Brought;
use compactions::Compactions;
use event::{Event, agents_text, text_of};
use grain::Grain;
use heard::Heard;
use late::Ends;
use open_turn::{Open, Speaking, is_plan};
use pieces::Pieces;
use typed::{as_typed, behind_directory, without_elements};
use wanted::Wanted;

/// Folds entries into turns.
#[derive(Debug)]
pub struct Fold {
    strip: Strip,
    grain: Grain,
    /// The agent that is to be told from others, by its name, and what it knows of the session.
    hearer: Option<(String, Known)>,
    /// What it says between turns is known by these.
    speaks_as: Vec<String>,
    /// The entries that are the first of another log than those before.
    joints: BTreeSet<u64>,
    turns: Vec<Turn>,
    /// Which of them are something that the hearer said by itself.
    asides: Vec<usize>,
    /// The tag that the last of them bears.
    tag: Option<String>,
    /// How many of them are not one with another before.
    begun: u32,
    open: Option<Open>,
    ends: Ends,
    compactions: Compactions,
    /// The prompts of a transcript with something attached.
    attached: Arc<AttachedPrompts>,
    /// The prompts of a transcript that are as summaries are.
    brought: Brought,
    wanted: Wanted,
}

/// What comes behind what is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WhatFollows {
    Nothing,
    AnotherTurn,
    /// More of the same turn, which is taken apart.
    MoreOfIt,
}

impl Fold {
    /// Of a transcript.
    pub fn new(strip: Strip) -> Self {
        Self::wanting(strip, Wanted::of_unfinished())
    }

    /// Of a replay that is to be compared with these turns of a transcript, of which the agent said some by itself.
    pub fn beside(strip: Strip, transcript: &[Turn], asides: &Asides) -> Self {
        Self::wanting(strip, Wanted::beside(transcript, asides))
    }

    /// Of messages that may be put together of these prompts.
    pub(super) fn of_pieces(strip: Strip, pieces: Pieces) -> Self {
        Self::wanting(strip, Wanted::of_pieces(pieces))
    }

    fn wanting(strip: Strip, wanted: Wanted) -> Self {
        Self {
            strip,
            grain: Grain::Turns,
            hearer: None,
            speaks_as: Vec::new(),
            joints: BTreeSet::new(),
            turns: Vec::new(),
            asides: Vec::new(),
            tag: None,
            begun: 0,
            open: None,
            ends: Ends::default(),
            compactions: Compactions::default(),
            attached: Arc::default(),
            brought: Brought::default(),
            wanted,
        }
    }

    /// Tells what this agent took part in from what others did.
    #[must_use]
    pub fn heard_by(self, agent: &str, known: Option<&Known>) -> Self {
        let speaks_as = known.map(|known| speakers(agent, known)).unwrap_or_default();
        Self { hearer: known.map(|known| (agent.to_owned(), known.clone())), speaks_as, ..self }
    }

    /// Of a transcript that these logs make up, by how many entries it has of each.
    #[must_use]
    pub(super) fn of_logs(self, lengths: impl Iterator<Item = u64>) -> Self {
        let mut end = 0;
        let joints = lengths.map(|length| {
            end += length;
            end + 1
        });
        Self { joints: joints.collect(), ..self }
    }

    /// Of a replay that may tell these prompts with what was attached to them as text, and those as what they seem to be.
    #[must_use]
    pub(super) fn knowing(self, attached: &Arc<AttachedPrompts>, brought: &Brought) -> Self {
        Self { attached: Arc::clone(attached), brought: brought.clone(), ..self }
    }

    /// Takes it apart into these.
    #[must_use]
    pub fn by(self, grain: Grain) -> Self {
        Self { grain, ..self }
    }

    /// The next entry, as the log holds it. What cannot be read belongs to the turn it stands in.
    pub fn push(&mut self, number: u64, text: &str) {
        let entry = Entry::parse(text);
        let speaker = entry.and_then(|entry| entry.speaker).filter(|_| self.hearer.is_some());
        let is_its_own = speaker.map(|speaker| self.speaks_as.iter().any(|own| own == speaker));
        if is_its_own.is_some() {
            // What an agent says between turns is no more of a turn of others.
            self.end_of_others(is_its_own);
        }
        let is_users = entry.and_then(|entry| entry.update_name()).is_some_and(|name| name == "user_message_chunk");
        if !is_users && self.grain == Grain::Turns {
            match is_its_own {
                Some(true) => self.begin_aside(number),
                Some(false) => self.end_of_turn(),
                None => {}
            }
        }
        self.take(number, text, entry);
        if let (Some(open), Some(entry)) = (&mut self.open, entry) {
            open.note_time(number, &entry);
            if let Some(tag) = entry.turn {
                open.tag.get_or_insert_with(|| tag.to_owned());
            }
        }
        if let Some(open) = self.open.as_mut().filter(|open| is_its_own.is_some() && open.places.is_just(number)) {
            open.took_part = is_its_own;
            if is_its_own == Some(true) && matches!(open.said, Speaking::Agent { .. }) {
                self.asides.push(self.turns.len());
            }
        }
    }

    /// What an entry says. What a user has said, as the transcript has it, is no remark.
    fn event<'a>(&self, text: &'a str) -> Event<'a> {
        match Event::parse(text) {
            Event::Remark { message, content, .. } if self.brought.has(content, self.is_at_beginning()) => {
                Event::User { message, content }
            }
            Event::Remark { remark: Remark::OfTurn | Remark::Stopped, message, content }
                if content.and_then(text_of).is_some_and(|text| self.is_prompt(text)) =>
            {
                Event::User { message, content }
            }
            event => event,
        }
    }

    /// Whether the user has given just this as a prompt, in the transcript.
    fn is_prompt(&self, text: Cow<'_, str>) -> bool {
        self.wanted.is_prompt(Sum::of(&without_elements(as_typed(text))))
    }

    /// A message that is told as the user's without the directory before it, unless it is a prompt with that.
    fn without_directory<'a>(&self, text: Cow<'a, str>) -> Cow<'a, str> {
        match behind_directory(&text).map(str::len) {
            Some(length) if !self.is_prompt(Cow::Borrowed(&text)) => Cow::Owned(text[text.len() - length..].to_owned()),
            _ => text,
        }
    }

    /// Whether nothing was told yet.
    fn is_at_beginning(&self) -> bool {
        self.open.is_none() && self.turns.is_empty()
    }

    fn take(&mut self, number: u64, text: &str, entry: Option<Entry<'_>>) {
        let event = self.event(text);
        if !matches!(event, Event::Agent { .. })
            && let Some(open) = &mut self.open
        {
            open.end_plan();
        }
        match event {
            Event::Prompt { blocks, with } => {
                let took_part = with.map(|(agent, id)| {
                    self.hearer.as_ref().is_some_and(|(own, known)| known.has_taken(own, (&agent, &id)))
                });
                // Each prompt is a turn: not all that were not waited for need have reached the agent, and of what was asked
                // without the layer, and not answered, it may tell something else later.
                self.close(WhatFollows::AnotherTurn);
                Arc::make_mut(&mut self.attached).note(&blocks);
                self.brought.note(&blocks);
                let begins = blocks.iter().find_map(|block| text_of(block)).unwrap_or_default();
                let (is_command, is_review) = (commands::is_call(&begins), review::is_call(&begins));
                self.user(number, None, blocks.into_iter().filter_map(text_of).map(as_typed));
                if let Some(open) = &mut self.open {
                    (open.is_ours, open.took_part, open.is_command) = (true, took_part, is_command);
                    if is_review {
                        open.review.call();
                    }
                }
            }
            Event::User { content: Some(content), .. }
                if text_of(content).is_some_and(|text| self.is_in_answer(&text)) =>
            {
                self.anything_else(number);
            }
            Event::User { message, content } => {
                // An echo is a part of the turn that it comes in.
                if entry.is_some_and(|entry| entry.turn.is_none() && entry.speaker.is_none()) {
                    self.end_of_others(None);
                }
                let text = content.and_then(text_of).map(|text| as_typed(self.without_directory(text)));
                let image = content.filter(|_| text.is_none()).map(|content| self.attached.has_image(content));
                self.user(number, message, text.into_iter());
                if let (Some(is_sent), Some(open)) = (image, &mut self.open) {
                    open.said.see(is_sent, open.places.is_just(number));
                }
            }
            Event::ForAgent { message, content } => {
                if entry.is_some_and(|entry| entry.turn.is_none() && entry.speaker.is_none()) {
                    self.end_of_others(None);
                }
                self.for_agent(number, message, text_of(content));
            }
            Event::Remark { remark, .. } => self.remark(number, remark),
            Event::Agent { message, content } => {
                self.agent(number, message);
                if let Some(text) = content.and_then(agents_text)
                    && let Some(open) = &mut self.open
                {
                    open.hear(&text, self.grain == Grain::Turns && message.is_some_and(is_plan));
                }
            }
            Event::Compaction if self.is_at_beginning() => self.remark(number, Remark::Summary),
            Event::Compaction => {
                self.agent(number, None);
                self.compacted(number);
            }
            Event::Compacting { call } if self.is_of_transcript() => {
                self.agent(number, None);
                self.compacted(number);
                self.compactions.begun_by(call);
            }
            Event::Failed { call } => {
                self.agent(number, None);
                self.compactions.failed(call);
            }
            Event::Compacting { .. } | Event::Done => self.agent(number, None),
            Event::End(ended) => {
                self.anything_else(number);
                if let Some(open) = &mut self.open {
                    open.ended = Some(ended);
                }
            }
            // A mark that was written before this turn began, and is shown behind all that is shown as one with it.
            Event::Other if self.open.as_ref().is_some_and(|open| number < open.places.start()) => {}
            Event::Other => self.anything_else(number),
        }
    }

    /// The turns of everything up to this number, without a gap.
    pub fn finish(self, until: u64) -> Vec<Turn> {
        self.finish_apart(until).joined()
    }

    /// The turns of everything up to this number, without a gap, and apart from them what the hearer said by itself.
    pub(super) fn finish_apart(mut self, until: u64) -> Apart {
        if until > 0 && self.open.is_none() {
            self.anything_else(until);
        }
        self.close(WhatFollows::Nothing);
        let asides = if self.grain == Grain::Turns { self.asides } else { Vec::new() };
        let mut turns = self.turns;
        // What an agent did at last belongs to what it said at last.
        if self.grain == Grain::Answers
            && let Some(last) = turns.pop_if(|last| last.is_silent())
        {
            match turns.last_mut() {
                Some(before) => last.at.runs().for_each(|run| before.at = before.at.with(run)),
                None => turns.push(last),
            }
        }
        for gap in gaps(turns.iter().map(|turn| &turn.at), until) {
            let before = gap.start() - 1;
            let its = turns.iter().position(|turn| turn.at.runs().any(|run| run.contains(&before)));
            if let Some(turn) = turns.get_mut(its.unwrap_or_default()) {
                turn.at = turn.at.with(gap);
            }
        }
        Apart { turns, asides, attached: self.attached, brought: self.brought, compactions: self.compactions }
    }

    /// What the hearer says now, between turns, is not said in the turn that a prompt has begun, nor in one that it told of
    /// before.
    fn begin_aside(&mut self, number: u64) {
        match &self.open {
            Some(open) if open.took_part != Some(true) => {}
            Some(open) if open.is_ours => self.close(WhatFollows::AnotherTurn),
            Some(_) if self.joints.contains(&number) => self.close(WhatFollows::Nothing),
            _ => {}
        }
    }

    /// What another session says between turns is not said in the turn that a prompt has begun.
    fn end_of_turn(&mut self) {
        if self.open.as_ref().is_some_and(|open| open.is_ours) {
            self.close(WhatFollows::AnotherTurn);
        }
    }

    /// What a user said to this agent is not joined with what went to another, though nobody has answered between.
    fn end_of_others(&mut self, took_part: Option<bool>) {
        let is_others = took_part == Some(false);
        if self.open.as_ref().is_some_and(|open| (open.took_part == Some(false)) != is_others) {
            self.close(WhatFollows::AnotherTurn);
        }
    }

    /// Something a user said.
    fn user<'a>(&mut self, number: u64, message: Option<&str>, texts: impl Iterator<Item = Cow<'a, str>>) {
        let mut texts = texts.peekable();
        // What is attached to a prompt is no other prompt.
        let has_text = texts.peek().is_some();
        let before = self.open.as_ref().and_then(|open| open.message.as_deref());
        let has_other_id = before.is_some() && before != message;
        if has_text && self.is_behind_prompt_alone(message) {
            self.close(WhatFollows::AnotherTurn);
        }
        self.go_on_with(number, message, |open| {
            message.is_some() && open.message.as_deref() == message || !has_text || !open.has_words()
        });
        let strip = self.strip;
        if let Some(open) = &mut self.open {
            if has_text && self.grain == Grain::Turns {
                open.said.note_possible_beginning(number, has_other_id);
            }
            texts.for_each(|text| open.said.hear(&text, strip, &self.attached));
        }
    }

    /// Ends what the user is saying at the last place where it is prompts that the agent may have kept alone, if the whole is nothing
    /// that the user has sent through the layer: what is told behind them was said elsewhere.
    fn part_from_alone(&mut self) {
        let Some(Open { said: Speaking::User(heard), .. }) = &self.open else { return };
        let Some((number, before, behind)) = heard.parted(self.strip, &self.attached, &self.wanted) else { return };
        let Some(open) = &mut self.open else { return };
        let Some(places) = open.places.split_off(number) else { return };
        let rest = open.parted(places, before, behind);
        self.close(WhatFollows::AnotherTurn);
        self.open = Some(rest);
    }

    /// Whether this message of the user's comes behind another that is all the agent has kept of a turn: of that the log has more. What
    /// is attached to a prompt may be told as a message by itself.
    fn is_behind_prompt_alone(&self, message: Option<&str>) -> bool {
        let Some(Open { said: Speaking::User(heard), message: before, .. }) = &self.open else { return false };
        if self.grain != Grain::Turns || message.is_none() || before.as_deref() == message {
            return false;
        }
        let prompt = Sum::of(&without_elements((self.strip)(heard.said())));
        !prompt.is_empty() && self.wanted.is_answered(prompt) && !self.attached.is_prompt(prompt)
    }

    /// Something that no user has said belongs to the turn under way; a summary of all before it, to what comes first, and what nobody is
    /// shown, to what it stands in.
    fn remark(&mut self, number: u64, remark: Remark) {
        match remark {
            Remark::Summary | Remark::Snapshot if self.is_at_beginning() => {
                self.compactions.is_first = true;
                self.entry(number);
            }
            Remark::Summary | Remark::Snapshot => {
                self.anything_else(number);
                self.compacted(number);
            }
            Remark::Hidden => {
                self.entry(number);
            }
            Remark::OfTurn | Remark::Stopped => self.anything_else(number),
        }
    }

    /// What was said before this entry, or some of it, was compacted.
    fn compacted(&mut self, number: u64) {
        if let Some(Open { said: Speaking::Agent { agent, .. }, .. }) = &self.open {
            self.compactions.note(number, agent.sum());
        }
    }

    fn is_of_transcript(&self) -> bool {
        matches!(self.wanted, Wanted::OfUnfinished { .. })
    }

    /// Whether the agent says this in its user's name in the midst of an answer: the user has not said it in any prompt, and the
    /// transcript has more of that answer than was told so far.
    fn is_in_answer(&self, text: &str) -> bool {
        let Some(Open { said: Speaking::Agent { user, agent, .. }, .. }) = &self.open else { return false };
        is_in_answers(text)
            && !self.wanted.is_prompt(Sum::of(text))
            && self.wanted.is_answered_at_length(*user, agent.sum())
    }

    /// Something that is told as the user's and is for the agent alone. It stands with what the user said, and is not that.
    fn for_agent(&mut self, number: u64, message: Option<&str>, text: Option<Cow<'_, str>>) {
        self.go_on_with(number, message, |open| {
            message.is_none() || open.message.as_deref() == message || !open.has_words()
        });
        if let (Some(open), Some(text)) = (&mut self.open, text.filter(|text| self.attached.has_for_agent(text))) {
            open.said.hear_for_agent(&text);
        }
    }

    /// An entry of what the user is saying, or of something else that is said next.
    fn go_on_with(&mut self, number: u64, message: Option<&str>, is_one_message: impl Fn(&Open) -> bool) {
        let goes_on = self.open.as_ref().is_some_and(|open| {
            matches!(open.said, Speaking::User(_) | Speaking::UserAtLength(_))
                && (self.grain != Grain::Prompts || is_one_message(open))
        });
        if !goes_on {
            self.close(WhatFollows::AnotherTurn);
        }
        let open = self.entry(number);
        open.message = message.map(str::to_owned);
    }

    /// Something the agent said or did.
    fn agent(&mut self, number: u64, message: Option<&str>) {
        if self.grain == Grain::Answers
            && let Some(open) = &self.open
            && open.is_behind_message(message)
        {
            let (is_ours, took_part) = (open.is_ours, open.took_part);
            self.close(WhatFollows::MoreOfIt);
            let more = self.entry(number);
            (more.is_ours, more.took_part) = (is_ours, took_part);
        }
        self.anything_else(number);
        if let Some(open) = self.open.as_mut().filter(|open| message.is_none() || open.message.as_deref() != message) {
            open.end_message();
            open.message = message.map(str::to_owned);
        }
    }

    /// Something that no user said: the user is done.
    fn anything_else(&mut self, number: u64) {
        self.part_from_alone();
        self.entry(number);
        self.finish_user();
    }

    /// An entry of the turn under way, or of a new one.
    fn entry(&mut self, number: u64) -> &mut Open {
        let open = self.open.get_or_insert_with(|| Open::at(number));
        open.places.push(number);
        open
    }

    fn finish_user(&mut self) {
        let Some(open) = &mut self.open else { return };
        let (user, pieces, begins) = match std::mem::replace(&mut open.said, Speaking::User(Heard::default())) {
            Speaking::User(heard) => {
                let text = heard.as_sent(self.strip, &self.attached, &self.wanted);
                let mut writer = self.wanted.of_user();
                heard.write(&text, &mut writer);
                (writer, self.wanted.pieces_of(&text), self.wanted.begun_by(&text))
            }
            Speaking::UserAtLength(writer) => (writer, Vec::new(), Vec::new()),
            said @ Speaking::Agent { .. } => {
                open.said = said;
                return;
            }
        };
        let held = if pieces.is_empty() { self.wanted.held_by_user(&user) } else { pieces };
        let user = user.finish().sum();
        let agent = self.wanted.of_agent(user);
        open.said = Speaking::Agent { user, agent, held, begins };
    }

    fn close(&mut self, behind: WhatFollows) {
        self.part_from_alone();
        self.finish_user();
        let Some(mut open) = self.open.take() else { return };
        open.end_plan();
        let Open {
            places,
            tag,
            is_ours,
            is_command,
            took_part,
            said: Speaking::Agent { user, mut agent, mut held, begins },
            review,
            messages,
            ended,
            made,
            ..
        } = open
        else {
            return;
        };
        review.finish(&mut agent);
        // Readers are given as one what bears one tag.
        if tag.is_none() || tag != self.tag {
            self.begun = self.begun.saturating_add(1);
        }
        self.tag = tag;
        let window = self.tag.as_deref().and_then(|tag| tag.get(..WINDOW)).map_or(0, window_number);
        let (mut at, one_with) = (places.places(), self.begun);
        if let Some(made) = made.filter(|_| is_ours) {
            let (begun_at, ended_at) = (self.ends.begun_at(&at, made.began), made.ended_at(at.end()));
            self.ends.note(&at, made.ended);
            at = at.had_between(begun_at, ended_at);
        }
        // What an agent replays has no ends; it came to one if something follows it.
        let finished = match behind {
            WhatFollows::Nothing => ended == Some(Ended::Well),
            WhatFollows::AnotherTurn => ended.map_or(!is_ours, |ended| ended == Ended::Well),
            WhatFollows::MoreOfIt => true,
        };
        let known = self.hearer.as_ref().map(|(_, known)| known).filter(|_| is_ours);
        let uncopied = match known.and_then(|known| known.uncopied_from((at.start(), at.end()))) {
            None => Uncopied::Nothing,
            Some(from) if at.start() < from => Uncopied::Some,
            Some(_) => Uncopied::All,
        };
        let finished = finished && uncopied == Uncopied::Nothing;
        held.extend(self.wanted.held_by_agent(&agent));
        let mut agent = agent.finish();
        let messages = messages.finish(agent.sum());
        self.wanted.note_rests(user, agent.sum());
        // An agent that replays less than it did has not forgotten the rest but changed it.
        let is_queued = self.turns.last().is_some_and(|before| before.one_with == one_with);
        agent = self.wanted.kept(agent, is_ours && (!finished || is_queued));
        let parts = Parts::of(held, messages, begins);
        let has_ended_well = matches!(ended, None | Some(Ended::Well));
        let outcome = match finished {
            true => Outcome::Finished,
            false if is_ours && !has_ended_well && agent.sum().is_empty() => Outcome::Nothing,
            false => Outcome::CutOff,
        };
        let refused = is_ours && ended == Some(Ended::Refused);
        // Prompts that were not waited for have one end in the log, and went to the same session.
        for before in self.turns.iter_mut().rev().take_while(|turn| turn.one_with == one_with) {
            before.refused |= refused;
            if outcome == Outcome::Nothing && before.agent.sum().is_empty() {
                before.outcome = Outcome::Nothing;
            }
        }
        let has_aside = false;
        self.turns.push(Turn {
            at,
            one_with,
            window,
            user,
            agent,
            took_part,
            outcome,
            has_aside,
            refused,
            is_command,
            uncopied,
            parts,
        });
    }
}

/// A number for a window, from the first letters of its turns' tags. Equal numbers may be two windows.
fn window_number(letters: &str) -> u16 {
    letters.bytes().fold(0, |number, letter| number.wrapping_mul(31).wrapping_add(letter.into()))
}
