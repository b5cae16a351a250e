//! Files that are no stores: they are refused, and stay as they are to the byte.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use acp_sessions_tests::client::Client;
use acp_sessions_tests::scene::Scene;
use acp_sessions_tests::unprivileged::set_mode;
use rusqlite::Connection;

use crate::run::{on, with_sessions};
use crate::stores::COMMANDS;

/// What `PRAGMA application_id` says of a store: `acps`.
const OURS: i64 = 0x6163_7073;

/// What is in a file, its rights, and when it was last changed.
type Described = (Vec<u8>, u32, (i64, i64));

/// Every file of a folder.
fn files(folder: &Path) -> BTreeMap<PathBuf, Described> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let described = entries.map(|path| {
        let found = fs::metadata(&path).expect("it is there");
        let content = fs::read(&path).expect("it can be read");
        (path, (content, found.mode(), (found.mtime(), found.mtime_nsec())))
    });
    described.collect()
}

fn database(path: &Path, sql: &str) -> Connection {
    let connection = Connection::open(path).expect("a database");
    connection.execute_batch(sql).expect("SQL");
    connection
}

/// Puts something into a file. A connection that is to stay open is returned.
type Make = fn(&Path) -> Option<Connection>;

fn write(path: &Path, bytes: &[u8]) -> Option<Connection> {
    fs::write(path, bytes).expect("written");
    None
}

#[test]
fn what_is_no_store_is_refused_and_not_touched() {
    let kinds: [(&str, Make); 11] = [
        ("another program's", |path| {
            database(path, "CREATE TABLE notes (text); INSERT INTO notes VALUES ('x')");
            None
        }),
        ("with a mark of its own", |path| {
            database(path, "PRAGMA application_id = 1; CREATE TABLE notes (text)");
            None
        }),
        ("marked, with nothing in it", |path| {
            database(path, "PRAGMA application_id = 1");
            None
        }),
        ("with some tables called as ours", |path| {
            database(path, "CREATE TABLE records (key, value); CREATE TABLE logs (id); PRAGMA user_version = 3");
            None
        }),
        ("with a journal like ours", |path| {
            database(path, "PRAGMA journal_mode = WAL; CREATE TABLE notes (text)");
            None
        }),
        ("with all that it has in its journal", |path| {
            let it =
                database(path, "PRAGMA wal_autocheckpoint = 0; PRAGMA journal_mode = WAL; CREATE TABLE notes (text)");
            assert_eq!(fs::metadata(path).expect("the file").len(), 4096);
            Some(it)
        }),
        ("that is being written", |path| {
            database(path, "CREATE TABLE notes (text)");
            Some(database(path, "PRAGMA cache_size = 1; BEGIN EXCLUSIVE; INSERT INTO notes VALUES (zeroblob(100000))"))
        }),
        ("a text", |path| write(path, &b"These are words and no store.\n".repeat(1000))),
        ("a short text", |path| write(path, b"x")),
        ("zeros", |path| write(path, &[0; 8192])),
        ("something encrypted", |path| {
            let bytes: Vec<u8> = (0..16_384_u32).map(|at| at.wrapping_mul(2_654_435_761).to_be_bytes()[1]).collect();
            write(path, &bytes)
        }),
    ];
    for (kind, make) in kinds {
        let scene = Scene::new();
        let store = scene.store();
        let folder = store.parent().expect("a folder");
        fs::create_dir(folder).expect("a folder");
        let held = make(&store);
        set_mode(&store, 0o644);
        let before = files(folder);
        for words in COMMANDS.into_iter().chain([&["agent"][..], &["proxy", "--", "cat"]]) {
            let complaint = on(&scene, words).complained();
            let beginning = format!("{} is no session store: ", store.display());
            assert!(complaint.starts_with(&beginning), "{kind}, {words:?}: {complaint}");
            assert!(files(folder) == before, "{kind}, {words:?}: something was changed");
        }
        drop(held);
    }
}

fn mark(store: &Path) -> i64 {
    let connection = Connection::open(store).expect("a database");
    connection.pragma_query_value(None, "application_id", |row| row.get(0)).expect("a number")
}

#[test]
fn a_store_of_before_is_opened_and_marked() {
    let (scene, ids) = with_sessions(&["Mend the roof"]);
    assert_eq!(mark(&scene.store()), OURS, "a new one is marked");
    for version in [1, 2, 3] {
        let set = format!("PRAGMA application_id = 0; PRAGMA user_version = {version}");
        database(&scene.store(), &set);
        assert!(on(&scene, &["list"]).printed().contains(&ids[0]), "version {version}");
        assert_eq!(mark(&scene.store()), OURS, "version {version}");
    }
}

#[test]
fn a_store_of_before_may_be_in_its_journal_as_a_whole() {
    let (scene, ids) = with_sessions(&["Mend the roof"]);
    let dump = Connection::open(scene.store()).expect("a database");
    let tables = include_str!("../../../host/src/store/sqlite/schema/1.sql");
    let old = scene.file("old.db");
    // Held open, so that nothing is moved out of the journal.
    let held = database(&old, "PRAGMA wal_autocheckpoint = 0; PRAGMA journal_mode = WAL");
    held.execute_batch(&format!("BEGIN; {tables}; PRAGMA user_version = 3; COMMIT")).expect("a store");
    let mut rows = dump.prepare("SELECT key, value FROM records").expect("SQL");
    let mut rows = rows.query([]).expect("rows");
    while let Some(row) = rows.next().expect("a row") {
        let (key, value): (String, String) = (row.get(0).expect("a key"), row.get(1).expect("a value"));
        held.execute("INSERT INTO records VALUES (?1, ?2)", [key, value]).expect("inserted");
    }
    assert_eq!(fs::metadata(&old).expect("the file").len(), 4096, "all of it is in the journal");
    let listed = crate::run::run(&["list", "--store", old.to_str().expect("text")]).printed();
    assert!(listed.contains(&ids[0]), "{listed}");
    drop(held);
    assert_eq!(mark(&old), OURS);
}

#[test]
fn an_empty_file_becomes_a_store() {
    let scene = Scene::new();
    let store = scene.store();
    fs::create_dir(store.parent().expect("a folder")).expect("a folder");
    fs::write(&store, "").expect("an empty file");
    assert!(Client::ready(&scene.builtin(&[])).close().success());
    assert_eq!(mark(&store), OURS);
}
