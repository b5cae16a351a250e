//! Changing a session: read, decide, commit with everything that is derived from it; again if somebody was faster.

use super::{Layout, Roster, Row, RowHead, Session, Store, keys};
use crate::index::Owner;
use crate::storage::{Durability, Expectation, Result, Storage, StorageError, Write};
use crate::store::{directory, heading};

/// How often a change is tried. Somebody wins every round, so this many losses mean a broken store.
const ATTEMPTS: usize = 10_000;

/// A change of one session, its record and its indexes in one commit.
#[derive(Debug)]
pub struct Change<'a, S> {
    store: &'a Store<S>,
    id: &'a str,
    durability: Durability,
}

/// What a change came to.
#[derive(Debug, Clone)]
pub enum Changed {
    /// The session as it is now; as it was, where it had been there.
    Done {
        /// Before the change.
        before: Option<Box<Session>>,
        /// After the change.
        after: Option<Box<Session>>,
    },
    /// The change was not wanted after all.
    Nothing,
}

impl<'a, S: Storage> Change<'a, S> {
    pub(super) fn new(store: &'a Store<S>, id: &'a str) -> Self {
        Self { store, id, durability: Durability::Relaxed }
    }

    /// Survives the loss of power.
    #[must_use]
    pub fn durable(self) -> Self {
        self.with(Durability::Durable)
    }

    /// Survives this much.
    #[must_use]
    pub fn with(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// Decides and commits.
    ///
    /// `decide` gets the session as it is, if it is there and not deleted, and what else the commit is to write or
    /// expect. It returns the session as it shall be (`None` removes it), or `None` to leave everything alone.
    /// It may be called several times, each time with what the store holds by then.
    pub fn commit(
        self,
        mut decide: impl FnMut(Option<&Session>, &mut Vec<Expectation>, &mut Vec<Write>) -> Result<Option<Option<Session>>>,
    ) -> Result<Changed> {
        for _ in 0..ATTEMPTS {
            let record = keys::session(self.id);
            let read = [record.clone(), keys::REVISION.to_owned(), keys::tombstone(self.id), keys::ROSTER.to_owned()];
            let mut values = self.store.storage.get(&read)?.into_iter();
            let mut value = || values.next().flatten();
            let (text, revision, tombstone, roster) = (value(), value(), value(), value());
            let before = text.as_deref().filter(|_| tombstone.is_none()).map(Session::parse).transpose()?;
            let [_, revision_key, tombstone_key, roster_key] = read;
            let next = parse_revision(revision.as_deref())? + 1;
            let is_first = revision.is_none();
            let mut expected = vec![
                Expectation { key: record, value: text },
                Expectation { key: revision_key, value: revision },
                Expectation { key: tombstone_key, value: tombstone },
            ];
            let mut writes = Vec::new();
            let Some(mut after) = decide(before.as_ref(), &mut expected, &mut writes)? else {
                return Ok(Changed::Nothing);
            };
            if let Some(session) = &mut after {
                session.revision = next;
                if before.is_none() {
                    session.born = next;
                }
                let mut names = Roster::parse(roster.as_deref())?;
                if names.add(session) {
                    writes.push(Write::Put { key: roster_key.clone(), value: names.to_text() });
                    expected.push(Expectation { key: roster_key, value: roster });
                }
            }
            writes.push(Write::Put { key: keys::REVISION.to_owned(), value: next.to_string() });
            if is_first {
                writes.push(Layout::Present.write());
            }
            writes.extend(derived(before.as_ref(), after.as_ref()));
            match self.store.commit(&expected, writes, self.durability) {
                Ok(()) => return Ok(Changed::Done { before: before.map(Box::new), after: after.map(Box::new) }),
                Err(StorageError::Conflict) => {}
                Err(error) => return Err(error),
            }
        }
        Err(StorageError::Unavailable("other processes keep changing it; try again".to_owned()))
    }
}

pub(super) fn parse_revision(text: Option<&str>) -> Result<u64> {
    text.map_or(Ok(0), |text| text.parse().map_err(|_| StorageError::Corrupt("the revision".to_owned())))
}

/// The record and every index entry of a session: what goes with its old shape, what comes with the new. For whoever
/// makes many sessions at once; [`Change`] is for everybody else.
pub fn derived(before: Option<&Session>, after: Option<&Session>) -> Vec<Write> {
    let mut writes = Vec::new();
    let old_keys = before.map(Session::index_keys).unwrap_or_default();
    let new_keys = after.map(Session::index_keys).unwrap_or_default();
    writes.extend(old_keys.into_iter().filter(|key| !new_keys.contains(key)).map(|key| Write::Remove { key }));
    if let Some(session) = after {
        writes.push(Write::Put { key: keys::session(&session.id), value: session.to_text() });
        writes.extend(session.index_entries());
        let tokens = heading::tokens(session);
        if before.is_none_or(|before| heading::tokens(before) != tokens) {
            let owner = Owner::Heading(&session.id).name();
            writes.push(Write::IndexText { owner, part: 0, tokens });
        }
    } else if let Some(session) = before {
        writes.push(Write::Remove { key: keys::session(&session.id) });
        writes.push(Write::DropText { owner: Owner::Heading(&session.id).name(), start: 0 });
    }
    writes
}

impl Session {
    /// The session's index entries.
    pub fn index_entries(&self) -> impl Iterator<Item = Write> {
        let row = Row::text(self);
        let spans: Vec<String> = self.span_keys().collect();
        self.index_keys().into_iter().map(move |key| {
            let value = match key.starts_with("i/") {
                true if spans.contains(&key) => RowHead::text(&row).to_owned(),
                true => row.clone(),
                false => String::new(),
            };
            Write::Put { key, value }
        })
    }

    /// The keys of the session's index entries.
    pub fn index_keys(&self) -> Vec<String> {
        let letter = self.shelf().letter();
        let place = keys::row_place(self.updated, &self.id);
        let cwd = directory::normalise(&self.cwd);
        let mut index = vec![keys::changed(self.revision, &self.id)];
        for agent in self.row_sets() {
            index.push(keys::rows(letter, agent, None) + &place);
            index.extend(cwd.as_ref().map(|cwd| keys::rows(letter, agent, Some(cwd)) + &place));
        }
        index.extend(self.span_keys());
        if self.is_unprompted() {
            index.push(keys::unprompted(self.created, &self.id));
        }
        if let Some(parent) = &self.parent {
            index.push(keys::subagent(parent, &self.id));
        }
        index
    }

    /// Those by how long there was activity.
    fn span_keys(&self) -> impl Iterator<Item = String> {
        let place = keys::row_place(self.updated, &self.id);
        let (letter, span) = (self.shelf().letter(), self.span().number());
        self.row_sets().map(move |agent| keys::rows_by_span(letter, agent, span) + &place)
    }
}
