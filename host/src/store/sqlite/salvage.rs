//! Writing what can be read of a damaged store into a new one: records, logs and their entries. What follows from these the
//! engine makes anew.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, params};

use super::error::{Error, OpenError, Result};
use super::schema::{self, Object};
use super::transaction::{Lock, Transaction};
use super::{Sqlite, examine, place};
use crate::store::raw::{Kind, Pages, Row, Tree, Value};

/// How many rows are written in one commit.
const AT_ONCE: usize = 1000;

/// What came of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Salvaged {
    /// Records that were read.
    pub records: u64,
    /// Logs whose names were.
    pub logs: u64,
    /// Entries of these.
    pub entries: u64,
    /// Entries that were read, but it is not known which conversation they are of.
    pub nobodys: u64,
    /// Rows that could not be read, or not whole.
    pub bad_rows: u64,
    /// Pages that could not be read.
    pub bad_pages: u64,
}

/// A new store in the making. It bears another name until it is finished.
#[derive(Debug)]
pub struct Salvage {
    target: PathBuf,
    unfinished: PathBuf,
    is_finished: bool,
}

/// What is read of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Table {
    Records,
    Logs,
    Entries,
}

impl Table {
    const ALL: [Self; 3] = [Self::Records, Self::Logs, Self::Entries];

    fn name(self) -> &'static str {
        match self {
            Self::Records => "records",
            Self::Logs => "logs",
            Self::Entries => "entries",
        }
    }

    fn kind(self) -> Kind {
        match self {
            Self::Records => Kind::Ordered,
            Self::Logs | Self::Entries => Kind::Numbered,
        }
    }
}

impl Salvage {
    /// Begins a new store that is to be in this file, which must not be there.
    pub fn begin(target: &Path) -> std::result::Result<(Self, Sqlite), OpenError> {
        let unfinished = place::beside(target, ".unfinished");
        if target.exists() {
            let cause = io::Error::from(io::ErrorKind::AlreadyExists);
            return Err(OpenError::Create { path: target.to_owned(), cause });
        }
        if unfinished.exists() {
            return Err(OpenError::Unfinished(unfinished));
        }
        let salvage = Self { target: target.to_owned(), unfinished, is_finished: false };
        let store = Sqlite::builder().file(&salvage.unfinished).build()?;
        Ok((salvage, store))
    }

    /// Gives the new store its name. Nobody may have it open any more.
    pub fn finish(mut self) -> io::Result<()> {
        // One that has come to be there meanwhile is not replaced.
        match fs::hard_link(&self.unfinished, &self.target) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(error),
            // Not everywhere can a file have two names.
            Err(_) if !self.target.exists() => fs::rename(&self.unfinished, &self.target)?,
            linked => linked?,
        }
        self.is_finished = true;
        place::remove(&self.unfinished)
    }
}

impl Drop for Salvage {
    fn drop(&mut self) {
        if !self.is_finished
            && let Err(error) = place::remove(&self.unfinished)
        {
            tracing::warn!(
                "{} is unfinished and of no use, but could not be removed: {error}",
                self.unfinished.display()
            );
        }
    }
}

impl Sqlite {
    /// Writes into this store, which is new, what can be read of the one in that file; none if it was given up. `goes_on` is
    /// asked now and then.
    pub fn salvage_from(&mut self, file: &Path, goes_on: impl FnMut() -> bool) -> Result<Option<Salvaged>> {
        // As long as this reads, nobody moves what is in the journal, or overwrites it.
        let _state = examine::hold(file);
        let pages = Pages::open(file, &place::beside(file, "-wal")).map_err(Error::Unreadable)?;
        let roots = roots(&pages)?;
        let mut copy = Copy { store: self, waiting: Vec::new(), salvaged: Salvaged::default(), goes_on, ended: None };
        let mut visited = pages.unvisited();
        let mut broken = Vec::new();
        for table in Table::ALL {
            let root = roots.get(table.name()).copied().unwrap_or_default();
            let met = Tree::walk(&pages, root, table.kind(), &mut visited, &mut |row| copy.take(table, row));
            if met.bad_pages > 0 {
                broken.push(table);
            }
            copy.met(&met);
        }
        if !broken.is_empty() {
            // What there was no way to stands on pages that are no other table's, and not free.
            for (_, root) in roots.iter().filter(|(name, _)| Table::ALL.iter().all(|table| table.name() != *name)) {
                if let Some(kind) = Tree::kind(&pages, *root) {
                    Tree::walk(&pages, *root, kind, &mut visited, &mut |_| {});
                }
            }
            orphans(&pages, &broken, &mut visited, &mut copy);
        }
        copy.finish()
    }
}

/// Where each table begins: as the file says or, where it does not, as it does in a new store.
fn roots(pages: &Pages) -> Result<BTreeMap<String, u32>> {
    let object = |Object { name, root, .. }| (name, root);
    let mut roots: BTreeMap<String, u32> = schema::expected(schema::CURRENT)?.into_iter().map(object).collect();
    roots.extend(pages.objects().listed.into_iter().filter_map(|object| Some((object.name, object.root?))));
    roots.retain(|_, root| *root > 0);
    Ok(roots)
}

/// Takes the rows of pages that there was no way to.
fn orphans(pages: &Pages, broken: &[Table], visited: &mut [bool], copy: &mut Copy<'_, impl FnMut() -> bool>) {
    let free = pages.free();
    for number in 2..=pages.count() {
        let place = number as usize;
        if visited.get(place) != Some(&false) || free.contains(number) {
            continue;
        }
        for table in broken {
            let mut rows = Vec::new();
            let leaf = Tree::leaf(pages, number, table.kind(), visited, &mut |row| rows.push(row));
            let is_its = !rows.is_empty() && rows.iter().all(|row| table.has(row));
            if let Some(met) = leaf.filter(|_| is_its) {
                for row in rows {
                    copy.take(*table, row);
                }
                copy.met(&Tree { bad_pages: 0, ..met });
                break;
            }
        }
    }
}

impl Table {
    /// Whether a row of which is not known whose it is looks like one of this table's.
    fn has(self, row: &Row) -> bool {
        let is_text = |column| matches!(row.values.get(column), Some(Value::Bytes(_)));
        let shape = row.values.len() == 2 && is_text(1);
        match self {
            Self::Records => shape && is_text(0),
            Self::Logs => shape && (1..1 << 31).contains(&row.number) && row.text(1).is_none_or(|(_, whole)| whole),
            // In that of texts for search higher numbers are usual.
            Self::Entries => shape && row.number >= 1 << 32 && row.number % (1 << 32) < 1 << 28,
        }
    }
}

/// Why a copy is not gone on with.
#[derive(Debug)]
enum Ended {
    GivenUp,
    Failed(Error),
}

/// Rows on their way into the new store.
struct Copy<'a, G> {
    store: &'a mut Sqlite,
    waiting: Vec<(Table, Row)>,
    salvaged: Salvaged,
    goes_on: G,
    /// Why nothing more is written.
    ended: Option<Ended>,
}

impl<G: FnMut() -> bool> Copy<'_, G> {
    fn take(&mut self, table: Table, row: Row) {
        if self.ended.is_some() {
            return;
        }
        self.waiting.push((table, row));
        if self.waiting.len() >= AT_ONCE {
            self.write();
        }
    }

    fn met(&mut self, met: &Tree) {
        self.salvaged.bad_pages += met.bad_pages as u64;
        self.salvaged.bad_rows += met.bad_rows as u64;
    }

    fn write(&mut self) {
        if !(self.goes_on)() {
            self.ended = Some(Ended::GivenUp);
        } else if let Err(error) = self.try_to_write() {
            self.ended = Some(Ended::Failed(error));
        }
    }

    fn try_to_write(&mut self) -> Result<()> {
        let transaction = Transaction::begin(&mut self.store.connection, Lock::Writing)?;
        for (table, row) in self.waiting.drain(..) {
            write(&transaction, table, &row, &mut self.salvaged)?;
        }
        Ok(transaction.commit()?)
    }

    fn finish(mut self) -> Result<Option<Salvaged>> {
        if self.ended.is_none() {
            self.write();
        }
        match self.ended {
            Some(Ended::Failed(error)) => return Err(error),
            Some(Ended::GivenUp) => return Ok(None),
            None => {}
        }
        let connection = &self.store.connection;
        let nobodys = "DELETE FROM entries WHERE id >> 32 NOT IN (SELECT id FROM logs)";
        self.salvaged.nobodys = connection.execute(nobodys, [])? as u64;
        self.salvaged.entries -= self.salvaged.nobodys;
        Ok(Some(self.salvaged))
    }
}

/// Writes a row, unless there is one of the same name already: what there was a way to comes first.
fn write(connection: &Connection, table: Table, row: &Row, salvaged: &mut Salvaged) -> Result<()> {
    let (first, second) = (row.text(0), row.text(1));
    let is_key = matches!(&first, Some((key, true)) if key.is_ascii());
    let Some((text, is_whole)) = second.filter(|(_, is_whole)| match table {
        Table::Records => is_key,
        Table::Logs => *is_whole && row.number > 0,
        Table::Entries => row.number > 0,
    }) else {
        salvaged.bad_rows += 1;
        return Ok(());
    };
    salvaged.bad_rows += u64::from(!is_whole);
    let (sql, count) = match table {
        Table::Records => ("INSERT OR IGNORE INTO records (key, value) VALUES (?1, ?2)", &mut salvaged.records),
        Table::Logs => ("INSERT OR IGNORE INTO logs (id, name) VALUES (?1, ?2)", &mut salvaged.logs),
        Table::Entries => ("INSERT OR IGNORE INTO entries (id, value) VALUES (?1, ?2)", &mut salvaged.entries),
    };
    let mut insert = connection.prepare_cached(sql)?;
    let written = match first {
        Some((key, _)) if table == Table::Records => insert.execute(params![key, text])?,
        _ => insert.execute(params![row.number, text])?,
    };
    *count += written as u64;
    Ok(())
}
