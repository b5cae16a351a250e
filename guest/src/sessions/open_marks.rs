//! Open marks: which sessions some connection, of this process or another, has open.
//!
//! A mark says that a connection has a session open; one heartbeat for each connection says until when that connection
//! may be believed, so that a killed process does not keep its sessions open for long. A connection gives its first
//! heartbeat before its first mark: [`expect_closed`] relies on that.

use std::collections::{BTreeMap, BTreeSet};

use crate::storage::{Bounds, Durability, Entry, Expectation, Result, Storage, StorageError, Write};
use crate::store::{ActivityState, Store, keys};

/// How long a heartbeat is to be believed, in milliseconds: what a caller adds to the present for [`beat`].
pub const BELIEVED_FOR: i64 = 15_000;
/// How long a connection that was silent may take to say that it is there once its computer has woken up, in milliseconds.
pub(super) const WAKES_IN: i64 = 6_000;
/// How long whoever is there is still to be believed at least, in milliseconds, at any moment.
pub(super) const STAYS_BELIEVED: i64 = BELIEVED_FOR - WAKES_IN;
/// How often a caller gives a heartbeat, in milliseconds.
pub const BEAT_EVERY: i64 = 5_000;
/// A heartbeat that says to believe it for longer than this was given by a clock that has been set back since, or is
/// wrong.
const LONGEST_BELIEF: i64 = 60_000;
/// For how much of that what is being done in a session is taken to be so: twice as long as a heartbeat takes to be renewed.
const STATE_BELIEVED_FOR: i64 = 10_000;
/// What a heartbeat has been over for when its record and its marks are removed: a computer that was asleep may still
/// renew it.
const KEPT_FOR: i64 = 3_600_000;
/// How many records are read at a time.
pub(super) const BATCH: Bounds = Bounds { limit: 256, max_bytes: 64 * 1024 };
/// Up to how many connections one can be sure of at once. There are as many as windows, and what is over is cleaned.
const MOST_CONNECTIONS: usize = 2048;
const ATTEMPTS: usize = 1000;

/// What was heard of connections: their heartbeats.
pub(super) type Heartbeats = BTreeMap<String, Option<String>>;

/// What a heartbeat came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beat {
    /// The connection had been heard of before.
    Renewed,
    /// It had not, or not for so long that it was forgotten together with its marks: those are to be set now.
    First,
}

/// How far a connection has written what it was given of a session. The mark says so, in the commits that write it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Written {
    /// How often it has written to the session's log.
    pub times: u64,
    /// How many of the arrivals that it was at were in what it wrote last.
    pub arrivals: u32,
}

/// The mark that this connection has the session open, and is doing this in it.
pub fn mark(id: &str, connection: &str, state: ActivityState) -> Write {
    Write::Put { key: keys::open_mark(id, connection), value: state.letter().to_owned() }
}

/// The mark that this connection has the session open, is doing this in it, and how far it has written.
pub fn mark_written(id: &str, connection: &str, written: Written, state: ActivityState) -> Write {
    let value = format!("{} {} {}", written.times, written.arrivals, state.letter());
    Write::Put { key: keys::open_mark(id, connection), value }
}

/// The mark says that this is being done, and all else as before: nothing was written to the log. It is written where it has said
/// something else.
pub fn restate<S: Storage>(store: &Store<S>, id: &str, connection: &str, state: ActivityState) -> Result<()> {
    let before = store.record(keys::open_mark(id, connection))?;
    let (written, said) = before.as_deref().and_then(read_mark).unwrap_or_default();
    if said == Some(state) {
        return Ok(());
    }
    let mark = match written {
        Some(written) => mark_written(id, connection, written, state),
        None => mark(id, connection, state),
    };
    store.commit(&[], vec![mark], Durability::Relaxed)
}

/// What a mark says: how far its connection has written, if it has, and what it is doing; earlier versions did not say.
pub(super) fn read_mark(value: &str) -> Option<(Option<Written>, Option<ActivityState>)> {
    let (rest, state) = match value.rsplit_once(' ').unwrap_or(("", value)) {
        (rest, last) if ActivityState::of_letter(last).is_some() => (rest, ActivityState::of_letter(last)),
        _ => (value, None),
    };
    if rest.is_empty() {
        return Some((None, state));
    }
    let (times, arrivals) = rest.split_once(' ')?;
    Some((Some(Written { times: times.parse().ok()?, arrivals: arrivals.parse().ok()? }), state))
}

/// How far a connection has written, as its mark says.
pub fn written<S: Storage>(store: &Store<S>, id: &str, connection: &str) -> Result<Written> {
    let mark = store.record(keys::open_mark(id, connection))?;
    let (written, _) = mark.as_deref().and_then(read_mark).unwrap_or_default();
    Ok(written.unwrap_or_default())
}

/// The marks of some sessions: of each one all that there are.
pub(super) struct SomeMarks {
    /// The marks, each with its session's id.
    pub(super) marks: Vec<(String, Mark)>,
    /// Where those of the next session begin, if there is one.
    pub(super) next: Option<String>,
}

/// Reads a batch of marks from a key on.
pub(super) fn some<S: Storage>(store: &Store<S>, start: &str, heard: &mut Heartbeats) -> Result<SomeMarks> {
    let page = store.storage().scan(start, &keys::range_end(keys::OPEN_MARKS), false, BATCH)?;
    let (mut entries, mut next) = (page.entries, None);
    if let Some(last) = entries.last().filter(|_| page.more) {
        // Those of the last session may go on.
        let of_last = beginning(&last.key).to_owned();
        match entries.partition_point(|entry| entry.key < of_last) {
            0 => {
                entries = all(store, &of_last, usize::MAX)?;
                next = Some(keys::range_end(&of_last));
            }
            others => {
                entries.truncate(others);
                next = Some(of_last);
            }
        }
    }
    let marks = read_marks(store, entries, heard)?;
    let with_id = |mark: Mark| Some((keys::decode(mark.key[keys::OPEN_MARKS.len()..].split_once('/')?.0)?, mark));
    Ok(SomeMarks { marks: marks.into_iter().filter_map(with_id).collect(), next })
}

/// What the keys of all marks of a session begin with, by one of them.
fn beginning(key: &str) -> &str {
    key[keys::OPEN_MARKS.len()..].find('/').map_or(key, |at| &key[..=keys::OPEN_MARKS.len() + at])
}

/// All marks of a session.
pub(super) fn of_session<S: Storage>(store: &Store<S>, id: &str, heard: &mut Heartbeats) -> Result<Vec<Mark>> {
    read_marks(store, all(store, &keys::open_marks(id), usize::MAX)?, heard)
}

/// The connection has the session open no more.
pub fn unmark(id: &str, connection: &str) -> Write {
    Write::Remove { key: keys::open_mark(id, connection) }
}

/// The connection may be believed until then.
pub fn beat<S: Storage>(store: &Store<S>, connection: &str, until: i64) -> Result<Beat> {
    let heartbeat = keys::heartbeat(connection);
    for _ in 0..ATTEMPTS {
        let read = [heartbeat.clone(), keys::CONNECTIONS.to_owned()];
        let mut values = store.storage().get(&read)?.into_iter();
        let (before, count) = (values.next().flatten(), values.next().flatten());
        let is_first = before.is_none();
        let mut expected = vec![Expectation { key: heartbeat.clone(), value: before }];
        let mut writes = vec![Write::Put { key: heartbeat.clone(), value: until.to_string() }];
        if is_first {
            let come: u64 = count.as_deref().and_then(|count| count.parse().ok()).unwrap_or(0);
            expected.push(Expectation { key: keys::CONNECTIONS.to_owned(), value: count });
            writes.push(Write::Put { key: keys::CONNECTIONS.to_owned(), value: (come + 1).to_string() });
        }
        match store.commit(&expected, writes, Durability::Relaxed) {
            Ok(()) => return Ok(if is_first { Beat::First } else { Beat::Renewed }),
            Err(StorageError::Conflict) => {}
            Err(error) => return Err(error),
        }
    }
    Err(StorageError::Unavailable("other processes keep changing it; try again".to_owned()))
}

/// A connection that was to be believed until `before`, as it has said itself, may be believed until then. Nothing is
/// read, unless that was forgotten since.
pub fn renew<S: Storage>(store: &Store<S>, connection: &str, before: i64, until: i64) -> Result<Beat> {
    let key = keys::heartbeat(connection);
    let expected = Expectation { key: key.clone(), value: Some(before.to_string()) };
    match store.commit(&[expected], vec![Write::Put { key, value: until.to_string() }], Durability::Relaxed) {
        Ok(()) => Ok(Beat::Renewed),
        Err(StorageError::Conflict) => beat(store, connection, until),
        Err(error) => Err(error),
    }
}

/// The others that were to be believed at that time are to be until then, unless they say so themselves meanwhile.
pub fn vouch<S: Storage>(store: &Store<S>, connection: &str, believed_at: i64, until: i64) -> Result<()> {
    let own = keys::heartbeat(connection);
    for Entry { key, value } in all(store, keys::HEARTBEATS, MOST_CONNECTIONS)? {
        if key == own || !is_good(Some(&value), believed_at) {
            continue;
        }
        let write = Write::Put { key: key.clone(), value: until.to_string() };
        match store.commit(&[Expectation { key, value: Some(value) }], vec![write], Durability::Relaxed) {
            Ok(()) | Err(StorageError::Conflict) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// The connection ends: none of its marks is believed any more.
pub fn leave<S: Storage>(store: &Store<S>, connection: &str) -> Result<()> {
    store.commit(&[], vec![Write::Remove { key: keys::heartbeat(connection) }], Durability::Relaxed)
}

/// Whether a connection is still there.
pub fn is_believed<S: Storage>(store: &Store<S>, connection: &str, now: i64) -> Result<bool> {
    let heartbeat = store.record(keys::heartbeat(connection))?;
    Ok(is_good(heartbeat.as_deref(), now))
}

/// Whether a connection has been silent for so long that it is not believed, and has not left: it was killed, or the computer was
/// asleep and it is about to say that it is there.
pub(super) fn is_any_silent<S: Storage>(store: &Store<S>, now: i64) -> Result<bool> {
    let heartbeats = all(store, keys::HEARTBEATS, MOST_CONNECTIONS)?;
    Ok(heartbeats.iter().any(|heartbeat| !is_good(Some(&heartbeat.value), now)))
}

/// Whether any connection has the session open.
pub fn is_open<S: Storage>(store: &Store<S>, id: &str, now: i64) -> Result<bool> {
    Ok(marks_of(store, id)?.iter().any(|mark| mark.is_believed(now)))
}

/// Whether any other connection has the session open.
pub fn is_open_elsewhere<S: Storage>(store: &Store<S>, id: &str, connection: &str, now: i64) -> Result<bool> {
    Ok(!open_elsewhere(store, id, connection, now)?.is_empty())
}

/// The other connections that have the session open, and what each says it is doing in it; earlier versions did not say.
pub fn open_elsewhere<S: Storage>(
    store: &Store<S>,
    id: &str,
    connection: &str,
    now: i64,
) -> Result<Vec<(String, Option<ActivityState>)>> {
    let others = marks_of(store, id)?.into_iter().filter(|mark| mark.connection != connection && mark.is_believed(now));
    Ok(others.map(|mark| (mark.connection, read_mark(&mark.value).and_then(|(_, state)| state))).collect())
}

/// Whether another connection that has the session open was at work in it when it was last heard of, however long ago that is: it
/// need not be gone, but may have been stopped.
pub fn may_be_at_work_elsewhere<S: Storage>(store: &Store<S>, id: &str, connection: &str) -> Result<bool> {
    Ok(marks_at_turn(store, id, connection)?.any(|mark| mark.heartbeat.is_some()))
}

/// For each other connection that had the session open and is not believed any more: when it was heard of last, and until when it was
/// to be believed then, in milliseconds since 1970. It was killed, or has been stopped.
pub fn silent_since<S: Storage>(store: &Store<S>, id: &str, connection: &str, now: i64) -> Result<Vec<(i64, i64)>> {
    let others =
        marks_of(store, id)?.into_iter().filter(|mark| mark.connection != connection && !mark.is_believed(now));
    let until = others.filter_map(|mark| mark.heartbeat?.parse::<i64>().ok());
    Ok(until.map(|until| (until.saturating_sub(BELIEVED_FOR), until)).collect())
}

/// The other connections that are at a turn in the session, by what each has said last, or were when they went silent or left.
pub fn at_turn<S: Storage>(store: &Store<S>, id: &str, connection: &str) -> Result<Vec<String>> {
    Ok(marks_at_turn(store, id, connection)?.map(|mark| mark.connection).collect())
}

fn marks_at_turn<S: Storage>(store: &Store<S>, id: &str, connection: &str) -> Result<impl Iterator<Item = Mark>> {
    let others = marks_of(store, id)?.into_iter().filter(move |mark| mark.connection != connection);
    let state = |mark: &Mark| read_mark(&mark.value).and_then(|(_, state)| state);
    Ok(others.filter(move |mark| state(mark).is_some_and(|state| state != ActivityState::Idle)))
}

/// Whether all these sessions are closed; if so, `expected` makes a commit fail should any of them be opened before.
pub(super) fn expect_closed<S: Storage>(
    store: &Store<S>,
    ids: &[&str],
    now: i64,
    expected: &mut Vec<Expectation>,
) -> Result<bool> {
    // The number is read before the connections are: one that comes in between makes the commit fail.
    let count = store.record(keys::CONNECTIONS.to_owned())?;
    expected.push(Expectation { key: keys::CONNECTIONS.to_owned(), value: count });
    let heartbeats = all(store, keys::HEARTBEATS, MOST_CONNECTIONS)?;
    if heartbeats.len() > MOST_CONNECTIONS {
        return Ok(false);
    }
    let connections: Vec<String> =
        heartbeats.iter().filter_map(|entry| keys::decode(entry.key.strip_prefix(keys::HEARTBEATS)?)).collect();
    let mut heard = BTreeMap::new();
    for id in ids {
        let marks = marks_of(store, id)?;
        if marks.iter().any(|mark| mark.is_believed(now)) {
            return Ok(false);
        }
        let marked: BTreeSet<String> = marks.iter().map(|mark| mark.connection.clone()).collect();
        for mark in marks {
            expected.push(Expectation { key: mark.key, value: Some(mark.value) });
            heard.insert(keys::heartbeat(&mark.connection), mark.heartbeat);
        }
        let others = connections.iter().filter(|connection| !marked.contains(*connection));
        expected.extend(others.map(|other| Expectation { key: keys::open_mark(id, other), value: None }));
    }
    expected.extend(heard.into_iter().map(|(key, value)| Expectation { key, value }));
    Ok(true)
}

/// What a part of cleaning came to.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Cleaned {
    /// How many records were looked at.
    pub(super) looked: usize,
    /// The last of them, where there are more.
    pub(super) last: Option<String>,
}

/// Removes marks whose connection has been silent for long or has left, of up to `limit` behind this key.
pub(super) fn clean_marks<S: Storage>(store: &Store<S>, behind: &str, now: i64, limit: u32) -> Result<Cleaned> {
    let bounds = Bounds { limit, ..BATCH };
    let page =
        store.storage().scan(&after(behind, keys::OPEN_MARKS), &keys::range_end(keys::OPEN_MARKS), false, bounds)?;
    let marks = with_heartbeats(store, page.entries)?;
    let cleaned =
        Cleaned { looked: marks.len(), last: marks.last().filter(|_| page.more).map(|mark| mark.key.clone()) };
    let mut over: BTreeMap<String, (Option<String>, Vec<Write>)> = BTreeMap::new();
    for mark in marks.into_iter().filter(|mark| is_long_over(mark.heartbeat.as_deref(), now)) {
        let (_, writes) = over.entry(keys::heartbeat(&mark.connection)).or_insert((mark.heartbeat, Vec::new()));
        writes.push(Write::Remove { key: mark.key });
    }
    for (key, (value, writes)) in over {
        remove(store, Expectation { key, value }, writes)?;
    }
    Ok(cleaned)
}

/// Removes heartbeats that have been over for long, of up to `limit` behind this key.
pub(super) fn clean_heartbeats<S: Storage>(store: &Store<S>, behind: &str, now: i64, limit: u32) -> Result<Cleaned> {
    let bounds = Bounds { limit, ..BATCH };
    let start = after(behind, keys::HEARTBEATS);
    let page = store.storage().scan(&start, &keys::range_end(keys::HEARTBEATS), false, bounds)?;
    let last = page.entries.last().filter(|_| page.more).map(|entry| entry.key.clone());
    let cleaned = Cleaned { looked: page.entries.len(), last };
    for entry in page.entries.into_iter().filter(|entry| is_long_over(Some(&entry.value), now)) {
        remove(store, Expectation { key: entry.key, value: Some(entry.value) }, Vec::new())?;
    }
    Ok(cleaned)
}

/// Removes all heartbeats that have been over for long. That nobody is about to renew one the caller has waited for.
pub(super) fn forget_silent<S: Storage>(store: &Store<S>, now: i64) -> Result<()> {
    let mut behind = String::new();
    while let Some(last) = clean_heartbeats(store, &behind, now, BATCH.limit)?.last {
        behind = last;
    }
    Ok(())
}

/// Removes a heartbeat, if it is still what was read, and what belongs to it. A connection that comes back learns from
/// its heartbeat's absence that its marks may be gone.
fn remove<S: Storage>(store: &Store<S>, heartbeat: Expectation, mut writes: Vec<Write>) -> Result<()> {
    writes.push(Write::Remove { key: heartbeat.key.clone() });
    match store.commit(&[heartbeat], writes, Durability::Relaxed) {
        // It beats again: nothing to clean.
        Err(StorageError::Conflict) => Ok(()),
        result => result,
    }
}

/// A connection's mark on a session, with the connection's heartbeat.
#[derive(Debug)]
pub(super) struct Mark {
    key: String,
    value: String,
    pub(super) connection: String,
    heartbeat: Option<String>,
}

impl Mark {
    fn is_believed(&self, now: i64) -> bool {
        is_good(self.heartbeat.as_deref(), now)
    }

    /// Whether its connection has just said that it is there.
    fn is_fresh(&self, now: i64) -> bool {
        self.is_believed(now.saturating_add(BELIEVED_FOR - STATE_BELIEVED_FOR))
    }

    /// What it says, where its connection has just said that it is there: see [`read_mark`].
    pub(super) fn said_just_now(&self, now: i64) -> Option<(Option<Written>, Option<ActivityState>)> {
        if self.is_fresh(now) { read_mark(&self.value) } else { None }
    }
}

/// Whether a heartbeat is to be believed.
fn is_good(heartbeat: Option<&str>, now: i64) -> bool {
    let until = heartbeat.and_then(|until| until.parse::<i64>().ok());
    until.is_some_and(|until| now < until && until - now <= LONGEST_BELIEF)
}

/// Whether the connection of this heartbeat is gone, for sure enough to end what it was at: not while the clock may only have been
/// set back.
pub(super) fn is_over(heartbeat: Option<&str>, now: i64) -> bool {
    let until = heartbeat.and_then(|until| until.parse::<i64>().ok());
    until.is_none_or(|until| until <= now)
}

/// Whether a heartbeat has been over for so long, or is so far ahead, that nobody can be renewing it.
fn is_long_over(heartbeat: Option<&str>, now: i64) -> bool {
    let until = heartbeat.and_then(|until| until.parse::<i64>().ok());
    until.is_none_or(|until| now - until > KEPT_FOR || until - now > KEPT_FOR)
}

fn marks_of<S: Storage>(store: &Store<S>, id: &str) -> Result<Vec<Mark>> {
    of_session(store, id, &mut Heartbeats::new())
}

fn with_heartbeats<S: Storage>(store: &Store<S>, marks: Vec<Entry>) -> Result<Vec<Mark>> {
    read_marks(store, marks, &mut Heartbeats::new())
}

/// Marks with their connections' heartbeats. What was heard of connections before is not read again.
fn read_marks<S: Storage>(store: &Store<S>, marks: Vec<Entry>, heard: &mut Heartbeats) -> Result<Vec<Mark>> {
    let connection = |mark: &Entry| mark.key.rsplit_once('/').and_then(|(_, name)| keys::decode(name));
    let connections: Vec<String> = marks.iter().map(|mark| connection(mark).unwrap_or_default()).collect();
    let unheard: BTreeSet<&String> = connections.iter().filter(|connection| !heard.contains_key(*connection)).collect();
    if !unheard.is_empty() {
        let read: Vec<String> = unheard.iter().map(|connection| keys::heartbeat(connection)).collect();
        let heartbeats = store.storage().get(&read)?;
        heard.extend(unheard.into_iter().cloned().zip(heartbeats));
    }
    let with = |(mark, connection): (Entry, String)| Mark {
        heartbeat: heard.get(&connection).cloned().flatten(),
        key: mark.key,
        value: mark.value,
        connection,
    };
    Ok(marks.into_iter().zip(connections).map(with).collect())
}

/// All records that begin like this; no more than a few over `most`.
fn all<S: Storage>(store: &Store<S>, prefix: &str, most: usize) -> Result<Vec<Entry>> {
    let (mut start, end) = (prefix.to_owned(), keys::range_end(prefix));
    let mut entries = Vec::new();
    loop {
        let page = store.storage().scan(&start, &end, false, BATCH)?;
        let more = page.more;
        entries.extend(page.entries);
        let Some(last) = entries.last().filter(|_| more && entries.len() <= most) else { return Ok(entries) };
        start = after(&last.key, prefix);
    }
}

/// The least key behind this one; `least` where there is none.
fn after(behind: &str, least: &str) -> String {
    if behind.is_empty() { least.to_owned() } else { format!("{behind}\u{0}") }
}
