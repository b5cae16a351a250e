//! Where and how to open a store.

use std::path::PathBuf;
use std::time::Duration;

use super::{OpenError, Sqlite, open};

/// Opens a [`Sqlite`] store; in memory unless told otherwise.
///
/// ```
/// use acp_sessions::component::storage::Host as _;
/// use acp_sessions::store::Sqlite;
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
    pub(super) owns_folder: bool,
    pub(super) gives_way: bool,
}

impl Default for Builder {
    fn default() -> Self {
        Self { file: None, busy_for: Duration::from_secs(10), owns_folder: false, gives_way: false }
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
    /// folders above it. A file that is there and that others have rights on is taken from them. One that cannot be
    /// written is opened for reading.
    #[must_use]
    pub fn file(mut self, path: impl Into<PathBuf>) -> Self {
        self.file = Some(path.into());
        self
    }

    /// There is nothing but the store in the file's folder: where others have rights on the folder, they lose them.
    #[must_use]
    pub fn owns_folder(mut self) -> Self {
        self.owns_folder = true;
        self
    }

    /// For long work in the background: after each commit others have as long for theirs as it took.
    #[must_use]
    pub fn gives_way(mut self) -> Self {
        self.gives_way = true;
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
