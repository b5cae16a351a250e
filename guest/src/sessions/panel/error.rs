//! Why what somebody does to sessions was not done.

use serde::Serialize;

use crate::sessions::checkup::CheckupError;
use crate::sessions::list::ListError;
use crate::sessions::relocate::RelocateError;
use crate::sessions::retention::PruneError;
use crate::sessions::transcript::TranscriptError;
use crate::sessions::usage::UsageError;
use crate::storage::StorageError;

/// Why something was not done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
pub enum SessionError {
    /// What was wrong with the arguments.
    #[error("{0}")]
    Invalid(String),
    /// There is no session of this id (any more).
    #[error("no session has the id {0}")]
    NotFound(String),
    /// The storage failed.
    #[error("{0}")]
    Storage(String),
    /// The host is still finding out what the answer depends on.
    #[error("{0}")]
    NotYet(String),
}

impl SessionError {
    pub(super) fn invalid(what: &impl ToString) -> Self {
        Self::Invalid(what.to_string())
    }

    /// Why there is no transcript of the session of this id.
    pub(super) fn of_transcript(id: &str, error: TranscriptError) -> Self {
        match error {
            TranscriptError::NotFound => Self::NotFound(id.to_owned()),
            TranscriptError::Place => Self::invalid(&error),
            TranscriptError::Storage(error) => error.into(),
        }
    }
}

impl From<StorageError> for SessionError {
    fn from(error: StorageError) -> Self {
        Self::Storage(error.to_string())
    }
}

impl From<ListError> for SessionError {
    fn from(error: ListError) -> Self {
        match error {
            ListError::Invalid { .. } => Self::invalid(&error),
            ListError::Storage(error) => error.into(),
        }
    }
}

impl From<PruneError> for SessionError {
    fn from(error: PruneError) -> Self {
        match error {
            PruneError::Cursor => Self::invalid(&error),
            PruneError::Storage(error) => error.into(),
        }
    }
}

impl From<UsageError> for SessionError {
    fn from(error: UsageError) -> Self {
        match error {
            UsageError::Cursor => Self::invalid(&error),
            UsageError::Storage(error) => error.into(),
        }
    }
}

impl From<RelocateError> for SessionError {
    fn from(error: RelocateError) -> Self {
        match error {
            RelocateError::Storage(error) => error.into(),
            error => Self::invalid(&error),
        }
    }
}

impl From<CheckupError> for SessionError {
    fn from(error: CheckupError) -> Self {
        match error {
            CheckupError::Cursor => Self::invalid(&error),
            CheckupError::Storage(error) => error.into(),
        }
    }
}
