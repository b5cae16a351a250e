//! A transcript, and a replay of it, as turns.

use std::collections::BTreeMap;

use super::asides::{Apart, Asides};
use super::fold::{Fold, Grain};
use super::sum::Sum;
use super::turn::{Strip, Turn};
use crate::storage::{Bounds, Result, Storage};
use crate::store::{Segment, Session};
use crate::transcript::Replay;

const BATCH: Bounds = Bounds { limit: 512, max_bytes: 256 * 1024 };

/// The turns of a session's transcript, its own log up to the entry `own_end`, in the order in which it is shown.
pub fn of_transcript<S: Storage>(storage: &S, session: &Session, own_end: u32, strip: Strip) -> Result<Vec<Turn>> {
    Ok(transcript(storage, session, own_end, Fold::new(strip))?.joined())
}

/// The turns of a transcript and those of a replay of this agent's that was recorded into the log `staging`, as they can
/// be compared. Where
/// the agent replays only what it said itself, or only what the user said, its messages stand alone, and so they do then in
/// the transcript.
pub fn of_both<S: Storage>(
    storage: &S,
    session: &Session,
    own_end: u32,
    staging: &str,
    agent: &str,
    strip: Strip,
) -> Result<(Vec<Turn>, Vec<Turn>)> {
    let logs = || session.segments.iter().map(Segment::length);
    let fold = || Fold::new(strip).heard_by(agent, session.agents.get(agent)).of_logs(logs());
    let apart = transcript(storage, session, own_end, fold())?;
    let (joined, asides) = apart.as_joined();
    let mut theirs = replay(storage, staging, Fold::beside(strip, &joined, &asides))?;
    let mut ours = apart.joined_as(&theirs);
    let grain = Grain::of(&theirs);
    if grain != Grain::Turns {
        ours = transcript(storage, session, own_end, fold().by(grain))?.joined();
        theirs = replay(storage, staging, Fold::beside(strip, &ours, &Asides::default()).by(grain))?;
    }
    order_as_replayed(&mut ours, &theirs);
    Ok((ours, theirs))
}

fn transcript<S: Storage>(storage: &S, session: &Session, own_end: u32, mut fold: Fold) -> Result<Apart> {
    let length = Replay::up_to(session, own_end).each(storage, |number, text| fold.push(number, text))?;
    Ok(fold.finish_apart(length))
}

fn replay<S: Storage>(storage: &S, staging: &str, mut fold: Fold) -> Result<Vec<Turn>> {
    let end = storage.log_end(staging)?;
    let mut next = 1;
    while next <= end {
        let page = storage.read_log(staging, next, BATCH)?;
        for entry in page.entries.iter().filter(|entry| entry.seq <= end) {
            fold.push(entry.seq.into(), &entry.value);
        }
        let Some(last) = page.entries.last().filter(|_| page.more) else { break };
        next = last.seq + 1;
    }
    Ok(fold.finish(end.into()))
}

/// Turns that were spoken at once have no order but that in which they were begun; the agent may have finished them in
/// another.
fn order_as_replayed(ours: &mut [Turn], theirs: &[Turn]) {
    let is_at_once = |before: u64, turn: &Turn| turn.at.start() < before;
    let mut places: Option<BTreeMap<(Sum, Sum), usize>> = None;
    let mut first = 0;
    while first < ours.len() {
        let (mut last, mut end) = (first, ours[first].at.end());
        while ours.get(last + 1).is_some_and(|turn| is_at_once(end, turn)) {
            last += 1;
            end = end.max(ours[last].at.end());
        }
        if last > first {
            let places = places.get_or_insert_with(|| {
                theirs.iter().enumerate().rev().map(|(at, turn)| ((turn.user, turn.agent.sum()), at)).collect()
            });
            let place = |turn: &Turn| places.get(&(turn.user, turn.agent.sum()));
            let group = &mut ours[first..=last];
            if group.iter().all(|turn| place(turn).is_some()) {
                group.sort_by_key(|turn| place(turn).copied());
            }
        }
        first = last + 1;
    }
}
