//! Where and how to open a store.

use std::path::PathBuf;
use std::time::Duration;

use super::{OpenError, Sqlite, open};

/// Opens a [`Sqlite`] store; in memory unless told otherwise.
///
/// ```
/// use acp_sessions_host::component::storage::Host as _;
/// use acp_sessions_host::store::Sqlite;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut store = Sqlite::builder().in_memory().build()?;
/// assert_eq!(store.get(vec!["s/1".to_owned()])?, Ok(vec![None]));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Builder {
    pub(super) file: Option<PathBuf>,
    pub(super) busy_for: Duration,
}

impl Default for Builder {
    fn default() -> Self {
        Self { file: None, busy_for: Duration::from_secs(10) }
    }
}

impl Builder {
    /// Keeps everything in memory, for as long as the store lives.
    #[must_use]
    pub fn in_memory(mut self) -> Self {
        self.file = None;
        self
    }

    /// Keeps everything in this file. It is created where it is missing, readable by its owner only, and so are the
    /// folders above it.
    #[must_use]
    pub fn file(mut self, path: impl Into<PathBuf>) -> Self {
        self.file = Some(path.into());
        self
    }

    /// How long to wait for other processes that use the store, all in all where waits follow one another: a store that
    /// stays busy is unavailable at once after that, and waits again when so much time has passed. 10 s unless told
    /// otherwise.
    #[must_use]
    pub fn busy_for(mut self, duration: Duration) -> Self {
        self.busy_for = duration;
        self
    }

    /// Opens the store, and creates or updates it where need be.
    pub fn build(self) -> Result<Sqlite, OpenError> {
        open::open(&self)
    }
}
