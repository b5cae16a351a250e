//! All that is said in some turns, to be compared with what is said in others, whatever is said in which of them.

use std::collections::BTreeSet;

use crate::reconcile::turn::Turn;
use crate::reconcile::turn::sum::Sum;
use crate::reconcile::turn::text::Letters;

/// Of how many turns that did not come to their end it is looked which the agent tells by their prompts alone, or not at all.
const MOST_CUT_OFF: usize = 6;

/// What the user and the agent say in some turns, whatever is said in which of them.
#[derive(Debug, Clone, Default)]
pub(super) struct AllSaid {
    /// The prompts, one behind the other; and each, in any order.
    pub(super) asked: Sum,
    prompts: Letters,
    /// The answers, one behind the other; and all that they are made of, in any order.
    answered: Sum,
    pub(super) letters: Letters,
    /// What each answer is made of that did not come to its end, and of which nothing need be told.
    cut_off: Vec<Letters>,
    /// The prompts of turns that did not come to their end, of which some are not told.
    unanswered: Vec<Letters>,
    /// The other answers, one behind the other.
    told: Sum,
    turns: usize,
}

impl AllSaid {
    /// A turn that the user begins with these prompts.
    pub(super) fn add(&mut self, turn: &Turn, prompts: &[Sum]) {
        self.asked = prompts.iter().fold(self.asked, |all, prompt| all.followed_by(*prompt));
        self.prompts = prompts.iter().fold(self.prompts, |all, prompt| all.and(Letters::of_sum(*prompt)));
        self.letters = self.letters.and(turn.agent.letters());
        self.answered = self.answered.followed_by(turn.agent.sum());
        self.told = self.told.followed_by(turn.agent.sum());
        self.turns += 1;
    }

    /// A prompt by itself.
    pub(super) fn add_prompt(&mut self, prompt: Sum) {
        self.asked = self.asked.followed_by(prompt);
        self.prompts = self.prompts.and(Letters::of_sum(prompt));
        self.turns += 1;
    }

    /// Adds a turn of the log: where it did not come to its end, the agent need not tell what was answered, nor the
    /// prompt, if it tells fewer of those.
    pub(super) fn add_ours(&mut self, turn: &Turn, has_end: bool, is_queued: bool, untold: &BTreeSet<Sum>) {
        let told = self.told;
        self.add(turn, &[turn.user]);
        // Which of the prompts that were not waited for was refused need not be known.
        let may_be_left_out = turn.window != 0 && (is_queued || !turn.is_finished());
        let is_left_out = may_be_left_out && untold.contains(&turn.user);
        if is_left_out && self.unanswered.len() < MOST_CUT_OFF {
            self.unanswered.push(Letters::of_sum(turn.user));
        }
        if turn.took_part == Some(true) && !turn.is_finished() && !turn.agent.sum().is_empty() {
            if has_end {
                self.told = told;
            }
            if self.cut_off.len() < MOST_CUT_OFF {
                self.cut_off.push(turn.agent.letters());
            }
        }
    }

    /// Whether that one has all that is answered, but for some of what may be left out of it.
    fn is_answered_by(&self, other: &Self) -> bool {
        is_without(self.letters, other.letters, &self.cut_off)
    }

    /// Whether that one has all that is asked, but for some of what may be left out of it.
    fn is_asked_by(&self, other: &Self) -> bool {
        self.asked == other.asked || is_without(self.prompts, other.prompts, &self.unanswered)
    }

    /// Whether both say the same: of what was said at the same time, in whichever order. Otherwise nothing is left out of what was
    /// answered, but where the other has prompts of several turns as one.
    pub(super) fn is_same(&self, other: &Self, is_at_once: bool) -> bool {
        if is_at_once {
            return self.is_asked_by(other) && self.is_answered_by(other);
        }
        let is_answered = self.answered == other.answered || self.told == other.answered && self.turns > other.turns;
        is_answered && self.asked == other.asked && self.prompts == other.prompts
    }
}

/// Whether `rest` is all of these letters without some of what may be left out.
fn is_without(all: Letters, rest: Letters, left_out: &[Letters]) -> bool {
    let mut ways = vec![rest];
    for left_out in left_out {
        let with: Vec<Letters> = ways.iter().map(|letters| letters.and(*left_out)).collect();
        ways.extend(with);
    }
    ways.contains(&all)
}
