//! The ways in which a store is damaged.

use std::fmt;
use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use acp_sessions_tests::torture::chance::Chance;
use rusqlite::Connection;

const PAGE: usize = 4096;

/// What is done to a store.
#[derive(Debug, Clone)]
pub(crate) enum Damage {
    /// Statements that only touch what follows from the rest.
    Derived(String),
    /// Statements.
    Sql(String),
    /// Statements for the list of tables itself.
    Schema(String),
    /// Rows whose value becomes these bytes.
    Bytes { of: &'static str, bytes: Vec<u8> },
    /// Bytes of the file from a place on, which may lie behind its end.
    Overwritten { at: usize, bytes: Vec<u8> },
    /// A page of nothing, by its number modulo how many there are, the first one left out.
    Zeroed(usize),
    /// Some bytes somewhere behind the first page.
    Garbled { at: usize, bytes: Vec<u8> },
    /// Two pages that have changed places.
    Swapped(usize, usize),
    /// So many thousandths of the file are left.
    Truncated(usize),
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Derived(sql) | Self::Sql(sql) | Self::Schema(sql) => write!(f, "{sql}"),
            Self::Bytes { of, bytes } => write!(f, "{} bytes for the value of {of}", bytes.len()),
            Self::Overwritten { at, bytes } => write!(f, "at {at}: {bytes:?}"),
            Self::Zeroed(page) => write!(f, "page {page} zeroed"),
            Self::Garbled { at, bytes } => write!(f, "{} bytes garbled at {at} of all", bytes.len()),
            Self::Swapped(one, other) => write!(f, "pages {one} and {other} swapped"),
            Self::Truncated(thousandths) => write!(f, "truncated to {thousandths} thousandths"),
        }
    }
}

impl Damage {
    /// Whether nothing is damaged but what follows from the rest.
    pub(crate) fn is_derived(&self) -> bool {
        matches!(self, Self::Derived(_))
    }

    /// Does it to the store in this file.
    pub(crate) fn deal(&self, store: &Path) {
        match self {
            Self::Derived(sql) | Self::Sql(sql) => by_sql(store, sql),
            Self::Schema(sql) => by_sql(store, &format!("PRAGMA writable_schema = ON; {sql}")),
            Self::Bytes { of, bytes } => {
                let connection = open(store);
                let (table, place) = of.split_once(" WHERE ").expect("a place");
                let sql = format!("UPDATE {table} SET value = CAST(?1 AS TEXT) WHERE {place}");
                assert!(connection.execute(&sql, [bytes]).expect("done") > 0, "{self} does nothing");
            }
            Self::Overwritten { at, bytes } => write(store, *at, bytes),
            Self::Zeroed(page) => {
                let page = 1 + page % (pages(store) - 1);
                write(store, page * PAGE, &[0; PAGE]);
            }
            Self::Garbled { at, bytes } => {
                let length = pages(store) * PAGE - PAGE - bytes.len();
                write(store, PAGE + at % length, bytes);
            }
            Self::Swapped(one, other) => {
                let place = |page: usize| (1 + page % (pages(store) - 1)) * PAGE;
                let file = fs::read(store).expect("the store");
                let page = |at: usize| file[at..at + PAGE].to_vec();
                write(store, place(*one), &page(place(*other)));
                write(store, place(*other), &page(place(*one)));
            }
            Self::Truncated(thousandths) => {
                let file = OpenOptions::new().write(true).open(store).expect("the store");
                let length = file.metadata().expect("its length").len();
                file.set_len(length * *thousandths as u64 / 1000).expect("cut short");
            }
        }
    }
}

pub(super) fn open(store: &Path) -> Connection {
    let connection = Connection::open(store).expect("a database");
    // What is in the file is in the file itself.
    connection.pragma_update(None, "journal_mode", "WAL").expect("set");
    connection
}

fn by_sql(store: &Path, sql: &str) {
    let connection = open(store);
    connection.execute_batch(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    let changes = connection.total_changes() > 0 || ["DROP", "PRAGMA", "CREATE"].iter().any(|word| sql.contains(word));
    assert!(changes, "{sql} does nothing");
}

fn pages(store: &Path) -> usize {
    usize::try_from(fs::metadata(store).expect("the store").len()).expect("64 bits") / PAGE
}

fn write(store: &Path, at: usize, bytes: &[u8]) {
    let file = OpenOptions::new().write(true).open(store).expect("the store");
    file.write_all_at(bytes, at as u64).expect("written");
}

/// One of the sessions, as records are keyed.
const ONE: &str = "(SELECT key FROM records WHERE key GLOB 's/*' ORDER BY key LIMIT 1 OFFSET 4)";

/// Damage to what follows from the rest.
fn derived() -> Vec<String> {
    let mut sql: Vec<String> = Vec::new();
    for (kind, many) in [("i/*/u/*", 10), ("i/*/c/*", 10), ("i/*/b/*", 10), ("t/*", 10), ("e/*", 1), ("i/a/*", 3)] {
        for count in [1, many] {
            let rows = format!("WHERE key IN (SELECT key FROM records WHERE key GLOB '{kind}' LIMIT {count} OFFSET 0)");
            sql.push(format!("DELETE FROM records {rows}"));
            sql.push(format!("UPDATE records SET value = substr(value, 1, 9) || '?' {rows}"));
        }
        sql.push(format!("DELETE FROM records WHERE key GLOB '{kind}'"));
    }
    sql.extend(
        [
            "INSERT INTO records SELECT key || 'x', value FROM records WHERE key GLOB 'e/*'",
            "INSERT INTO records VALUES ('t/0000000000000007/nobody', '')",
            "INSERT INTO records VALUES ('p/nobody/noone', '')",
            "UPDATE records SET key = replace(key, '/u/0', '/u/1') WHERE key GLOB 'i/m/*/u/*'",
            "UPDATE records SET value = replace(value, 'session4', 'session5') WHERE key GLOB 'i/*'",
            "DELETE FROM records WHERE key = 'i'",
            "UPDATE records SET value = '[' WHERE key = 'i'",
            "UPDATE records SET value = '[]' WHERE key = 'i'",
            "DELETE FROM records WHERE key = 'r'",
            "UPDATE records SET value = 'many' WHERE key = 'r'",
            "UPDATE records SET value = '3' WHERE key = 'r'",
            "UPDATE records SET value = '?' WHERE key = 'v'",
            "DELETE FROM records WHERE key = 'v'",
            "DELETE FROM records WHERE key IN ('i', 'r', 'v')",
            "DELETE FROM records WHERE key GLOB 'a/*'",
            "DELETE FROM records WHERE key = (SELECT key FROM records WHERE key GLOB 'a/*' LIMIT 1 OFFSET 2)",
            "INSERT INTO records VALUES ('a/x/y', 'nobody')",
            "DELETE FROM records WHERE key GLOB 'l/*'",
            "UPDATE records SET value = '{\"holders\":{}}' WHERE key GLOB 'l/*'",
            "UPDATE records SET value = replace(value, '\"orphaned\":false', '\"orphaned\":true') WHERE key GLOB 'l/*'",
            "DELETE FROM texts WHERE rowid IN (SELECT id FROM texts_content ORDER BY id DESC LIMIT 1)",
            "DELETE FROM texts WHERE rowid IN (SELECT id FROM texts_content LIMIT 20 OFFSET 3)",
            "DELETE FROM texts",
            "UPDATE texts SET tokens = tokens || ' zebra' WHERE rowid IN (SELECT id FROM texts_content LIMIT 3 OFFSET 9)",
            "UPDATE texts SET tokens = 'zebra' WHERE rowid = (SELECT max(id) FROM texts_content)",
            "INSERT INTO texts (rowid, tokens) SELECT max(id) + 500, 'zebra' FROM texts_content",
            "INSERT INTO texts (rowid, tokens) SELECT (max(id) << 28) + (99 << 28), 'zebra' FROM owners",
            "INSERT INTO owners SELECT max(id) + 9, 'l/nobody' FROM owners; INSERT INTO texts (rowid, tokens) SELECT max(id) << 28, 'zebra' FROM owners",
            "DELETE FROM owners WHERE id = (SELECT min(id) FROM owners)",
            "DELETE FROM owners WHERE id IN (SELECT id FROM owners LIMIT 9)",
            "UPDATE owners SET name = name || 'x' WHERE id = (SELECT max(id) FROM owners)",
            "DELETE FROM owners",
            "UPDATE texts_content SET c0 = c0 || ' zebra' WHERE id = (SELECT max(id) FROM texts_content)",
            "UPDATE texts_content SET c0 = NULL WHERE id = (SELECT max(id) FROM texts_content)",
            "DELETE FROM texts_content WHERE id = (SELECT max(id) FROM texts_content)",
            "DELETE FROM texts_content",
            "DELETE FROM texts_data WHERE id > 10",
            "DELETE FROM texts_data WHERE id = (SELECT max(id) FROM texts_data)",
            "DELETE FROM texts_data WHERE id = 10",
            "UPDATE texts_data SET block = zeroblob(100) WHERE id = (SELECT max(id) FROM texts_data)",
            "UPDATE texts_data SET block = zeroblob(3) WHERE id = 10",
            "DELETE FROM texts_config",
            "DROP TABLE texts",
            "DROP TABLE owners",
            "DROP TABLE vocabulary",
            "DROP TABLE cleaning",
            "DROP TABLE texts_data",
            "DROP TABLE texts_idx",
            "DROP TABLE texts_content",
            "DROP TABLE texts_config",
        ]
        .map(str::to_owned),
    );
    sql
}

/// Damage to what nothing else says.
fn kept() -> Vec<String> {
    let mut sql = Vec::new();
    for value in ["substr(value, 1, length(value) / 2)", "''", "'{}'", "substr(value, 9)", "replace(value, ',', ';')"] {
        sql.push(format!("UPDATE records SET value = {value} WHERE key = {ONE}"));
        sql.push(format!("UPDATE entries SET value = {value} WHERE id = (SELECT id FROM entries LIMIT 1 OFFSET 20)"));
    }
    sql.extend(readable());
    sql.push(format!("DELETE FROM records WHERE key = {ONE}"));
    sql.push(format!("UPDATE records SET key = 's/other' WHERE key = {ONE}"));
    sql.push(format!(
        "UPDATE records SET value = (SELECT value FROM records WHERE key GLOB 's/*' LIMIT 1) WHERE key = {ONE}"
    ));
    sql.extend(
        [
            "DELETE FROM records WHERE key GLOB 's/*'",
            "DELETE FROM records WHERE key GLOB '[sit]/*'",
            "UPDATE records SET value = '{' WHERE key GLOB 'g/*'",
            "UPDATE records SET value = '{' WHERE key GLOB 'l/*'",
            "UPDATE records SET value = 'soon' WHERE key GLOB 'x/*'",
            "UPDATE records SET value = 'soon' WHERE key GLOB 'y/*'",
            "INSERT INTO records VALUES ('z/what', 'is this')",
            "INSERT INTO records VALUES ('d/agent/%zz', '7')",
            "INSERT INTO records VALUES (CAST(x'732f61ff' AS TEXT), 'x')",
            "DELETE FROM entries WHERE id = (SELECT id FROM entries LIMIT 1 OFFSET 20)",
            "DELETE FROM entries WHERE id IN (SELECT id FROM entries LIMIT 5 OFFSET 30)",
            "DELETE FROM entries WHERE id = (SELECT min(id) FROM entries)",
            "DELETE FROM entries WHERE id = (SELECT max(id) FROM entries WHERE id >> 32 = 1)",
            "DELETE FROM entries WHERE id >> 32 = 2 AND id & 4294967295 > 2",
            "DELETE FROM entries",
            // One bit of a number, and two billion entries would be missing before it.
            "UPDATE entries SET id = id | (1 << 31) WHERE id = (SELECT id FROM entries LIMIT 1 OFFSET 3)",
            "UPDATE entries SET id = id | (1 << 31) WHERE id >> 32 = 1 AND id & 4294967295 > 3",
            "DELETE FROM logs WHERE id = 3",
            "UPDATE logs SET name = 'other' WHERE id = 3",
            "DELETE FROM logs",
            "DROP TABLE records",
            "DROP TABLE logs",
            "DROP TABLE entries",
            "PRAGMA user_version = 0",
            "PRAGMA user_version = 99",
            "PRAGMA application_id = 77",
        ]
        .map(str::to_owned),
    );
    sql
}

/// Damage after which everything reads well, as where two pages have changed places, or a bit has.
fn readable() -> Vec<String> {
    let one = |table: &str, key: &str, like: &str| {
        format!("{key} = (SELECT {key} FROM {table} WHERE {like} ORDER BY {key} LIMIT 1 OFFSET 3)")
    };
    let prompted = one("records", "key", "key GLOB 's/*' AND value GLOB '*\"prompts\":3*'");
    let state = one("records", "key", "key GLOB 'g/*'");
    let said = one("entries", "id", "value GLOB 'u*'");
    let other = "SELECT value FROM entries WHERE value GLOB 'u*' ORDER BY id LIMIT 1 OFFSET 5";
    vec![
        format!("UPDATE records SET value = replace(value, '\"prompts\":3', '\"prompts\":2') WHERE {prompted}"),
        format!("UPDATE records SET value = replace(value, 'turn0', 'torn0') WHERE {prompted}"),
        format!("UPDATE records SET value = replace(value, 'Default', 'Defoult') WHERE {state}"),
        format!("UPDATE entries SET value = replace(value, 'msg_', 'msq_') WHERE {said}"),
        format!("UPDATE entries SET value = replace(value, 'many', 'meny') WHERE {said}"),
        "DELETE FROM entries WHERE id = (SELECT max(id) FROM entries WHERE id >> 32 = 6)".to_owned(),
        format!(
            "UPDATE entries SET value = substr(value, 1, length(value) - 30) || substr(({other}), -30) WHERE {said}"
        ),
    ]
}

/// Bytes that are no text, wherever they fall and whatever part of them does: what is text by chance could be meant.
fn no_text(dice: &mut Chance, length: usize) -> Vec<u8> {
    let byte = |place| if place % 2 == 0 { 0xff } else { dice.number().to_le_bytes()[0] | 0x80 };
    (0..length).map(byte).collect()
}

/// All of them; the dice say where some strike.
pub(crate) fn all(dice: &mut Chance) -> Vec<Damage> {
    let mut damages: Vec<Damage> = derived().into_iter().map(Damage::Derived).collect();
    damages.extend(kept().into_iter().map(Damage::Sql));
    for name in ["records", "logs", "entries", "texts", "sqlite_autoindex_logs_1", "sqlite_autoindex_owners_1"] {
        damages.push(Damage::Schema(format!("DELETE FROM sqlite_master WHERE name = '{name}'")));
    }
    for of in [
        "records WHERE key GLOB 'i/m/*/u/*'",
        "records WHERE key = (SELECT min(key) FROM records WHERE key GLOB 's/*')",
        "records WHERE key = 'r'",
        "entries WHERE id = (SELECT id FROM entries LIMIT 1 OFFSET 9)",
        "entries WHERE id >> 32 = 4",
    ] {
        damages.push(Damage::Bytes { of, bytes: no_text(dice, 40) });
    }
    for at in [0, 16, 18, 24, 28, 32, 44, 56, 60, 68, 96, 100, 103, 105, 108, 3000] {
        let length = 1 + dice.below(4);
        damages.push(Damage::Overwritten { at, bytes: no_text(dice, length) });
    }
    damages.push(Damage::Overwritten { at: 0, bytes: vec![0; 100] });
    damages.push(Damage::Overwritten { at: 0, bytes: vec![0; PAGE] });
    damages.extend((0..30).map(|_| Damage::Zeroed(dice.below(1 << 20))));
    for length in [1, 4, 64, 500] {
        damages.extend((0..10).map(|_| Damage::Garbled { at: dice.below(1 << 30), bytes: no_text(dice, length) }));
    }
    damages.extend((0..6).map(|_| Damage::Swapped(dice.below(1 << 20), dice.below(1 << 20))));
    damages.extend([0, 1, 200, 500, 900, 999].map(Damage::Truncated));
    damages
}
