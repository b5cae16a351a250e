//! The storage contract, checked against every store there is: SQLite, and the one in memory that the engine's own
//! tests run on.

mod logs;
mod records;
mod texts;

use acp_sessions_adapter::{Hosted, Lent};
use acp_sessions_guest::storage::Memory;
use acp_sessions_host::component::storage::{Durability, Entry, Expectation, Host, StorageError, Write};
use acp_sessions_host::store::Sqlite;

/// Runs a case on an empty store of each kind, and on one that is passed from side to side and back.
fn on_every_store(case: impl Fn(&mut dyn Host)) {
    case(&mut Sqlite::builder().in_memory().build().expect("a store"));
    let folder = tempfile::tempdir().expect("a folder");
    case(&mut Sqlite::builder().file(folder.path().join("s.db")).build().expect("a store"));
    case(&mut Hosted(Memory::new()));
    case(&mut Hosted(Lent::new(Sqlite::builder().in_memory().build().expect("a store"))));
}

/// Commits, come what may.
fn write(store: &mut dyn Host, writes: Vec<Write>) {
    assert_eq!(try_write(store, writes), Ok(()));
}

fn try_write(store: &mut dyn Host, writes: Vec<Write>) -> Result<(), StorageError> {
    store.commit(vec![], writes, Durability::Relaxed).expect("no trap")
}

fn put(key: &str, value: &str) -> Write {
    Write::Put(Entry { key: key.into(), value: value.into() })
}

fn expect(key: &str, value: Option<&str>) -> Expectation {
    Expectation { key: key.into(), value: value.map(Into::into) }
}
