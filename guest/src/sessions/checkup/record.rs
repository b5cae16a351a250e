//! A session's record as it stands under its key.

use crate::checksum;
use crate::storage::Storage;
use crate::store::{Session, keys};

use super::pass::Pass;

/// What stands under a session's key.
#[derive(Debug)]
pub(super) enum Record {
    /// Nothing.
    None,
    /// The session, as far as can be told.
    Session(Box<Session>),
    /// What can be read as one, but is not as it was written.
    Altered(Box<Session>),
    /// Something that is no record, or another session's.
    Unreadable,
}

impl Record {
    /// Of this id.
    pub(super) fn of(id: &str, text: Option<&str>) -> Self {
        match text.map(Session::parse) {
            None => Self::None,
            Some(Ok(session)) if session.id == id => {
                let is_sound = text.is_some_and(checksum::is_sound);
                (if is_sound { Self::Session } else { Self::Altered })(Box::new(session))
            }
            Some(_) => Self::Unreadable,
        }
    }
}

/// The id of the session that a record's key is of.
pub(super) fn id_of(key: &str) -> Option<String> {
    key.strip_prefix(keys::SESSIONS).and_then(keys::decode)
}

impl<S: Storage> Pass<'_, S> {
    /// Which of these records of sessions are there, whatever stands in them, and which sessions were deleted.
    pub(super) fn whether_there(&self, ids: &[String]) -> crate::storage::Result<Vec<(Option<String>, bool)>> {
        let read: Vec<String> = ids.iter().flat_map(|id| [keys::session(id), keys::tombstone(id)]).collect();
        let mut values = self.store.storage().get(&read)?.into_iter();
        let mut both = || (values.next().flatten(), values.next().flatten().is_some());
        Ok(ids.iter().map(|_| both()).collect())
    }
}
