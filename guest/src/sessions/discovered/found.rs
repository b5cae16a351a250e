//! What came of a row.

use crate::storage::StorageError;

/// What a row was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// A session that is listed from now on.
    New,
    /// One that was listed before.
    Known,
    /// One that was listed before, in which the agent has not followed all that was done here.
    Behind {
        /// The session.
        id: String,
        /// The title that its user has given it, which the agent has not and was not told.
        title: Option<String>,
        /// That it was put away here, or brought back.
        archived: Option<bool>,
    },
    /// One that the layer does not know, of which the agent does not say in what directory it is: it is not listed.
    Nowhere,
    /// One that was deleted here; the agent has not followed.
    Deleted,
    /// One that the agent has made in vain, which it was asked to let go of.
    InVain,
    /// The store does not take it, or cannot read what it has of it.
    Refused(StorageError),
}
