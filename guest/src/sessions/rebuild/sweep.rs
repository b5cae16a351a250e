//! Dropping the texts of logs and sessions that are no more.

use super::ATTEMPTS;
use crate::index::Owner;
use crate::sessions::removal;
use crate::storage::{Bounds, Durability, Expectation, Result, Storage, StorageError, Write};
use crate::store::{Holders, Store, keys};

/// How many owners are looked at in one call.
const LOOKED: u32 = 256;
/// How many logs in the making are read at a time.
const STAGINGS: Bounds = Bounds { limit: 256, max_bytes: 64 * 1024 };

/// Looks at some of those that have texts behind this name and drops what is nobody's; returns the last one's name, or none
/// when there are no more.
pub(super) fn sweep<S: Storage>(store: &Store<S>, behind: Option<&str>) -> Result<Option<String>> {
    let owners = match store.storage().text_owners(behind, LOOKED) {
        // Such a store has no texts.
        Err(StorageError::Unsupported) => return Ok(None),
        owners => owners?,
    };
    let Some(last) = owners.last().cloned() else { return Ok(None) };
    for _ in 0..ATTEMPTS {
        match drop_those_of_nobody(store, &owners) {
            Err(StorageError::Conflict) => {}
            result => return result.map(|()| Some(last)),
        }
    }
    Err(StorageError::Unavailable("other processes keep changing whose texts there are".to_owned()))
}

fn drop_those_of_nobody<S: Storage>(store: &Store<S>, owners: &[String]) -> Result<()> {
    let read: Vec<String> = owners.iter().flat_map(|name| whose(name)).collect();
    let mut values = read.iter().cloned().zip(store.storage().get(&read)?);
    let mut making = None;
    let (mut expected, mut writes) = (Vec::new(), Vec::new());
    for name in owners {
        let records: Vec<(String, Option<String>)> = values.by_ref().take(whose(name).len()).collect();
        // The texts of what is there, but cannot be read, stay.
        let is_there = records.iter().any(|(key, value)| {
            let holds = |text: &str| Holders::parse(Some(text)).map_or(true, |holders| !holders.holders.is_empty());
            value.as_deref().is_some_and(|text| !key.starts_with(keys::SHARES) || holds(text))
        });
        if is_there {
            continue;
        }
        if let Some(Owner::Log(log)) = Owner::of_name(name) {
            // Nobody holds a log yet into which an agent's history is being recorded. Its name is noted before it has texts.
            if making.is_none() {
                making = Some(in_the_making(store)?);
            }
            if making.as_ref().is_some_and(|making| making.iter().any(|made| made == log)) {
                continue;
            }
        }
        expected.extend(records.into_iter().map(|(key, value)| Expectation { key, value }));
        match Owner::of_name(name) {
            Some(Owner::Log(log)) => writes.extend(removal::let_go(store, log, 1)?),
            _ => writes.push(Write::DropText { owner: name.clone(), start: 0 }),
        }
    }
    if writes.is_empty() { Ok(()) } else { store.commit(&expected, writes, Durability::Relaxed) }
}

/// The records that say that an owner of texts is there, if any does.
fn whose(name: &str) -> Vec<String> {
    match Owner::of_name(name) {
        Some(Owner::Heading(id)) => vec![keys::session(id)],
        Some(Owner::Log(log)) => vec![keys::session(log), keys::log_holders(log)],
        None => Vec::new(),
    }
}

/// The logs into which agents' histories are being recorded.
fn in_the_making<S: Storage>(store: &Store<S>) -> Result<Vec<String>> {
    let (mut start, end) = (keys::STAGINGS.to_owned(), keys::range_end(keys::STAGINGS));
    let mut logs = Vec::new();
    loop {
        let page = store.storage().scan(&start, &end, false, STAGINGS)?;
        logs.extend(page.entries.iter().filter_map(|entry| keys::decode(entry.key.rsplit_once('/')?.1)));
        let Some(last) = page.entries.last().filter(|_| page.more) else { return Ok(logs) };
        start = format!("{}\u{0}", last.key);
    }
}
