//! How much of a transcript an agent knows because it has told it itself, where nothing is made of what it tells.

use std::collections::BTreeMap;

use super::align::align;
use super::beside::Spans;
use super::mingled;
use super::turn::Turn;
use super::{commands, told_apart};

/// How many entries of a transcript, of which the agent had heard this many, it knows by what it replays: all before the
/// first thing said that it does not tell to the end.
pub fn told(log: &[Turn], heard: u64, replay: &[Turn]) -> u64 {
    let (log, replay) = told_apart::joined(log, replay);
    let (log, replay) = commands::joined(&log, &replay);
    // What was answered in a turn that is told by its prompt alone the agent need not know.
    let (log, replay) = mingled::joined(&log, &replay, mingled::Told::Whole);
    let pairs: BTreeMap<usize, usize> = align(&log, &replay).into_iter().collect();
    let is_told = |at: usize, turn: &Turn| {
        let tells = |other: &usize| replay[*other].agent.begins_with(turn.agent.sum());
        // What is no text is not compared: a prompt of which nothing else is known need not be told.
        if turn.is_silent() { turn.took_part.is_none() } else { pairs.get(&at).is_some_and(tells) }
    };
    let untold = || log.iter().enumerate().filter(|(at, turn)| !is_told(*at, turn));
    // What another program of the agent's was answered beside a turn that this one has read, it has on another branch.
    let spans = Spans::of(pairs.keys().map(|told| &log[*told]));
    let is_on_other_branch =
        |at: usize, turn: &Turn| !pairs.contains_key(&at) && is_its_own(turn) && spans.are_beside(turn);
    let unheard = untold().filter(|(at, turn)| is_on_other_branch(*at, turn)).map(|(_, turn)| turn.at.start()).min();
    let runs = untold().flat_map(|(_, turn)| turn.at.runs());
    let first = runs.filter(|run| *run.end() > heard).map(|run| *run.start()).min();
    let all = log.iter().map(|turn| turn.at.end()).max().unwrap_or(0);
    let heard = first.map_or(all, |first| first - 1).max(heard);
    unheard.map_or(heard, |first| heard.min(first - 1))
}

/// Whether it is a turn of the agent's that has come to its end, which an agent that keeps it would tell.
fn is_its_own(turn: &Turn) -> bool {
    turn.took_part == Some(true) && turn.is_finished() && !turn.user.is_empty() && !turn.is_command
}
