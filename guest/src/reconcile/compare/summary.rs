//! A replay with a summary: the agent has compacted what was said before it, or, where it tells something before it, what was said
//! behind that. That it has said so all the same, so what the transcript has of it stays.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use super::align::{TELLING, align, align_last};
use super::commands;
use super::telling::is_held;
use crate::reconcile::fold::compactions::Compactions;
use crate::reconcile::turn::Turn;
use crate::reconcile::turn::places::Places;
use crate::reconcile::turn::sum::Sum;

/// How many turns are looked at for the one that a summary was made in: commands that were called behind it, and that one.
const MOST: usize = 16;

/// The replay, with the turns of the log that its summaries stand for in their places. `ends_with`: whether the answer of one of
/// these turns of the log ends with this; a turn may be compacted while it is under way.
pub(in crate::reconcile) fn with_summed_up<E>(
    (log, ours): (&[Turn], &Compactions),
    (replay, theirs): (Vec<Turn>, &Compactions),
    ends_with: impl Fn(&[&Turn], Sum) -> Result<bool, E>,
) -> Result<Vec<Turn>, E> {
    let is_cut = !theirs.is_first && begins_amid(log, &replay);
    if theirs.are_none() && !is_cut {
        return Ok(replay);
    }
    // What the agent tells otherwise of commands is what the log has, wherever it was compacted.
    let (joined, told) = commands::joined(log, &replay);
    let (joined, told) = (joined.into_owned(), told.into_owned());
    let mut places = ours.places(&joined);
    places.retain(|(place, _)| is_its(&joined[*place]));
    let rest = |(place, before): &(usize, Sum)| {
        let answer = joined[*place].agent.sum();
        (before.length() <= answer.length()).then(|| (*place, answer.behind(*before)))
    };
    let rests = places.iter().filter_map(rest).collect();
    let compacted = places.into_iter().map(|(place, _)| place).collect();
    let log = Log { all: log, turns: &joined, compacted, rests };
    let mut replay = Replay { all: replay, turns: told };
    leave_out_rests(&log, &mut replay, theirs, &ends_with)?;
    let replay = with_summed_up_amid(&log, replay, theirs);
    let begins = match (theirs.is_first, is_cut) {
        (true, _) => Begins::WithSummary,
        (false, true) => Begins::Amid,
        (false, false) => return Ok(replay.all),
    };
    with_summed_up_before(&log, replay, begins, ends_with)
}

/// Whether a replay may be what is left of a conversation that was cut in the midst of an answer, without a summary: Pi keeps one that
/// its adapter does not tell.
fn begins_amid(log: &[Turn], replay: &[Turn]) -> bool {
    let is_rest = |turn: &Turn| turn.user.is_empty() && !turn.agent.sum().is_empty();
    let is_asked =
        log.iter().find(|turn| is_its(turn) && !turn.is_silent()).is_some_and(|first| !first.user.is_empty());
    is_asked && replay.first().is_some_and(is_rest)
}

/// How a replay begins that does not tell all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Begins {
    WithSummary,
    /// Perhaps in the midst of an answer.
    Amid,
}

/// The turns of a transcript.
struct Log<'a> {
    all: &'a [Turn],
    /// Those that are told as one are one.
    turns: &'a [Turn],
    /// In which of them, or behind which, the agent has compacted what was said before, as far as the transcript has it.
    compacted: Vec<usize>,
    /// What was answered behind that in those.
    rests: Vec<(usize, Sum)>,
}

impl Log<'_> {
    /// The turns that may have been under way when what was said before this one was compacted. Commands may have been called since.
    fn last_before(&self, until: usize) -> Vec<&Turn> {
        let mut last: Vec<&Turn> = Vec::new();
        for turn in self.turns[..until].iter().rev().filter(|turn| is_its(turn)).take(MOST) {
            last.push(turn);
            if !turn.is_command {
                break;
            }
        }
        last
    }

    /// All that these turns are made of, as the agent would tell it.
    fn summed_up(&self, turns: &[Turn]) -> Vec<Turn> {
        let mut runs: Vec<RangeInclusive<u64>> = turns.iter().flat_map(|turn| turn.at.runs()).collect();
        runs.sort_unstable_by_key(|run| *run.start());
        let is_in = |turn: &&Turn| {
            let first = turn.at.start();
            runs.get(runs.partition_point(|run| *run.end() < first)).is_some_and(|run| run.contains(&first))
        };
        summed_up(self.all.iter().filter(is_in))
    }
}

/// The turns of a replay, and the same as they are compared.
struct Replay {
    all: Vec<Turn>,
    turns: Vec<Turn>,
}

/// The same for a summary that it begins with, or what is left of an answer.
fn with_summed_up_before<E>(
    log: &Log<'_>,
    mut replay: Replay,
    begins: Begins,
    ends_with: impl Fn(&[&Turn], Sum) -> Result<bool, E>,
) -> Result<Vec<Turn>, E> {
    // A summary by itself is no prompt without words.
    let alone = usize::from(begins == Begins::WithSummary && replay.turns.first().is_some_and(Turn::is_silent));
    let BehindSummary { mut until, paired } = told_behind(log, 0, &replay.turns[alone..]);
    let paired = paired.map(|other| other + alone);
    let rest = replay.turns.first().filter(|rest| rest.user.is_empty() && paired != Some(0));
    let rest = rest.map(|rest| rest.agent.sum()).filter(|_| until > 0);
    let mut is_ours = rest.is_some_and(Sum::is_empty);
    if let Some(rest) = rest.filter(|rest| !rest.is_empty()) {
        // The summary by itself, or what is known of the turn that it was made in.
        is_ours = ends_with(&log.last_before(until), rest)?;
        // Or somebody went back to the end of that turn.
        let mut rests = log.rests.iter().rev().filter(|_| begins == Begins::WithSummary && !is_ours);
        if let Some((place, _)) = rests.find(|(place, answered)| *place < until && *answered == rest) {
            (is_ours, until) = (true, place + 1);
        }
    }
    // A few words may be the end of anything, unless what was said behind them follows.
    let is_telling = paired == Some(1) || rest.is_some_and(|rest| rest.length() >= TELLING);
    if begins == Begins::Amid && !(is_ours && is_telling) {
        return Ok(replay.all);
    }
    let summed_up = log.summed_up(&log.turns[..until]);
    if is_ours && !summed_up.is_empty() {
        replay.all.remove(0);
    }
    Ok(summed_up.into_iter().chain(replay.all).collect())
}

/// Takes the end of an answer out of the replay that is told behind such a summary, and so as if it belonged to what is told before it:
/// what was compacted ends in the midst of a turn (Hermes).
fn leave_out_rests<E>(
    log: &Log<'_>,
    replay: &mut Replay,
    theirs: &Compactions,
    ends_with: &impl Fn(&[&Turn], Sum) -> Result<bool, E>,
) -> Result<(), E> {
    for (place, answered) in theirs.places(&replay.all) {
        let as_told = [replay.all[place].clone(), replay.turns[place].clone()];
        let (user, told) = as_told[0].said();
        let is_before = |turn: &&Turn| turn.said() == (user, answered);
        let goes_on = !answered.is_empty() && answered.length() < told.length();
        let Some(before) = log.turns.iter().find(|turn| goes_on && is_before(turn)) else { continue };
        for turn in [&mut replay.all[place], &mut replay.turns[place]] {
            turn.agent = before.agent.clone();
            turn.parts.set_messages(Vec::new());
        }
        let pairs = align(log.turns, &replay.turns);
        let pair = pairs.iter().find(|(_, other)| *other == place);
        let is_rest = match pair.map(|(at, _)| (*at, told_behind(log, at + 1, &replay.turns[place + 1..]).until)) {
            Some((at, until)) if until > at + 1 => ends_with(&log.last_before(until), told.behind(answered))?,
            _ => false,
        };
        if !is_rest {
            [replay.all[place], replay.turns[place]] = as_told;
        }
    }
    Ok(())
}

/// The same for summaries that are told behind something else: each stands for what the log has between what is told before it and
/// what is told behind it. Where the log has a compaction there itself, what was said before that is told, and nothing is missing.
fn with_summed_up_amid(log: &Log<'_>, mut replay: Replay, theirs: &Compactions) -> Replay {
    let is_between_turns = |(place, answered): &(usize, Sum)| {
        replay.all[*place].agent.sum() == *answered && !replay.all[*place].is_silent()
    };
    let places = theirs.places(&replay.all).into_iter().filter(is_between_turns).map(|(place, _)| place);
    let places: BTreeSet<usize> = places.collect();
    if places.is_empty() {
        return replay;
    }
    let is_first = theirs.is_first;
    let pairs = if is_first { align_last(log.turns, &replay.turns) } else { align(log.turns, &replay.turns) };
    for place in places.into_iter().rev() {
        let Ok(told) = pairs.binary_search_by_key(&place, |(_, other)| *other) else { continue };
        let before = pairs[told].0;
        let BehindSummary { until, .. } = told_behind(log, before + 1, &replay.turns[place + 1..]);
        if log.compacted.iter().all(|compacted| !(before..until).contains(compacted)) {
            let summed = &log.turns[before + 1..until];
            replay.all.splice(place + 1..=place, log.summed_up(summed));
            replay.turns.splice(place + 1..=place, summed_up(summed));
        }
    }
    replay
}

/// What of the log is told behind a summary.
#[derive(Debug, Clone, Copy)]
struct BehindSummary {
    /// The turn of the log that it begins with.
    until: usize,
    /// The first turn of the replay that goes with one of the log.
    paired: Option<usize>,
}

/// What of the log, from this turn on, is told by this part of a replay. The same may have been said before the summary and behind it, so
/// it is the last that there is.
fn told_behind(log: &Log<'_>, mut from: usize, replay: &[Turn]) -> BehindSummary {
    let all: BTreeSet<Sum> = replay.iter().flat_map(Turn::pieces).collect();
    loop {
        let rest = &log.turns[from..];
        let pairs = align_last(rest, replay);
        let first = pairs.first().copied();
        let until = from + told_from(rest, first, replay, &all);
        let behind = BehindSummary { until, paired: first.map(|(_, other)| other) };
        // What is told of before a compaction is what the agent has kept of it, up to that.
        let Some(compacted) = log.compacted.iter().copied().find(|compacted| *compacted >= until) else {
            return behind;
        };
        let paired: BTreeSet<usize> = pairs.iter().map(|(at, _)| from + at).collect();
        let is_kept = |at: usize| {
            let turn = &log.turns[at];
            let may_be_untold = !is_its(turn) || turn.is_silent() || turn.may_be_kept_in_part();
            may_be_untold || paired.contains(&at) || is_told(turn, &all, replay)
        };
        // Or somebody went back behind it: nobody answers at length with the same words.
        let is_telling = log.turns.get(until).is_some_and(|turn| turn.agent.sum().length() >= TELLING);
        let is_behind_another = log.compacted.iter().any(|compacted| *compacted < until);
        if is_telling && is_behind_another && paired.contains(&until) || (until..=compacted).all(is_kept) {
            return behind;
        }
        from = compacted + 1;
    }
}

/// From where on this part of the log is told. Of turns with no answer between, or that are told with what was said next, the prompts are
/// found by themselves.
fn told_from(log: &[Turn], paired: Option<(usize, usize)>, replay: &[Turn], all: &BTreeSet<Sum>) -> usize {
    let behind_last = || log.iter().rposition(|turn| is_told(turn, all, replay)).map_or(log.len(), |last| last + 1);
    let (end, told) = paired.map_or_else(|| (behind_last(), replay), |(at, other)| (at, &replay[..=other]));
    let mut prompts: BTreeMap<Sum, usize> = BTreeMap::new();
    for prompt in told.iter().flat_map(Turn::pieces) {
        *prompts.entry(prompt).or_default() += 1;
    }
    let mut take = |turn: &Turn| {
        let left = prompts.get_mut(&turn.user).filter(|left| has_prompt(turn) && **left > 0);
        left.map(|left| *left -= 1).is_some()
    };
    if paired.is_some() {
        take(&log[end]);
    }
    end - log[..end].iter().rev().take_while(|turn| take(turn) || is_held(turn, told)).count()
}

/// Whether its prompt is told, among these, or more with it.
fn is_told(turn: &Turn, prompts: &BTreeSet<Sum>, replay: &[Turn]) -> bool {
    has_prompt(turn) && prompts.contains(&turn.user) || is_held(turn, replay)
}

fn has_prompt(turn: &Turn) -> bool {
    !turn.user.is_empty() && turn.took_part != Some(false)
}

/// Whether it is in the agent's session, for all that is known.
fn is_its(turn: &Turn) -> bool {
    turn.took_part != Some(false) && !turn.refused
}

/// These turns of the log as the agent would tell them.
fn summed_up<'t>(log: impl IntoIterator<Item = &'t Turn>) -> Vec<Turn> {
    log.into_iter().filter(|turn| is_its(turn)).map(untold).collect()
}

/// A turn that the agent does not tell.
fn untold(turn: &Turn) -> Turn {
    let mut untold = Turn { at: Places::none(), ..turn.clone() };
    untold.parts.set_halves(Vec::new());
    untold
}
