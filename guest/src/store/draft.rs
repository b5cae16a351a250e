//! Sessions that are read, changed and written together: in one commit, with everything that is derived from them.

use std::collections::BTreeMap;

use super::latest::Latest;
use super::revision::parse_revision;
use super::{Departure, Layout, Roster, Session, Store, derived, keys};
use crate::storage::{Durability, Expectation, Result, Storage, StorageError, Write};

/// How often a change is tried. Somebody wins every round, so this many losses mean a broken store.
const ATTEMPTS: usize = 10_000;

/// Sessions as the store has them, and as they shall be.
///
/// The commit expects the revision and every session that it changes, as they were read. Each session that it changes
/// gets a revision of its own, in the order in which they were changed first: the place that a cursor names, of which no
/// two sessions may ever have the same.
#[derive(Debug)]
pub struct Draft<'a, S> {
    store: &'a Store<S>,
    revision: Option<String>,
    roster: Option<String>,
    sessions: BTreeMap<String, Drafted>,
    /// Those that are changed, in the order of their revisions.
    changed: Vec<String>,
    /// What else the commit is to expect.
    pub expected: Vec<Expectation>,
    /// What else it is to write, before the sessions.
    pub writes: Vec<Write>,
}

/// One of them.
#[derive(Debug, Default)]
struct Drafted {
    record: Option<String>,
    tombstone: Option<String>,
    before: Option<Session>,
    after: After,
}

/// What is to become of it.
#[derive(Debug, Default)]
enum After {
    #[default]
    AsBefore,
    Changed(Box<Session>),
    Removed,
}

impl Drafted {
    fn after(&self) -> Option<&Session> {
        match &self.after {
            After::AsBefore => self.before.as_ref(),
            After::Changed(session) => Some(session),
            After::Removed => None,
        }
    }
}

impl<'a, S: Storage> Draft<'a, S> {
    /// Reads what every change needs, and these sessions.
    fn begin(store: &'a Store<S>, ids: &[&str]) -> Result<Self> {
        let mut read = vec![keys::REVISION.to_owned(), keys::ROSTER.to_owned()];
        read.extend(ids.iter().flat_map(|id| [keys::session(id), keys::tombstone(id)]));
        let mut values = store.storage.get(&read)?.into_iter();
        let (revision, roster) = (values.next().flatten(), values.next().flatten());
        let (sessions, changed, expected, writes) = (BTreeMap::new(), Vec::new(), Vec::new(), Vec::new());
        let mut draft = Self { store, revision, roster, sessions, changed, expected, writes };
        draft.learn(ids, values)?;
        Ok(draft)
    }

    /// Takes the session to be as this connection has left it, which mostly it still is: the commit finds out.
    fn resume(store: &'a Store<S>, latest: Latest) -> Self {
        let Latest { revision, roster, record, session } = latest;
        let id = session.id.clone();
        let known = Drafted { record: Some(record), tombstone: None, before: Some(session), after: After::AsBefore };
        let (expected, writes) = (Vec::new(), Vec::new());
        let sessions = BTreeMap::from([(id, known)]);
        Self { store, revision: Some(revision), roster, sessions, changed: Vec::new(), expected, writes }
    }

    /// The store, as it was before.
    pub fn store(&self) -> &'a Store<S> {
        self.store
    }

    /// The storage, for reading.
    pub fn storage(&self) -> &'a S {
        &self.store.storage
    }

    /// The agents that sessions of the store are, or were, known to, before any is changed.
    pub fn agents(&self) -> Result<Roster> {
        Roster::parse(self.roster.as_deref())
    }

    /// Reads those of these sessions that it has not read yet.
    pub fn read(&mut self, ids: &[&str]) -> Result<()> {
        let ids: Vec<&str> = ids.iter().copied().filter(|id| !self.sessions.contains_key(*id)).collect();
        if ids.is_empty() {
            return Ok(());
        }
        let read: Vec<String> = ids.iter().flat_map(|id| [keys::session(id), keys::tombstone(id)]).collect();
        let values = self.store.storage.get(&read)?;
        self.learn(&ids, values.into_iter())
    }

    /// Takes in the records and tombstones of these sessions, one after the other.
    fn learn(&mut self, ids: &[&str], mut values: impl Iterator<Item = Option<String>>) -> Result<()> {
        for id in ids {
            let (record, tombstone) = (values.next().flatten(), values.next().flatten());
            let before = record.as_deref().filter(|_| tombstone.is_none()).map(Session::parse).transpose()?;
            self.sessions.insert((*id).to_owned(), Drafted { record, tombstone, before, after: After::AsBefore });
        }
        Ok(())
    }

    /// A session as it shall be, if it has been read and is there and not deleted.
    pub fn session(&self, id: &str) -> Option<&Session> {
        self.sessions.get(id)?.after()
    }

    /// Whether no session has this id, or had it and was deleted, as far as has been read.
    pub fn is_free(&self, id: &str) -> bool {
        let is_free = |known: &Drafted| known.record.is_none() && known.tombstone.is_none() && known.after().is_none();
        self.sessions.get(id).is_none_or(is_free)
    }

    /// Whether a session of this id was deleted, as far as has been read.
    pub fn is_deleted(&self, id: &str) -> bool {
        self.sessions.get(id).is_some_and(|known| known.tombstone.is_some())
    }

    /// A session shall be so. One that has not been read is expected not to be there.
    pub fn put(&mut self, session: Session) {
        let id = session.id.clone();
        self.set(&id, After::Changed(Box::new(session)));
    }

    /// A session shall be no more.
    pub fn remove(&mut self, id: &str) {
        self.set(id, After::Removed);
    }

    fn set(&mut self, id: &str, after: After) {
        let known = self.sessions.entry(id.to_owned()).or_default();
        if matches!(known.after, After::AsBefore) {
            self.changed.push(id.to_owned());
        }
        known.after = after;
    }

    /// Whether it changes any session.
    pub fn is_changed(&self) -> bool {
        !self.changed.is_empty()
    }

    /// A session as it was and as it is now.
    pub fn into_change(mut self, id: &str) -> (Option<Session>, Option<Session>) {
        let Some(Drafted { before, after, .. }) = self.sessions.remove(id) else { return (None, None) };
        match after {
            After::AsBefore => (before.clone(), before),
            After::Changed(session) => (before, Some(*session)),
            After::Removed => (before, None),
        }
    }

    fn commit(&mut self, durability: Durability) -> Result<()> {
        self.name_agents()?;
        let mut revision = parse_revision(self.revision.as_deref())?;
        let mut sessions = Vec::new();
        for id in &self.changed {
            let Some(known) = self.sessions.get_mut(id) else { continue };
            revision += 1;
            if let After::Changed(session) = &mut known.after {
                let before = known.before.as_ref().filter(|before| before.is_shown_as(session));
                session.shown = before.map(Session::shown_revision);
                session.revision = revision;
                session.note_dates();
                if known.before.is_none() {
                    session.born = revision;
                }
            }
            self.expected.push(Expectation { key: keys::session(id), value: known.record.take() });
            self.expected.push(Expectation { key: keys::tombstone(id), value: known.tombstone.take() });
            sessions.extend(derived(known.before.as_ref(), known.after()));
            sessions.extend(Departure::write(known.before.as_ref(), known.after(), revision));
        }
        let revision = revision.to_string();
        self.writes.push(Write::Put { key: keys::REVISION.to_owned(), value: revision.clone() });
        if self.revision.is_none() {
            self.writes.push(Layout::Present.write());
        }
        self.expected.push(Expectation { key: keys::REVISION.to_owned(), value: self.revision.take() });
        let latest =
            self.only_change().and_then(|session| Latest::of(revision, self.roster.clone(), session, &sessions));
        self.writes.extend(sessions);
        self.store.commit(&self.expected, std::mem::take(&mut self.writes), durability)?;
        self.store.latest.replace(latest);
        Ok(())
    }

    /// The session as it shall be, if it is the only one that is changed.
    fn only_change(&self) -> Option<&Session> {
        let [id] = &self.changed[..] else { return None };
        self.sessions.get(id)?.after()
    }

    /// Where a session becomes known to an agent that none was known to before, the agent's name is noted.
    fn name_agents(&mut self) -> Result<()> {
        let mut stay = self.changed.iter().filter_map(|id| self.sessions.get(id)?.after()).peekable();
        if stay.peek().is_none() {
            return Ok(());
        }
        let mut names = Roster::parse(self.roster.as_deref())?;
        // Each of them is to be added, so this is no `any`.
        if stay.filter(|session| names.add(session)).count() > 0 {
            let roster = names.to_text();
            self.writes.push(Write::Put { key: keys::ROSTER.to_owned(), value: roster.clone() });
            self.expected.push(Expectation { key: keys::ROSTER.to_owned(), value: self.roster.replace(roster) });
        }
        Ok(())
    }
}

impl<S: Storage> Store<S> {
    /// Changes sessions in one commit: reads these, has it decided what becomes of them and of others that are read for
    /// that, and commits if any is changed. Returns what was decided and the sessions as they are now.
    ///
    /// `decide` may be called several times, each time with what the store holds by then.
    pub fn change_all<T>(
        &self,
        ids: &[&str],
        durability: Durability,
        mut decide: impl FnMut(&mut Draft<'_, S>) -> Result<T>,
    ) -> Result<(T, Draft<'_, S>)> {
        let mut latest = self.take_latest(ids);
        for _ in 0..ATTEMPTS {
            let is_read = latest.is_none();
            let mut draft =
                latest.take().map_or_else(|| Draft::begin(self, ids), |latest| Ok(Draft::resume(self, latest)))?;
            let decided = decide(&mut draft);
            if !is_read && (decided.is_err() || !draft.is_changed()) {
                // It does not come to a commit, which would find out: it is decided again by what the store holds.
                continue;
            }
            let decided = decided?;
            if !draft.is_changed() {
                return Ok((decided, draft));
            }
            match draft.commit(durability) {
                Ok(()) => return Ok((decided, draft)),
                Err(StorageError::Conflict) => {}
                Err(error) => return Err(error),
            }
        }
        Err(StorageError::Unavailable("other processes keep changing it; try again".to_owned()))
    }
}

impl<S> Store<S> {
    /// What the change before this one has left, where that was of the same session alone.
    fn take_latest(&self, ids: &[&str]) -> Option<Latest> {
        let latest = self.latest.take()?;
        (ids == [latest.session.id.as_str()]).then_some(latest)
    }
}
