//! Turns of the log that their agent tells as several, or with their prompt twice. The prompt may be told once more in the midst of what
//! was answered to it: opencode does so where it had to compact the conversation first, behind the summary. And behind a command an agent
//! may tell the prompts that it gave itself for it: Kimi CLI does for a flow, the first right behind the command; where it goes on by
//! itself until the task is done, that first one is what the user said. What the log has of such a turn is compared as one turn, and
//! stays as it is.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::iter::once;
use std::ops::Range;

use super::joining::{self, Same};
use super::together::Together;
use crate::reconcile::turn::Turn;
use crate::reconcile::turn::sum::Sum;

/// As how many turns one is told at most.
const MOST: usize = 64;

/// Both sides, in which such turns of the replay are one.
pub(in crate::reconcile) fn joined<'a>(log: &'a [Turn], replay: &'a [Turn]) -> (Cow<'a, [Turn]>, Cow<'a, [Turn]>) {
    let has_commands = log.iter().any(|turn| turn.is_command);
    let mut same = Vec::new();
    let mut ours: Option<Ours<'_>> = None;
    // What both begin with is told as it was.
    let alike = log.iter().zip(replay).take_while(|(ours, theirs)| ours.said() == theirs.said()).count();
    let mut free = (alike, alike);
    for (first, turn) in replay.iter().enumerate() {
        let is_asked_again = || replay.get(first + 1).is_some_and(|next| next.user == turn.user);
        let may_be_one = !turn.user.is_empty() && (has_commands || turn.begins().next().is_some() || is_asked_again());
        if first < free.1 || !may_be_one {
            continue;
        }
        let ours = ours.get_or_insert_with(|| Ours::of(log));
        if let Some((at, told)) = ours.told_from(free.0, replay, first) {
            free = (at + 1, told.end);
            same.push(Same { turns: vec![at], told });
        }
    }
    joining::joined(log, replay, same, Vec::new())
}

/// The log's side.
struct Ours<'a> {
    log: &'a [Turn],
    /// Where each turn of the agent's own stands, by what is said in it.
    places: BTreeMap<(Sum, Sum), Vec<usize>>,
    /// What the user has said, and where.
    prompts: BTreeMap<Sum, Vec<usize>>,
    /// What is one to readers.
    together: Together,
}

impl<'a> Ours<'a> {
    fn of(log: &'a [Turn]) -> Self {
        let mut places: BTreeMap<(Sum, Sum), Vec<usize>> = BTreeMap::new();
        for (at, turn) in log.iter().enumerate().filter(|(_, turn)| turn.took_part != Some(false)) {
            places.entry(turn.said()).or_default().push(at);
        }
        let mut prompts: BTreeMap<Sum, Vec<usize>> = BTreeMap::new();
        for (at, turn) in log.iter().enumerate() {
            prompts.entry(turn.user).or_default().push(at);
        }
        Self { log, places, prompts, together: Together::of(log.iter()) }
    }

    /// The turn, from this one on, that these turns of the replay tell, from their `first` on.
    fn told_from(&self, free: usize, replay: &[Turn], first: usize) -> Option<(usize, Range<usize>)> {
        let begun = &replay[first];
        once(begun.user).chain(begun.begins()).filter(|prompt| self.prompts.contains_key(prompt)).find_map(|prompt| {
            let mut answer = Sum::default();
            for (told, end) in replay[first..].iter().take(MOST).zip(first + 1..) {
                let is_users_own = told.user.is_empty() || self.prompts.contains_key(&told.user);
                if end > first + 1 && told.user != begun.user && is_users_own {
                    return None;
                }
                answer = answer.followed_by(told.agent.sum());
                let places = self.places.get(&(prompt, answer)).filter(|_| !told.agent.sum().is_empty());
                let told = &replay[first..end];
                // One that may be told with the same prompt beside it is, and what is told twice is behind it.
                let may_be_two = |at: &usize| told.len() == 1 && self.is_beside_same_prompt(*at);
                if told.len() == 1 && begun.user != prompt.followed_by(prompt) {
                    continue;
                }
                let places = places.into_iter().flatten().copied().filter(|at| *at >= free);
                let place = places.take_while(|at| !may_be_two(at)).find(|at| self.is_told_by(*at, told));
                if let Some(at) = place {
                    return Some((at, first..end));
                }
            }
            None
        })
    }

    /// Whether these turns, which have just the answer of this one, tell nothing else.
    fn is_told_by(&self, at: usize, told: &[Turn]) -> bool {
        let Some((first, more)) = told.split_first() else { return false };
        let turn = &self.log[at];
        // That it has the prompt twice is known by then.
        if more.is_empty() {
            return !turn.is_command;
        }
        let is_asked_again = || {
            let before_last = &told[..told.len() - 1];
            !self.together.is_queued(turn)
                && told.iter().all(|told| told.user == turn.user)
                && before_last.iter().all(|told| !told.agent.sum().is_empty())
        };
        let is_nested = || {
            turn.is_command
                && !self.places.contains_key(&first.said())
                && more.iter().all(|told| !self.prompts.contains_key(&told.user))
        };
        is_asked_again() || is_nested()
    }

    /// Whether the same was said before it, of which the agent may tell the prompt alone, or while it was under way: it gives both as
    /// one.
    fn is_beside_same_prompt(&self, at: usize) -> bool {
        let turn = &self.log[at];
        let before = self.log[..at].iter().rfind(|turn| turn.took_part != Some(false));
        let may_be_alone = |turn: &Turn| turn.agent.sum().is_empty() || turn.may_be_kept_in_part();
        let is_under_way =
            |other: &Turn| other.is_begun_before_end_of(turn) && turn.begun_at() < self.together.end_of(other);
        let mut others = self.prompts.get(&turn.user).into_iter().flatten().filter(|other| **other != at);
        before.is_some_and(|before| before.user == turn.user && may_be_alone(before))
            || others.any(|other| is_under_way(&self.log[*other]))
    }
}
