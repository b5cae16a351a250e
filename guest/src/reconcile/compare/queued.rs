//! Prompts that a client did not wait for, of which the agent tells some alone: it has refused the others, or keeps no commands, or
//! nothing of what failed or was stopped. To readers they are one turn, and which of them a word was said to need not be known: what the
//! first is answered may come behind the prompt of the second. Where all that the agent tells was said in that turn, in that order, it is
//! compared as a whole, and stays as it is. So it is where a window was opened in their midst: its agent has read some with their answers,
//! and tells the prompts behind those with the one that it was given there.

use std::collections::BTreeSet;
use std::ops::Range;

use super::joining::{Same, is_apart};
use super::together::queues;
use crate::reconcile::turn::Turn;
use crate::reconcile::turn::sum::Sum;

/// In how many places of a replay such prompts are looked for.
const MOST_PLACES: usize = 8;

/// Such turns among `its`, which are in the order in which they were begun, and the turns of the replay among `theirs` that tell a part
/// of them, where those are not known to be the `same` as others. The prompts of the others are `untold`.
pub(super) fn told_in_part(
    log: &[Turn],
    its: &[usize],
    replay: &[Turn],
    theirs: Range<usize>,
    (same, untold): (&[Same], &BTreeSet<Sum>),
) -> Vec<Same> {
    let found: BTreeSet<usize> = same.iter().flat_map(|same| &same.turns).copied().collect();
    let mut taken: BTreeSet<usize> = same.iter().flat_map(|same| same.told.clone()).collect();
    let (mut in_part, mut free) = (Vec::new(), theirs.start);
    for turns in queues(its, log).filter(|turns| turns.iter().all(|at| !found.contains(at))) {
        let Some(queue) = Queue::of(turns.iter().map(|at| &log[*at])) else { continue };
        let begins = || (free..theirs.end).filter(|told| queue.prompts.contains(&replay[*told].first_piece()));
        let told = begins().take(MOST_PLACES).find_map(|first| {
            let behind = (first..theirs.end).take_while(|told| !taken.contains(told));
            Some(first..first + queue.tells(behind.map(|told| &replay[told]), untold)?)
        });
        if let Some(told) = told {
            free = told.end;
            taken.extend(told.clone());
            in_part.push(Same { turns, told });
            continue;
        }
        let with_next = begins().take(MOST_PLACES).find_map(|first| {
            let behind = (first..theirs.end).take_while(|told| !taken.contains(told));
            let (count, prompt) = queue.told_with_next(behind.map(|told| &replay[told]))?;
            let said = (prompt, replay[first + count].agent.sum());
            let mut beside = turns_beside(&turns, its, log).filter(|at| !found.contains(at));
            Some((first..first + count, beside.find(|at| log[*at].said() == said)?))
        });
        if let Some((told, next)) = with_next {
            free = told.end + 1;
            taken.extend(told.start..free);
            in_part.push(Same { turns: vec![next], told: told.end..free });
            in_part.push(Same { turns, told });
        }
    }
    in_part
}

/// Prompts that were not waited for, and all that was said to them.
struct Queue {
    prompts: Vec<Sum>,
    /// The sums of what the answers begin with, one behind the other, the shortest first.
    beginnings: Vec<Sum>,
}

impl Queue {
    /// None where not all that was said to them is at hand.
    fn of<'a>(turns: impl Iterator<Item = &'a Turn>) -> Option<Self> {
        let (mut prompts, mut beginnings) = (Vec::new(), vec![Sum::default()]);
        for turn in turns {
            prompts.push(turn.user);
            let mut sum = beginnings.last().copied().unwrap_or_default();
            for byte in turn.agent.whole()? {
                sum.push(*byte);
                beginnings.push(sum);
            }
        }
        Some(Self { prompts, beginnings })
    }

    /// How many of these turns tell nothing but what was said to some of the prompts, with those: where it is none of what was
    /// answered, though something was, or all of it, and all prompts, as the log has them, that is for others to say.
    fn tells<'t>(&self, told: impl Iterator<Item = &'t Turn>, untold: &BTreeSet<Sum>) -> Option<usize> {
        let (mut prompts, mut said, mut turns) = (&self.prompts[..], &self.beginnings[..], 0);
        let (mut asked, mut answered) = (0, Sum::default());
        for turn in told {
            let (pieces, answer) = (turn.pieces(), turn.agent.sum());
            let Some(behind) = behind_all(prompts, &pieces, untold) else { break };
            let Some(rest) = behind_answer(said, answer) else { break };
            (prompts, said, turns) = (behind, rest, turns + 1);
            (asked, answered) = (asked + pieces.len(), answered.followed_by(answer));
        }
        let all = self.beginnings.last().copied().unwrap_or_default();
        let is_rest_untold = prompts.iter().all(|prompt| untold.contains(prompt));
        let is_whole = asked == self.prompts.len() && answered == all;
        let is_answered = !answered.is_empty() || all.is_empty();
        (turns > 0 && is_rest_untold && is_answered && !is_whole).then_some(turns)
    }

    /// How many of these turns tell the first of the prompts, with answers, where the one behind those has the others with one prompt
    /// more, and that one.
    fn told_with_next<'t>(&self, told: impl Iterator<Item = &'t Turn>) -> Option<(usize, Sum)> {
        let (mut prompts, mut said) = (&self.prompts[..], &self.beginnings[..]);
        for (turns, turn) in told.enumerate() {
            let pieces = turn.pieces();
            if let Some((next, before)) = pieces.split_last()
                && turns > 0
                && !before.is_empty()
                && before == prompts
            {
                return Some((turns, *next));
            }
            prompts = prompts.strip_prefix(&pieces[..])?;
            said = behind_answer(said, turn.agent.sum()).filter(|_| !turn.agent.sum().is_empty())?;
        }
        None
    }
}

/// The turns of other windows that were begun behind these, which were not waited for, and before these had come to their end.
fn turns_beside(queue: &[usize], its: &[usize], log: &[Turn]) -> impl Iterator<Item = usize> {
    let last = queue.last().map(|at| &log[*at]);
    let behind = its.partition_point(|at| last.is_some_and(|last| log[*at].at.start() <= last.at.start()));
    let is_before_end = move |at: &usize| last.is_some_and(|last| log[*at].is_begun_before_end_of(last));
    let is_elsewhere = move |at: &usize| last.is_some_and(|last| log[*at].window != last.window);
    let beside = its[behind..].iter().copied().take_while(is_before_end);
    beside.filter(move |at| is_elsewhere(at) && is_apart(&[*at], log))
}

/// The prompts behind these, which are among them in this order, and the others between them untold.
fn behind_all<'p>(prompts: &'p [Sum], these: &[Sum], untold: &BTreeSet<Sum>) -> Option<&'p [Sum]> {
    these.iter().try_fold(prompts, |rest, prompt| {
        let at = rest.iter().position(|other| other == prompt)?;
        rest[..at].iter().all(|left_out| untold.contains(left_out)).then(|| &rest[at + 1..])
    })
}

/// What was said behind this answer, which was said somewhere.
fn behind_answer(said: &[Sum], answer: Sum) -> Option<&[Sum]> {
    let length = usize::try_from(answer.length()).ok()?;
    let at = said.windows(length + 1).position(|part| part[length].behind(part[0]) == answer)?;
    Some(&said[at + length..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_found_behind_the_one_before_it() {
        let mut beginnings = vec![Sum::default()];
        for byte in b"onetwoone" {
            let mut sum = beginnings[beginnings.len() - 1];
            sum.push(*byte);
            beginnings.push(sum);
        }
        for (answers, expected) in [
            (&["one", "one"][..], Some(0)),
            (&["one"], Some(6)),
            (&["two"], Some(3)),
            (&["two", "one"], Some(0)),
            (&["", "netw"], Some(4)),
            (&["two", "two"], None),
            (&["onetwoone!"], None),
        ] {
            let rest = answers.iter().try_fold(&beginnings[..], |said, answer| behind_answer(said, Sum::of(answer)));
            assert_eq!(rest.map(|rest| rest.len() - 1), expected, "{answers:?}");
        }
    }
}
