//! Stores that break the contract, and one that does less.

use acp_sessions_guest::storage::{
    Bounds, Durability, Expectation, LogPage, Memory, RecordPage, Result, Storage, StorageError, TextHit, TextHits,
    TextPage, TextScope, TextTerm, Write,
};

/// In which way a store is another than the one in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// It has no text search, restores nothing and takes no long values.
    Less,
    /// It does not say that there is more.
    Silent,
    /// It writes a part of what it refuses.
    InPart,
    /// It searches all texts for each scope.
    PerScope,
}

/// A store in memory, but for its way.
#[derive(Debug)]
pub(crate) struct Other {
    pub(crate) memory: Memory,
    way: Way,
}

impl Other {
    pub(crate) fn new(way: Way) -> Self {
        Self { memory: if way == Way::Less { Memory::without_text_search() } else { Memory::new() }, way }
    }
}

/// What a store that does less says to this.
fn check(writes: &[Write]) -> Result<()> {
    for write in writes {
        match write {
            Write::Put { value, .. } | Write::Append { value, .. } if value.len() > 1 << 20 => {
                return Err(StorageError::TooLarge);
            }
            Write::Restore { .. } => return Err(StorageError::Unsupported),
            _ => {}
        }
    }
    Ok(())
}

impl Storage for Other {
    fn get(&self, keys: &[String]) -> Result<Vec<Option<String>>> {
        self.memory.get(keys)
    }

    fn scan(&self, start: &str, end: &str, descending: bool, bounds: Bounds) -> Result<RecordPage> {
        let page = self.memory.scan(start, end, descending, bounds)?;
        Ok(if self.way == Way::Silent { RecordPage { more: false, ..page } } else { page })
    }

    fn log_end(&self, log: &str) -> Result<u32> {
        self.memory.log_end(log)
    }

    fn read_log(&self, log: &str, start: u32, bounds: Bounds) -> Result<LogPage> {
        self.memory.read_log(log, start, bounds)
    }

    fn search_text(&self, term: &TextTerm, after: Option<&TextHit>, limit: u32) -> Result<TextHits> {
        self.memory.search_text(term, after, limit)
    }

    fn find_text(&self, term: &TextTerm, scopes: &[TextScope]) -> Result<Vec<Option<u32>>> {
        if self.way != Way::PerScope {
            return self.memory.find_text(term, scopes);
        }
        let first = |scope: &TextScope| {
            let hits = self.memory.search_text(term, None, u32::MAX)?;
            let within = hits.iter().filter(|(owner, part)| *owner == scope.owner && *part <= scope.until);
            Ok(within.map(|(_, part)| part).min())
        };
        scopes.iter().map(first).collect()
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

    fn commit(&self, expected: &[Expectation], writes: Vec<Write>, durability: Durability) -> Result<()> {
        match self.way {
            Way::Less => check(&writes)?,
            Way::InPart => {
                self.memory.commit(expected, Vec::new(), durability)?;
                return writes.into_iter().try_for_each(|write| self.memory.commit(&[], vec![write], durability));
            }
            Way::Silent | Way::PerScope => {}
        }
        self.memory.commit(expected, writes, durability)
    }
}
