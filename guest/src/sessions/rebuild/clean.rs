//! Taking out index entries that no record stands for.

use super::{ATTEMPTS, BATCH, after};
use crate::storage::{Durability, Expectation, RecordPage, Result, Storage, StorageError, Write};
use crate::store::{Session, Store, keys};

/// Where index entries are.
const INDEXES: [&str; 4] = ["e/", "i/", "p/", "t/"];

/// Looks at a batch of index entries behind this key and takes out those that no record stands for; returns the last
/// one's key, or none when there are no more.
pub(super) fn clean<S: Storage>(store: &Store<S>, behind: &str) -> Result<Option<String>> {
    for prefix in INDEXES {
        let end = keys::range_end(prefix);
        if behind > end.as_str() {
            continue;
        }
        let start = after(behind, prefix).max(prefix.to_owned());
        for _ in 0..ATTEMPTS {
            let page = store.storage().scan(&start, &end, false, BATCH)?;
            let Some(last) = page.entries.last().map(|entry| entry.key.clone()) else { break };
            match clean_page(store, page) {
                Ok(()) => return Ok(Some(last)),
                Err(StorageError::Conflict) => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(None)
}

fn clean_page<S: Storage>(store: &Store<S>, page: RecordPage) -> Result<()> {
    let id = |key: &str| key.rsplit_once('/').and_then(|(_, id)| keys::decode(id)).unwrap_or_default();
    let records: Vec<String> = page.entries.iter().map(|entry| keys::session(&id(&entry.key))).collect();
    let texts = store.storage().get(&records)?;
    let (mut expected, mut stale) = (Vec::new(), Vec::new());
    for ((entry, record), text) in page.entries.into_iter().zip(records).zip(texts) {
        let stands = match text.as_deref().map(Session::parse) {
            None => false,
            Some(Ok(session)) => session.index_keys().contains(&entry.key),
            // What a record says that cannot be read is not known: its entries stay.
            Some(Err(_)) => true,
        };
        if !stands {
            expected.push(Expectation { key: record, value: text });
            stale.push(Write::Remove { key: entry.key });
        }
    }
    if stale.is_empty() { Ok(()) } else { store.commit(&expected, stale, Durability::Relaxed) }
}
