//! What the engine keeps its data in: the `storage` interface of `wit/world.wit`, as a trait.
//!
//! Three shapes of data: *records* (ordered, small, rewritten), *logs* (append-only, dense numbers from 1) and
//! *texts* (for search; derived). A commit is all or nothing and guarded by expectations; that is the only
//! concurrency control there is, and it is enough for several processes on one store.

mod memory;
mod text_hits;

pub use memory::Memory;
pub use text_hits::TextHits;

/// The last number that an entry of a log can have: the one behind it, which a cut takes, is a number as well.
pub const LAST_SEQ: u32 = u32::MAX - 1;

/// The last part that an owner's texts can have.
pub const LAST_PART: u32 = (1 << 28) - 1;

/// One record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// ASCII; records are ordered by it, byte by byte.
    pub key: String,
    /// The record's text.
    pub value: String,
}

/// Part of a scan.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordPage {
    /// In the order asked for.
    pub entries: Vec<Entry>,
    /// Whether the range holds entries after the last one given.
    pub more: bool,
}

/// One entry of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogEntry {
    /// Its number; the first is 1.
    pub seq: u32,
    /// Its text.
    pub value: String,
}

/// Part of a log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogPage {
    /// In ascending order.
    pub entries: Vec<LogEntry>,
    /// Whether the log goes on after the last one given.
    pub more: bool,
}

/// How much one read may return. At least one entry comes where there is one, whatever its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Entries.
    pub limit: u32,
    /// Bytes of keys and values.
    pub max_bytes: u32,
}

/// What must still hold for a commit to happen: the record's exact value, or that there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expectation {
    /// The record.
    pub key: String,
    /// Its value; `None`: no such record.
    pub value: Option<String>,
}

/// One text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    /// Which of its owner's.
    pub part: u32,
    /// Folded tokens, separated by single spaces.
    pub tokens: String,
}

/// Some of an owner's texts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TextPage {
    /// In ascending order.
    pub texts: Vec<Text>,
    /// Whether there are more behind the last one given.
    pub more: bool,
}

/// One change. The writes of a commit act in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Write {
    /// Creates or replaces a record.
    Put {
        /// The record's key.
        key: String,
        /// Its new value.
        value: String,
    },
    /// Removes a record, if there is one.
    Remove {
        /// The record's key.
        key: String,
    },
    /// Adds to a log; a conflict unless `seq` is its last number plus one.
    Append {
        /// The log.
        log: String,
        /// The new entry's number.
        seq: u32,
        /// The new entry.
        value: String,
    },
    /// Replaces a log's last entry; a conflict unless `seq` is the last.
    Amend {
        /// The log.
        log: String,
        /// The entry's number.
        seq: u32,
        /// The entry as it is from now on.
        value: String,
    },
    /// Puts an entry at a number up to the log's last, whatever stands there; a conflict beyond. A store need not do that:
    /// it is for what was lost to damage.
    Restore {
        /// The log.
        log: String,
        /// The entry's number.
        seq: u32,
        /// The entry as it is from now on.
        value: String,
    },
    /// Drops a log's entries from this number on.
    CutLog {
        /// The log.
        log: String,
        /// The first number that goes; 1 drops the log.
        start: u32,
    },
    /// Replaces what is indexed for this owner and part; without tokens nothing is left of it.
    IndexText {
        /// Whose text it is.
        owner: String,
        /// Which of its texts; [`LAST_PART`] at most.
        part: u32,
        /// Folded tokens, separated by single spaces.
        tokens: String,
    },
    /// Drops an owner's texts from this part on.
    DropText {
        /// Whose texts.
        owner: String,
        /// The first part that goes.
        start: u32,
    },
}

/// What a commit survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// The end of the process.
    Relaxed,
    /// The loss of power.
    Durable,
}

/// Consecutive tokens to look for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextTerm {
    /// Folded tokens, at least one.
    pub tokens: Vec<String>,
    /// Whether the last stands for every token that begins with it.
    pub prefix: bool,
}

/// Where a term was found.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct TextHit {
    /// Whose text.
    pub owner: String,
    /// Which of its texts.
    pub part: u32,
}

/// The texts of one owner up to a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextScope {
    /// Whose texts.
    pub owner: String,
    /// The last part that counts.
    pub until: u32,
}

/// Why a store did not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StorageError {
    /// An expectation no longer holds; nothing was written, read again and retry.
    #[error("the store was changed by another process at the same time")]
    Conflict,
    /// A key, value or commit is larger than the store takes, or a log or an owner's texts have no number left.
    #[error("too large for the store")]
    TooLarge,
    /// No space is left.
    #[error("the store is full: free some disk space")]
    Full,
    /// The store cannot be written.
    #[error("the store is read-only")]
    ReadOnly,
    /// What is stored cannot be read.
    #[error("the store is damaged: {0}")]
    Corrupt(String),
    /// The store cannot be reached, or stayed busy for too long.
    #[error("the store cannot be used: {0}")]
    Unavailable(String),
    /// This store does not do that.
    #[error("the store does not support this")]
    Unsupported,
}

impl StorageError {
    /// Whether nothing can be written at the moment, though what is there can perhaps be read: what does without writing goes on.
    #[must_use]
    pub fn is_not_to_write(&self) -> bool {
        match self {
            Self::Full | Self::ReadOnly | Self::Unavailable(_) => true,
            Self::Conflict | Self::TooLarge | Self::Corrupt(_) | Self::Unsupported => false,
        }
    }
}

/// What every read and write of a store returns.
pub type Result<T> = std::result::Result<T, StorageError>;

/// What came of something that is left where nothing can be written at the moment; none where it was.
pub fn if_possible<T>(written: Result<T>) -> Result<Option<T>> {
    match written {
        Ok(written) => Ok(Some(written)),
        Err(error) if error.is_not_to_write() => Ok(None),
        Err(error) => Err(error),
    }
}

/// The number behind a log's last one, for an entry; too large where the log is full.
pub fn next_seq(end: u32) -> Result<u32> {
    if end < LAST_SEQ { Ok(end + 1) } else { Err(StorageError::TooLarge) }
}

/// A store. See `wit/world.wit` for the contract in full.
pub trait Storage {
    /// The values of these keys, in the order asked.
    fn get(&self, keys: &[String]) -> Result<Vec<Option<String>>>;

    /// Entries with `start <= key < end`.
    fn scan(&self, start: &str, end: &str, descending: bool, bounds: Bounds) -> Result<RecordPage>;

    /// The number of a log's last entry; 0 where it has none.
    fn log_end(&self, log: &str) -> Result<u32>;

    /// Entries of a log from `start` on.
    fn read_log(&self, log: &str, start: u32, bounds: Bounds) -> Result<LogPage>;

    /// Which texts hold the term, newest owner first and within an owner the last part first, after `after`.
    fn search_text(&self, term: &TextTerm, after: Option<&TextHit>, limit: u32) -> Result<TextHits>;

    /// For each scope the first part that holds the term, if any does. There may be hundreds: none may cost a search of the
    /// whole index, but no more than to read its texts or to look at one place in the index.
    fn find_text(&self, term: &TextTerm, scopes: &[TextScope]) -> Result<Vec<Option<u32>>>;

    /// The names of owners behind this one, in their order; fewer than the limit only where there are no more. All that
    /// have texts; some that had may be among them.
    fn text_owners(&self, after: Option<&str>, limit: u32) -> Result<Vec<String>>;

    /// The texts of an owner from a part on.
    fn read_texts(&self, owner: &str, start: u32, bounds: Bounds) -> Result<TextPage>;

    /// The names of logs behind this one, in their order; fewer than the limit only where there are no more. All that have
    /// entries; some that had may be among them.
    fn log_names(&self, after: Option<&str>, limit: u32) -> Result<Vec<String>>;

    /// All or nothing, and only if every expectation still holds.
    fn commit(&self, expected: &[Expectation], writes: Vec<Write>, durability: Durability) -> Result<()>;
}

impl<S: Storage + ?Sized> Storage for &S {
    fn get(&self, keys: &[String]) -> Result<Vec<Option<String>>> {
        (**self).get(keys)
    }

    fn scan(&self, start: &str, end: &str, descending: bool, bounds: Bounds) -> Result<RecordPage> {
        (**self).scan(start, end, descending, bounds)
    }

    fn log_end(&self, log: &str) -> Result<u32> {
        (**self).log_end(log)
    }

    fn read_log(&self, log: &str, start: u32, bounds: Bounds) -> Result<LogPage> {
        (**self).read_log(log, start, bounds)
    }

    fn search_text(&self, term: &TextTerm, after: Option<&TextHit>, limit: u32) -> Result<TextHits> {
        (**self).search_text(term, after, limit)
    }

    fn find_text(&self, term: &TextTerm, scopes: &[TextScope]) -> Result<Vec<Option<u32>>> {
        (**self).find_text(term, scopes)
    }

    fn text_owners(&self, after: Option<&str>, limit: u32) -> Result<Vec<String>> {
        (**self).text_owners(after, limit)
    }

    fn read_texts(&self, owner: &str, start: u32, bounds: Bounds) -> Result<TextPage> {
        (**self).read_texts(owner, start, bounds)
    }

    fn log_names(&self, after: Option<&str>, limit: u32) -> Result<Vec<String>> {
        (**self).log_names(after, limit)
    }

    fn commit(&self, expected: &[Expectation], writes: Vec<Write>, durability: Durability) -> Result<()> {
        (**self).commit(expected, writes, durability)
    }
}
