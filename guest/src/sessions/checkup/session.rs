//! What is derived from a session's record: its index entries, its heading's text, and where its agents' ids lead.

use std::collections::BTreeSet;

use super::counters::AHEAD;
use super::fault::Fault;
use super::pass::{Pass, Wrong};
use super::record::{Record, id_of};
use super::{BATCH, CheckupStage};
use crate::index::Owner;
use crate::sessions::removal;
use crate::storage::{Bounds, Result, Storage, StorageError, Write};
use crate::store::{Holders, Roster, Session, derived, heading, keys};

/// A heading is one text.
const HEADING: Bounds = Bounds { limit: 4, max_bytes: u32::MAX };

impl<S: Storage> Pass<'_, S> {
    /// Looks at some of the sessions behind this key; returns where to go on.
    pub(super) fn sessions(&mut self, behind: &str, limit: u32) -> Result<CheckupStage> {
        let bounds = Bounds { limit: limit.clamp(1, BATCH.limit), ..BATCH };
        let page = self.behind(behind, keys::SESSIONS, bounds)?;
        let last = page.entries.last().filter(|_| page.more).map(|entry| entry.key.clone());
        let mut behind = behind.to_owned();
        for entry in page.entries {
            if self.budget.left == 0 {
                return Ok(CheckupStage::Sessions(behind));
            }
            behind.clone_from(&entry.key);
            let compared = self.again(|pass| pass.session(&entry.key));
            if self.unless_unreadable(compared, &entry.key)? != Some(true) {
                continue;
            }
            self.done += 1;
            let texts = self.texts(&entry.key, None);
            if let Some(Some(rest)) = self.unless_unreadable(texts, &entry.key)? {
                return Ok(rest);
            }
        }
        Ok(last.map_or(CheckupStage::Sweep(None), CheckupStage::Sessions))
    }

    /// Compares what is derived from a record alone; says whether there is a session.
    fn session(&mut self, key: &str) -> Result<bool> {
        let Some(id) = id_of(key) else {
            self.note(Fault::Unknown, key, false);
            return Ok(false);
        };
        let read = [key, &keys::tombstone(&id), keys::REVISION, keys::ROSTER].map(str::to_owned);
        let records = self.read(read.into())?;
        let [record, tombstone, revision, roster] = &records[..] else { return Ok(false) };
        let session = match Record::of(&id, record.1.as_deref()) {
            Record::Session(session) => session,
            // One that was deleted meanwhile took all that is derived from it along.
            Record::None => return Ok(false),
            // What follows from it may well be as it should.
            Record::Altered(session) => {
                self.note(Fault::Altered, &session.id, false);
                return Ok(false);
            }
            Record::Unreadable => {
                self.note(Fault::Record, key, false);
                return Ok(false);
            }
        };
        let mut wrong = Wrong::by([record.clone(), tombstone.clone()]);
        if tombstone.1.is_some() {
            wrong.add(Fault::Deleted, &id, self.remains_of(&session)?);
            return self.put_right(wrong).map(|()| false);
        }
        if revision.1.as_deref().and_then(|text| text.parse::<u64>().ok()).unwrap_or(0) < session.revision {
            wrong.expected.extend(Wrong::by([revision.clone()]).expected);
            let value = session.revision.saturating_add(AHEAD).to_string();
            wrong.add(Fault::Revision, &id, [Write::Put { key: keys::REVISION.to_owned(), value }]);
        }
        let mut names = Roster::parse(roster.1.as_deref()).unwrap_or_default();
        if names.add(&session) {
            wrong.expected.extend(Wrong::by([roster.clone()]).expected);
            wrong.add(Fault::Roster, &id, [Write::Put { key: keys::ROSTER.to_owned(), value: names.to_text() }]);
        }
        self.compare_index(&session, &mut wrong)?;
        self.compare_heading(&session, &mut wrong)?;
        self.put_right(wrong)?;
        // Where the record has changed since, all of it is looked at again.
        self.mappings(&session, record.clone())?;
        self.held(&session, record)?;
        self.cost(&session, record.clone())?;
        Ok(true)
    }

    fn compare_index(&self, session: &Session, wrong: &mut Wrong) -> Result<()> {
        let puts = session.index_entries().filter_map(|write| match write {
            Write::Put { key, value } => Some((key, value)),
            _ => None,
        });
        let (keys, values): (Vec<String>, Vec<String>) = puts.unzip();
        let found = self.store.storage().get(&keys)?;
        for ((key, value), found) in keys.into_iter().zip(values).zip(found) {
            let fault = match found {
                None => Fault::IndexMissing,
                Some(found) if found != value => Fault::IndexWrong,
                Some(_) => continue,
            };
            wrong.add(fault, &session.id, [Write::Put { key, value }]);
        }
        Ok(())
    }

    fn compare_heading(&self, session: &Session, wrong: &mut Wrong) -> Result<()> {
        let owner = Owner::Heading(&session.id).name();
        let tokens = heading::tokens(session);
        let found = match self.store.storage().read_texts(&owner, 0, HEADING) {
            Err(StorageError::Unsupported) => return Ok(()),
            found => found?.texts,
        };
        let stands = found.iter().find(|text| text.part == 0).map(|text| text.tokens.as_str());
        let fault = match stands {
            None if tokens.is_empty() => None,
            None => Some(Fault::TextMissing),
            Some(stands) => (stands != tokens).then_some(Fault::TextWrong),
        };
        let subject = &session.id;
        if let Some(fault) = fault {
            wrong.add(fault, subject, [Write::IndexText { owner: owner.clone(), part: 0, tokens }]);
        }
        if found.iter().any(|text| text.part > 0) {
            wrong.add(Fault::TextStray, subject, [Write::DropText { owner, start: 1 }]);
        }
        Ok(())
    }

    /// Whether each agent's id of the session leads somewhere: to it or, where the agent has handed the id out again, to
    /// another one.
    fn mappings(&mut self, session: &Session, record: (String, Option<String>)) -> Result<()> {
        let ids = || session.agents.iter().map(|(agent, known)| (agent, &known.id));
        let read = ids().flat_map(|(agent, id)| [keys::agent_session(agent, id), keys::agent_tombstone(agent, id)]);
        let found = self.read(read.collect())?;
        let mut wrong = Wrong::by([record]);
        for both in found.chunks(2) {
            let [mapping, tombstone] = both else { continue };
            if mapping.1.is_none() && tombstone.1.is_none() {
                wrong.expected.extend(Wrong::by(both.to_vec()).expected);
                let write = Write::Put { key: mapping.0.clone(), value: session.id.clone() };
                wrong.add(Fault::MappingMissing, &session.id, [write]);
            }
        }
        self.put_right(wrong)
    }

    /// What takes away what is there of a session that was deleted.
    fn remains_of(&self, session: &Session) -> Result<Vec<Write>> {
        let mut writes = derived(Some(session), None);
        writes.extend(keys::beside(&session.id).map(|key| Write::Remove { key }));
        let holders = self.store.record(keys::log_holders(&session.id))?;
        let needed = Holders::parse(holders.as_deref()).map_or(u32::MAX, |holders| holders.needed_until());
        if let Some(start) = needed.checked_add(1) {
            writes.extend(removal::let_go(self.store, &session.id, start)?);
        }
        Ok(writes)
    }
}

/// The logs that a session's transcript is made of, or what was taken out of it: its own one included.
pub(super) fn logs_of(session: &Session) -> BTreeSet<&str> {
    let parts = session.segments.iter().chain(&session.aside);
    parts.map(|part| part.log.as_str()).chain([session.id.as_str()]).collect()
}
