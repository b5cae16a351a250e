//! Prompts that wait for their session, beside its log: each from when it comes until its turn begins, or ends without its agent
//! having had it. So each is in one of the two, and the commit that writes it to the log takes it away here. What becomes of those
//! that a process leaves behind that was killed is told in [`super::given_back`].

use crate::storage::{Bounds, Durability, Entry, Result, Storage, Write};
use crate::store::keys::{self, Unsent};
use crate::store::{Changed, Decision, Store};
use crate::transcript::{self, Kind};

/// How many are read at a time.
const BATCH: Bounds = Bounds { limit: 64, max_bytes: 64 * 1024 };

/// Keeps a prompt that waits for this session on this connection, as the entry that the log would have of it. Returns where; `None`
/// where the session is gone. Lists show the session by it from now on.
pub fn keep<S: Storage>(
    store: &Store<S>,
    id: &str,
    connection: &str,
    (entry, now): (&str, i64),
) -> Result<Option<String>> {
    let mut key = String::new();
    let changed = store.change(id).commit(|before, _, writes| {
        let Some(mut session) = before.cloned() else { return Ok(Decision::Keep) };
        // Who writes another prompt, here or to the log, changes the record as well: then this is looked at again.
        let behind = store.storage().log_end(id)?;
        let last = of(store, id, usize::MAX)?.last().and_then(|last| Unsent::read(&last.key));
        let given_back = session.segments.iter().filter_map(|part| number_of(&part.log, behind));
        let last = given_back.chain(last.map(|last| last.number)).max();
        let unsent = Unsent {
            session: id.to_owned(),
            behind,
            number: last.map_or(0, |last| last.saturating_add(1)),
            connection: connection.to_owned(),
        };
        key = unsent.key();
        writes.push(Write::Put { key: key.clone(), value: entry.to_owned() });
        session.touch(now.max(session.updated));
        session.prompted = Some(now);
        Ok(Decision::put(session))
    })?;
    Ok(matches!(changed, Changed::Done { .. }).then_some(key))
}

/// The log that is to hold one whose connection is gone, by the id of its message: it tells where it came, and behind how many others.
pub(super) fn log_of(unsent: &Unsent, message_id: &str) -> String {
    format!("unsent-{}-{}-{}", unsent.behind, unsent.number, message_id.trim_matches('"'))
}

/// Which number one had that came behind this entry, and is in the transcript since as this log.
pub(super) fn number_of(log: &str, behind: u32) -> Option<u32> {
    let mut parts = log.strip_prefix("unsent-")?.split('-');
    let is_there = parts.next()?.parse() == Ok(behind);
    parts.next()?.parse().ok().filter(|_| is_there)
}

/// Whether one still waits there: otherwise somebody has taken its connection for gone, and it is a part of the transcript.
pub fn waits<S: Storage>(store: &Store<S>, key: &str) -> Result<bool> {
    Ok(store.record(key.to_owned())?.is_some())
}

/// Nothing comes of these.
pub fn forget<'a, S: Storage>(store: &Store<S>, keys: impl Iterator<Item = &'a String>) -> Result<()> {
    let writes: Vec<Write> = keys.map(|key| Write::Remove { key: key.clone() }).collect();
    if writes.is_empty() { Ok(()) } else { store.commit(&[], writes, Durability::Relaxed) }
}

/// Whether any waits in this session.
pub fn is_any<S: Storage>(store: &Store<S>, session: &str) -> Result<bool> {
    Ok(!of(store, session, 1)?.is_empty())
}

/// What takes those of a session away that is deleted.
pub(super) fn remove<S: Storage>(store: &Store<S>, session: &str, writes: &mut Vec<Write>) -> Result<()> {
    writes.extend(of(store, session, usize::MAX)?.into_iter().map(|entry| Write::Remove { key: entry.key }));
    Ok(())
}

/// Whether this is a prompt that can be kept so.
pub(super) fn is_readable(entry: &str) -> bool {
    transcript::Entry::is_sound(entry)
        && transcript::Entry::parse(entry).is_some_and(|entry| entry.kind == Kind::Prompt && entry.prompt().is_some())
}

/// Those of a session in the order in which they came, so many at least where there are that many.
pub(super) fn of<S: Storage>(store: &Store<S>, session: &str, most: usize) -> Result<Vec<Entry>> {
    all(store, &keys::unsent_of(session), most)
}

/// Those of all sessions.
pub(super) fn of_all<S: Storage>(store: &Store<S>) -> Result<Vec<Entry>> {
    all(store, keys::UNSENT, usize::MAX)
}

fn all<S: Storage>(store: &Store<S>, prefix: &str, most: usize) -> Result<Vec<Entry>> {
    let (mut start, end) = (prefix.to_owned(), keys::range_end(prefix));
    let mut entries = Vec::new();
    loop {
        let page = store.storage().scan(&start, &end, false, BATCH)?;
        entries.extend(page.entries);
        let Some(last) = entries.last().filter(|_| page.more && entries.len() < most) else { return Ok(entries) };
        start = format!("{}\u{0}", last.key);
    }
}
