//! A transcript, and a replay of it, as turns.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::compare::in_part;
use super::compare::summary::with_summed_up;
use super::fold::Fold;
use super::fold::asides::{Apart, Asides};
use super::fold::compactions::Compactions;
use super::fold::event::{Event, agents_text};
use super::fold::grain::Grain;
use super::replayed::Replayed;
use super::turn::sum::Sum;
use super::turn::text::Writer;
use super::turn::{Outcome, Strip, Turn};
use crate::storage::{Result, Storage};
use crate::store::{Segment, Session};
use crate::transcript::{Entry, Replay};

/// The turns of a session's transcript, its own log up to the entry `own_end`, in the order in which it is shown.
pub fn of_transcript<S: Storage>(storage: &S, session: &Session, own_end: u32, strip: Strip) -> Result<Vec<Turn>> {
    Ok(transcript(storage, session, own_end, Fold::new(strip))?.joined())
}

/// The turns of parts of logs, read one behind the other.
pub(super) fn of_parts<S: Storage>(storage: &S, parts: &[Segment], mut fold: Fold) -> Result<Vec<Turn>> {
    let length = Replay::of_parts(parts).each(storage, |number, text| fold.push(number, text))?;
    Ok(fold.finish(length))
}

/// The turns of a transcript and those of a replay of this agent's, as they can be compared. Where the agent replays only
/// what it said itself, or only what the user said, its messages stand alone, and so they do then in the transcript.
pub fn of_both<S: Storage>(
    storage: &S,
    session: &Session,
    own_end: u32,
    replayed: Replayed<'_>,
    agent: &str,
    strip: Strip,
) -> Result<(Vec<Turn>, Vec<Turn>)> {
    let logs = || session.segments.iter().map(Segment::length);
    let fold = || Fold::new(strip).heard_by(agent, session.agents.get(agent)).of_logs(logs());
    let apart = transcript(storage, session, own_end, fold())?;
    let (joined, asides) = apart.as_joined();
    let (attached, brought) = (&Arc::clone(&apart.attached), &apart.brought.clone().among(&joined));
    let (mut theirs, compactions) =
        replay(storage, replayed, Fold::beside(strip, &joined, &asides).knowing(attached, brought))?;
    let compacted = apart.compactions.clone();
    let mut ours = apart.joined_as(&theirs);
    theirs = with_summed_up((&ours, &compacted), (theirs, &compactions), |turns, rest| {
        ends_with(storage, session, own_end, turns, rest)
    })?;
    let grain = Grain::of(&theirs);
    if grain == Grain::Turns {
        note_told_in_part(storage, session, own_end, &mut ours, &theirs)?;
        note_finished_elsewhere(storage, (session, own_end), replayed, &mut ours, &theirs)?;
    } else {
        ours = transcript(storage, session, own_end, fold().by(grain))?.joined();
        let fold = Fold::beside(strip, &ours, &Asides::default()).knowing(attached, brought).by(grain);
        (theirs, _) = replay(storage, replayed, fold)?;
    }
    order_as_replayed(&mut ours, &theirs);
    Ok((ours, theirs))
}

fn transcript<S: Storage>(storage: &S, session: &Session, own_end: u32, mut fold: Fold) -> Result<Apart> {
    let length = Replay::up_to(session, own_end).each(storage, |number, text| fold.push(number, text))?;
    Ok(fold.finish_apart(length))
}

/// The turns of a replay, and where it tells that what was said before was compacted.
fn replay<S: Storage>(storage: &S, replayed: Replayed<'_>, mut fold: Fold) -> Result<(Vec<Turn>, Compactions)> {
    let end = replayed.each(storage, |number, text| fold.push(number, text))?;
    let mut apart = fold.finish_apart(end);
    let compactions = std::mem::take(&mut apart.compactions);
    Ok((apart.joined(), compactions))
}

/// Whether the answer of one of these turns of a transcript ends with this.
fn ends_with<S: Storage>(storage: &S, session: &Session, own_end: u32, turns: &[&Turn], rest: Sum) -> Result<bool> {
    let before = |turn: &Turn| turn.agent.sum().length().checked_sub(rest.length());
    let wanted: Vec<(&Turn, u64)> = turns.iter().filter_map(|turn| Some((*turn, before(turn)?))).collect();
    if wanted.is_empty() {
        return Ok(false);
    }
    let begun = beginnings(storage, session, own_end, &wanted)?;
    let mut ends =
        wanted.iter().zip(begun).map(|((turn, _), begun)| turn.agent.sum().behind(begun.unwrap_or_default()));
    Ok(ends.any(|end| end == rest))
}

/// What the answers of these turns of a transcript begin with, up to these lengths.
fn beginnings<S: Storage>(
    storage: &S,
    session: &Session,
    own_end: u32,
    wanted: &[(&Turn, u64)],
) -> Result<Vec<Option<Sum>>> {
    let mut answers: Vec<Writer> = wanted.iter().map(|(_, length)| Writer::watching(&[*length])).collect();
    Replay::up_to(session, own_end).each(storage, |number, text| {
        let is_its = |turn: &Turn| turn.at.runs().any(|run| run.contains(&number));
        let mut its = answers.iter_mut().zip(wanted).filter(|(_, (turn, _))| is_its(turn)).peekable();
        if its.peek().is_some()
            && let Event::Agent { content: Some(content), .. } = Event::parse(text)
            && let Some(text) = agents_text(content)
        {
            its.for_each(|(answer, _)| answer.push(&text));
        }
    })?;
    Ok(answers.iter().map(|answer| answer.noted().first().copied()).collect())
}

/// Notes of turns of a transcript which of their answers the agent tells in part.
fn note_told_in_part<S: Storage>(
    storage: &S,
    session: &Session,
    own_end: u32,
    ours: &mut [Turn],
    theirs: &[Turn],
) -> Result<()> {
    let looked_for = in_part::looked_for(ours, theirs);
    if looked_for.is_empty() {
        return Ok(());
    }
    let wanted: Vec<(&Turn, u64)> = looked_for.iter().map(|part| (&ours[part.at], part.told.length())).collect();
    let begun = beginnings(storage, session, own_end, &wanted)?;
    let is_begun = looked_for.into_iter().zip(begun).filter(|(part, begun)| *begun == Some(part.told));
    in_part::note(ours, theirs, is_begun.map(|(part, _)| part));
    Ok(())
}

/// Notes whether the agent has done more in the last turn than it tells: where its user wants that, Claude Code carries out a plan in
/// another transcript. What it has only said, and not kept, it need not know.
fn note_finished_elsewhere<S: Storage>(
    storage: &S,
    (session, own_end): (&Session, u32),
    replayed: Replayed<'_>,
    ours: &mut [Turn],
    theirs: &[Turn],
) -> Result<()> {
    let (Some(last), Some(told)) = (ours.last_mut(), theirs.last()) else { return Ok(()) };
    if !last.is_told_less_of(told) {
        return Ok(());
    }
    let (mut done, mut told_of) = (0_usize, 0_usize);
    Replay::up_to(session, own_end).each(storage, |number, text| done += count_call(last, number, text))?;
    replayed.each(storage, |number, text| told_of += count_call(told, number, text))?;
    if done > told_of {
        last.outcome = Outcome::FinishedElsewhere;
    }
    Ok(())
}

/// One, where this entry begins a tool call of the turn.
fn count_call(turn: &Turn, number: u64, text: &str) -> usize {
    let is_its = turn.at.runs().any(|run| run.contains(&number));
    let name = || Entry::parse(text).and_then(|entry| entry.update_name().map(|name| name == "tool_call"));
    usize::from(is_its && name() == Some(true))
}

/// Puts them in the order of their places; what has none, because it is told in other turns, stays behind what was begun before
/// it.
fn order<T>(group: &mut [T], begun: impl Fn(&T) -> u64, place: impl Fn(&T) -> Option<usize>) {
    let mut places: Vec<(u64, Option<usize>)> = group.iter().map(|turn| (begun(turn), place(turn))).collect();
    places.sort_unstable();
    let mut before = None;
    for (_, place) in &mut places {
        before = place.or(before);
        *place = before;
    }
    group.sort_by_cached_key(|turn| {
        let begun = begun(turn);
        let at = places.partition_point(|(other, _)| *other < begun);
        (places[at].1, begun)
    });
}

/// Whether of the places where each is told there are some that follow each other.
fn are_told_in_order<'a>(mut places: impl Iterator<Item = &'a Vec<usize>>) -> bool {
    let mut free = 0;
    places.all(|places| {
        let next = places.get(places.partition_point(|place| *place < free));
        free = next.map_or(free, |place| place + 1);
        next.is_some()
    })
}

/// Turns that were spoken at once have no order but that in which they were begun; the agent may have finished them in
/// another.
fn order_as_replayed(ours: &mut [Turn], theirs: &[Turn]) {
    let is_at_once = |before: u64, turn: &Turn| turn.at.start() < before;
    let mut places: Option<BTreeMap<(Sum, Sum), Vec<usize>>> = None;
    // How often the same was said in turns before.
    let (mut before, mut counted): (BTreeMap<(Sum, Sum), usize>, usize) = (BTreeMap::new(), 0);
    let mut first = 0;
    while first < ours.len() {
        let (mut last, mut end) = (first, ours[first].ended_at());
        while ours.get(last + 1).is_some_and(|turn| is_at_once(end, turn)) {
            last += 1;
            end = end.max(ours[last].ended_at());
        }
        if last > first {
            let places = places.get_or_insert_with(|| {
                let mut places: BTreeMap<(Sum, Sum), Vec<usize>> = BTreeMap::new();
                for (at, turn) in theirs.iter().enumerate() {
                    places.entry(turn.said()).or_default().push(at);
                }
                places
            });
            for turn in &ours[counted..first] {
                *before.entry(turn.said()).or_default() += usize::from(turn.took_part != Some(false));
            }
            counted = first;
            // Of one that was cut off the agent may have kept the prompt alone.
            let told = |turn: &Turn| {
                let prompt = turn.may_be_kept_in_part().then_some((turn.user, Sum::default()));
                places.get(&turn.said()).or_else(|| places.get(&prompt?))
            };
            let group = &mut ours[first..=last];
            if !are_told_in_order(group.iter().filter_map(told)) {
                let free = |turn: &Turn, told: &Vec<usize>| {
                    let taken = before.get(&turn.said()).copied().unwrap_or_default();
                    told.get(taken).or(told.last()).copied()
                };
                order(group, |turn| turn.at.start(), |turn| free(turn, told(turn)?));
            }
        }
        first = last + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_of_one_moment_are_ordered_as_they_are_replayed_though_some_are_told_in_others() {
        // When each was begun, and which place it has in the replay.
        let cases = [
            (vec![(1, Some(1)), (2, Some(0))], vec![2, 1]),
            (vec![(1, Some(0)), (8, Some(3)), (2, None), (3, None), (5, Some(2))], vec![1, 2, 3, 5, 8]),
            (vec![(4, None), (5, Some(1)), (6, Some(0)), (7, None)], vec![4, 6, 7, 5]),
            (vec![(1, None), (2, None)], vec![1, 2]),
        ];
        for (mut group, expected) in cases {
            order(&mut group, |turn| turn.0, |turn| turn.1);
            assert_eq!(group.iter().map(|turn| turn.0).collect::<Vec<u64>>(), expected);
        }
    }
}
