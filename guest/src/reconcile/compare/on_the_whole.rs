//! Turns of several windows, or of a queue, in which the same words are said over and over: which of the agent's turns is which cannot
//! be told then, and whoever pairs them one by one may be left with one that seems to be new, or gone. Where all that was said since
//! the two were alike last is just what the agent tells from there on, nothing is: it is compared as one turn, and stays as it is. So
//! it is where the agent tells all of one window, on whose branch it does not have what was said in others meanwhile.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::all_said::AllSaid;
use super::joining::{self, Same, is_apart, its_in};
use super::mingled::{at_once, untold};
use super::read_before::ReadBefore;
use super::together::Together;
use crate::reconcile::turn::Turn;
use crate::reconcile::turn::sum::Sum;

/// How many turns are compared as one at most, and how many from the end on are looked at for where a branch begins.
const MOST: usize = 64;
/// How many turns that both have at their end are looked at for where a branch ends.
const MOST_ALIKE: usize = 8;
/// For how many windows it is looked whether the agent tells a branch of theirs.
const MOST_WINDOWS: usize = 8;

/// Both sides.
type Sides<'a> = (Cow<'a, [Turn]>, Cow<'a, [Turn]>);

/// Both sides, each way in which turns of both are one then; none where nothing was said at the same time.
pub(in crate::reconcile) fn joined<'a>(log: &'a [Turn], replay: &'a [Turn]) -> Vec<Sides<'a>> {
    let its = its_in(log, 0..log.len());
    let alike = alike(log, &its, replay);
    let is_queued = |two: &[usize]| log[two[0]].one_with == log[two[1]].one_with;
    let ours = Ours::of(log, &its, replay);
    let is_at_once = at_once(log, &its, &ours.together).iter().any(|group| group.end > alike)
        || its[alike.saturating_sub(1)..].windows(2).any(is_queued);
    let all = is_at_once.then(|| since_alike(&ours, &its, replay)).flatten();
    let all = all.map(|same| joining::joined(log, replay, vec![same], Vec::new()));
    all.into_iter().chain(of_a_branch(&ours, &its, replay)).collect()
}

/// All that stands behind what both begin with, or behind less of that, if it is made of the same prompts and answers.
fn since_alike(ours: &Ours<'_>, its: &[usize], replay: &[Turn]) -> Option<Same> {
    let log = ours.log;
    let alike = alike(log, its, replay).min(replay.len().saturating_sub(1)).min(its.len().saturating_sub(1));
    let fewest = its.len().saturating_sub(MOST);
    let is_same = |alike: &usize| {
        let is_whole = is_apart(&its[*alike..], log);
        is_whole && ours.said_in(&its[*alike..]).is_same(&told_in(&replay[*alike..]), true)
    };
    let alike = (fewest..=alike).rev().find(is_same)?;
    (!its.is_empty() && !replay.is_empty()).then(|| Same { turns: its[alike..].to_vec(), told: alike..replay.len() })
}

/// With how many of these turns of the log the replay begins.
fn alike(log: &[Turn], turns: &[usize], replay: &[Turn]) -> usize {
    turns.iter().zip(replay).take_while(|(at, theirs)| log[**at].said() == theirs.said()).count()
}

/// With how many of these turns the replay begins, but for those that are one to readers with others behind them.
fn alike_apart(log: &[Turn], turns: &[usize], replay: &[Turn]) -> usize {
    let alike = alike(log, turns, replay);
    (0..=alike).rev().find(|alike| is_apart(&turns[*alike..], log)).unwrap_or_default()
}

/// What the replay tells of turns that several windows had at once, if that is a branch of one of them: nothing of what others were
/// answered meanwhile, which its program had not read.
pub(in crate::reconcile) fn read_before(log: &[Turn], replay: &[Turn]) -> Option<ReadBefore> {
    let its = its_in(log, 0..log.len());
    let Branch { asked, beside, on_it, .. } = Branch::told(&Ours::of(log, &its, replay), &its, replay)?;
    Some(ReadBefore { before: [asked, beside].concat(), whole: on_it })
}

/// All of the replay, if it tells what was said up to where a branch begins, and behind that what was said in one window. What was
/// said in others is then as if others had said it.
fn of_a_branch<'a>(ours: &Ours<'a>, its: &[usize], replay: &'a [Turn]) -> Option<Sides<'a>> {
    let Branch { before, asked, on_it, beside, replayed } = Branch::told(ours, its, replay)?;
    let told = [before, asked, on_it].concat();
    let mut log = ours.log.to_vec();
    for at in beside {
        log[at].took_part = Some(false);
    }
    let alike = alike_apart(&log, &told, replay);
    if alike == told.len() || alike >= replayed {
        return Some((Cow::Owned(log), Cow::Borrowed(replay)));
    }
    let same = Same { turns: told[alike..].to_vec(), told: alike..replayed };
    let (log, replay) = joining::joined(&log, replay, vec![same], Vec::new());
    Some((Cow::Owned(log.into_owned()), Cow::Owned(replay.into_owned())))
}

/// Turns of the log, by their places, of which an agent tells one of several branches.
struct Branch {
    /// Those before the branch begins.
    before: Vec<usize>,
    /// Those that were under way in other windows then, and are told by their prompts.
    asked: Vec<usize>,
    /// Those on the branch.
    on_it: Vec<usize>,
    /// Those of other windows, of which it tells nothing.
    beside: Vec<usize>,
    /// How many turns of the replay tell all of these. Behind them both have the same.
    replayed: usize,
}

impl Branch {
    /// That branch, up to where both have the same, or to less of that: what was said last may be alike by chance.
    fn told(ours: &Ours<'_>, its: &[usize], replay: &[Turn]) -> Option<Self> {
        let both = its.iter().rev().zip(replay.iter().rev());
        let alike = both.take_while(|(at, theirs)| ours.log[**at].said() == theirs.said()).count().min(MOST_ALIKE);
        (0..=alike).find_map(|alike| {
            let (its, behind) = its.split_at(its.len() - alike);
            is_apart(behind, ours.log).then(|| Self::of(ours, its, &replay[..replay.len() - alike])).flatten()
        })
    }

    fn of(ours: &Ours<'_>, its: &[usize], replay: &[Turn]) -> Option<Self> {
        let (log, replayed) = (ours.log, replay.len());
        let tail = its.len().saturating_sub(MOST);
        let windows: BTreeSet<u16> =
            its[tail..].iter().map(|at| log[*at].window).filter(|window| *window != 0).collect();
        if windows.len() < 2 {
            return None;
        }
        let theirs = told_in(replay);
        let before = ours.said_in(&its[..tail]);
        let branch = |window: u16, begin: usize| {
            let (its, others): (Vec<usize>, Vec<usize>) =
                its[begin..].iter().partition(|at| log[**at].window == window);
            let end = its.iter().map(|at| log[*at].ended_at()).max()?;
            let is_beside = !others.is_empty() && others.iter().all(|at| log[*at].begun_at() < end);
            Some((its, others)).filter(|_| is_beside)
        };
        let told_behind = |window: u16, begin: usize| {
            let (branch, others) = branch(window, begin)?;
            // What was under way when the branch was begun stands before it, as far as it was said by then: the prompt alone.
            let first = branch.first().map_or(0, |at| log[*at].at.start());
            let (under_way, beside) = others.split_at(others.partition_point(|at| log[*at].at.start() < first));
            [(&[][..], &others[..]), (under_way, beside)].into_iter().find_map(|(asked, beside)| {
                let mut said = before.clone();
                ours.add(&mut said, &its[tail..begin]);
                for at in asked {
                    said.add_prompt(log[*at].user);
                }
                ours.add(&mut said, &branch);
                said.is_same(&theirs, true).then(|| Self {
                    before: its[..begin].to_vec(),
                    asked: asked.to_vec(),
                    on_it: branch.clone(),
                    beside: beside.to_vec(),
                    replayed,
                })
            })
        };
        let begins = |window: u16| (tail..its.len()).rev().find_map(|begin| told_behind(window, begin));
        windows.into_iter().rev().take(MOST_WINDOWS).find_map(begins)
    }
}

/// The log's side.
struct Ours<'a> {
    log: &'a [Turn],
    /// Which of its turns are one to readers.
    together: Together,
    /// The prompts of which the replay lacks some.
    untold: BTreeSet<Sum>,
}

impl<'a> Ours<'a> {
    fn of(log: &'a [Turn], its: &[usize], replay: &[Turn]) -> Self {
        Self { log, together: Together::of(its.iter().map(|at| &log[*at])), untold: untold(log, replay) }
    }

    /// What is said in these turns.
    fn said_in(&self, turns: &[usize]) -> AllSaid {
        let mut said = AllSaid::default();
        self.add(&mut said, turns);
        said
    }

    /// Adds these turns. Of prompts that were not waited for only the last has an end of its own.
    fn add(&self, said: &mut AllSaid, turns: &[usize]) {
        for (place, at) in turns.iter().enumerate() {
            let turn = &self.log[*at];
            let next = turns.get(place + 1).map(|next| &self.log[*next]);
            let has_end = next.is_none_or(|next| next.one_with != turn.one_with);
            said.add_ours(turn, has_end, self.together.is_queued(turn), &self.untold);
        }
    }
}

/// What is said in these turns of a replay.
fn told_in(replay: &[Turn]) -> AllSaid {
    let mut said = AllSaid::default();
    for turn in replay {
        said.add(turn, &turn.pieces());
    }
    said
}
