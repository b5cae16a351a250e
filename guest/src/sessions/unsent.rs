//! Prompts that wait for their session, beside its log: each from when it comes until its turn begins, or ends without its agent
//! having had it. What a process leaves of them that was killed meanwhile becomes a part of the conversation, as a turn that was
//! cut off: nothing that its user has said is lost.

use super::{open_marks, title};
use crate::storage::{Bounds, Durability, Entry, Expectation, Result, Storage, StorageError, Write};
use crate::store::{Changed, Decision, Session, Store, Title, keys};
use crate::transcript::mend::{self, Unfinished};
use crate::transcript::{self, Kind, OpenCalls, Recorder, begun};

/// How many are read at a time.
const BATCH: Bounds = Bounds { limit: 64, max_bytes: 64 * 1024 };
/// Where none of one connection of a session stands behind the number of a thousandth of a millisecond.
const IN_A_MILLISECOND: u64 = 1000;

/// Which prompt of a session it is.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// The session's id.
    pub session: &'a str,
    /// Where it waits.
    pub connection: &'a str,
    /// When it came, in milliseconds since 1970.
    pub at: i64,
    /// How many have come there before it.
    pub behind: u32,
}

impl Place<'_> {
    /// They stand in the order in which they came.
    fn key(&self) -> String {
        let at = u64::try_from(self.at).unwrap_or_default();
        let number = at.saturating_mul(IN_A_MILLISECOND) + u64::from(self.behind) % IN_A_MILLISECOND;
        keys::unsent(self.session, self.connection, number)
    }
}

/// Keeps a prompt, as the entry that the log would have of it. Returns where; `None` where the session is gone. Lists show the
/// session by it from now on.
pub fn keep<S: Storage>(store: &Store<S>, place: Place<'_>, entry: &str) -> Result<Option<String>> {
    let key = place.key();
    let changed = store.change(place.session).commit(|before, _, writes| {
        let Some(mut session) = before.cloned() else { return Ok(Decision::Keep) };
        writes.push(Write::Put { key: key.clone(), value: entry.to_owned() });
        session.touch(place.at.max(session.updated));
        session.prompted = Some(place.at);
        Ok(Decision::put(session))
    })?;
    Ok(matches!(changed, Changed::Done { .. }).then_some(key))
}

/// Whether one that waited there waits no more, because somebody has taken its connection for gone: it stands in the log by now, as
/// the turn of this tag.
pub fn is_given_back<S: Storage>(store: &Store<S>, session: &str, key: &str, tag: &str) -> Result<bool> {
    Ok(store.record(key.to_owned())?.is_none() && begun(store.storage(), session, tag)?.place.is_some())
}

/// These wait no more.
pub fn forget<S: Storage>(store: &Store<S>, keys: &[String]) -> Result<()> {
    if keys.is_empty() {
        return Ok(());
    }
    let writes = keys.iter().map(|key| Write::Remove { key: key.clone() }).collect();
    store.commit(&[], writes, Durability::Relaxed)
}

/// Where those of this session are kept that have these prompts, as entries of its log.
pub fn sent<S: Storage>(store: &Store<S>, session: &str, sent: &[String]) -> Result<Vec<String>> {
    if sent.is_empty() {
        return Ok(Vec::new());
    }
    let prompt = |entry: &str| transcript::Entry::parse(entry).and_then(|entry| entry.prompt().map(str::to_owned));
    let sent: Vec<String> = sent.iter().filter_map(|entry| prompt(entry)).collect();
    let mut waiting = of(store, session, usize::MAX)?;
    waiting.retain(|kept| prompt(&kept.value).is_some_and(|prompt| sent.contains(&prompt)));
    Ok(waiting.into_iter().map(|kept| kept.key).collect())
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

/// Makes turns of this session of those whose connections are gone; this connection's wait on, and those of which it says that they
/// are under way.
pub fn give_back<S: Storage>(
    store: &Store<S>,
    session: &str,
    (connection, under_way): (Option<&str>, &[String]),
    now: i64,
) -> Result<()> {
    let mut waiting = of(store, session, usize::MAX)?;
    waiting.retain(|kept| !under_way.contains(&kept.key));
    waiting.iter().try_for_each(|kept| give_back_one(store, kept, connection, now))
}

/// The same of all sessions, some at a time.
pub fn sweep<S: Storage>(store: &Store<S>, (connection, under_way): (&str, &[String]), now: i64) -> Result<()> {
    let mut page = store.storage().scan(keys::UNSENT, &keys::range_end(keys::UNSENT), false, BATCH)?;
    page.entries.retain(|kept| !under_way.contains(&kept.key));
    page.entries.iter().try_for_each(|kept| give_back_one(store, kept, Some(connection), now))
}

/// Those of a session, so many at least where there are that many.
fn of<S: Storage>(store: &Store<S>, session: &str, most: usize) -> Result<Vec<Entry>> {
    let prefix = keys::unsent_of(session);
    let (mut start, end) = (prefix.clone(), keys::range_end(&prefix));
    let mut entries = Vec::new();
    loop {
        let page = store.storage().scan(&start, &end, false, BATCH)?;
        entries.extend(page.entries);
        let Some(last) = entries.last().filter(|_| page.more && entries.len() < most) else { return Ok(entries) };
        start = format!("{}\u{0}", last.key);
    }
}

fn give_back_one<S: Storage>(store: &Store<S>, kept: &Entry, connection: Option<&str>, now: i64) -> Result<()> {
    let Some((session, owner)) = keys::unsent_place(&kept.key) else { return Ok(()) };
    let heartbeat = Expectation { key: keys::heartbeat(&owner), value: store.record(keys::heartbeat(&owner))? };
    if connection == Some(&*owner) || !open_marks::is_gone(heartbeat.value.as_deref(), now) {
        return Ok(());
    }
    // A connection that comes back says first that it is there.
    let waits = Expectation { key: kept.key.clone(), value: Some(kept.value.clone()) };
    let given = Given { expected: [heartbeat, waits], over: Write::Remove { key: kept.key.clone() } };
    let Some(entry) = transcript::Entry::parse(&kept.value).filter(|entry| entry.kind == Kind::Prompt) else {
        return given.alone(store);
    };
    // Of a long one the connection may have written the prompt, and have ended before it has said so.
    let is_in_log = match entry.turn {
        Some(tag) => begun(store.storage(), &session, tag)?.place.is_some(),
        None => false,
    };
    if is_in_log || store.session(&session)?.is_none() {
        return given.alone(store);
    }
    given.with_turn(store, &session, &entry)
}

/// One that is to wait no more, if nobody has done anything about it meanwhile.
struct Given {
    expected: [Expectation; 2],
    over: Write,
}

impl Given {
    /// Nothing comes of it.
    fn alone<S: Storage>(self, store: &Store<S>) -> Result<()> {
        match store.commit(&self.expected, vec![self.over], Durability::Relaxed) {
            Ok(()) | Err(StorageError::Conflict) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// It becomes a turn that was cut off and went to no session of the agent's: so it is left to be told to that.
    fn with_turn<S: Storage>(self, store: &Store<S>, id: &str, entry: &transcript::Entry<'_>) -> Result<()> {
        let mut recorder = Recorder::new(id);
        let turn = entry.turn.map(str::to_owned);
        recorder.set_turn(turn.clone());
        recorder.push(Kind::Prompt, entry.time, entry.json);
        for (kind, json) in mend::entries(&Unfinished { turn, calls: OpenCalls::default() }) {
            recorder.push(kind, entry.time, &json);
        }
        let title = entry.prompt().and_then(title::from_prompt);
        if recorder.is_long() {
            // It is written in pieces.
            match store.commit(&self.expected, vec![self.over.clone()], Durability::Relaxed) {
                Err(StorageError::Conflict) => return Ok(()),
                committed => committed?,
            }
            let put = |before: Option<&Session>| before.map(|before| with(before, entry.time, title.as_deref()));
            recorder.flush_with(store, Durability::Durable, |before, _, _| {
                Ok(put(before).map_or(Decision::Keep, Decision::put))
            })?;
            return Ok(());
        }
        let flushed = recorder.flush_with(store, Durability::Durable, |before, expected, writes| {
            let keys: Vec<String> = self.expected.iter().map(|expected| expected.key.clone()).collect();
            let read = store.storage().get(&keys)?;
            let is_as_read = read.iter().zip(&self.expected).all(|(read, expected)| *read == expected.value);
            let Some(before) = before.filter(|_| is_as_read) else { return Err(StorageError::Conflict) };
            expected.extend(self.expected.iter().cloned());
            writes.push(self.over.clone());
            Ok(Decision::put(with(before, entry.time, title.as_deref())))
        });
        match flushed {
            // Somebody else has been faster, or its connection is there after all.
            Err(StorageError::Conflict) => Ok(()),
            flushed => flushed.map(|_| ()),
        }
    }
}

/// What the record says of a session with such a turn.
fn with(before: &Session, at: i64, title: Option<&str>) -> Session {
    let mut session = before.clone();
    session.touch(at.max(session.updated));
    session.prompts += 1;
    session.prompted = session.prompted.max(Some(at));
    if let (Title::None, Some(title)) = (&session.title, title) {
        session.title = Title::Auto(title.to_owned());
    }
    session
}
