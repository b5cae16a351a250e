//! Which turns of a transcript an agent has heard, though it need not have heard all that stands before them.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use super::ended::Ended;
use super::entry::{Entry, Kind};
use super::spans::Spans;
use crate::storage::{Bounds, Result, Storage};
use crate::store::Session;

/// How far back it is looked for what was said last, in entries.
const LOOK_BACK: u64 = 256;

/// The tags of the turns of a session's transcript, its own log up to the entry `own_end`, that have come to their end and of which
/// all that stands behind so many entries is in these (counted from 1 over all its parts).
pub fn turns_within<S: Storage>(
    storage: &S,
    (session, own_end): (&Session, u32),
    behind: u64,
    within: &[RangeInclusive<u64>],
) -> Result<BTreeSet<String>> {
    let (mut ended, mut beyond) = (BTreeSet::new(), BTreeSet::new());
    if within.is_empty() {
        return Ok(ended);
    }
    let mut within = within.to_vec();
    within.sort_unstable_by_key(|range| *range.start());
    let is_within = |number: u64| {
        let before = within.partition_point(|range| *range.start() <= number);
        within[..before].last().is_some_and(|range| range.contains(&number))
    };
    let spans = Spans::up_to(session, own_end);
    spans.each(storage, behind, spans.length(), |place, text| {
        let Some(entry) = Entry::parse(text) else { return };
        let Some(tag) = entry.turn else { return };
        if !is_within(place + 1) {
            beyond.insert(tag.to_owned());
        } else if Ended::of(&entry) == Some(Ended::Well) {
            ended.insert(tag.to_owned());
        }
    })?;
    ended.retain(|tag| !beyond.contains(tag));
    Ok(ended)
}

/// Whether what stands last in a transcript of what an agent keeps was said in this window. The good end of a turn says nothing.
pub fn is_last_of<S: Storage>(storage: &S, session: &Session, window: &str) -> Result<bool> {
    let spans = Spans::of(storage, session)?;
    let end = spans.length();
    for place in (end.saturating_sub(LOOK_BACK)..end).rev() {
        let entries = spans.read(storage, place, Bounds { limit: 1, max_bytes: 1 })?;
        let Some(entry) = entries.first().and_then(|(_, text)| Entry::parse(text)) else { return Ok(false) };
        let says_nothing = entry.kind == Kind::Fork || Ended::of(&entry) == Some(Ended::Well);
        if !says_nothing {
            return Ok(entry.said_in() == Some(window));
        }
    }
    Ok(false)
}
