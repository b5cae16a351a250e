//! Stores in files for the tests beside this, and what is written to them.

use std::path::Path;

use super::Sqlite;
use crate::component::storage::{Durability, Entry, Host as _, LogRow, TextPart, TextTerm, Write};

pub(super) fn open(file: &Path) -> Sqlite {
    Sqlite::builder().file(file).build().expect("a store")
}

pub(super) fn commit(store: &mut Sqlite, writes: Vec<Write>) {
    store.commit(vec![], writes, Durability::Relaxed).expect("no trap").expect("written");
}

pub(super) fn put(key: &str, value: &str) -> Write {
    Write::Put(Entry { key: key.into(), value: value.into() })
}

pub(super) fn append(log: &str, seq: u32, value: &str) -> Write {
    Write::Append(LogRow { log: log.into(), seq, value: value.into() })
}

pub(super) fn text(owner: &str, part: u32, tokens: &str) -> Write {
    Write::IndexText(TextPart { owner: owner.into(), part, tokens: tokens.into() })
}

pub(super) fn term(word: &str) -> TextTerm {
    TextTerm { tokens: vec![word.into()], prefix: false }
}
