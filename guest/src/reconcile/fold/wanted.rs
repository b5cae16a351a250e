//! What is to be known of turns besides the sums of what was said: how they begin, or end.

use std::collections::{BTreeMap, BTreeSet};

use super::asides::Asides;
use super::pieces::Pieces;
use crate::reconcile::turn::sum::Sum;
use crate::reconcile::turn::text::{Text, Writer};
use crate::reconcile::turn::{Half, Turn};

/// How many bytes of unfinished answers are kept in all.
const KEPT_IN_ALL: usize = 4 * 1024 * 1024;
/// For how many halves of turns, from the end of a transcript, it is looked whether a turn of a replay has them.
const MOST_HALVES: usize = 16;
/// How many finished answers to the same prompt a replay's answer is looked through for as its beginning, from the last.
const MOST_FINISHED: usize = 16;
/// For how many rests of answers it is looked whether a later turn of a replay ends with them.
const MOST_RESTS: usize = 16;

/// What is to be known.
#[derive(Debug)]
pub(super) enum Wanted {
    /// The beginnings of answers that the layer has seen cut off, as far as there is room.
    OfUnfinished { room: usize },
    /// What is to be known of turns that are compared with those of a transcript.
    Beside(Beside),
}

/// What is to be known of turns that are compared with those of a transcript.
#[derive(Debug, Default)]
pub(super) struct Beside {
    /// The answers of the transcript to what a user said, and whether each had come to its end.
    answers: BTreeMap<Sum, Vec<(Sum, bool)>>,
    /// The answers of turns to what a user said, before the agent went on with them by itself.
    gone_on: BTreeMap<Sum, Vec<Sum>>,
    /// It is to be known of these whether they are the beginning or the end of a turn.
    halves: Vec<Half>,
    /// Prompts of which that is to be known that stand one behind the other without an answer: what they are together,
    /// and which they are.
    joined: Vec<(Sum, Vec<Half>)>,
    /// What the user said to the agent: a message may be put together of it.
    pieces: Pieces,
    /// What the user said in turns through the layer of which the transcript has an answer, or a part of one.
    answered: BTreeSet<Sum>,
    unanswered: Box<Unanswered>,
    /// What the transcript has more of turns that have gone by: it may be the end of a later one.
    rests: Vec<Sum>,
}

/// What the user said in turns that have no answer, or came to no end: the agent may have nothing else of them.
#[derive(Debug, Default)]
struct Unanswered {
    prompts: Pieces,
    /// One has no words, but an image.
    has_wordless: bool,
}

impl Unanswered {
    fn of(transcript: &[Turn]) -> Self {
        let its = transcript.iter().filter(|turn| turn.took_part == Some(true));
        let its = its.filter(|turn| turn.agent.sum().is_empty() || !turn.is_finished());
        let has_wordless = its.clone().any(|turn| turn.user.is_empty() && turn.window != 0);
        Self { prompts: its.map(|turn| turn.user).collect(), has_wordless }
    }
}

impl Wanted {
    /// Of a transcript.
    pub(super) fn of_unfinished() -> Self {
        Self::OfUnfinished { room: KEPT_IN_ALL }
    }

    /// Of a replay that is to be compared with these turns, of which the agent said some by itself.
    pub(super) fn beside(transcript: &[Turn], asides: &Asides) -> Self {
        let mut answers: BTreeMap<Sum, Vec<(Sum, bool)>> = BTreeMap::new();
        for turn in transcript.iter().filter(|turn| !turn.agent.sum().is_empty()) {
            answers.entry(turn.user).or_default().push((turn.agent.sum(), turn.is_finished()));
        }
        let halves = transcript.iter().rev().filter_map(Turn::half).take(MOST_HALVES);
        let halves = halves.chain(asides.said.iter().rev().copied().take(MOST_HALVES));
        let halves = halves.chain(asides.prompts().take(MOST_HALVES)).collect();
        let mut gone_on: BTreeMap<Sum, Vec<Sum>> = BTreeMap::new();
        for (user, answer) in asides.behind.iter().rev().take(MOST_HALVES) {
            gone_on.entry(*user).or_default().push(*answer);
        }
        let its = transcript.iter().filter(|turn| turn.took_part != Some(false));
        let pieces = its.map(|turn| turn.user).collect();
        let answered = answered(transcript).collect();
        let (unanswered, joined) = (Box::new(Unanswered::of(transcript)), joined(transcript));
        Self::Beside(Beside { answers, gone_on, halves, joined, pieces, answered, unanswered, rests: Vec::new() })
    }

    /// Of messages that may be put together of these prompts.
    pub(super) fn of_pieces(pieces: Pieces) -> Self {
        Self::Beside(Beside { pieces, ..Beside::default() })
    }

    fn halves(&self) -> &[Half] {
        match self {
            Self::OfUnfinished { .. } => &[],
            Self::Beside(Beside { halves, .. }) => halves,
        }
    }

    fn joined(&self) -> &[(Sum, Vec<Half>)] {
        match self {
            Self::OfUnfinished { .. } => &[],
            Self::Beside(Beside { joined, .. }) => joined,
        }
    }

    /// For what a user says.
    pub(super) fn of_user(&self) -> Writer {
        let prompts = self.halves().iter().filter_map(|half| match half {
            Half::Prompt(sum) => Some(sum.length()),
            Half::Answer(_) => None,
        });
        let lengths: Vec<u64> = prompts.chain(self.joined().iter().map(|(sum, _)| sum.length())).collect();
        Writer::watching(&lengths).with_ends(lengths.into_iter())
    }

    /// For what an agent says to that.
    pub(super) fn of_agent(&self, user: Sum) -> Writer {
        match self {
            Self::OfUnfinished { room: 0 } => Writer::default(),
            Self::OfUnfinished { .. } => Writer::keeping(),
            Self::Beside(Beside { answers, gone_on, halves, rests, .. }) => {
                let (finished, cut_off): (Vec<_>, Vec<_>) =
                    answers.get(&user).into_iter().flatten().partition(|(_, finished)| *finished);
                let finished = finished.into_iter().rev().take(MOST_FINISHED);
                let answers = cut_off.into_iter().chain(finished).map(|(answer, _)| answer);
                let answers = answers.chain(gone_on.get(&user).into_iter().flatten().copied());
                let lengths: Vec<u64> = answers.map(Sum::length).collect();
                let halves = halves.iter().filter_map(|half| match half {
                    Half::Prompt(_) => None,
                    Half::Answer(sum) => Some(sum.length()),
                });
                Writer::watching(&lengths).with_ends(halves.chain(rests.iter().map(|rest| rest.length())))
            }
        }
    }

    /// Whether the user said just this to the agent.
    pub(super) fn is_prompt(&self, message: Sum) -> bool {
        matches!(self, Self::Beside(Beside { pieces, .. }) if pieces.contains(message))
    }

    /// Whether the user said just this in a turn of which the transcript has an answer: the agent may have kept nothing else of it, where
    /// the turn was cut off or the answer was a notice, or none of the model's.
    pub(super) fn is_answered(&self, message: Sum) -> bool {
        matches!(self, Self::Beside(Beside { answered, .. }) if answered.contains(&message))
    }

    /// The prompts that this is, one or several, if they are such as the agent may have kept alone.
    pub(super) fn unanswered(&self, message: &str) -> Vec<Sum> {
        self.all_unanswered().map(|all| all.prompts.all_of(message)).unwrap_or_default()
    }

    /// The prompts that this is, one or several, that were answered as well: of those the agent may have nothing else,
    /// either.
    pub(super) fn alone(&self, message: &str) -> Vec<Sum> {
        let Self::Beside(Beside { pieces, answered, unanswered, .. }) = self else { return Vec::new() };
        let prompts = pieces.all_of(message);
        let is_alone = |prompt: &Sum| answered.contains(prompt) || unanswered.prompts.contains(*prompt);
        if prompts.iter().all(is_alone) { prompts } else { Vec::new() }
    }

    /// Whether the agent may have kept any prompt alone.
    pub(super) fn has_alone(&self) -> bool {
        let Self::Beside(Beside { answered, unanswered, .. }) = self else { return false };
        unanswered.has_wordless || !unanswered.prompts.is_empty() || !answered.is_empty()
    }

    /// Whether the agent may have kept a prompt alone that has no words.
    pub(super) fn has_wordless_unanswered(&self) -> bool {
        self.all_unanswered().is_some_and(|all| all.has_wordless)
    }

    fn all_unanswered(&self) -> Option<&Unanswered> {
        match self {
            Self::OfUnfinished { .. } => None,
            Self::Beside(Beside { unanswered, .. }) => Some(unanswered),
        }
    }

    /// Whether the transcript has an answer to this that came to its end, and is longer.
    pub(super) fn is_answered_at_length(&self, user: Sum, answer: Sum) -> bool {
        let Self::Beside(Beside { answers, .. }) = self else { return false };
        let is_longer = |(other, is_finished): &(Sum, bool)| *is_finished && other.length() > answer.length();
        answers.get(&user).is_some_and(|answers| answers.iter().any(is_longer))
    }

    /// The prompts that the user's message was put together of.
    pub(super) fn pieces_of(&self, message: &str) -> Vec<Half> {
        let Self::Beside(Beside { pieces, .. }) = self else { return Vec::new() };
        pieces.of(message).into_iter().map(Half::Prompt).collect()
    }

    /// The prompts that the user's message begins with, and goes on.
    pub(super) fn begun_by(&self, message: &str) -> Vec<Sum> {
        let Self::Beside(Beside { pieces, .. }) = self else { return Vec::new() };
        pieces.begun_by(message)
    }

    /// What of the halves the user's message begins or ends with, and has more.
    pub(super) fn held_by_user(&self, user: &Writer) -> Vec<Half> {
        let ends = user.ends();
        let has = |sum: &Sum| *sum != user.sum() && (user.has_noted(*sum) || ends.contains(sum));
        let is_held = |half: &&Half| match half {
            Half::Prompt(sum) => has(sum),
            Half::Answer(_) => false,
        };
        let joined = self.joined().iter().filter(|(sum, _)| has(sum)).flat_map(|(_, prompts)| prompts);
        self.halves().iter().filter(is_held).chain(joined).copied().collect()
    }

    /// What of the halves the answer ends with, and has more; and what it ends with of the rests of turns before.
    pub(super) fn held_by_agent(&self, agent: &Writer) -> Vec<Half> {
        let ends = agent.ends();
        let is_held = |half: &&Half| match half {
            Half::Prompt(_) => false,
            Half::Answer(sum) => *sum != agent.sum() && ends.contains(sum),
        };
        let rests: &[Sum] = if let Self::Beside(Beside { rests, .. }) = self { rests } else { &[] };
        let rests = rests.iter().filter(|rest| ends.contains(rest)).map(|rest| Half::Answer(*rest));
        self.halves().iter().filter(is_held).copied().chain(rests).collect()
    }

    /// A turn has come to its end. Where the transcript has more of it, that may have come behind something else.
    pub(super) fn note_rests(&mut self, user: Sum, agent: Sum) {
        let Self::Beside(Beside { answers, rests, .. }) = self else { return };
        let is_more =
            |answer: &Sum, finished: bool| answer.length() > agent.length() && (!finished || agent.is_empty());
        let ours = answers.get(&user).into_iter().flatten().filter(|(answer, finished)| is_more(answer, *finished));
        rests.extend(ours.map(|(answer, _)| answer.behind(agent)));
        rests.drain(..rests.len().saturating_sub(MOST_RESTS));
    }

    /// An answer as it is kept. Of a transcript, only one that was cut off is with its beginnings.
    pub(super) fn kept(&mut self, answer: Text, is_cut_off: bool) -> Text {
        let Self::OfUnfinished { room } = self else { return answer };
        let answer = if is_cut_off { answer } else { answer.settled() };
        *room = room.saturating_sub(answer.kept());
        answer
    }
}

/// What the user said in turns through the layer of which the transcript has an answer. Of turns that came to their end and were had at
/// once an agent may tell all prompts before the answers, so these are not among them.
fn answered(transcript: &[Turn]) -> impl Iterator<Item = Sum> {
    let is_behind =
        |turn: &Turn, before: Option<&Turn>| before.is_none_or(|before| before.ended_at() < turn.at.start());
    let is_apart = move |at: usize, turn: &Turn| {
        let before = at.checked_sub(1).map(|before| &transcript[before]);
        is_behind(turn, before) && transcript.get(at + 1).is_none_or(|next| is_behind(next, Some(turn)))
    };
    let may_be_told_alone = move |at: usize, turn: &Turn| turn.may_be_kept_in_part() || is_apart(at, turn);
    let its = transcript.iter().enumerate().filter(|(_, turn)| turn.took_part == Some(true));
    let its = its.filter(|(_, turn)| !turn.agent.sum().is_empty());
    its.filter(move |(at, turn)| may_be_told_alone(*at, turn)).map(|(_, turn)| turn.user)
}

/// What prompts of a transcript that nobody answered are together with those behind them: some of the last.
fn joined(transcript: &[Turn]) -> Vec<(Sum, Vec<Half>)> {
    let halves: Vec<Option<Half>> = transcript.iter().map(Turn::half).collect();
    let from = halves.len().saturating_sub(MOST_HALVES);
    let mut joined = Vec::new();
    for first in from..halves.len() {
        let mut prompts = Vec::new();
        let mut sum = Sum::default();
        for half in &halves[first..] {
            let Some(Half::Prompt(prompt)) = half else { break };
            sum = sum.followed_by(*prompt);
            prompts.push(Half::Prompt(*prompt));
            if prompts.len() > 1 {
                joined.push((sum, prompts.clone()));
            }
        }
    }
    joined
}
