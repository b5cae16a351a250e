//! Prompts that waited for their session on a connection that is gone: nothing that a user has said is lost. Each becomes a turn
//! that was cut off, at the place in the transcript at which it came: behind what was said before, and before what others have said
//! since. One commit puts it there and takes it from where it waited.

use std::collections::BTreeSet;

use super::{adopt, open_marks, title, unsent};
use crate::index::Owner;
use crate::storage::{Durability, Entry, Expectation, Result, Storage, StorageError, Write};
use crate::store::keys::{self, Unsent};
use crate::store::{Decision, Session, Store, Title};
use crate::transcript::mend::{self, Unfinished};
use crate::transcript::{self, Kind, OpenCalls, holds_prompt, text};

/// How many entries a turn comes to: its prompt, and its end.
const ENTRIES: u32 = 2;

/// Who looks for such prompts.
#[derive(Debug, Clone, Copy)]
pub struct Looker<'a> {
    /// Its connection, if it has one.
    pub connection: Option<&'a str>,
    /// Where its own wait, or are to be removed: what else there is of its own has been left behind.
    pub own: &'a BTreeSet<String>,
    /// Connections that are gone for sure: instances of its own that were lost.
    pub lost: &'a BTreeSet<String>,
}

/// Does that in this session.
pub fn give_back<S: Storage>(store: &Store<S>, session: &str, looker: Looker<'_>, now: i64) -> Result<()> {
    unsent::of(store, session, usize::MAX)?.iter().try_for_each(|kept| looker.give_back(store, kept, now))
}

/// Makes turns of the prompts that others have left waiting, in all sessions. What the looker's own connection has is
/// found by who opens its session.
pub fn sweep<S: Storage>(store: &Store<S>, looker: Looker<'_>, now: i64) -> Result<()> {
    let is_others = |kept: &Entry| Unsent::read(&kept.key).is_some_and(|of| looker.connection != Some(&*of.connection));
    unsent::of_all(store)?.iter().filter(|kept| is_others(kept)).try_for_each(|kept| looker.give_back(store, kept, now))
}

impl Looker<'_> {
    fn give_back<S: Storage>(self, store: &Store<S>, kept: &Entry, now: i64) -> Result<()> {
        let Some(place) = Unsent::read(&kept.key) else { return Ok(()) };
        let key = keys::heartbeat(&place.connection);
        let heartbeat = Expectation { value: store.record(key.clone())?, key };
        let is_own = self.connection == Some(&*place.connection);
        let is_gone =
            is_own || self.lost.contains(&place.connection) || open_marks::is_over(heartbeat.value.as_deref(), now);
        let is_left = is_gone && !self.own.contains(&kept.key);
        if !is_left {
            return Ok(());
        }
        // A connection that comes back says first that it is there.
        let waits = Expectation { key: kept.key.clone(), value: Some(kept.value.clone()) };
        let left = Left { place, expected: [heartbeat, waits], over: Write::Remove { key: kept.key.clone() } };
        match transcript::Entry::parse(&kept.value) {
            Some(entry) if entry.kind == Kind::Prompt => left.becomes_turn(store, &kept.value, &entry, now),
            _ => left.remove(store),
        }
    }
}

/// One that was left behind, if nobody has done anything about it meanwhile.
struct Left {
    place: Unsent,
    expected: [Expectation; 2],
    over: Write,
}

impl Left {
    /// Nothing comes of it.
    fn remove<S: Storage>(self, store: &Store<S>) -> Result<()> {
        match store.commit(&self.expected, vec![self.over], Durability::Relaxed) {
            Ok(()) | Err(StorageError::Conflict) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// It becomes a turn that was cut off and went to no session of the agent's: so it is left to be told to that.
    fn becomes_turn<S: Storage>(
        self,
        store: &Store<S>,
        value: &str,
        entry: &transcript::Entry<'_>,
        now: i64,
    ) -> Result<()> {
        let (id, behind) = (self.place.session.clone(), self.place.behind);
        let message_id = entry.message_id().unwrap_or_default();
        // A long one is written in pieces, and its connection may have ended before the last of them.
        if store.session(&id)?.is_none() || holds_prompt(store.storage(), &id, behind, &message_id)? {
            return self.remove(store);
        }
        let turn = entry.turn.map(str::to_owned);
        let tag = turn.clone();
        let ends = mend::entries(&Unfinished { turn, calls: OpenCalls::default() }).into_iter();
        let ends = ends.map(|(kind, json)| transcript::Entry::tagged(kind, entry.time, tag.as_deref(), &json));
        let entries: Vec<String> = [value.to_owned()].into_iter().chain(ends).collect();
        let log = unsent::log_of(&self.place, &message_id);
        store.change(&id).durable().commit(|before, expected, writes| {
            let is_as_read = self.is_as_read(store)?;
            let Some(before) = before.filter(|_| is_as_read) else { return Ok(Decision::Keep) };
            let mut session = with(before, entry);
            let end = store.storage().log_end(&id)?;
            let stands_behind = self.place_in(before, end);
            let mut held = Vec::new();
            let (places, log) = ((end, stands_behind), (log.as_str(), ENTRIES, now));
            if !adopt::put_in(store, &mut session, places, log, expected, &mut held)? {
                return Ok(Decision::Keep);
            }
            for (seq, value) in (1..).zip(&entries) {
                writes.extend(written(log.0, seq, value));
            }
            writes.append(&mut held);
            expected.extend(self.expected.iter().cloned());
            writes.push(self.over.clone());
            Ok(Decision::put(session))
        })?;
        Ok(())
    }

    /// Behind how many entries of the transcript it belongs, where the session's own log ends there: before those that have waited
    /// with it, came later, and were found first.
    fn place_in(&self, session: &Session, end: u32) -> u64 {
        let Unsent { behind, number, .. } = self.place;
        let mut start = 0;
        for part in &session.segments {
            if unsent::number_of(&part.log, behind).is_some_and(|other| other > number) {
                return start;
            }
            start += part.length();
        }
        session.length_before(behind.min(end))
    }

    /// Whether its connection has not come back, and nobody else has been faster.
    fn is_as_read<S: Storage>(&self, store: &Store<S>) -> Result<bool> {
        let keys: Vec<String> = self.expected.iter().map(|expected| expected.key.clone()).collect();
        let read = store.storage().get(&keys)?;
        Ok(read.iter().zip(&self.expected).all(|(read, expected)| *read == expected.value))
    }
}

/// What writes an entry to a log, and to the index.
fn written(log: &str, seq: u32, value: &str) -> Vec<Write> {
    let tokens = text::tokens_of_entry(value);
    let index = (!tokens.is_empty()).then(|| Write::IndexText { owner: Owner::Log(log).name(), part: seq, tokens });
    let entry = Write::Append { log: log.to_owned(), seq, value: value.to_owned() };
    [entry].into_iter().chain(index).collect()
}

/// What the record says of a session with such a turn.
fn with(before: &Session, prompt: &transcript::Entry<'_>) -> Session {
    let mut session = before.clone();
    session.touch(prompt.time.max(session.updated));
    session.prompts += 1;
    session.prompted = session.prompted.max(Some(prompt.time));
    if let (Title::None, Some(title)) = (&session.title, prompt.prompt().and_then(title::from_prompt)) {
        session.title = Title::Auto(title);
    }
    session
}
