//! The storage of `wit/world.wit`, by SQLite.

use std::time::Instant;

use rusqlite::Connection;

use super::again::again;
use super::bounded::Bounds;
use super::error::Result;
use super::owner_names::OwnerNames;
use super::place::Place;
use super::transaction::{Lock, Transaction};
use super::{Sqlite, cleaning, logs, records, text};
use crate::component::storage::{
    Durability, Expectation, Host, LogPage, RecordPage, StorageError, TextHit, TextHits, TextPage, TextScope, TextTerm,
    Write,
};

/// What wasmtime expects: the outer result is for traps, of which this store has none.
type Answer<T> = wasmtime::Result<std::result::Result<T, StorageError>>;

#[expect(clippy::unnecessary_wraps, reason = "it is what wasmtime expects")]
fn answer<T>(result: Result<T>, place: Option<&Place>) -> Answer<T> {
    Ok(result.map_err(|error| error.told(place.map(Place::path))))
}

impl Host for Sqlite {
    fn get(&mut self, keys: Vec<String>) -> Answer<Vec<Option<String>>> {
        answer(self.read(|connection| records::get(connection, &keys)), self.place.as_ref())
    }

    fn scan(&mut self, start: String, end: String, descending: bool, limit: u32, max_bytes: u32) -> Answer<RecordPage> {
        let bounds = Bounds { limit, max_bytes };
        self.look_for_room();
        let page = again(|| records::scan(&self.connection, &start, &end, descending, bounds));
        answer(page, self.place.as_ref())
    }

    fn log_end(&mut self, log: String) -> Answer<u32> {
        answer(self.read(|connection| logs::end(connection, &log)), self.place.as_ref())
    }

    fn read_log(&mut self, log: String, start: u32, limit: u32, max_bytes: u32) -> Answer<LogPage> {
        answer(
            self.read(|connection| logs::read(connection, &log, start, Bounds { limit, max_bytes })),
            self.place.as_ref(),
        )
    }

    fn search_text(&mut self, term: TextTerm, after: Option<TextHit>, limit: u32) -> Answer<TextHits> {
        let found = self.search(|connection, names| {
            names.begin(connection)?;
            text::search(connection, names, &term, after.as_ref(), limit)
        });
        answer(found, self.place.as_ref())
    }

    fn find_text(&mut self, term: TextTerm, scopes: Vec<TextScope>) -> Answer<Vec<Option<u32>>> {
        answer(self.search(|connection, _| text::find(connection, &term, &scopes)), self.place.as_ref())
    }

    fn text_owners(&mut self, after: Option<String>, limit: u32) -> Answer<Vec<String>> {
        answer(again(|| text::owners(&self.connection, after.as_deref(), limit)), self.place.as_ref())
    }

    fn read_texts(&mut self, owner: String, start: u32, limit: u32, max_bytes: u32) -> Answer<TextPage> {
        answer(
            self.read(|connection| text::read(connection, &owner, start, Bounds { limit, max_bytes })),
            self.place.as_ref(),
        )
    }

    fn log_names(&mut self, after: Option<String>, limit: u32) -> Answer<Vec<String>> {
        answer(again(|| logs::names(&self.connection, after.as_deref(), limit)), self.place.as_ref())
    }

    fn commit(&mut self, expected: Vec<Expectation>, writes: Vec<Write>, durability: Durability) -> Answer<()> {
        answer(self.write(&expected, &writes, durability), self.place.as_ref())
    }
}

/// Whether this takes away what was said.
fn removes(write: &Write) -> bool {
    matches!(write, Write::CutLog(_) | Write::DropText(_))
}

/// What is read of one state of the store, whatever others write meanwhile.
fn of_one_state<T>(connection: &mut Connection, read: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
    let transaction = Transaction::begin(connection, Lock::Reading)?;
    let found = read(&transaction)?;
    transaction.commit()?;
    Ok(found)
}

impl Sqlite {
    /// Reads that belong together see one state of the store.
    fn read<T>(&mut self, read: impl Fn(&Connection) -> Result<T>) -> Result<T> {
        self.look_for_room();
        self.search_memory.give_back(&self.connection, Instant::now)?;
        again(|| of_one_state(&mut self.connection, &read))
    }

    /// Reads that belong together see one state of the store, and have the memory that searches have.
    fn search<T>(&mut self, read: impl Fn(&Connection, &mut OwnerNames) -> Result<T>) -> Result<T> {
        self.look_for_room();
        self.search_memory.take(&self.connection, Instant::now())?;
        let names = &mut self.search_memory.names;
        again(|| of_one_state(&mut self.connection, |connection| read(connection, names)))
    }

    /// Begins to write: waits for other processes no longer than there is patience left. Reads wait for nobody.
    fn begin_write(&mut self) -> Result<Transaction<'_>> {
        self.connection.busy_timeout(self.patience.begin(Instant::now()))?;
        let begun = Transaction::begin(&mut self.connection, Lock::Writing);
        self.patience.end(Instant::now(), begun.is_ok());
        begun
    }

    fn write(&mut self, expected: &[Expectation], writes: &[Write], durability: Durability) -> Result<()> {
        self.look_for_room();
        self.place.as_ref().map_or(Ok(()), Place::check)?;
        self.set_durability(durability)?;
        let transaction = self.begin_write()?;
        let locked = Instant::now();
        records::check(&transaction, expected)?;
        for write in writes {
            match write {
                Write::Put(entry) => records::put(&transaction, entry)?,
                Write::Remove(key) => records::remove(&transaction, key)?,
                Write::Append(row) => logs::append(&transaction, row)?,
                Write::Amend(row) => logs::amend(&transaction, row)?,
                Write::Restore(row) => logs::restore(&transaction, row)?,
                Write::CutLog(cut) => logs::cut(&transaction, cut)?,
                Write::IndexText(part) => text::index(&transaction, part)?,
                Write::DropText(cut) => text::cut(&transaction, cut)?,
            }
        }
        let is_removing = writes.iter().any(removes);
        if is_removing {
            cleaning::note(&transaction, cleaning::milliseconds())?;
        }
        transaction.commit()?;
        if is_removing {
            self.found_clean = None;
        }
        self.give_way(locked);
        Ok(())
    }

    pub(super) fn set_durability(&mut self, durability: Durability) -> Result<()> {
        if self.durability != durability {
            let synchronous = match durability {
                Durability::Relaxed => "NORMAL",
                Durability::Durable => "FULL",
            };
            self.connection.pragma_update(None, "synchronous", synchronous)?;
            self.durability = durability;
        }
        Ok(())
    }
}
