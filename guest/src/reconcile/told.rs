//! How much of a transcript an agent knows because it has told it itself, where nothing is made of what it tells.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::compare::align::align;
use super::compare::beside::Spans;
use super::compare::commands;
use super::compare::mingled;
use super::compare::on_the_whole;
use super::compare::read_before::ReadBefore;
use super::compare::told_apart;
use super::plan::Plan;
use super::turn::Turn;

/// How much of a transcript an agent knows by what it tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tells {
    /// So many entries of it.
    pub heard: u64,
    /// And these, which stand behind those.
    pub behind: Vec<RangeInclusive<u64>>,
}

/// How much of a transcript, of which the agent had heard this many entries, it knows by what it replays: all before the first thing
/// said that it does not tell to the end, and what it tells to the end behind that.
pub fn told(log: &[Turn], heard: u64, replay: &[Turn]) -> Tells {
    compared(log, replay, |log, replay, pairs| {
        let untold =
            || log.iter().enumerate().filter(|(at, turn)| !is_told(turn, pairs.get(at).map(|at| &replay[*at])));
        let unheard = on_other_branches(log, pairs).map(|turn| turn.at.start()).min();
        let runs = untold().flat_map(|(_, turn)| turn.at.runs());
        let first = runs.filter(|run| *run.end() > heard).map(|run| *run.start()).min();
        let all = log.iter().map(|turn| turn.at.end()).max().unwrap_or(0);
        let heard = first.map_or(all, |first| first - 1).max(heard);
        let heard = unheard.map_or(heard, |first| heard.min(first - 1));
        Tells { heard, behind: told_behind(log, replay, pairs, heard) }
    })
}

/// A plan that sets nothing of a transcript aside, of which the agent had heard so many entries before, with what it is known not to
/// have heard: what another program of its was answered beside a turn that it tells stands on another branch, of which it may have
/// read the prompt alone. What had come to its end before the last that it tells was begun it was told.
pub fn without_other_branches(plan: Plan, log: &[Turn], heard_before: u64, replay: &[Turn]) -> Plan {
    if !plan.aside.is_empty() || !is_any_at_once(log) {
        return plan;
    }
    let by_prompts = read_before_answered(log, replay);
    compared(log, replay, |log, replay, pairs| {
        let whole = || by_prompts.iter().flat_map(|(_, whole)| whole);
        let told = || pairs.keys().map(|at| &log[*at]).chain(whole());
        let own = told().filter(|turn| turn.took_part == Some(true));
        let told_from = own.map(|turn| turn.asked_at(log)).max().unwrap_or(u64::MAX);
        let was_told = |turn: &&Turn| turn.at.end() < told_from && turn.at.end() <= heard_before;
        let in_part = by_prompts.iter().flat_map(|(before, _)| before);
        let untold = on_other_branches(log, pairs).chain(in_part).filter(|turn| !was_told(turn));
        let first = untold.map(|turn| turn.at.start()).min();
        let before = first.and_then(|first| plan.kept_before(first)).filter(|before| *before < plan.heard);
        match first.zip(before) {
            Some((first, heard)) => {
                // Of what was queued only the last has an end of its own.
                let finished = by_prompts.iter().filter(|(_, whole)| whole.last().is_some_and(Turn::is_finished));
                let told_whole = finished.flat_map(|(_, whole)| whole).flat_map(|turn| turn.at.runs());
                let heard_behind = told_behind(log, replay, pairs, first - 1).into_iter().chain(told_whole).collect();
                Plan { heard, unheard: Some(first), heard_behind, ..plan }
            }
            None => plan,
        }
    })
}

/// Turns that were answered in another window once this agent's program had read their prompts, and the ones that it tells with them.
fn read_before_answered(log: &[Turn], replay: &[Turn]) -> Vec<(Vec<Turn>, Vec<Turn>)> {
    let (log, replay) = told_apart::joined(log, replay);
    let (log, replay) = commands::joined(&log, &replay);
    let by_prompts = mingled::told_by_prompts(&log, &replay);
    let on_the_whole = || on_the_whole::read_before(&log, &replay).into_iter().collect();
    let all = if by_prompts.is_empty() { on_the_whole() } else { by_prompts };
    let groups = all.into_iter().map(|ReadBefore { before, whole }| {
        let beside = Spans::of(whole.iter().map(|at| &log[*at]));
        let is_answered = |turn: &&Turn| is_its_own(turn) && !turn.agent.sum().is_empty() && beside.are_beside(turn);
        let before = before.iter().map(|at| &log[*at]).filter(is_answered).cloned();
        (before.collect(), whole.iter().map(|at| log[*at].clone()).collect())
    });
    groups.collect()
}

/// A plan for a transcript of which the agent's program that wrote last had heard so many entries. Where the agent tells one of several
/// branches it may go on with that one's, whichever it tells.
pub fn left_with(plan: Plan, log: &[Turn], left: u64, replay: &[Turn]) -> Plan {
    let heard = plan.carried(left);
    if heard >= plan.heard || !tells_one_of_several(log, replay) {
        return plan;
    }
    Plan { heard, unheard: Some(left + 1), heard_behind: Vec::new(), ..plan }
}

/// Whether an agent tells nothing of a turn of its own in one window, and goes on with one in another.
fn tells_one_of_several(log: &[Turn], replay: &[Turn]) -> bool {
    compared(log, replay, |log, _, pairs| {
        let last = pairs.keys().rfind(|at| is_its_own(&log[**at]));
        let is_elsewhere =
            |turn: &Turn, told: &Turn| turn.window != 0 && told.window != 0 && turn.window != told.window;
        last.is_some_and(|last| untold_of_its_own(&log[..*last], pairs).any(|turn| is_elsewhere(turn, &log[*last])))
    })
}

/// What is made of the turns of both, and of which of them are the same.
fn compared<T>(log: &[Turn], replay: &[Turn], make: impl FnOnce(&[Turn], &[Turn], &BTreeMap<usize, usize>) -> T) -> T {
    let (log, replay) = told_apart::joined(log, replay);
    let (log, replay) = commands::joined(&log, &replay);
    // What was answered in a turn that is told by its prompt alone the agent need not know.
    let (log, replay) = mingled::joined(&log, &replay, mingled::Coverage::Whole);
    let pairs = align(&log, &replay).into_iter().collect();
    make(&log, &replay, &pairs)
}

/// Whether all that was said in a turn is told, which may be told by that one of the replay.
fn is_told(turn: &Turn, theirs: Option<&Turn>) -> bool {
    // What is no text is not compared: a prompt of which nothing else is known need not be told.
    if turn.is_silent() {
        turn.took_part.is_none()
    } else {
        theirs.is_some_and(|theirs| theirs.agent.begins_with(turn.agent.sum()))
    }
}

/// What another program of the agent's was answered beside a turn that this one has read.
fn on_other_branches<'a>(log: &'a [Turn], pairs: &BTreeMap<usize, usize>) -> impl Iterator<Item = &'a Turn> {
    let told = Spans::of(pairs.keys().map(|told| &log[*told]));
    untold_of_its_own(log, pairs).filter(move |turn| told.are_beside(turn))
}

/// The agent's turns of which nothing is told.
fn untold_of_its_own<'a>(log: &'a [Turn], pairs: &BTreeMap<usize, usize>) -> impl Iterator<Item = &'a Turn> {
    let untold = log.iter().enumerate().filter(|(at, turn)| !pairs.contains_key(at) && is_its_own(turn));
    untold.map(|(_, turn)| turn)
}

/// The entries of turns that have come to their end and are told to it, behind so many entries.
fn told_behind(log: &[Turn], replay: &[Turn], pairs: &BTreeMap<usize, usize>, heard: u64) -> Vec<RangeInclusive<u64>> {
    let is_told = |(at, other): &(&usize, &usize)| is_told(&log[**at], Some(&replay[**other]));
    let told = pairs.iter().filter(is_told).map(|(at, _)| &log[*at]);
    told.filter(|turn| turn.is_finished() && turn.at.end() > heard).flat_map(|turn| turn.at.runs()).collect()
}

/// Whether a turn was begun before another, before it, had come to its end.
fn is_any_at_once(log: &[Turn]) -> bool {
    let mut end = 0;
    log.iter().any(|turn| {
        let is_at_once = turn.begun_at() < end;
        end = turn.ended_at().max(end);
        is_at_once
    })
}

/// Whether it is a turn of the agent's that has come to its end, which an agent that keeps it would tell.
fn is_its_own(turn: &Turn) -> bool {
    turn.took_part == Some(true) && turn.is_finished() && !turn.user.is_empty() && !turn.is_command
}
