//! What a session has cost: its record has the sum of what is kept of it by day.

use super::fault::Fault;
use super::pass::{Pass, Wrong};
use crate::checksum;
use crate::storage::{Result, Storage};
use crate::store::{Session, Usage, derived, keys};

impl<S: Storage> Pass<'_, S> {
    /// Whether the record says so. Where nothing is kept by day, the record alone knows.
    pub(super) fn cost(&mut self, session: &Session, record: (String, Option<String>)) -> Result<()> {
        let kept = self.read(vec![keys::usage(&session.id)])?;
        let text = kept.first().and_then(|(_, value)| value.as_deref());
        // One that cannot be read, or is not as it was written, is noted where it is looked at itself.
        let usage = text.filter(|text| checksum::is_sound(text)).map(Usage::parse);
        let Some(Ok(usage)) = usage else { return Ok(()) };
        let cost = usage.cost();
        if cost == session.cost {
            return Ok(());
        }
        let mut wrong = Wrong::by(kept.into_iter().chain([record]));
        let mut after = session.clone();
        after.cost = cost;
        wrong.add(Fault::Cost, &session.id, derived(Some(session), Some(&after)));
        self.put_right(wrong)
    }
}
