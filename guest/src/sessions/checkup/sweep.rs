//! The texts of logs and sessions that are no more.

use super::fault::Fault;
use super::pass::{Pass, Wrong};
use crate::index::Owner;
use crate::storage::{Bounds, Result, Storage, StorageError, Write};
use crate::store::{Holders, keys};

/// How many owners are looked at in one call.
pub(super) const LOOKED: u32 = 256;
/// How many logs in the making are read at a time.
const STAGINGS: Bounds = Bounds { limit: 256, max_bytes: 64 * 1024 };
/// Whether there is any text.
const ANY: Bounds = Bounds { limit: 1, max_bytes: 1 };

impl<S: Storage> Pass<'_, S> {
    /// Looks at some of those that have texts behind this name for those that are nobody; returns the last one's name, or
    /// none when there are no more.
    pub(super) fn sweep(&mut self, behind: Option<&str>) -> Result<Option<String>> {
        let owners = match self.store.storage().text_owners(behind, LOOKED) {
            // Such a store has no texts.
            Err(StorageError::Unsupported) => return Ok(None),
            owners => owners?,
        };
        let Some(last) = owners.last().cloned() else { return Ok(None) };
        self.again(|pass| pass.sweep_those_of_nobody(&owners))?;
        Ok(Some(last))
    }

    fn sweep_those_of_nobody(&mut self, owners: &[String]) -> Result<()> {
        let read: Vec<String> = owners.iter().flat_map(|name| whose(name)).collect();
        let mut values = self.read(read)?.into_iter();
        let mut making = None;
        let mut wrong = Wrong::default();
        for name in owners {
            let records: Vec<(String, Option<String>)> = values.by_ref().take(whose(name).len()).collect();
            // The texts of what is there, but cannot be read, stay.
            let is_there = records.iter().any(|(key, value)| is_somebody(key, value.as_deref()));
            if is_there || self.store.storage().read_texts(name, 0, ANY)?.texts.is_empty() {
                continue;
            }
            if let Some(Owner::Log(log)) = Owner::of_name(name) {
                // What is being removed goes with the log.
                if records.iter().any(|(key, value)| key.starts_with(keys::REMOVALS) && value.is_some()) {
                    continue;
                }
                // Nobody holds a log yet into which an agent's history is being recorded. Its name is noted before it has
                // texts. And that of a session whose record is missing is a log still.
                let making = match &mut making {
                    Some(making) => making,
                    None => making.insert(self.in_the_making()?),
                };
                if making.iter().any(|made| made == log) || self.store.storage().log_end(log)? > 0 {
                    continue;
                }
            }
            wrong.expected.extend(Wrong::by(records).expected);
            wrong.add(Fault::TextStray, name, [Write::DropText { owner: name.clone(), start: 0 }]);
        }
        self.put_right(wrong)
    }

    /// The logs into which agents' histories are being recorded.
    pub(super) fn in_the_making(&self) -> Result<Vec<String>> {
        let (mut start, end) = (keys::STAGINGS.to_owned(), keys::range_end(keys::STAGINGS));
        let mut logs = Vec::new();
        loop {
            let page = self.store.storage().scan(&start, &end, false, STAGINGS)?;
            logs.extend(page.entries.iter().filter_map(|entry| keys::decode(entry.key.rsplit_once('/')?.1)));
            let Some(last) = page.entries.last().filter(|_| page.more) else { return Ok(logs) };
            start = format!("{}\u{0}", last.key);
        }
    }
}

/// The records that say that an owner of texts is there, if any does, and whether it is being removed.
fn whose(name: &str) -> Vec<String> {
    match Owner::of_name(name) {
        Some(Owner::Heading(id)) => vec![keys::session(id)],
        Some(Owner::Log(log)) => vec![keys::session(log), keys::log_holders(log), keys::removal(log)],
        None => Vec::new(),
    }
}

/// Whether this record says that somebody is there.
pub(super) fn is_somebody(key: &str, value: Option<&str>) -> bool {
    let Some(text) = value else { return false };
    if key.starts_with(keys::REMOVALS) {
        return false;
    }
    let holds = |text: &str| Holders::parse(Some(text)).map_or(true, |holders| !holders.holders.is_empty());
    !key.starts_with(keys::SHARES) || holds(text)
}
