//! Turns that several windows had at the same time, as an agent tells them that keeps all its programs' words in one transcript: each
//! word stands there where it was said, so an answer goes on under the prompt of the other window. The log knows which word
//! belongs to which turn. Where both say the same, however it is put together, what the log has is compared as one turn, and
//! stays as it is.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::sum::Sum;
use super::text::Letters;
use super::turn::Turn;

/// How many turns at the same time are looked at.
const MOST: usize = 64;
/// In how many places of a replay they are looked for.
const MOST_PLACES: usize = 64;

/// Both sides, in which such turns are one.
pub(super) fn joined<'a>(log: &'a [Turn], replay: &'a [Turn]) -> (Cow<'a, [Turn]>, Cow<'a, [Turn]>) {
    let told = told_otherwise(log, replay);
    if told.is_empty() {
        return (Cow::Borrowed(log), Cow::Borrowed(replay));
    }
    let (mut ours, mut theirs) = (Joining::of(log), Joining::of(replay));
    for (group, told) in told {
        let (Some(one), Some(same)) = (ours.join(group), theirs.join(told)) else { continue };
        (same.user, same.agent, same.holds) = (one.user, one.agent.clone(), one.holds.clone());
    }
    (Cow::Owned(ours.finish()), Cow::Owned(theirs.finish()))
}

/// Such turns of a log, by their places, and those of a replay that say the same.
fn told_otherwise(log: &[Turn], replay: &[Turn]) -> Vec<(Vec<usize>, Range<usize>)> {
    let groups = at_once(log);
    let mut places: BTreeMap<Sum, Vec<usize>> = BTreeMap::new();
    for (place, turn) in replay.iter().enumerate().filter(|_| !groups.is_empty()) {
        places.entry(turn.user).or_default().push(place);
    }
    let mut free = 0;
    let found = groups.into_iter().filter_map(|group| {
        let said: Vec<&Turn> = group.iter().map(|at| &log[*at]).collect();
        let starts = firsts(&said).into_iter().filter_map(|first| places.get(&first)).flatten();
        let starts = starts.copied().filter(|start| *start >= free).take(MOST_PLACES);
        let told = starts.filter_map(|start| told_from(start, &said, replay)).min_by_key(|told| told.start)?;
        free = told.end;
        Some((group, told))
    });
    found.collect()
}

/// What the first turn of a replay of these may begin with: agents put prompts together that follow each other.
fn firsts(turns: &[&Turn]) -> BTreeSet<Sum> {
    let mut together = Sum::default();
    let joined = turns.iter().map(|turn| {
        together = together.followed_by(turn.user);
        together
    });
    joined.chain(turns.iter().map(|turn| turn.user)).collect()
}

/// Which turns of a replay, from this one on, say the same as these.
fn told_from(start: usize, turns: &[&Turn], replay: &[Turn]) -> Option<Range<usize>> {
    let whole = turns.iter().fold(Said::default(), |said, turn| said.and(turn));
    let mut said = Said::default();
    for (at, turn) in replay.iter().enumerate().skip(start).take(turns.len()) {
        said = said.and(turn);
        if said.is_same(&whole) {
            return Some(start..at + 1);
        }
    }
    None
}

/// What the user and the agent say in some turns, whatever is said in which of them.
#[derive(Debug, Default)]
struct Said {
    /// The prompts, one behind the other, and each.
    asked: Sum,
    prompts: Vec<Sum>,
    letters: Letters,
}

impl Said {
    fn and(mut self, turn: &Turn) -> Self {
        self.prompts.push(turn.user);
        self.prompts.sort_unstable();
        Self { asked: self.asked.followed_by(turn.user), letters: self.letters.and(turn.agent.letters()), ..self }
    }

    fn is_same(&self, other: &Self) -> bool {
        self.letters == other.letters && (self.asked == other.asked || self.prompts == other.prompts)
    }
}

/// The turns of a log, by their places, that the agent may have taken part in and that were begun before others had come to their
/// end.
fn at_once(log: &[Turn]) -> Vec<Vec<usize>> {
    let mut its: Vec<usize> = (0..log.len()).filter(|at| log[*at].took_part != Some(false)).collect();
    its.sort_by_key(|at| log[*at].at.start());
    let mut end = 0;
    let begins_behind = |(_, at): &(usize, &usize)| {
        let places = &log[**at].at;
        let is_behind = places.start() >= end;
        end = end.max(places.end());
        is_behind
    };
    let mut starts: Vec<usize> = its.iter().enumerate().filter(begins_behind).map(|(start, _)| start).collect();
    starts.push(its.len());
    let groups = starts.windows(2).map(|ends| &its[ends[0]..ends[1]]).filter(|group| (2..=MOST).contains(&group.len()));
    let one_with = |turn: usize| log[turn].one_with;
    let has_all = |group: &&[usize]| {
        // What is one to readers with a turn of another time stays with that.
        let (first, last) = (group.iter().min().copied(), group.iter().max().copied());
        let neighbours = [first.and_then(|first| first.checked_sub(1)), last.map(|last| last + 1)];
        let mut neighbours = neighbours.into_iter().flatten().filter(|at| *at < log.len());
        !neighbours.any(|at| group.iter().any(|one| one_with(*one) == one_with(at)))
    };
    groups.filter(has_all).map(<[usize]>::to_vec).collect()
}

/// Turns of which some are being made one.
struct Joining(Vec<Option<Turn>>);

impl Joining {
    fn of(turns: &[Turn]) -> Self {
        Self(turns.iter().cloned().map(Some).collect())
    }

    /// Makes these one, in the place of the first.
    fn join(&mut self, places: impl IntoIterator<Item = usize>) -> Option<&mut Turn> {
        let (mut first, mut joined) = (usize::MAX, None);
        for at in places {
            first = first.min(at);
            let Some(turn) = self.0[at].take() else { continue };
            match &mut joined {
                None => joined = Some(turn),
                Some(joined) => Turn::join(joined, &turn),
            }
        }
        joined.map(|joined| self.0[first].insert(joined))
    }

    fn finish(self) -> Vec<Turn> {
        self.0.into_iter().flatten().collect()
    }
}
