//! Mending what follows from the rest in the file itself: tables and indexes for search, and how far it is cleaned.

use rusqlite::Connection;

use super::error::Result;
use super::maintenance::{Damaged, is_derived};
use super::schema::{self, CURRENT};
use super::transaction::{Lock, Transaction};
use super::{Sqlite, cleaning, text};

/// How many texts of nobody go in one commit.
const TEXTS: u32 = 128;
/// What is said of anything but the index of texts as a whole.
const ELSEWHERE: [&str; 2] = ["cleaning", text::NOBODYS];
/// Where the index of texts and its parts are.
const TEXT_TABLES: [&str; 7] =
    ["vocabulary", "texts", "texts_data", "texts_idx", "texts_content", "texts_docsize", "texts_config"];

impl Sqlite {
    /// Makes anew what is missing or damaged of tables and indexes that follow from the others: what is to be in them, the
    /// engine's checkup writes.
    pub fn mend(&mut self) -> Result<()> {
        let faults: Vec<String> = self
            .check()?
            .faults
            .into_iter()
            .filter(|fault| fault.of == Damaged::Derived)
            .map(|fault| fault.what)
            .collect();
        let is_of = |part: &str| faults.iter().any(|fault| fault.contains(part));
        let is_of_texts = |fault: &String| !is_of_index(fault) && ELSEWHERE.iter().all(|part| !fault.contains(part));
        if faults.iter().any(is_of_texts) {
            self.make_texts_anew()?;
        }
        for index in ["owners", "logs"] {
            if faults.iter().any(|fault| is_of_index(fault) && fault.contains(&format!("autoindex_{index}_"))) {
                self.connection.execute_batch(&format!("REINDEX {index}"))?;
            }
        }
        if is_of("cleaning") {
            self.connection.execute_batch("DROP TABLE IF EXISTS cleaning")?;
        }
        let last = schema::last_migration();
        self.connection.execute_batch(&format!("BEGIN IMMEDIATE; {last} COMMIT"))?;
        self.drop_texts_of_nobody()
    }

    /// What is there of the index of texts goes, in whatever state it is.
    fn make_texts_anew(&mut self) -> Result<()> {
        // What is in the pages that come free is overwritten afterwards, a little at a time.
        self.connection.pragma_update(None, "secure_delete", "FAST")?;
        let made = self.try_to_make_texts_anew();
        self.connection.pragma_update(None, "secure_delete", "ON")?;
        made
    }

    fn try_to_make_texts_anew(&mut self) -> Result<()> {
        // A virtual table whose own tables are damaged cannot be dropped as such.
        let connection = &self.connection;
        connection.pragma_update(None, "writable_schema", "ON")?;
        let forgotten = connection
            .execute("DELETE FROM sqlite_master WHERE name IN ('vocabulary', 'texts') AND type = 'table'", []);
        connection.pragma_update(None, "writable_schema", "RESET")?;
        forgotten?;
        let transaction = Transaction::begin(&mut self.connection, Lock::Writing)?;
        for table in TEXT_TABLES.into_iter().chain(["owners"]) {
            transaction.execute_batch(&format!("DROP TABLE IF EXISTS {table}"))?;
        }
        make(&transaction, &["owners", "texts", "vocabulary"])?;
        if exists(&transaction, "cleaning")? {
            cleaning::note(&transaction, cleaning::milliseconds())?;
        }
        Ok(transaction.commit()?)
    }

    fn drop_texts_of_nobody(&mut self) -> Result<()> {
        for owner in text::owners_without_names(&self.connection)? {
            let mut is_more = true;
            while is_more {
                let begun = std::time::Instant::now();
                let transaction = Transaction::begin(&mut self.connection, Lock::Writing)?;
                is_more = text::drop_some(&transaction, owner, TEXTS)?;
                cleaning::note(&transaction, cleaning::milliseconds())?;
                transaction.commit()?;
                self.give_way(begun);
            }
        }
        Ok(())
    }
}

/// Whether SQLite says it of what an index has, rather than that there is none.
fn is_of_index(fault: &str) -> bool {
    fault.contains("index sqlite_autoindex_") && !fault.starts_with("the index")
}

/// Makes tables as a new store has them.
fn make(connection: &Connection, names: &[&str]) -> Result<()> {
    let expected = schema::expected(CURRENT)?;
    for name in names {
        let made_by = expected.iter().find(|object| object.name == *name).and_then(|object| object.made_by.as_deref());
        debug_assert!(is_derived(name), "{name} does not follow from the rest");
        connection.execute_batch(made_by.unwrap_or_default())?;
    }
    Ok(())
}

fn exists(connection: &Connection, table: &str) -> Result<bool> {
    Ok(schema::objects(connection)?.iter().any(|object| object.name == table))
}
