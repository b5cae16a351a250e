//! The records without which no session can be changed, or no list be read.

use super::fault::Fault;
use super::pass::{Pass, Wrong};
use crate::storage::{Bounds, Result, Storage, Write};
use crate::store::{Layout, Roster, keys};

/// How far the number of the last change is set ahead of what is known: deletes have numbers too, and cursors name them.
pub(super) const AHEAD: u64 = 1 << 20;

const ONE: Bounds = Bounds { limit: 1, max_bytes: 1 };

impl<S: Storage> Pass<'_, S> {
    /// Looks at them. Each session's own number is compared with the last one's when the session is looked at.
    pub(super) fn counters(&mut self) -> Result<()> {
        self.again(|pass| {
            let read = [keys::REVISION, keys::LAYOUT, keys::ROSTER].map(str::to_owned).into();
            let records = pass.read(read)?;
            let [revision, layout, roster] = &records[..] else { return Ok(()) };
            let mut wrong = Wrong::by(records.clone());
            if revision.1.as_deref().map_or(pass.has_sessions()?, |text| text.parse::<u64>().is_err()) {
                let value = (pass.highest_revision()? + AHEAD).to_string();
                wrong.add(Fault::Revision, keys::REVISION, [Write::Put { key: keys::REVISION.to_owned(), value }]);
            }
            if Roster::parse(roster.1.as_deref()).is_err() {
                // Each session's agents are added when the session is looked at.
                let value = Roster::default().to_text();
                wrong.add(Fault::Roster, keys::ROSTER, [Write::Put { key: keys::ROSTER.to_owned(), value }]);
            }
            let has_sessions = revision.1.is_some() || pass.has_sessions()?;
            if Layout::parse(layout.1.as_deref(), has_sessions) != Layout::Present {
                // The step after this one brings them up to date.
                wrong.add(Fault::Layout, keys::LAYOUT, []);
            }
            pass.put_right(wrong)
        })
    }

    fn has_sessions(&self) -> Result<bool> {
        let page = self.store.storage().scan(keys::SESSIONS, &keys::range_end(keys::SESSIONS), false, ONE)?;
        Ok(!page.entries.is_empty())
    }

    /// The highest that the index of changes has.
    fn highest_revision(&self) -> Result<u64> {
        let page = self.store.storage().scan(keys::CHANGES, &keys::range_end(keys::CHANGES), true, ONE)?;
        let key = page.entries.first().map(|entry| entry.key.as_str()).unwrap_or_default();
        Ok(key.split('/').nth(1).and_then(|number| number.parse().ok()).unwrap_or(0))
    }
}
