//! Changing a session: read, decide, commit with everything that is derived from it; again if somebody was faster.

use super::{Session, Store};
use crate::storage::{Durability, Expectation, Result, Storage, Write};

/// A change of one session, its record and its indexes in one commit.
#[derive(Debug)]
pub struct Change<'a, S> {
    store: &'a Store<S>,
    id: &'a str,
    durability: Durability,
}

/// What becomes of a session.
#[derive(Debug, Clone)]
pub enum Decision {
    /// It is left alone, with all that is derived from it.
    Keep,
    /// It is to be this one.
    Put(Box<Session>),
    /// It goes, if it is there at all.
    Remove,
}

impl Decision {
    /// It is to be this one.
    pub fn put(session: Session) -> Self {
        Self::Put(Box::new(session))
    }
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
    fn new(store: &'a Store<S>, id: &'a str) -> Self {
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
    /// expect, which counts for nothing where the session is kept. It may be called several times, each time with what
    /// the store holds by then.
    pub fn commit(
        self,
        mut decide: impl FnMut(Option<&Session>, &mut Vec<Expectation>, &mut Vec<Write>) -> Result<Decision>,
    ) -> Result<Changed> {
        let id = self.id;
        let (is_wanted, draft) = self.store.change_all(&[id], self.durability, |draft| {
            let (mut expected, mut writes) = (Vec::new(), Vec::new());
            let decided = decide(draft.session(id), &mut expected, &mut writes)?;
            draft.expected.append(&mut expected);
            draft.writes.append(&mut writes);
            match decided {
                Decision::Keep => return Ok(false),
                Decision::Put(after) => draft.put(*after),
                Decision::Remove => draft.remove(id),
            }
            Ok(true)
        })?;
        if !is_wanted {
            return Ok(Changed::Nothing);
        }
        let (before, after) = draft.into_change(id);
        Ok(Changed::Done { before: before.map(Box::new), after: after.map(Box::new) })
    }
}

impl<S: Storage> Store<S> {
    /// Starts a change of one session; see [`Change`].
    pub fn change<'a>(&'a self, id: &'a str) -> Change<'a, S> {
        Change::new(self, id)
    }
}
