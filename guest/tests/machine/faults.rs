//! A store that fails when it is told to, and in whose calls an instance can be lost.

use std::cell::Cell;
use std::panic::resume_unwind;

use acp_sessions_guest::storage::{
    Bounds, Durability, Expectation, LogPage, Memory, RecordPage, Result, Storage, StorageError, TextHit, TextHits,
    TextPage, TextScope, TextTerm, Write,
};

/// What goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A commit is refused because another process was faster.
    Conflict,
    /// A commit is too large.
    TooLarge,
    /// No space is left for a commit.
    Full,
    /// A commit finds the store read-only.
    ReadOnly,
    /// A commit cannot reach the store.
    Unavailable,
    /// A read finds damage.
    CorruptRead,
    /// A read cannot reach the store.
    UnavailableRead,
    /// The instance is lost before a commit.
    TrapBefore,
    /// The instance is lost when a commit has happened.
    TrapAfter,
    /// The instance is lost in a read.
    TrapRead,
    /// The host is killed before a commit.
    KillBefore,
    /// The host is killed when a commit has happened.
    KillAfter,
    /// The host is killed in a read.
    KillRead,
}

impl Fault {
    /// What goes wrong beside a host that goes on.
    pub(crate) const ALL: [Self; 10] = [
        Self::Conflict,
        Self::TooLarge,
        Self::Full,
        Self::ReadOnly,
        Self::Unavailable,
        Self::CorruptRead,
        Self::UnavailableRead,
        Self::TrapBefore,
        Self::TrapAfter,
        Self::TrapRead,
    ];

    /// What ends the host.
    pub(crate) const KILLS: [Self; 3] = [Self::KillBefore, Self::KillAfter, Self::KillRead];

    fn is_of_reads(self) -> bool {
        matches!(self, Self::CorruptRead | Self::UnavailableRead | Self::TrapRead | Self::KillRead)
    }

    fn is_kill(self) -> bool {
        Self::KILLS.contains(&self)
    }

    /// Whoever asks the store is no more.
    fn end(self) -> ! {
        // Neither reaches the panic hook, so nothing is printed.
        if self.is_kill() { resume_unwind(Box::new(Kill)) } else { resume_unwind(Box::new(Trap)) }
    }

    /// What the store says; none where it is not the store that fails.
    fn error(self) -> Option<StorageError> {
        Some(match self {
            Self::Conflict => StorageError::Conflict,
            Self::TooLarge => StorageError::TooLarge,
            Self::Full => StorageError::Full,
            Self::ReadOnly => StorageError::ReadOnly,
            Self::CorruptRead => StorageError::Corrupt("a made up reason".to_owned()),
            Self::Unavailable | Self::UnavailableRead => StorageError::Unavailable("a made up reason".to_owned()),
            Self::TrapBefore
            | Self::TrapAfter
            | Self::TrapRead
            | Self::KillBefore
            | Self::KillAfter
            | Self::KillRead => return None,
        })
    }
}

/// What an instance that is lost unwinds with.
#[derive(Debug)]
pub(crate) struct Trap;

/// What a host that is killed unwinds with.
#[derive(Debug)]
pub(crate) struct Kill;

/// What is to go wrong, and when.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    armed: Cell<Option<(Fault, u8, u8)>>,
    met: Cell<u32>,
}

impl Faults {
    /// After this many further calls of its kind, so many go wrong.
    pub(crate) fn arm(&self, fault: Fault, after: u8, times: u8) {
        let times = if fault.error().is_none() { 1 } else { times.max(1) };
        self.armed.set(Some((fault, after, times)));
    }

    pub(crate) fn disarm(&self) {
        self.armed.set(None);
    }

    /// How many calls the store has failed.
    pub(crate) fn met(&self) -> u32 {
        self.met.get()
    }

    /// What goes wrong with this call.
    fn strike(&self, is_read: bool) -> Option<Fault> {
        let (fault, after, times) = self.armed.get()?;
        if fault.is_of_reads() != is_read {
            return None;
        }
        if after > 0 {
            self.armed.set(Some((fault, after - 1, times)));
            return None;
        }
        self.armed.set((times > 1).then_some((fault, 0, times - 1)));
        self.met.set(self.met.get() + u32::from(fault.error().is_some()));
        Some(fault)
    }
}

/// The store as an engine sees it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shaky<'a> {
    pub(crate) memory: &'a Memory,
    pub(crate) faults: &'a Faults,
}

impl Shaky<'_> {
    fn read(&self) -> Result<()> {
        let Some(fault) = self.faults.strike(true) else { return Ok(()) };
        Err(fault.error().unwrap_or_else(|| fault.end()))
    }
}

impl Storage for Shaky<'_> {
    fn get(&self, keys: &[String]) -> Result<Vec<Option<String>>> {
        self.read()?;
        self.memory.get(keys)
    }

    fn scan(&self, start: &str, end: &str, descending: bool, bounds: Bounds) -> Result<RecordPage> {
        self.read()?;
        self.memory.scan(start, end, descending, bounds)
    }

    fn log_end(&self, log: &str) -> Result<u32> {
        self.read()?;
        self.memory.log_end(log)
    }

    fn read_log(&self, log: &str, start: u32, bounds: Bounds) -> Result<LogPage> {
        self.read()?;
        self.memory.read_log(log, start, bounds)
    }

    fn search_text(&self, term: &TextTerm, after: Option<&TextHit>, limit: u32) -> Result<TextHits> {
        self.read()?;
        self.memory.search_text(term, after, limit)
    }

    fn text_owners(&self, after: Option<&str>, limit: u32) -> Result<Vec<String>> {
        self.memory.text_owners(after, limit)
    }

    fn read_texts(&self, owner: &str, start: u32, bounds: Bounds) -> Result<TextPage> {
        self.memory.read_texts(owner, start, bounds)
    }

    fn log_names(&self, after: Option<&str>, limit: u32) -> Result<Vec<String>> {
        self.memory.log_names(after, limit)
    }

    fn find_text(&self, term: &TextTerm, scopes: &[TextScope]) -> Result<Vec<Option<u32>>> {
        self.read()?;
        self.memory.find_text(term, scopes)
    }

    fn commit(&self, expected: &[Expectation], writes: Vec<Write>, durability: Durability) -> Result<()> {
        let Some(fault) = self.faults.strike(false) else { return self.memory.commit(expected, writes, durability) };
        if let Some(error) = fault.error() {
            return Err(error);
        }
        if matches!(fault, Fault::TrapAfter | Fault::KillAfter) {
            // Whoever is no more does not learn what came of it.
            let _ = self.memory.commit(expected, writes, durability);
        }
        fault.end()
    }
}
