//! Prompts that stay as they were sent where their turns are exchanged for what the agent tells of them.
//!
//! What was sent with a prompt besides words is in the transcript alone: agents tell a file as a link in words, an image as the
//! address of a copy, or leave both out. So where the agent tells another answer, or a longer one, the prompt stays ours, and what
//! comes behind it is the agent's.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::compare::joint;
use super::fold::event::{Event, text_of};
use super::plan::{Piece, Plan, length};
use super::replayed::Replayed;
use super::turn::Turn;
use super::turn::sum::Sum;
use crate::storage::{Result, Storage};
use crate::store::Session;
use crate::transcript::Replay;

/// A turn that a plan exchanges for one of the replay with the same prompt.
#[derive(Debug)]
struct Exchanged<'a> {
    ours: &'a Turn,
    theirs: &'a Turn,
    /// Something besides words was sent with its prompt.
    has_more: bool,
    /// Something was told in it: by that its window, should it only have been stopped, knows that it is exchanged.
    has_answer: bool,
    /// The entry that ends it.
    end: Option<u64>,
    /// How many entries the agent tells of the prompt.
    told: u64,
}

/// The plan for these turns of a session's transcript, its own log up to the entry `own_end`, and of a replay, with the prompts that
/// stay.
pub fn with_own_prompts<S: Storage>(
    storage: &S,
    (session, own_end): (&Session, u32),
    replayed: Replayed<'_>,
    (ours, theirs): (&[Turn], &[Turn]),
    plan: Plan,
) -> Result<Plan> {
    let mut exchanged = exchanged(ours, theirs, &plan);
    if exchanged.is_empty() {
        return Ok(plan);
    }
    let runs = exchanged.iter().enumerate().flat_map(|(at, turn)| turn.ours.at.runs().map(move |run| (run, at)));
    let places: BTreeMap<u64, (u64, usize)> = runs.map(|(run, at)| (*run.start(), (*run.end(), at))).collect();
    Replay::up_to(session, own_end).each(storage, |number, text| {
        let run = places.range(..=number).next_back();
        if let Some((_, (_, at))) = run.filter(|(_, (end, _))| number <= *end) {
            exchanged[*at].read_ours(number, text);
        }
    })?;
    exchanged.retain(|turn| turn.has_more && turn.has_answer && turn.end.is_some());
    if exchanged.is_empty() {
        return Ok(plan);
    }
    let mut next = 0;
    replayed.each(storage, |number, text| {
        while exchanged.get(next).is_some_and(|turn| turn.theirs.at.end() < number) {
            next += 1;
        }
        if let Some(turn) = exchanged.get_mut(next) {
            turn.read_theirs(number, text);
        }
    })?;
    Ok(keeping(&exchanged, plan))
}

/// The turns that the agent took part in, are set aside, and have another with the same prompt put in.
fn exchanged<'a>(ours: &'a [Turn], theirs: &'a [Turn], plan: &Plan) -> Vec<Exchanged<'a>> {
    let inserted: Vec<RangeInclusive<u64>> = plan.inserted().cloned().collect();
    let mut told: BTreeMap<Sum, Vec<usize>> = BTreeMap::new();
    for (place, turn) in theirs.iter().enumerate().filter(|(_, turn)| are_in(turn, &inserted)) {
        told.entry(turn.user).or_default().push(place);
    }
    let several = joint::several(ours);
    let may_stay = |turn: &&Turn| {
        let is_its_own = turn.took_part == Some(true) && !turn.user.is_empty();
        is_its_own && !several.contains(&turn.one_with) && are_in(turn, &plan.aside)
    };
    let mut free = 0;
    let found = ours.iter().filter(may_stay).filter_map(|ours| {
        let places = told.get(&ours.user)?;
        let place = *places.get(places.partition_point(|place| *place < free))?;
        free = place + 1;
        Some(Exchanged { ours, theirs: &theirs[place], has_more: false, has_answer: false, end: None, told: 0 })
    });
    found.collect()
}

/// Whether all entries of a turn are in these ranges, which are in order.
fn are_in(turn: &Turn, ranges: &[RangeInclusive<u64>]) -> bool {
    turn.at.runs().all(|run| {
        let range = ranges.get(ranges.partition_point(|range| range.end() < run.start()));
        range.is_some_and(|range| range.contains(run.start()) && range.contains(run.end()))
    })
}

impl Exchanged<'_> {
    /// Takes in an entry of ours.
    fn read_ours(&mut self, number: u64, text: &str) {
        match Event::parse(text) {
            Event::Prompt { blocks, .. } if number == self.ours.at.start() => {
                self.has_more = blocks.into_iter().any(|block| text_of(block).is_none());
            }
            Event::End(_) => self.end = Some(number),
            Event::Other => {}
            _ => self.has_answer = true,
        }
    }

    /// Takes in an entry of theirs.
    fn read_theirs(&mut self, number: u64, text: &str) {
        if number == self.theirs.at.start() + self.told {
            self.told += u64::from(matches!(Event::parse(text), Event::User { .. } | Event::ForAgent { .. }));
        }
    }
}

/// The plan in which the prompts of these turns, and their ends, stay, and what the agent tells of the prompts is not put in. Where a
/// turn was moved among what stays, it is exchanged whole.
fn keeping(exchanged: &[Exchanged<'_>], mut plan: Plan) -> Plan {
    let mut next_kept = vec![u64::MAX; plan.pieces.len() + 1];
    for (at, piece) in plan.pieces.iter().enumerate().rev() {
        let kept = if let Piece::Keep(range) = piece { *range.start() } else { u64::MAX };
        next_kept[at] = kept.min(next_kept[at + 1]);
    }
    let (mut pieces, mut stays, mut position, mut last_kept) = (Vec::new(), Vec::new(), 0, 0);
    let (heard, mut turns) = (plan.heard, exchanged.iter().peekable());
    for (at, piece) in plan.pieces.iter().enumerate() {
        let range = match piece {
            Piece::Keep(range) => {
                last_kept = *range.end();
                pieces.push(piece.clone());
                position += length(range);
                continue;
            }
            Piece::Insert(range) => range,
        };
        let mut from = *range.start();
        while let Some(turn) = turns.next_if(|turn| turn.theirs.at.start() <= *range.end()) {
            let (first, prompt, end) = (turn.theirs.at.start(), turn.ours.at.start(), turn.end.unwrap_or_default());
            if first < from || turn.told == 0 || prompt <= last_kept || end <= prompt || end >= next_kept[at] {
                continue;
            }
            // Readers are given all of a turn that bears its tag at once, so its end stands with its prompt.
            pieces.extend([Piece::Insert(from..=first - 1), Piece::Keep(prompt..=prompt), Piece::Keep(end..=end)]);
            if heard > position + (first - range.start()) {
                plan.heard = plan.heard + 2 - turn.told;
            }
            stays.extend([prompt, end]);
            (from, last_kept) = (first + turn.told, end);
        }
        pieces.push(Piece::Insert(from..=*range.end()));
        position += length(range);
    }
    pieces.retain(|piece| !piece.range().is_empty());
    let aside = plan.aside.iter().flat_map(|range| without(range, &stays)).collect();
    Plan { pieces, aside, ..plan }
}

/// What is left of these numbers without those, which are in order.
fn without(range: &RangeInclusive<u64>, numbers: &[u64]) -> Vec<RangeInclusive<u64>> {
    let first = numbers.partition_point(|number| number < range.start());
    let (mut from, mut left) = (*range.start(), Vec::new());
    for number in numbers[first..].iter().take_while(|number| *number <= range.end()) {
        left.push(from..=number - 1);
        from = number + 1;
    }
    left.push(from..=*range.end());
    left.retain(|range| !range.is_empty());
    left
}
