//! Turns that an agent tells with the same words as the log has, in another order. One that keeps the words of all its programs in
//! one transcript has each word where it was said, so an answer goes on under the prompt that another window sent meanwhile; and what
//! it says while a prompt is on its way to it stands before that prompt. The log knows which word belongs to which turn. Where
//! both say the same, however it is put together, what the log has is compared as one turn, and stays as it is. Of a turn that did not
//! come to its end such an agent may have kept the prompt alone. One that keeps a branch for each of its programs tells what was queued
//! in one window by itself, cut into other turns, and nothing of what was said in others meanwhile.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::all_said::AllSaid;
use super::cut_short;
use super::joining::{self, Same, is_apart, its_in};
use super::queued;
use super::read_before::{self, ReadBefore};
use super::together::{Together, queues};
use crate::reconcile::turn::sum::Sum;
use crate::reconcile::turn::{MOST_JOINED, Turn};

/// How many turns that follow each other are looked at.
const MOST: usize = 64;
/// In how many places of a replay they are looked for.
const MOST_PLACES: usize = 8;
/// How many turns that follow each other are looked at, in each of which but the last the agent may have said what it said while the
/// next prompt was on its way to it.
const MOST_CROSSED: usize = 8;

/// What of turns that the agent tells otherwise is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::reconcile) enum Coverage {
    /// Those of which it tells all.
    Whole,
    /// Those as well that did not come to their end, by their prompts alone.
    CutShort,
}

/// Both sides, in which such turns are one.
pub(in crate::reconcile) fn joined<'a>(
    log: &'a [Turn],
    replay: &'a [Turn],
    told: Coverage,
) -> (Cow<'a, [Turn]>, Cow<'a, [Turn]>) {
    let (same, torn) = told_otherwise(log, replay, told);
    joining::joined(log, replay, same, torn)
}

/// Turns that are told by their prompts alone, with those behind them that are told whole.
pub(in crate::reconcile) fn told_by_prompts(log: &[Turn], replay: &[Turn]) -> Vec<ReadBefore> {
    let Some((its, theirs)) = its_differing(log, replay) else { return Vec::new() };
    let search = Search { told: Coverage::CutShort, ..Search::of(log, &its, replay, theirs.clone()) };
    let mut same = search.all();
    same.extend(search.by_themselves(&same));
    let by_prompts = cut_short::told_by_prompts(log, &its, replay, theirs.clone(), &same);
    let mut read_before: Vec<ReadBefore> = by_prompts.iter().filter_map(ReadBefore::of).collect();
    same.extend(by_prompts);
    let queued = read_before::queued(log, &its, replay, theirs, &same);
    read_before.extend(queued.into_iter().map(|(queued, _)| queued));
    read_before
}

/// All of these; and turns of several windows at the same time, of which the agent tells something else: that is to be told of all of
/// them or of none.
fn told_otherwise(log: &[Turn], replay: &[Turn], told: Coverage) -> (Vec<Same>, Vec<Vec<usize>>) {
    let Some((its, theirs)) = its_differing(log, replay) else { return (Vec::new(), Vec::new()) };
    let search = Search { told, ..Search::of(log, &its, replay, theirs.clone()) };
    let is_told = |theirs: &Turn, ours: &Turn| theirs.agent.sum() == ours.agent.sum() || ours.is_told_in_part(theirs);
    let mut same = search.all();
    let by_themselves = search.by_themselves(&same);
    let told_alone: BTreeSet<usize> = by_themselves.iter().flat_map(|same| &same.turns).copied().collect();
    same.extend(by_themselves);
    if told == Coverage::CutShort {
        same.extend(cut_short::told_by_prompts(log, &its, replay, theirs.clone(), &same));
        let read_before = read_before::queued(log, &its, replay, theirs.clone(), &same);
        same.extend(read_before.into_iter().map(|(turns, told)| turns.told_by(told)));
        same.extend(queued::told_in_part(log, &its, replay, theirs, (&same, &search.untold)));
    }
    let found: BTreeSet<usize> = same.iter().flat_map(|same| &same.turns).copied().collect();
    let torn = search.at_once.iter().filter_map(|group| {
        let answered = its[group.clone()].iter().copied().filter(|at| !log[*at].agent.sum().is_empty());
        let is_told_alone = |at: &usize| {
            let turn = &log[*at];
            told_alone.contains(at)
                || search.tells(turn, is_told)
                || search.tells_last(turn)
                || search.tells_prompt_behind_which(turn, &its[group.clone()], is_told)
        };
        let torn: Vec<usize> = answered.filter(|at| !is_told_alone(at)).collect();
        let is_begun = |at: &usize| search.tells(&log[*at], |theirs, ours| theirs.agent.begins_with(ours.agent.sum()));
        (torn.len() > 1
            && !torn.iter().all(is_begun)
            && torn.iter().all(|at| !found.contains(at))
            && is_apart(&torn, log))
        .then_some(torn)
    });
    let torn = torn.collect();
    (same, torn)
}

/// The turns that the agent may have taken part in, and those of the replay, where both differ, if there are any of both.
fn its_differing(log: &[Turn], replay: &[Turn]) -> Option<(Vec<usize>, Range<usize>)> {
    let (ours, theirs) = differing(log, replay)?;
    let its = its_in(log, ours);
    (!its.is_empty() && !theirs.is_empty()).then_some((its, theirs))
}

/// Where both differ: not before what they begin with, nor behind what they end with. What belongs together is in there as a whole,
/// though a part of it is told as it is.
fn differing(log: &[Turn], replay: &[Turn]) -> Option<(Range<usize>, Range<usize>)> {
    let alike = |(ours, theirs): &(&Turn, &Turn)| ours.said() == theirs.said();
    let mut begin = log.iter().zip(replay).take_while(alike).count();
    let mut end = log[begin..].iter().rev().zip(replay[begin..].iter().rev()).take_while(alike).count();
    if begin == log.len() || begin == replay.len() {
        return None;
    }
    let its = its_in(log, 0..log.len());
    let together = Together::of(its.iter().map(|at| &log[*at]));
    for group in at_once(log, &its, &together).into_iter().map(|group| &its[group]) {
        let (first, last) =
            (group.iter().min().copied().unwrap_or(begin), group.iter().max().map_or(begin, |last| last + 1));
        if (first..last).contains(&begin) {
            begin = first;
        }
        if (first + 1..last).contains(&(log.len() - end)) {
            end = log.len() - last;
        }
    }
    let is_one_with_last = |at: usize| at > 0 && at < log.len() && log[at - 1].one_with == log[at].one_with;
    while is_one_with_last(begin) {
        begin -= 1;
    }
    while end > 0 && is_one_with_last(log.len() - end) {
        end -= 1;
    }
    // What nobody answered may be told with the next prompt, which may be said again behind it, and answered alike.
    let is_told_before = |end: usize| {
        let next = &log[log.len() - end];
        let mut told = replay[begin..replay.len() - end].iter();
        told.any(|theirs| theirs.agent.sum() == next.agent.sum() && theirs.last_of_several() == Some(next.user))
    };
    while end > 0 && is_told_before(end) {
        end -= 1;
    }
    Some((begin..log.len() - end, begin..replay.len() - end))
}

/// What is looked through.
struct Search<'a> {
    log: &'a [Turn],
    /// The turns that the agent may have taken part in, in the order in which they were begun.
    its: &'a [usize],
    replay: &'a [Turn],
    told: Coverage,
    /// The turns of the replay that begin with this prompt, or are begun by it as a whole.
    places: BTreeMap<Sum, Vec<usize>>,
    /// The prompts of which the replay lacks some.
    untold: BTreeSet<Sum>,
    /// What is one to readers.
    together: Together,
    /// Those that were put together with prompts before which nobody had answered, by the last of their prompts.
    ends: BTreeMap<Sum, Vec<usize>>,
    /// Those of `its` that were begun before others had come to their end, with those that are one with one of them to readers.
    at_once: Vec<Range<usize>>,
}

impl<'a> Search<'a> {
    fn of(log: &'a [Turn], its: &'a [usize], replay: &'a [Turn], theirs: Range<usize>) -> Self {
        let (mut places, mut ends): (BTreeMap<Sum, Vec<usize>>, BTreeMap<Sum, Vec<usize>>) = Default::default();
        for place in theirs {
            let pieces = replay[place].pieces();
            for begin in BTreeSet::from([pieces.first().copied().unwrap_or_default(), replay[place].user]) {
                places.entry(begin).or_default().push(place);
            }
            if let [_, .., last] = &pieces[..] {
                ends.entry(*last).or_default().push(place);
            }
        }
        let together = Together::of(its.iter().map(|at| &log[*at]));
        let (told, untold, at_once) = (Coverage::Whole, untold(log, replay), at_once(log, its, &together));
        Self { log, its, replay, told, places, untold, together, ends, at_once }
    }

    fn all(&self) -> Vec<Same> {
        let mut at_once = self.at_once.iter().peekable();
        let (mut found, mut first, mut free) = (Vec::new(), 0, 0);
        while first < self.its.len() {
            while at_once.peek().is_some_and(|group| group.end <= first) {
                at_once.next();
            }
            match self.from(first, free, at_once.peek().copied()) {
                Some((turns, told)) => {
                    (first, free) = (turns.end, told.end);
                    let turns = self.its[turns].to_vec();
                    if !self.is_alike(&turns, &told) {
                        found.push(Same { turns, told });
                    }
                }
                None => first += 1,
            }
        }
        found
    }

    /// The fewest turns from this one on, and the turns of the replay that say the same, from the first that is free on. Of those
    /// that were had at the same time, all.
    fn from(&self, first: usize, free: usize, group: Option<&Range<usize>>) -> Option<(Range<usize>, Range<usize>)> {
        let mut together = Sum::default();
        let joined = self.its[first..].iter().take(MOST_JOINED).map(|at| {
            together = together.followed_by(self.log[*at].user);
            together
        });
        // Before its first prompt it may have said something.
        let nothing = (first == 0).then(Sum::default);
        let begun = group.filter(|group| group.start <= first);
        let of_group = begun.into_iter().flat_map(|group| first..group.end).map(|at| self.log[self.its[at]].user);
        let begins: BTreeSet<Sum> = joined.chain(nothing).chain(of_group).collect();
        let starts = begins.iter().filter_map(|begin| self.places.get(begin)).flatten().copied();
        let mut starts: Vec<usize> = starts.filter(|start| *start >= free).collect();
        starts.sort_unstable();
        let starts = starts.into_iter().take(MOST_PLACES);
        // Prompts before it may have been put together with its prompts, and in the turns before the agent may have said what it
        // said while prompts of it were on their way.
        let before = group.filter(|group| (1..MOST_CROSSED).contains(&group.start.saturating_sub(first)));
        let same = |start| {
            let behind = || before.and_then(|group| self.same(first, start, Some(group)));
            self.same(first, start, begun).or_else(behind)
        };
        starts.filter_map(same).min_by_key(|(turns, told)| (told.start, turns.end))
    }

    fn same(&self, first: usize, start: usize, group: Option<&Range<usize>>) -> Option<(Range<usize>, Range<usize>)> {
        let (mut ours, mut theirs) = (AllSaid::default(), AllSaid::default());
        let (mut end, mut told_end, mut found) = (first, start, None);
        let most = if group.is_some() { MOST } else { MOST_CROSSED };
        let is_wordless_next = |told: usize| self.replay.get(told).is_some_and(|turn| turn.user.is_empty());
        loop {
            // Where both have asked as much, a prompt of no words (an image) may be left.
            let has_all_of_ours = end == self.its.len() || group.is_some_and(|group| end >= group.end);
            let is_ours_next = match ours.asked.length().cmp(&theirs.asked.length()) {
                Ordering::Less => true,
                Ordering::Equal => !(has_all_of_ours && is_wordless_next(told_end)),
                Ordering::Greater => false,
            };
            if is_ours_next && end < self.its.len() && end - first < most {
                let turn = &self.log[self.its[end]];
                end += 1;
                if self.told == Coverage::CutShort {
                    // Of prompts that were not waited for only the last has an end of its own.
                    let next = self.its.get(end).map(|at| &self.log[*at]);
                    let has_end = next.is_none_or(|next| next.one_with != turn.one_with);
                    ours.add_ours(turn, has_end, self.together.is_queued(turn), &self.untold);
                } else {
                    ours.add(turn, &[turn.user]);
                }
            } else if !is_ours_next && told_end < self.replay.len() {
                let turn = &self.replay[told_end];
                theirs.add(turn, &turn.pieces());
                told_end += 1;
            } else {
                return found;
            }
            // Several that follow each other and are told as one are told in their order: they are compared as they are.
            let is_one_of_several = told_end - start == 1 && end - first > 1;
            let is_whole = group.map_or(!is_one_of_several, |group| end >= group.end);
            let is_same = is_whole && told_end > start && ours.is_same(&theirs, group.is_some());
            if is_same && is_apart(&self.its[first..end], self.log) {
                let same = (first..end, start..told_end);
                // What seems to be left out of it may be told with a prompt of no words behind it.
                if ours.letters == theirs.letters || !is_wordless_next(told_end) {
                    return Some(same);
                }
                found = found.or(Some(same));
            }
        }
    }

    /// Of turns that were had at the same time as others, those that are one to readers, where the replay has the same by itself, in its
    /// order, cut into other turns; these turns are `found` already.
    fn by_themselves(&self, found: &[Same]) -> Vec<Same> {
        let mut taken: BTreeSet<usize> = found.iter().flat_map(|same| same.told.clone()).collect();
        let found: BTreeSet<usize> = found.iter().flat_map(|same| &same.turns).copied().collect();
        let mut by_themselves = Vec::new();
        for group in &self.at_once {
            let queues = queues(&self.its[group.clone()], self.log);
            for turns in queues.filter(|turns| turns.iter().all(|at| !found.contains(at))) {
                let Some(told) = self.told_alone(&turns, &taken) else { continue };
                taken.extend(told.clone());
                if !self.is_alike(&turns, &told) {
                    by_themselves.push(Same { turns, told });
                }
            }
        }
        by_themselves
    }

    /// The turns of the replay that say the same as these, by themselves, the first such turns that are not taken.
    fn told_alone(&self, turns: &[usize], taken: &BTreeSet<usize>) -> Option<Range<usize>> {
        let (mut ours, mut begins) = (AllSaid::default(), Vec::new());
        for turn in turns.iter().map(|at| &self.log[*at]) {
            ours.add(turn, &[turn.user]);
            begins.push(ours.asked);
        }
        let starts: BTreeSet<usize> =
            begins.iter().filter_map(|begin| self.places.get(begin)).flatten().copied().collect();
        let end_of = |start: usize| {
            let mut theirs = AllSaid::default();
            let behind = (start..self.replay.len()).take_while(|told| !taken.contains(told)).take(MOST);
            for (told, turn) in behind.map(|told| (told, &self.replay[told])) {
                theirs.add(turn, &turn.pieces());
                if theirs.asked.length() > ours.asked.length() {
                    return None;
                }
                // Where they do not say the same yet, a prompt of no words (an image) may follow.
                if theirs.asked == ours.asked && ours.is_same(&theirs, false) {
                    return Some(told + 1);
                }
            }
            None
        };
        starts.into_iter().take(MOST_PLACES).find_map(|start| Some(start..end_of(start)?))
    }

    /// Whether the agent tells each of these turns as the log has it, in its order.
    fn is_alike(&self, turns: &[usize], told: &Range<usize>) -> bool {
        turns.is_sorted()
            && turns.iter().map(|at| self.log[*at].said()).eq(self.replay[told.clone()].iter().map(Turn::said))
    }

    /// Whether the agent tells this turn by itself, by one that `is_it`.
    fn tells(&self, turn: &Turn, is_it: impl Fn(&Turn, &Turn) -> bool) -> bool {
        let told = self.places.get(&turn.user).into_iter().flatten().map(|place| &self.replay[*place]);
        let mut told = told.filter(|theirs| theirs.user == turn.user);
        told.any(|theirs| is_it(theirs, turn))
    }

    /// Whether the agent tells the prompt of this turn alone, and behind it one of these turns of other windows, that `is_it`: the
    /// program that went on there had read the session before anything was answered to it.
    fn tells_prompt_behind_which(&self, turn: &Turn, its: &[usize], is_it: impl Fn(&Turn, &Turn) -> bool) -> bool {
        let is_alone = |told: &Turn| told.user == turn.user && told.agent.sum().is_empty();
        let told = self.places.get(&turn.user).into_iter().flatten().map(|place| &self.replay[*place..]);
        let mut alone = told.filter(|told| told.first().is_some_and(is_alone));
        let may_have_read = |other: &Turn| {
            other.window != turn.window && turn.begun_at() < other.begun_at() && other.is_begun_before_end_of(turn)
        };
        alone.any(|told| {
            let next = told.iter().take(MOST_JOINED).find(|told| !told.agent.sum().is_empty());
            let is_next =
                |other: &Turn| next.is_some_and(|next| next.pieces().last() == Some(&other.user) && is_it(next, other));
            its.iter().map(|at| &self.log[*at]).any(|other| may_have_read(other) && is_next(other))
        })
    }

    /// Whether the agent tells this turn with prompts before it that nobody had answered.
    fn tells_last(&self, turn: &Turn) -> bool {
        let mut told = self.ends.get(&turn.user).into_iter().flatten().map(|place| &self.replay[*place]);
        told.any(|theirs| theirs.agent.sum() == turn.agent.sum())
    }
}

/// The prompts that the replay tells less often than the log does.
pub(in crate::reconcile) fn untold(log: &[Turn], replay: &[Turn]) -> BTreeSet<Sum> {
    let mut missing: BTreeMap<Sum, i64> = BTreeMap::new();
    for turn in log.iter().filter(|turn| turn.took_part != Some(false)) {
        *missing.entry(turn.user).or_default() += 1;
    }
    for prompt in replay.iter().flat_map(Turn::pieces) {
        *missing.entry(prompt).or_default() -= 1;
    }
    missing.into_iter().filter(|(_, missing)| *missing > 0).map(|(prompt, _)| prompt).collect()
}

/// Those of these turns, which are in the order in which they stand, that were begun before others had come to their end, also where
/// they were written late, or in which the agent said something by itself; with them those that are one with one of them to readers.
pub(super) fn at_once(log: &[Turn], its: &[usize], together: &Together) -> Vec<Range<usize>> {
    // Each with the last entry of all of its turns.
    let mut groups: Vec<(Range<usize>, u64)> = Vec::new();
    for (place, at) in its.iter().enumerate() {
        let turn = &log[*at];
        let mut group = (place..place + 1, together.end_of(turn));
        while let Some((before, end)) = groups.pop_if(|(_, end)| turn.begun_at() < *end) {
            group = (before.start..group.0.end, end.max(group.1));
        }
        groups.push(group);
    }
    let is_told_in_any_order = |group: &Range<usize>| {
        let one_with = log[its[group.start]].one_with;
        its[group.clone()].iter().any(|at| log[*at].has_aside || log[*at].one_with != one_with)
    };
    let groups = groups.into_iter().map(|(group, _)| group);
    groups.filter(|group| group.len() <= MOST && is_told_in_any_order(group)).collect()
}
