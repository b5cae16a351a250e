//! A storage that lets something happen, once, right before a commit: what another process may do between reading and
//! writing. It counts what is asked of it too.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use acp_sessions_guest::storage::{
    Bounds, Durability, Expectation, LogPage, Memory, RecordPage, Result, Storage, StorageError, TextHit, TextHits,
    TextPage, TextScope, TextTerm, Write,
};

type Meanwhile<'a> = Box<dyn FnOnce(&Memory) + 'a>;
type Often<'a> = Box<dyn Fn(&Memory) + 'a>;

#[derive(Default)]
pub(crate) struct Between<'a> {
    pub(crate) memory: Memory,
    /// And how many commits come first.
    meanwhile: RefCell<Option<(usize, Meanwhile<'a>)>>,
    /// The same before a scan, each time again.
    at_scans: RefCell<Option<Often<'a>>>,
    /// The same before a read of a log, once, and how many reads come first.
    at_read: RefCell<Option<(usize, Meanwhile<'a>)>>,
    /// The same, one after the other, each before a read of whatever kind, and how many reads come first.
    at_any_read: RefCell<VecDeque<(usize, Meanwhile<'a>)>>,
    /// How many bytes of values a commit may have at most, if that is limited.
    pub(crate) most: Cell<Option<usize>>,
    pub(crate) calls: Cell<usize>,
    pub(crate) commits: Cell<usize>,
    pub(crate) writes: Cell<usize>,
    /// Bytes of keys and values, read and written.
    pub(crate) bytes: Cell<usize>,
    /// Scopes in which texts were looked for.
    pub(crate) scopes: Cell<usize>,
    /// Of the largest commit.
    pub(crate) largest: Cell<usize>,
}

impl<'a> Between<'a> {
    /// Over a store that is there.
    pub(crate) fn on(memory: Memory) -> Self {
        Self { memory, ..Self::default() }
    }

    /// What happens before the next commit.
    pub(crate) fn before_commit(&self, meanwhile: impl FnOnce(&Memory) + 'a) {
        self.before_nth_commit(0, meanwhile);
    }

    /// What happens after so many commits, before the next.
    pub(crate) fn before_nth_commit(&self, nth: usize, meanwhile: impl FnOnce(&Memory) + 'a) {
        *self.meanwhile.borrow_mut() = Some((nth, Box::new(meanwhile)));
    }

    /// What happens before every scan from now on.
    pub(crate) fn before_scans(&self, meanwhile: impl Fn(&Memory) + 'a) {
        *self.at_scans.borrow_mut() = Some(Box::new(meanwhile));
    }

    /// What happens after so many reads of logs, before the next.
    pub(crate) fn before_nth_read(&self, nth: usize, meanwhile: impl FnOnce(&Memory) + 'a) {
        *self.at_read.borrow_mut() = Some((nth, Box::new(meanwhile)));
    }

    /// What happens after so many more reads of whatever kind, before the next.
    pub(crate) fn before_any_read(&self, nth: usize, meanwhile: impl FnOnce(&Memory) + 'a) {
        self.at_any_read.borrow_mut().push_back((nth, Box::new(meanwhile)));
    }

    /// Whether it has happened.
    pub(crate) fn has_happened(&self) -> bool {
        let is_over = |waits: &RefCell<Option<_>>| waits.borrow().is_none();
        is_over(&self.meanwhile) && is_over(&self.at_read) && self.at_any_read.borrow().is_empty()
    }

    fn happens(&self, waits: &RefCell<Option<(usize, Meanwhile<'a>)>>) {
        let waiting = waits.borrow_mut().take();
        match waiting {
            Some((0, meanwhile)) => meanwhile(&self.memory),
            Some((nth, meanwhile)) => *waits.borrow_mut() = Some((nth - 1, meanwhile)),
            None => {}
        }
    }

    fn is_read(&self) {
        let waiting = self.at_any_read.borrow_mut().pop_front();
        match waiting {
            Some((0, meanwhile)) => meanwhile(&self.memory),
            Some((nth, meanwhile)) => self.at_any_read.borrow_mut().push_front((nth - 1, meanwhile)),
            None => {}
        }
    }

    pub(crate) fn reset(&self) {
        self.calls.set(0);
        self.commits.set(0);
        self.writes.set(0);
        self.bytes.set(0);
        self.scopes.set(0);
    }

    fn note(&self, bytes: usize) {
        self.calls.set(self.calls.get() + 1);
        self.bytes.set(self.bytes.get() + bytes);
    }
}

impl Storage for Between<'_> {
    fn get(&self, keys: &[String]) -> Result<Vec<Option<String>>> {
        self.is_read();
        let values = self.memory.get(keys)?;
        self.note(values.iter().flatten().map(String::len).sum());
        Ok(values)
    }

    fn scan(&self, start: &str, end: &str, descending: bool, bounds: Bounds) -> Result<RecordPage> {
        self.is_read();
        if let Some(meanwhile) = &*self.at_scans.borrow() {
            meanwhile(&self.memory);
        }
        let page = self.memory.scan(start, end, descending, bounds)?;
        self.note(page.entries.iter().map(|entry| entry.value.len()).sum());
        Ok(page)
    }

    fn log_end(&self, log: &str) -> Result<u32> {
        self.is_read();
        self.note(0);
        self.memory.log_end(log)
    }

    fn read_log(&self, log: &str, start: u32, bounds: Bounds) -> Result<LogPage> {
        self.happens(&self.at_read);
        self.is_read();
        let page = self.memory.read_log(log, start, bounds)?;
        self.note(page.entries.iter().map(|entry| entry.value.len()).sum());
        Ok(page)
    }

    fn search_text(&self, term: &TextTerm, after: Option<&TextHit>, limit: u32) -> Result<TextHits> {
        self.is_read();
        self.note(0);
        self.memory.search_text(term, after, limit)
    }

    fn text_owners(&self, after: Option<&str>, limit: u32) -> Result<Vec<String>> {
        self.is_read();
        self.memory.text_owners(after, limit)
    }

    fn read_texts(&self, owner: &str, start: u32, bounds: Bounds) -> Result<TextPage> {
        self.is_read();
        self.memory.read_texts(owner, start, bounds)
    }

    fn log_names(&self, after: Option<&str>, limit: u32) -> Result<Vec<String>> {
        self.is_read();
        self.memory.log_names(after, limit)
    }

    fn find_text(&self, term: &TextTerm, scopes: &[TextScope]) -> Result<Vec<Option<u32>>> {
        self.is_read();
        self.note(0);
        self.scopes.set(self.scopes.get() + scopes.len());
        self.memory.find_text(term, scopes)
    }

    fn commit(&self, expected: &[Expectation], writes: Vec<Write>, durability: Durability) -> Result<()> {
        self.happens(&self.meanwhile);
        if self.most.get().is_some_and(|most| writes.iter().map(size).sum::<usize>() > most) {
            return Err(StorageError::TooLarge);
        }
        self.commits.set(self.commits.get() + 1);
        self.writes.set(self.writes.get() + writes.len());
        let size = writes.iter().map(size).sum();
        self.largest.set(self.largest.get().max(size));
        self.note(size);
        self.memory.commit(expected, writes, durability)
    }
}

fn size(write: &Write) -> usize {
    match write {
        Write::Put { value, .. }
        | Write::Append { value, .. }
        | Write::Amend { value, .. }
        | Write::Restore { value, .. } => value.len(),
        Write::IndexText { tokens, .. } => tokens.len(),
        Write::Remove { .. } | Write::CutLog { .. } | Write::DropText { .. } => 0,
    }
}
