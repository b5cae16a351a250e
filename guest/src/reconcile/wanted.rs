//! What is to be known of turns besides the sums of what was said: how they begin, or end.

use std::collections::BTreeMap;

use super::text::{Sum, Text, Writer};
use super::turn::{Half, Turn};

/// How many bytes of unfinished answers are kept in all.
const KEPT_IN_ALL: usize = 4 * 1024 * 1024;
/// For how many halves of turns, from the end of a transcript, it is looked whether a turn of a replay has them.
const MOST_HALVES: usize = 16;

/// What is to be known.
#[derive(Debug)]
pub(super) enum Wanted {
    /// The beginnings of answers that the layer has seen cut off, as far as there is room.
    OfUnfinished { room: usize },
    /// For what a user said, the beginnings of the answers of these lengths; and what of these halves of turns is the
    /// beginning or the end of one.
    Beside { lengths: BTreeMap<Sum, Vec<u64>>, halves: Vec<Half> },
}

impl Wanted {
    /// Of a transcript.
    pub(super) fn of_unfinished() -> Self {
        Self::OfUnfinished { room: KEPT_IN_ALL }
    }

    /// Of a replay that is to be compared with these turns.
    pub(super) fn beside(transcript: &[Turn]) -> Self {
        let mut lengths: BTreeMap<Sum, Vec<u64>> = BTreeMap::new();
        for turn in transcript.iter().filter(|turn| !turn.finished && !turn.agent.sum().is_empty()) {
            lengths.entry(turn.user).or_default().push(turn.agent.sum().length());
        }
        let halves = transcript.iter().rev().filter_map(Turn::half).take(MOST_HALVES).collect();
        Self::Beside { lengths, halves }
    }

    fn halves(&self) -> &[Half] {
        match self {
            Self::OfUnfinished { .. } => &[],
            Self::Beside { halves, .. } => halves,
        }
    }

    /// For what a user says.
    pub(super) fn of_user(&self) -> Writer {
        let prompts = self.halves().iter().filter_map(|half| match half {
            Half::Prompt(sum) => Some(sum.length()),
            Half::Answer(_) => None,
        });
        let lengths: Vec<u64> = prompts.collect();
        Writer::watching(&lengths).with_ends(lengths.into_iter())
    }

    /// For what an agent says to that.
    pub(super) fn of_agent(&self, user: Sum) -> Writer {
        match self {
            Self::OfUnfinished { room: 0 } => Writer::default(),
            Self::OfUnfinished { .. } => Writer::keeping(),
            Self::Beside { lengths, halves } => {
                let watching = lengths.get(&user).map(|lengths| Writer::watching(lengths)).unwrap_or_default();
                watching.with_ends(halves.iter().filter_map(|half| match half {
                    Half::Prompt(_) => None,
                    Half::Answer(sum) => Some(sum.length()),
                }))
            }
        }
    }

    /// What of the halves the user's message begins or ends with, and has more.
    pub(super) fn held_by_user(&self, user: &Writer) -> Vec<Half> {
        let ends = user.ends();
        let is_held = |half: &&Half| match half {
            Half::Prompt(sum) => *sum != user.sum() && (user.has_noted(*sum) || ends.contains(sum)),
            Half::Answer(_) => false,
        };
        self.halves().iter().filter(is_held).copied().collect()
    }

    /// What of the halves the answer ends with, and has more.
    pub(super) fn held_by_agent(&self, agent: &Writer) -> Vec<Half> {
        let ends = agent.ends();
        let is_held = |half: &&Half| match half {
            Half::Prompt(_) => false,
            Half::Answer(sum) => *sum != agent.sum() && ends.contains(sum),
        };
        self.halves().iter().filter(is_held).copied().collect()
    }

    /// An answer as it is kept. Of a transcript, only one that was cut off is with its beginnings.
    pub(super) fn kept(&mut self, answer: Text, is_cut_off: bool) -> Text {
        let Self::OfUnfinished { room } = self else { return answer };
        let answer = if is_cut_off { answer } else { answer.settled() };
        *room = room.saturating_sub(answer.kept());
        answer
    }
}
