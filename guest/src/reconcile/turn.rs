//! What a conversation is made of.

pub(super) mod parts;
pub(super) mod places;
pub(super) mod sum;
mod tail;
pub(super) mod text;

use std::borrow::Cow;

use parts::Parts;
use places::Places;
use sum::Sum;
use text::Text;

/// How many prompts with no answer between are looked at that an agent may have put together.
pub(super) const MOST_JOINED: usize = 8;

/// Takes the layer's own words (the digest of a rehydration) out of what a user is said to have said.
pub type Strip = for<'a> fn(&'a str) -> Cow<'a, str>;

/// What a user said and what came of it: text, thoughts, tool calls and marks, up to the next thing a user said.
#[derive(Debug, Clone)]
pub struct Turn {
    /// Its entries. In a transcript they are counted from 1 over all segments, so that an entry's number is the position
    /// behind it; in a log they are the log's own.
    pub at: Places,
    /// The same number for all that readers are given as one turn: a client need not wait for the end of a turn with its
    /// next prompt.
    pub one_with: u32,
    /// A number of the window that it was had in, made of what its tag begins with; 0 where it has none.
    pub window: u16,
    /// What the user said. Empty before the first thing a user said, and where that was no text.
    pub user: Sum,
    /// What the agent said, thoughts excluded.
    pub agent: Text,
    /// Whether the agent took part in it: it went to its session, or to another. Not known of what no prompt through the
    /// layer began.
    pub took_part: Option<bool>,
    /// How it ended.
    pub outcome: Outcome,
    /// What the agent said by itself is a part of it. In its own account that may stand anywhere in it.
    pub has_aside: bool,
    /// The agent said that it has no such session, whatever it may have said before: the prompt is not in its session.
    pub refused: bool,
    /// The user called a slash command: the agent may record something else, or nothing, in the place of the prompt.
    pub is_command: bool,
    /// How much of it the agent's session need not have.
    pub uncopied: Uncopied,
    /// What it is known to be made of, and to hold.
    pub parts: Parts<Half>,
}

/// How much of a turn was written between when the agent was asked to fork its session and when it answered: it has copied what
/// there was at some time in between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Uncopied {
    Nothing,
    Some,
    /// It began then.
    All,
}

impl Uncopied {
    /// That of what is put together of the two.
    fn and(self, other: Self) -> Self {
        if self == other { self } else { Self::Some }
    }
}

/// How a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It came to its end, neither cut off nor cancelled nor failed.
    Finished,
    /// So it did, but in the agent's session it ends before the agent went on to work at it.
    FinishedElsewhere,
    /// It did not.
    CutOff,
    /// It failed, or was cancelled, before the agent said anything: the prompt need not have reached it, or stay there.
    Nothing,
}

/// A turn of which there is one half only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Half {
    /// What a user said, and nobody answered.
    Prompt(Sum),
    /// What an agent said, and nobody had asked.
    Answer(Sum),
}

impl Turn {
    /// Whether nobody says anything.
    pub fn is_silent(&self) -> bool {
        self.user.is_empty() && self.agent.sum().is_empty()
    }

    /// Whether both have said something in it.
    pub(super) fn has_both(&self) -> bool {
        !self.user.is_empty() && !self.agent.sum().is_empty()
    }

    /// What is said in it: by the user, and by the agent.
    pub(super) fn said(&self) -> (Sum, Sum) {
        (self.user, self.agent.sum())
    }

    /// Where its first entry would stand, had it been written when it was made.
    pub(super) fn begun_at(&self) -> u64 {
        self.at.begun_at()
    }

    /// Where its prompt would stand, had it been written when it was made. One without words is known by no more than what is one with
    /// it in the log, of which it may be the first.
    pub(super) fn asked_at(&self, log: &[Self]) -> u64 {
        let is_one = |turn: &&Self| self.user.is_empty() && turn.one_with == self.one_with;
        log.iter().filter(is_one).map(Self::begun_at).min().unwrap_or_else(|| self.begun_at())
    }

    /// Where the last entry stands that its own window has written.
    pub(super) fn ended_at(&self) -> u64 {
        self.at.ended_at()
    }

    /// Whether it was begun before that other one, in whichever window, had come to its end.
    pub(super) fn is_begun_before_end_of(&self, other: &Self) -> bool {
        self.begun_at() < other.ended_at()
    }

    /// Whether it came to its end, neither cut off nor cancelled nor failed.
    pub fn is_finished(&self) -> bool {
        matches!(self.outcome, Outcome::Finished | Outcome::FinishedElsewhere)
    }

    /// Whether it is a turn of the agent's that did not come to its end.
    fn was_cut_off(&self) -> bool {
        self.took_part == Some(true) && !self.is_finished() && !self.refused
    }

    /// Whether the agent may have kept its prompt alone: it did not come to its end, or called a slash command.
    pub(super) fn may_be_kept_in_part(&self) -> bool {
        !self.is_finished() || self.is_command
    }

    /// Whether it is that turn of the agent's, which was cut off in the log, with more of its answer.
    pub(super) fn tells_whole(&self, cut_off: &Self) -> bool {
        let (prompt, answer) = cut_off.said();
        cut_off.was_cut_off()
            && !prompt.is_empty()
            && self.user == prompt
            && self.agent.sum().length() > answer.length()
            && self.agent.begins_with(answer)
    }

    /// Whether it was cut off and the agent's turn lacks the end of its answer: the agent has lost that.
    pub(super) fn is_lost_in_part(&self, theirs: &Self) -> bool {
        self.was_cut_off()
            && self.uncopied == Uncopied::Nothing
            && theirs.agent.sum().length() < self.agent.sum().length()
    }

    /// Whether it came to its end, and that turn of the agent's is known to have the beginning of its answer alone.
    pub(super) fn is_told_in_part(&self, theirs: &Self) -> bool {
        let (answer, told) = (self.agent.sum(), theirs.agent.sum());
        self.is_finished() && !told.is_empty() && told != answer && self.agent.begins_with(told)
    }

    /// Whether it came to its end, and that turn of the agent's has its prompt alone, which is no command.
    pub(super) fn is_told_by_prompt(&self, theirs: &Self) -> bool {
        let is_answered = self.is_finished() && !self.is_command && !self.agent.sum().is_empty();
        is_answered && self.took_part == Some(true) && self.user == theirs.user && theirs.agent.sum().is_empty()
    }

    /// Whether it came to its end, and that turn of the agent's has less of its answer.
    pub(super) fn is_told_less_of(&self, theirs: &Self) -> bool {
        let told = theirs.agent.sum();
        let is_whole_elsewhere =
            self.took_part == Some(true) && self.is_finished() && self.uncopied == Uncopied::Nothing;
        is_whole_elsewhere && self.user == theirs.user && !told.is_empty() && told.length() < self.agent.sum().length()
    }

    /// Whether it was the last, and in that turn of the agent's the work is missing that the agent did in it at last.
    pub(super) fn is_finished_elsewhere(&self, theirs: &Self) -> bool {
        self.outcome == Outcome::FinishedElsewhere && self.is_told_less_of(theirs)
    }

    /// The agent has gone on with it here.
    pub(super) fn go_on(&mut self, rest: &Self) {
        self.lie_with(rest);
        self.parts.set_messages([self.messages(), rest.messages()].concat());
        self.agent = self.agent.followed_by(&rest.agent);
        if self.outcome == Outcome::Nothing && !self.agent.sum().is_empty() {
            self.outcome = Outcome::CutOff;
        }
        self.refused &= rest.agent.sum().is_empty();
    }

    /// The prompts of the other side that the user's words begin with, and go on.
    pub(super) fn begins(&self) -> impl Iterator<Item = Sum> {
        self.parts.begins().iter().copied()
    }

    /// The messages that the answer is made of, as far as they are told from each other.
    pub(super) fn messages(&self) -> Vec<Sum> {
        let all = self.agent.sum();
        if self.parts.messages().is_empty() && !all.is_empty() { vec![all] } else { self.parts.messages().to_vec() }
    }

    /// That one is a part of it, though it does not follow what is known of it.
    pub(super) fn lie_with(&mut self, part: &Self) {
        part.at.runs().for_each(|run| self.at = self.at.with(run));
    }

    /// It and that one are one.
    pub(super) fn join(&mut self, other: &Self) {
        let (begun_at, ended_at) = (self.begun_at().min(other.begun_at()), self.ended_at().max(other.ended_at()));
        self.parts.set_halves([self.prompts(), other.prompts()].concat());
        self.go_on(other);
        self.refused &= other.refused;
        self.is_command &= other.is_command;
        self.user = self.user.followed_by(other.user);
        self.took_part = self.took_part.max(other.took_part);
        self.at = std::mem::replace(&mut self.at, Places::none()).had_between(begun_at, ended_at);
        let is_of_nothing = other.outcome == Outcome::Nothing && self.outcome != Outcome::Nothing;
        self.outcome = if is_of_nothing { Outcome::CutOff } else { other.outcome };
        self.has_aside |= other.has_aside;
        self.uncopied = self.uncopied.and(other.uncopied);
    }

    /// What the user said in it, or in each of the turns that it was put together of.
    pub(super) fn prompts(&self) -> Vec<Half> {
        if self.parts.halves().is_empty() { vec![Half::Prompt(self.user)] } else { self.parts.halves().to_vec() }
    }

    /// What the user said in it, in the pieces that it was put together of, one behind the other, if they are known.
    pub(super) fn pieces(&self) -> Vec<Sum> {
        let prompts = self.parts.halves().iter().filter_map(|half| match half {
            Half::Prompt(prompt) => Some(*prompt),
            Half::Answer(_) => None,
        });
        let pieces: Vec<Sum> = prompts.collect();
        let is_all = pieces.iter().fold(Sum::default(), |all, piece| all.followed_by(*piece)) == self.user;
        if is_all { pieces } else { vec![self.user] }
    }

    /// The first of these pieces.
    pub(super) fn first_piece(&self) -> Sum {
        self.pieces().first().copied().unwrap_or_default()
    }

    /// The last of these pieces, if there are several.
    pub(super) fn last_of_several(&self) -> Option<Sum> {
        self.pieces().split_last().filter(|(_, before)| !before.is_empty()).map(|(last, _)| *last)
    }

    /// It, if it is half a turn.
    pub fn half(&self) -> Option<Half> {
        match (self.user, self.agent.sum()) {
            (user, agent) if agent.is_empty() && !user.is_empty() => Some(Half::Prompt(user)),
            (user, agent) if user.is_empty() && !agent.is_empty() => Some(Half::Answer(agent)),
            _ => None,
        }
    }

    /// Whether it was begun by what the user says in that one, or one of the turns that it was put together of was.
    pub(super) fn is_begun_by(&self, other: &Self) -> bool {
        !other.user.is_empty() && (self.user == other.user || self.parts.halves().contains(&Half::Prompt(other.user)))
    }

    /// Whether one of the turns that it was put together of was begun by what the user says in that other one, and not by
    /// the same in this one.
    pub(super) fn has_more_prompts(&self, one: &Self, other: &Self) -> bool {
        let as_often = self.parts.halves().iter().filter(|half| **half == Half::Prompt(other.user)).count();
        !other.user.is_empty() && as_often > usize::from(one.user == other.user)
    }

    /// Whether that one is half a turn, and this one is known to have it with more of the same kind before or after it:
    /// agents put together what one side said without an answer of the other.
    pub fn holds(&self, other: &Self) -> bool {
        other.half().is_some_and(|half| self.parts.halves().contains(&half))
    }
}

/// What is said in these turns, by the user and by the agent: agents join what was said in several, or take it apart.
pub(super) fn said_together<'a>(turns: impl IntoIterator<Item = &'a Turn>) -> (Sum, Sum) {
    turns.into_iter().fold((Sum::default(), Sum::default()), |(user, agent), turn| {
        (user.followed_by(turn.user), agent.followed_by(turn.agent.sum()))
    })
}
