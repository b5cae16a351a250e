//! All that a storage holds.

use std::collections::BTreeMap;

use acp_sessions_guest::storage::{Bounds, Durability, LAST_PART, Result, Storage, StorageError, Write};
use serde::{Deserialize, Serialize};

use crate::case::WriteBy;

/// Behind every key, which is ASCII.
const END: &str = "\u{80}";
const ALL: Bounds = Bounds { limit: u32::MAX, max_bytes: u32::MAX };

/// Records by key, entries by log, texts by owner and part.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Content {
    /// Key and value.
    pub records: BTreeMap<String, String>,
    /// The entries of each log, from 1 on.
    pub logs: BTreeMap<String, Vec<String>>,
    /// The tokens of each part.
    pub texts: BTreeMap<String, BTreeMap<u32, String>>,
}

impl Content {
    /// Whether there is nothing at all.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty() && self.logs.is_empty() && self.texts.is_empty()
    }

    /// Reads a storage as a whole.
    pub fn of<S: Storage>(storage: &S) -> Result<Self> {
        let records = storage.scan("", END, false, ALL)?.entries.into_iter().map(|entry| (entry.key, entry.value));
        let mut content = Self { records: records.collect(), ..Self::default() };
        for log in storage.log_names(None, u32::MAX)? {
            let entries = storage.read_log(&log, 1, ALL)?.entries;
            content.logs.insert(log, entries.into_iter().map(|entry| entry.value).collect());
        }
        let owners = match storage.text_owners(None, u32::MAX) {
            // What is indexed nobody can ask for.
            Err(StorageError::Unsupported) => Vec::new(),
            owners => owners?,
        };
        for owner in owners {
            let texts = storage.read_texts(&owner, 0, ALL)?.texts.into_iter().map(|text| (text.part, text.tokens));
            content.texts.insert(owner, texts.collect());
        }
        Ok(content)
    }

    /// Writes all of it into a storage that is empty.
    pub fn write<S: Storage>(&self, storage: &S) -> Result<()> {
        let writes = Self::default().until(self).into_iter().map(Write::from).collect();
        storage.commit(&[], writes, Durability::Relaxed)
    }

    /// What is to be written for a storage of this content to have that of `later`.
    pub fn until(&self, later: &Self) -> Vec<WriteBy> {
        let mut writes = Vec::new();
        for key in self.records.keys().filter(|key| !later.records.contains_key(*key)) {
            writes.push(WriteBy::Remove(key.clone()));
        }
        for (key, value) in later.records.iter().filter(|(key, value)| self.records.get(*key) != Some(value)) {
            writes.push(WriteBy::Put { key: key.clone(), value: value.clone() });
        }
        let none = Vec::new();
        for log in self.logs.keys().filter(|log| !later.logs.contains_key(*log)) {
            writes.push(WriteBy::CutLog { log: log.clone(), start: 1 });
        }
        for (log, entries) in &later.logs {
            let before = self.logs.get(log).unwrap_or(&none);
            let same = before.iter().zip(entries).take_while(|(before, after)| before == after).count();
            if same < before.len() {
                writes.push(WriteBy::CutLog { log: log.clone(), start: number(same + 1) });
            }
            let rest = entries.iter().enumerate().skip(same);
            writes.extend(rest.map(|(at, value)| WriteBy::Append {
                log: log.clone(),
                seq: number(at + 1),
                value: value.clone(),
            }));
        }
        let (before, after) = (self.parts(), later.parts());
        for (owner, part) in before.keys().filter(|place| !after.contains_key(*place)) {
            writes.push(WriteBy::IndexText { owner: (*owner).to_owned(), part: *part, tokens: String::new() });
        }
        for ((owner, part), tokens) in after.iter().filter(|(place, tokens)| before.get(*place) != Some(tokens)) {
            writes.push(WriteBy::IndexText { owner: (*owner).to_owned(), part: *part, tokens: (*tokens).to_owned() });
        }
        writes
    }

    fn parts(&self) -> BTreeMap<(&str, u32), &str> {
        let texts = self.texts.iter();
        texts
            .flat_map(|(owner, parts)| {
                parts.iter().map(move |(part, tokens)| ((owner.as_str(), *part), tokens.as_str()))
            })
            .collect()
    }
}

fn number(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(LAST_PART)
}
