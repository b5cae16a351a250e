//! What the last change of a session has left, so that the next, which mostly is of the same session, need not read it
//! again: the commit expects it, and where somebody else was there meanwhile it is refused and all is read.

use super::{Session, keys};
use crate::storage::Write;

/// A session and what every change needs, as a commit of this connection has written them.
#[derive(Debug)]
pub(super) struct Latest {
    /// The record of the revision.
    pub(super) revision: String,
    /// The record of the agents that have rows. It only ever grows, and who adds to it expects it.
    pub(super) roster: Option<String>,
    /// The session's record.
    pub(super) record: String,
    /// The session as its record says it.
    pub(super) session: Session,
}

impl Latest {
    /// What these writes leave of a session that they put.
    pub(super) fn of(revision: String, roster: Option<String>, session: &Session, writes: &[Write]) -> Option<Self> {
        let key = keys::session(&session.id);
        let record = writes.iter().find_map(|write| match write {
            Write::Put { key: put, value } if *put == key => Some(value.clone()),
            _ => None,
        })?;
        Some(Self { revision, roster, record, session: session.clone() })
    }
}
