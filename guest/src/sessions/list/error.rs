//! Why there is no list.

use crate::storage::StorageError;

/// Why there is no list.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ListError {
    /// A field of the request is wrong.
    #[error("`{field}` {message}")]
    Invalid {
        /// Which.
        field: String,
        /// In what way.
        message: String,
    },
    /// The store failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl ListError {
    pub(in crate::sessions) fn invalid(field: &str, message: impl Into<String>) -> Self {
        Self::Invalid { field: field.to_owned(), message: message.into() }
    }
}
