//! Stores that come to each state: one that keeps the contract there, and some that do not.

use std::cell::Cell;

use acp_sessions_corpus::contract::State;
use acp_sessions_guest::storage::{
    Bounds, Durability, Expectation, LogPage, Memory, RecordPage, Result, Storage, StorageError, TextHit, TextHits,
    TextPage, TextScope, TextTerm, Write,
};

/// What a store does of what it must not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flaw {
    None,
    /// It keeps what there is room for of what it refuses.
    InPart,
    /// It writes although it says that it cannot be written.
    Writing,
    /// It gives nothing for what it cannot read.
    Missing,
    /// It does not say what is wrong.
    Mute,
}

/// A store in memory that says what its state makes it say.
#[derive(Debug)]
pub(crate) struct Turned {
    memory: Memory,
    state: Cell<Option<State>>,
    flaw: Flaw,
}

impl Turned {
    pub(crate) fn new(flaw: Flaw) -> Self {
        Self { memory: Memory::new(), state: Cell::new(None), flaw }
    }

    pub(crate) fn turn(&self, state: State) {
        self.state.set(Some(state));
    }

    fn text(&self) -> String {
        if self.flaw == Flaw::Mute { String::new() } else { "what is wrong".to_owned() }
    }

    fn read<T>(&self, read: impl FnOnce(&Memory) -> Result<T>) -> Result<T> {
        match self.state.get() {
            Some(State::Damaged) if self.flaw == Flaw::Missing => read(&Memory::new()),
            Some(State::Damaged) => Err(StorageError::Corrupt(self.text())),
            _ => read(&self.memory),
        }
    }
}

impl Storage for Turned {
    fn get(&self, keys: &[String]) -> Result<Vec<Option<String>>> {
        self.read(|memory| memory.get(keys))
    }

    fn scan(&self, start: &str, end: &str, descending: bool, bounds: Bounds) -> Result<RecordPage> {
        self.read(|memory| memory.scan(start, end, descending, bounds))
    }

    fn log_end(&self, log: &str) -> Result<u32> {
        self.read(|memory| memory.log_end(log))
    }

    fn read_log(&self, log: &str, start: u32, bounds: Bounds) -> Result<LogPage> {
        self.read(|memory| memory.read_log(log, start, bounds))
    }

    fn search_text(&self, term: &TextTerm, after: Option<&TextHit>, limit: u32) -> Result<TextHits> {
        self.read(|memory| memory.search_text(term, after, limit))
    }

    fn find_text(&self, term: &TextTerm, scopes: &[TextScope]) -> Result<Vec<Option<u32>>> {
        self.read(|memory| memory.find_text(term, scopes))
    }

    fn text_owners(&self, after: Option<&str>, limit: u32) -> Result<Vec<String>> {
        self.read(|memory| memory.text_owners(after, limit))
    }

    fn read_texts(&self, owner: &str, start: u32, bounds: Bounds) -> Result<TextPage> {
        self.read(|memory| memory.read_texts(owner, start, bounds))
    }

    fn log_names(&self, after: Option<&str>, limit: u32) -> Result<Vec<String>> {
        self.read(|memory| memory.log_names(after, limit))
    }

    fn commit(&self, expected: &[Expectation], mut writes: Vec<Write>, durability: Durability) -> Result<()> {
        let error = match self.state.get() {
            None => return self.memory.commit(expected, writes, durability),
            Some(State::Full) => StorageError::Full,
            Some(State::ReadOnly) => StorageError::ReadOnly,
            Some(State::Busy) => StorageError::Unavailable(self.text()),
            Some(State::Damaged) => StorageError::Corrupt(self.text()),
        };
        if self.flaw == Flaw::InPart {
            writes.truncate(1);
        }
        let is_writing = matches!(self.flaw, Flaw::InPart | Flaw::Writing);
        if is_writing && self.state.get() != Some(State::Damaged) {
            self.memory.commit(expected, writes, durability)?;
        }
        Err(error)
    }
}
