//! The revision: the number of the last change to any session.

use crate::storage::{Result, StorageError};

/// Reads the record of the revision; 0 where nothing was ever changed.
pub(super) fn parse_revision(text: Option<&str>) -> Result<u64> {
    text.map_or(Ok(0), |text| text.parse().map_err(|_| StorageError::Corrupt("the revision".to_owned())))
}
