//! Which turns of a transcript are which of a replay.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::reconcile::fold::messages::left_out;
use crate::reconcile::turn::sum::Sum;
use crate::reconcile::turn::{Half, Turn, said_together};

/// How many pairs of turns are compared to find the best alignment; above that, it is found around turns that there is
/// only one of.
const MOST_PAIRS: usize = 1_000_000;
/// How often it is looked for such turns between such turns.
const DEEPEST: u32 = 16;

/// One alignment is better than another if it pairs more turns or, with as many, if more of them are equal or have all that
/// is replayed. The number of pairs compared bounds how many can be aligned, so that the second never outweighs the first.
const REWRITTEN: u32 = 4000;
const SHORTER: u32 = REWRITTEN + 1;
const LONGER: u32 = REWRITTEN + 2;
const EQUAL: u32 = REWRITTEN + 3;

/// How many bytes of an answer tell the turn, though the agent gives the prompt otherwise: with what a resource or a
/// command stands for, or with something in front.
pub(in crate::reconcile) const TELLING: u64 = 24;

/// How many turns behind one are looked at for the rest of its answer.
const LOOKED_AHEAD: usize = 32;

type Key = (Sum, Sum);

/// Both sides, and what of them tells a turn.
#[derive(Debug)]
struct Sides<'a> {
    log: &'a [Turn],
    replay: &'a [Turn],
    /// Answers that tell the turn, whatever the prompt has become: long ones that both have once.
    telling: BTreeSet<Sum>,
    /// The messages that are replayed.
    messages: BTreeSet<Sum>,
}

impl<'a> Sides<'a> {
    fn of(log: &'a [Turn], replay: &'a [Turn]) -> Self {
        let once = |turns: &[Turn]| {
            let mut once: BTreeMap<Sum, bool> = BTreeMap::new();
            for sum in turns.iter().map(|turn| turn.agent.sum()).filter(|sum| sum.length() >= TELLING) {
                once.entry(sum).and_modify(|is_once| *is_once = false).or_insert(true);
            }
            once.into_iter().filter_map(|(sum, is_once)| is_once.then_some(sum)).collect::<BTreeSet<Sum>>()
        };
        let messages = replay.iter().flat_map(Turn::messages).collect();
        Self { log, replay, telling: &once(log) & &once(replay), messages }
    }

    fn equal(&self, at: usize, other: usize) -> bool {
        self.log[at].said() == self.replay[other].said()
    }

    /// Whether the agent took no part in this turn of the log: what it replays is rather another that is as good.
    fn is_others(&self, at: usize) -> bool {
        self.log[at].took_part == Some(false)
    }

    /// How well they go together; 0: not at all.
    fn affinity(&self, at: usize, other: usize) -> u32 {
        let (log, replay) = (&self.log[at], &self.replay[other]);
        let (ours, theirs) = (log.agent.sum(), replay.agent.sum());
        if log.user != replay.user {
            return if ours == theirs && self.telling.contains(&ours) { REWRITTEN } else { 0 };
        }
        if ours == theirs {
            return EQUAL;
        }
        // With less of an answer that had come to its end it has not forgotten the rest but changed it, unless it is known to
        // tell it in part.
        let may_go_on = !log.is_finished() || self.may_go_on_unheard(at);
        let is_beginning =
            may_go_on && replay.agent.begins_with(ours) || !log.is_finished() && log.agent.begins_with(theirs);
        let is_beginning = is_beginning || log.is_told_in_part(replay);
        if !ours.is_empty() && !theirs.is_empty() && !is_beginning {
            return if self.leaves_out_messages(at, other) { LONGER } else { 0 };
        }
        if log.is_silent() {
            // Nothing was said that this could be the rest of.
            return 0;
        }
        if self.goes_on_elsewhere(at, other) {
            return 0;
        }
        if ours.length() < theirs.length() { SHORTER } else { LONGER }
    }

    /// Whether all that the agent tells of its own answer, which had come to its end, is as it was, and it leaves out some messages of
    /// it, which it tells nowhere. It has not answered the prompt anew: behind that it tells another turn as it was, or nothing, or there
    /// is no other.
    fn leaves_out_messages(&self, at: usize, other: usize) -> bool {
        let end = self.log.len().min(at + 1 + LOOKED_AHEAD);
        let mut behind = (at + 1..end).filter(|next| !self.is_others(*next)).peekable();
        let is_as_it_was = |next: usize| {
            let is_asked = !self.log[next].user.is_empty();
            is_asked && (self.equal(next, other + 1) || self.is_without_messages(next, other + 1))
        };
        let has_next = other + 1 < self.replay.len();
        let is_last = !has_next || behind.peek().is_none() && end == self.log.len();
        // What the agent said by itself it may tell behind the next prompt.
        let is_all = is_last && !self.log[at].has_aside;
        self.is_without_messages(at, other) && (is_all || has_next && behind.any(is_as_it_was))
    }

    /// Whether this is a turn of the agent's own, which it tells without some messages that it tells nowhere.
    fn is_without_messages(&self, at: usize, other: usize) -> bool {
        let (log, replay) = (&self.log[at], &self.replay[other]);
        let is_its_own = log.took_part == Some(true) && log.is_finished() && !log.user.is_empty();
        let may_be = is_its_own && log.user == replay.user && replay.agent.sum().length() < log.agent.sum().length();
        let left_out = may_be.then(|| left_out(&log.messages(), &replay.messages())).flatten();
        left_out.is_some_and(|messages| messages.iter().all(|message| !self.messages.contains(message)))
    }

    /// Whether the agent may have gone on with its own answer, which had come to its end, where nobody heard it. What it
    /// seems to have more may be the answer to what comes next, if that was cut off and not refused.
    fn may_go_on_unheard(&self, at: usize) -> bool {
        let is_its_own = |turn: &Turn| turn.took_part == Some(true) && !turn.user.is_empty();
        let may_be_answered = |turn: &Turn| is_its_own(turn) && !turn.is_finished() && !turn.refused;
        is_its_own(&self.log[at]) && !self.log.get(at + 1).is_some_and(may_be_answered)
    }

    /// Whether what the one has more of an answer is, in the other, the answer of a turn behind it that the one has not. So it
    /// is where the agent's session was changed without the layer while the turn was under way: to the agent, what it said
    /// from then on stands behind the change, or behind what was left.
    fn goes_on_elsewhere(&self, at: usize, other: usize) -> bool {
        let (ours, theirs) = (self.log[at].agent.sum(), self.replay[other].agent.sum());
        if ours.length() > theirs.length() {
            let rest = Half::Answer(ours.behind(theirs));
            let mut behind = self.replay[other + 1..].iter().take(LOOKED_AHEAD);
            return behind.any(|turn| {
                turn.parts.halves().contains(&rest) && self.log.iter().all(|ours| ours.said() != turn.said())
            });
        }
        let rest = theirs.behind(ours);
        let behind = self.log[at + 1..].iter().take(LOOKED_AHEAD);
        let mut behind = behind.take_while(|turn| self.replay.iter().all(|theirs| theirs.said() != turn.said()));
        let mut said = Sum::default();
        behind.any(|turn| {
            said = said.followed_by(turn.agent.sum());
            said == rest
        })
    }
}

/// The turns that are the same, in order, as indices into both.
pub fn align(log: &[Turn], replay: &[Turn]) -> Vec<(usize, usize)> {
    let sides = Sides::of(log, replay);
    let mut pairs = Vec::new();
    align_part(&sides, Part { log: 0..log.len(), replay: 0..replay.len() }, DEEPEST, &mut pairs);
    if pairs.iter().any(|(at, _)| sides.is_others(*at)) {
        move_down(&sides, &mut pairs);
    }
    move_up(&sides, &mut pairs);
    pairs
}

/// The turns that are the same, in order, as indices into both; of several that go with one of the replay equally well
/// it is the last: what is told is what was said last.
pub(super) fn align_last(log: &[Turn], replay: &[Turn]) -> Vec<(usize, usize)> {
    let sides = Sides::of(log, replay);
    let mut pairs = Vec::new();
    align_part(&sides, Part { log: 0..log.len(), replay: 0..replay.len() }, DEEPEST, &mut pairs);
    move_down(&sides, &mut pairs);
    pairs
}

/// Of turns that go with one of the replay equally well, the last is it that the agent took part in: where it tells less of a
/// conversation in which the same was said over and over, what it took part in is what came last.
fn move_down(sides: &Sides<'_>, pairs: &mut [(usize, usize)]) {
    let mut end = sides.log.len();
    for (at, other) in pairs.iter_mut().rev() {
        let least = sides.affinity(*at, *other);
        let mut behind = (*at + 1..end).rev();
        let is_as_good = |behind: &usize| !sides.is_others(*behind) && sides.affinity(*behind, *other) >= least;
        *at = behind.find(is_as_good).unwrap_or(*at);
        end = *at;
    }
}

/// Of turns that go with one of the replay equally well, the first is it, but for those that the agent took no part in where it
/// took part in another: so the same replay is always aligned alike, also when what is new in it has become part of the log.
fn move_up(sides: &Sides<'_>, pairs: &mut [(usize, usize)]) {
    let (mut free, mut told) = (0, 0);
    for (at, other) in pairs {
        if !is_told_together(&sides.log[free..*at], &sides.replay[told..*other]) {
            let least = sides.affinity(*at, *other);
            let may_be_others = sides.is_others(*at);
            let is_as_good = |before: &usize| {
                (may_be_others || !sides.is_others(*before)) && sides.affinity(*before, *other) >= least
            };
            *at = (free..*at).find(is_as_good).unwrap_or(*at);
        }
        (free, told) = (*at + 1, *other + 1);
    }
}

/// Whether these turns of the replay say what these of the log do, cut into others: what stands behind the ones goes with what stands
/// behind the others.
fn is_told_together(log: &[Turn], replay: &[Turn]) -> bool {
    let its = log.iter().filter(|turn| turn.took_part != Some(false));
    !replay.is_empty() && said_together(its) == said_together(replay)
}

/// A stretch of both that is aligned on its own.
#[derive(Debug, Clone)]
struct Part {
    log: Range<usize>,
    replay: Range<usize>,
}

fn align_part(sides: &Sides<'_>, mut part: Part, depth: u32, pairs: &mut Vec<(usize, usize)>) {
    while !part.log.is_empty() && !part.replay.is_empty() && sides.equal(part.log.start, part.replay.start) {
        pairs.push((part.log.start, part.replay.start));
        part.log.start += 1;
        part.replay.start += 1;
    }
    let (log_end, replay_end) = (part.log.end, part.replay.end);
    while !part.log.is_empty() && !part.replay.is_empty() && sides.equal(part.log.end - 1, part.replay.end - 1) {
        part.log.end -= 1;
        part.replay.end -= 1;
    }
    let ends = (part.log.end..log_end).zip(part.replay.end..replay_end);
    if part.log.len().saturating_mul(part.replay.len()) <= MOST_PAIRS {
        best(sides, &part, pairs);
    } else {
        around_landmarks(sides, part, depth, pairs);
    }
    pairs.extend(ends);
}

/// The best alignment there is: a longest common subsequence by affinity, the earliest where several are as good.
fn best(sides: &Sides<'_>, part: &Part, pairs: &mut Vec<(usize, usize)>) {
    #[derive(Clone, Copy)]
    enum Move {
        Pair,
        Log,
        Replay,
    }
    let (height, width) = (part.log.len(), part.replay.len());
    if height == 0 || width == 0 {
        return;
    }
    let mut steps = vec![Move::Log; height * width];
    let mut below = vec![0; width + 1];
    let mut row = vec![0; width + 1];
    for at in (0..height).rev() {
        for other in (0..width).rev() {
            let affinity = sides.affinity(part.log.start + at, part.replay.start + other);
            let paired = if affinity == 0 { 0 } else { affinity + below[other + 1] };
            let skipped = below[other].max(row[other + 1]);
            (row[other], steps[at * width + other]) = if affinity > 0 && paired >= skipped {
                (paired, Move::Pair)
            } else if below[other] >= row[other + 1] {
                (skipped, Move::Log)
            } else {
                (skipped, Move::Replay)
            };
        }
        std::mem::swap(&mut row, &mut below);
    }
    let (mut at, mut other) = (0, 0);
    while at < height && other < width {
        match steps[at * width + other] {
            Move::Pair => {
                pairs.push((part.log.start + at, part.replay.start + other));
                at += 1;
                other += 1;
            }
            Move::Log => at += 1,
            Move::Replay => other += 1,
        }
    }
}

/// Pairs the turns that both have exactly once, as far as their order agrees, and aligns what lies between.
fn around_landmarks(sides: &Sides<'_>, part: Part, depth: u32, pairs: &mut Vec<(usize, usize)>) {
    let landmarks = if depth == 0 { Vec::new() } else { landmarks(sides, &part) };
    if landmarks.is_empty() {
        return one_after_the_other(sides, &part, pairs);
    }
    let mut rest = part;
    for (at, other) in landmarks {
        let before = Part { log: rest.log.start..at, replay: rest.replay.start..other };
        align_part(sides, before, depth - 1, pairs);
        pairs.push((at, other));
        (rest.log.start, rest.replay.start) = (at + 1, other + 1);
    }
    align_part(sides, rest, depth - 1, pairs);
}

/// Turns that both have once, as they are; where there are none, those that their answers tell.
fn landmarks(sides: &Sides<'_>, part: &Part) -> Vec<(usize, usize)> {
    let whole = common(sides, part, |turn| Some(turn.said()));
    if !whole.is_empty() {
        return whole;
    }
    common(sides, part, |turn| Some(turn.agent.sum()).filter(|sum| sides.telling.contains(sum)))
}

fn common<K: Ord>(sides: &Sides<'_>, part: &Part, key: impl Fn(&Turn) -> Option<K>) -> Vec<(usize, usize)> {
    let once = |turns: &[Turn], range: &Range<usize>| {
        let mut places: BTreeMap<K, Option<usize>> = BTreeMap::new();
        for at in range.clone() {
            if let Some(key) = key(&turns[at]) {
                places.entry(key).and_modify(|place| *place = None).or_insert(Some(at));
            }
        }
        places
    };
    let (ours, theirs) = (once(sides.log, &part.log), once(sides.replay, &part.replay));
    let both = part.log.clone().filter_map(|at| {
        let key = key(&sides.log[at])?;
        ours.get(&key).copied().flatten()?;
        theirs.get(&key).copied().flatten().map(|other| (at, other))
    });
    longest_rising(&both.collect::<Vec<_>>())
}

/// The longest part of these pairs, ordered by the first, that is in the order of the second too.
fn longest_rising(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // For each length the pair that ends a rising row of it with the least second, and for each pair the one before it.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (at, (_, second)) in pairs.iter().enumerate() {
        let length = ends.partition_point(|end| pairs[*end].1 < *second);
        before.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        match ends.get_mut(length) {
            Some(end) => *end = at,
            None => ends.push(at),
        }
    }
    let mut rising = Vec::with_capacity(ends.len());
    let mut next = ends.last().copied();
    while let Some(at) = next {
        rising.push(pairs[at]);
        next = before[at];
    }
    rising.reverse();
    rising
}

/// Pairs each turn of the replay with the next of the log that is equal.
fn one_after_the_other(sides: &Sides<'_>, part: &Part, pairs: &mut Vec<(usize, usize)>) {
    let mut places: BTreeMap<Key, Vec<usize>> = BTreeMap::new();
    for at in part.log.clone().rev() {
        places.entry(sides.log[at].said()).or_default().push(at);
    }
    let mut next = part.log.start;
    for other in part.replay.clone() {
        let Some(places) = places.get_mut(&sides.replay[other].said()) else { continue };
        while places.last().is_some_and(|place| *place < next) {
            places.pop();
        }
        if let Some(at) = places.pop() {
            pairs.push((at, other));
            next = at + 1;
        }
    }
}
