//! Looking at the file: whether SQLite finds it whole, the tables are those of a store, and what they hold is text.

use std::collections::BTreeSet;
use std::path::Path;
use std::thread;
use std::time::Duration;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode};

use super::again::again;
use super::error::Result;
use super::logs::log_of;
use super::schema::{self, Object};
use super::{OpenError, Sqlite, kind, place, text};
use crate::store::raw::Pages;

/// What a check of the store found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    /// The format of the tables.
    pub format: i64,
    /// What is wrong with the file; none in a healthy store.
    pub faults: Vec<Fault>,
    /// How many records there are. This and the other numbers are 0 where a fault keeps them from being counted.
    pub records: i64,
    /// How many logs there are.
    pub logs: i64,
    /// How many entries the logs have.
    pub entries: i64,
    /// How many texts can be searched.
    pub texts: i64,
    /// Bytes of the file, its journal not counted.
    pub bytes: i64,
    /// Bytes of the file that are free to be used again.
    pub free_bytes: i64,
}

/// Something wrong with a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// What, for people.
    pub what: String,
    /// What can be done about it.
    pub of: Damaged,
}

/// What is damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Damaged {
    /// What follows from the rest, and can be made anew in the file itself.
    Derived,
    /// Some rows, beside which all else can be used.
    Rows,
    /// The file as a whole: whoever writes to it may damage more.
    File,
}

impl Fault {
    fn new(of: Damaged, what: String) -> Self {
        Self { what, of }
    }

    /// Of a table or index of this name.
    fn of_object(name: &str, what: String) -> Self {
        Self::new(if is_derived(name) { Damaged::Derived } else { Damaged::File }, what)
    }
}

/// The tables and indexes that follow from the others.
pub(super) fn is_derived(name: &str) -> bool {
    let parts = ["texts", "owners", "vocabulary", "cleaning", "sqlite_autoindex_owners_"];
    parts.iter().any(|part| name.starts_with(part))
}

/// What is damaged in the file, by what SQLite says of it.
const OF_DERIVED: [&str; 5] = ["FTS5", "fts5", "main.texts", "constructor failed: texts", "index sqlite_autoindex_"];

impl Health {
    /// What is wrong with a file that SQLite cannot even open.
    pub fn of_unreadable(error: &OpenError) -> Self {
        let what = match error {
            OpenError::Open { path, cause } => format!("cannot open the session store {}: {cause}", path.display()),
            error => error.to_string(),
        };
        let faults = vec![Fault::new(Damaged::File, what)];
        Self { format: 0, faults, records: 0, logs: 0, entries: 0, texts: 0, bytes: 0, free_bytes: 0 }
    }
}

/// How often a journal has to look damaged, and how long after one another.
const LOOKS: u32 = 3;
const APART: Duration = Duration::from_millis(10);

/// What is wrong with the journal beside a file. It has to be looked at before anybody else opens it.
pub fn fault_of_journal(file: &Path) -> Option<Fault> {
    let look = || Pages::open(file, &place::beside(file, "-wal")).ok()?.journal().fault();
    let mut what = look()?;
    for _ in 1..LOOKS {
        // What another process is just writing is not damaged.
        thread::sleep(APART);
        what = look()?;
    }
    Some(Fault::new(Damaged::Rows, what))
}

impl Sqlite {
    /// Whether nothing can be written to it.
    pub fn is_read_only(&self) -> bool {
        self.connection.is_readonly("main").unwrap_or(true)
    }

    /// Reads the whole file and says how it is: in one state, whatever others write meanwhile.
    pub fn check(&self) -> Result<Health> {
        let connection = &self.connection.unchecked_transaction()?;
        look_first(connection);
        let pragma = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).unwrap_or(0);
        let format = pragma("user_version");
        let mut faults = of_tables(connection, format);
        let is_to_be_read = faults.is_empty();
        let lacks_derived = !faults.is_empty() && faults.iter().all(|fault| fault.of == Damaged::Derived);
        faults.extend(of_pages(connection, lacks_derived)?);
        if is_to_be_read {
            faults.extend(of_values(connection));
        }
        let count = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap_or(0);
        let page = pragma("page_size");
        Ok(Health {
            format,
            faults,
            records: count("SELECT count(*) FROM records"),
            logs: count("SELECT count(*) FROM logs"),
            entries: count("SELECT count(*) FROM entries"),
            texts: count("SELECT count(*) FROM texts_content WHERE id > 0"),
            bytes: pragma("page_count") * page,
            free_bytes: pragma("freelist_count") * page,
        })
    }
}

/// What is read first says which state is read from then on. FTS5 keeps what it has read of its index until it is asked for something
/// to be found there: it would compare what it knows from before with what others have written since, and call that damaged. What is wrong
/// with either is found later.
fn look_first(connection: &Connection) {
    let _ = again(|| connection.pragma_query_value(None, "schema_version", |row| row.get::<_, i64>(0)));
    let _ = connection.query_row("SELECT rowid FROM texts LIMIT 1", [], |row| row.get::<_, i64>(0));
}

/// What SQLite finds wrong. It may be so wrong that it cannot even say what.
fn of_pages(connection: &Connection, lacks_derived: bool) -> Result<Vec<Fault>> {
    let lines = || -> rusqlite::Result<Vec<String>> {
        let mut statement = connection.prepare("PRAGMA integrity_check(100)")?;
        statement.query_map([], |row| row.get(0))?.collect()
    };
    match lines() {
        Ok(lines) => Ok(lines.into_iter().filter(|line| line != "ok").map(of_line).collect()),
        Err(error) if kind::is_damage(&error) => {
            // That is what it makes of a table for search that lacks one of its own.
            let is_lack = lacks_derived && error.sqlite_error_code() == Some(ErrorCode::Unknown);
            let of = if is_lack || is_said_of_derived(&error.to_string()) { Damaged::Derived } else { Damaged::File };
            Ok(vec![Fault::new(of, format!("the file cannot be read to its end: {error}"))])
        }
        Err(error) => Err(error.into()),
    }
}

fn of_line(line: String) -> Fault {
    Fault::new(if is_said_of_derived(&line) { Damaged::Derived } else { Damaged::File }, line)
}

fn is_said_of_derived(line: &str) -> bool {
    OF_DERIVED.iter().any(|part| line.contains(part))
}

/// Tables and indexes that are missing, or others than they should be.
fn of_tables(connection: &Connection, format: i64) -> Vec<Fault> {
    let Ok(expected) = schema::expected(format) else { return Vec::new() };
    let found = match schema::objects(connection) {
        Ok(found) => found,
        Err(error) => return vec![Fault::new(Damaged::File, format!("the list of tables cannot be read: {error}"))],
    };
    let fault = |object: Object| {
        let Object { name, kind, made_by, .. } = object;
        let what = match found.iter().find(|known| known.name == name) {
            None => format!("the {kind} {name} is missing"),
            Some(known) if known.kind != kind || known.made_by != made_by => {
                format!("the {kind} {name} is not what it should be")
            }
            Some(_) => return None,
        };
        Some(Fault::of_object(&name, what))
    };
    let mut faults: Vec<Fault> = expected.into_iter().filter_map(fault).collect();
    if !(1..=schema::CURRENT).contains(&format) {
        let what = format!("the file says that its format is {format}, which there is not");
        faults.push(Fault::new(Damaged::File, what));
    }
    faults
}

/// Looks for what is wrong in a table.
type Look = fn(&Connection) -> rusqlite::Result<Vec<Fault>>;

/// Values that are no text, and rows that are nobody's.
fn of_values(connection: &Connection) -> Vec<Fault> {
    let looks: [(&str, Look); 4] =
        [("records", of_records), ("logs", of_logs), ("entries", of_entries), ("texts", of_texts)];
    let mut faults = Vec::new();
    for (table, look) in looks {
        match look(connection) {
            Ok(found) => faults.extend(found),
            Err(error) => {
                let what = format!("the table {table} cannot be read to its end: {error}");
                faults.push(Fault::of_object(table, what));
            }
        }
    }
    faults
}

fn is_text(value: ValueRef<'_>) -> bool {
    value.as_str().is_ok()
}

fn some(count: usize, what: &str) -> Option<Fault> {
    (count > 0).then(|| Fault::new(Damaged::Rows, format!("{what}: {count}")))
}

fn of_records(connection: &Connection) -> rusqlite::Result<Vec<Fault>> {
    let mut statement = connection.prepare("SELECT key, value FROM records")?;
    let mut rows = statement.query([])?;
    let (mut keys, mut values) = (0, 0);
    while let Some(row) = rows.next()? {
        let is_key = row.get_ref(0)?.as_str().is_ok_and(str::is_ascii);
        keys += usize::from(!is_key);
        values += usize::from(!is_text(row.get_ref(1)?));
    }
    Ok([some(keys, "records whose keys are damaged"), some(values, "records with bytes in them that are no text")]
        .into_iter()
        .flatten()
        .collect())
}

fn of_logs(connection: &Connection) -> rusqlite::Result<Vec<Fault>> {
    let mut statement = connection.prepare("SELECT name FROM logs")?;
    let mut rows = statement.query([])?;
    let mut names = 0;
    while let Some(row) = rows.next()? {
        names += usize::from(!is_text(row.get_ref(0)?));
    }
    Ok(some(names, "conversations whose names are damaged").into_iter().collect())
}

fn of_entries(connection: &Connection) -> rusqlite::Result<Vec<Fault>> {
    let known: BTreeSet<i64> = numbers(connection, "SELECT id FROM logs")?;
    let mut statement = connection.prepare("SELECT id, value FROM entries")?;
    let mut rows = statement.query([])?;
    let (mut nobodys, mut values) = (0, 0);
    while let Some(row) = rows.next()? {
        nobodys += usize::from(!known.contains(&log_of(row.get(0)?)));
        values += usize::from(!is_text(row.get_ref(1)?));
    }
    let nobodys = some(nobodys, "entries of conversations of which is not known any more which they are of");
    let values = some(values, "entries of conversations with bytes in them that are no text");
    Ok(nobodys.into_iter().chain(values).collect())
}

fn of_texts(connection: &Connection) -> rusqlite::Result<Vec<Fault>> {
    let nobodys = text::owners_without_names(connection)?.len();
    let what = || format!("{}: of {nobodys}", text::NOBODYS);
    Ok((nobodys > 0).then(|| Fault::new(Damaged::Derived, what())).into_iter().collect())
}

fn numbers(connection: &Connection, sql: &str) -> rusqlite::Result<BTreeSet<i64>> {
    let mut statement = connection.prepare(sql)?;
    statement.query_map([], |row| row.get(0))?.collect()
}
