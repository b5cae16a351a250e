//! Nothing that was acknowledged is gone; logs are never doubled, never out of order.

use std::collections::{BTreeMap, BTreeSet};

use acp_sessions_guest::sessions::transcript::transcript;
use acp_sessions_guest::storage::{Memory, Storage};
use acp_sessions_guest::store::{Session, Store};

use super::ALL;
use super::gaps::{is_anothers_perhaps, is_compared_in_vain, is_in_no_order, may_stand_twice};
use crate::client::Window;
use crate::ground::Broke;
use crate::talk::{Cut, Life, Mark, Talk, Turn, marks};

/// The transcript of every session that must be there, as the store has it.
pub(crate) fn transcripts(talk: &Talk, memory: &Memory) -> Vec<Broke> {
    let store = Store::new(memory);
    let here = talk.sessions.iter().filter(|(_, session)| session.life == Life::Here);
    here.flat_map(|(id, _)| transcript_of(talk, &store, id)).collect()
}

fn transcript_of(talk: &Talk, store: &Store<&Memory>, id: &str) -> Vec<Broke> {
    let required = talk.required(id);
    match store.session(id) {
        Ok(Some(_)) => {}
        Ok(None) if required.iter().all(|(_, marks)| marks.is_empty()) => return Vec::new(),
        found => {
            return vec![Broke::new("lost", format!("the record of `{id}` is {found:?}, and it had {required:?}"))];
        }
    }
    let seen = match transcript(store, id, None, u32::MAX) {
        Ok(page) => page.updates.iter().flat_map(|(_, update)| marks(update)).collect::<Vec<_>>(),
        Err(error) => return vec![Broke::new("lost", format!("the transcript of `{id}`: {error}"))],
    };
    // A fork does not begin with what its parent's agent has taken back; that is kept with the parent.
    let records = talk.sessions.keys().filter_map(|id| store.session(id).ok().flatten());
    let aside: BTreeSet<Mark> = records.flat_map(|record| aside(store.storage(), &record)).collect();
    let gone = |mark: &Mark| {
        let said = &talk.said[*mark];
        let is_kept_aside = (said.rewound || said.thought) && aside.contains(mark);
        let is_gone_with_parent = said.rewound && went_with_parent(talk, id, *mark);
        !seen.contains(mark) && !is_kept_aside && !is_gone_with_parent
    };
    let missing: Vec<Mark> = required.iter().flat_map(|(_, marks)| marks).copied().filter(gone).collect();
    let mut broken = Vec::new();
    if !missing.is_empty() && !is_anothers_perhaps(talk, store, id) {
        broken.push(Broke::new("lost", format!("`{id}` has lost {missing:?}, it has {seen:?}")));
    }
    broken.extend(order(talk, id, &seen, u64::MAX).err());
    broken
}

/// Whether this was said in another session, of which this one is a fork and which was deleted since. What the agent has
/// taken back of it was kept with that one alone, where the fork was made after that (28408).
fn went_with_parent(talk: &Talk, id: &str, mark: Mark) -> bool {
    let parent = talk.said[mark].turn.map(|turn| talk.turns[turn].session.as_str()).filter(|parent| *parent != id);
    parent.and_then(|parent| talk.sessions.get(parent)).is_some_and(|parent| parent.life != Life::Here)
}

/// What was taken out of the conversation and kept.
fn aside(memory: &Memory, record: &Session) -> BTreeSet<Mark> {
    let mut found = BTreeSet::new();
    for segment in &record.aside {
        let entries = memory.read_log(&segment.log, segment.from, ALL).map(|page| page.entries).unwrap_or_default();
        let entries = entries.iter().filter(|entry| entry.seq <= segment.until);
        found.extend(entries.flat_map(|entry| marks(&entry.value)));
    }
    found
}

/// What a client saw of a session while it was loaded.
pub(crate) fn window(talk: &Talk, window: &Window) -> Result<(), Broke> {
    if !window.whole || window.blurred {
        return Ok(());
    }
    let (id, seen) = (&window.session, &window.seen);
    let required = window.required.iter().flat_map(|(_, marks)| marks);
    let missing: Vec<Mark> =
        required.copied().filter(|mark| !seen.contains(mark) && !talk.said[*mark].rewound).collect();
    if !missing.is_empty() && !is_compared_in_vain(talk) {
        return Err(Broke::new("replay-lost", format!("the replay of `{id}` has not {missing:?}, only {seen:?}")));
    }
    order(talk, id, seen, window.since).map_err(|broke| {
        let check = match broke.check {
            "doubled" => "replay-doubled",
            "stranger" => "replay-stranger",
            _ => "replay-order",
        };
        Broke::new(check, format!("in a replay: {}", broke.text))
    })
}

/// Each once, those of a turn in order and together, and the turns one after the other. Turns that had not ended by
/// `until` are still being said.
fn order(talk: &Talk, id: &str, seen: &[Mark], until: u64) -> Result<(), Broke> {
    if is_compared_in_vain(talk) {
        return Ok(());
    }
    let mut places: BTreeMap<Mark, usize> = BTreeMap::new();
    for (place, mark) in seen.iter().enumerate() {
        let is_exempt = talk.said[*mark].crossed || may_stand_twice(talk, *mark) || is_in_no_order(talk, id);
        if places.insert(*mark, place).is_some() && !is_exempt {
            return Err(Broke::new("doubled", format!("`{id}` has m{mark}x twice: {seen:?}")));
        }
    }
    let session = talk.sessions.get(id);
    let parts = session.map(|session| session.parts.as_slice()).unwrap_or_default();
    let turn_of = |mark: Mark| talk.said.get(mark).and_then(|said| said.turn);
    let is_stranger = |mark: &&Mark| turn_of(**mark).is_some_and(|turn| parts.iter().all(|part| part.turn != turn));
    // Others may be forks that nobody was told of.
    let is_made_here = session.is_some_and(|session| session.is_made_here);
    if let Some(mark) = seen.iter().find(is_stranger).filter(|_| is_made_here) {
        return Err(Broke::new("stranger", format!("`{id}` has m{mark}x of another session: {seen:?}")));
    }
    if is_in_no_order(talk, id) {
        return Ok(());
    }
    // Whether a turn that might be taken for cut off was ended in the log depends on when that was looked at.
    let in_order = |cut| turn_by_turn(talk, id, seen, until, &places, cut);
    in_order(Cut::Nowhere).or_else(|broke| in_order(Cut::WhereGivenUp).map_err(|_| broke))
}

/// The turns one after the other, each together; those that are one are.
fn turn_by_turn(
    talk: &Talk,
    id: &str,
    seen: &[Mark],
    until: u64,
    places: &BTreeMap<Mark, usize>,
    cut: Cut,
) -> Result<(), Broke> {
    let parts = talk.sessions.get(id).map(|session| session.parts.as_slice()).unwrap_or_default();
    // When those turns began that are one, and when they ended; where they stand.
    let mut spans: BTreeMap<(u8, u64, u64), (usize, usize)> = BTreeMap::new();
    for part in parts {
        let turn = &talk.turns[part.turn];
        let found: Vec<usize> = turn.marks.iter().filter_map(|mark| places.get(mark).copied()).collect();
        if !found.is_sorted() {
            return Err(Broke::new("order", format!("`{id}` has a turn out of order: {:?} in {seen:?}", turn.marks)));
        }
        // Of what the layer said that it is not stored, and wrote later or only an agent's replay has brought back, nobody
        // knows when it was.
        let is_dated = |mark: &&Mark| !talk.had_faults || talk.said[**mark].firm;
        let dated = turn.marks.iter().filter(is_dated).filter_map(|mark| places.get(mark).copied());
        // One that was taken for cut off has been ended, and what was said in it afterwards stands behind that. A prompt that
        // waited in a window that was killed, or whose instance was lost, stands where it was found.
        let is_found = turn.given.is_none() && (turn.unanswered || turn.shaken);
        if let (Some(first), Some(last)) = (dated.clone().min(), dated.max())
            && turn.given_up.is_none()
            && !is_found
        {
            // What never reached the agent joins no others: it is not there (187709), or by itself, as it waited (6223).
            let is_there = |other: &Turn| turn.given.is_some() && other.given.is_some();
            let (began, ended) = talk.span(turn, cut, is_there);
            let span = spans.entry((turn.line, began, ended)).or_insert((first, last));
            *span = (span.0.min(first), span.1.max(last));
        }
    }
    for ((line, began, ended), (first, last)) in spans.iter().filter(|((_, _, ended), _)| *ended < until) {
        let is_behind =
            |((_, other, _), place): &(&(u8, u64, u64), &(usize, usize))| *other > *ended && place.0 < *last;
        if let Some((_, (other, _))) = spans.iter().find(is_behind) {
            let text = format!("`{id}` has m{}x before m{}x: {seen:?}", seen[*other], seen[*last]);
            return Err(Broke::new("order", text));
        }
        let is_of_another = |turn: usize| {
            let turn = &talk.turns[turn];
            let is_of_it = (*began..*ended).contains(&turn.given.unwrap_or(turn.began));
            // What is said of one that was taken for cut off nobody can tell from what is said of the next.
            let is_cut_off = cut == Cut::WhereGivenUp && turn.given_up.is_some();
            turn.line != *line || !is_of_it && !is_cut_off
        };
        let turn_of = |mark: Mark| talk.said.get(mark).and_then(|said| said.turn);
        if let Some(mark) = seen[*first..*last].iter().find(|mark| turn_of(**mark).is_some_and(is_of_another)) {
            return Err(Broke::new("whole", format!("`{id}` has m{mark}x within m{}x: {seen:?}", seen[*first])));
        }
    }
    Ok(())
}
