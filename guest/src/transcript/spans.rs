//! A transcript as the parts of logs it is made of, read by a count of entries over all of them.

use crate::storage::{Bounds, Result, Storage};
use crate::store::{Segment, Session};

/// How much is read at a time.
pub(super) const BATCH: Bounds = Bounds { limit: 512, max_bytes: 256 * 1024 };

/// How many entries a session's transcript has now.
pub fn length<S: Storage>(storage: &S, session: &Session) -> Result<u64> {
    Ok(Spans::of(storage, session)?.length())
}

/// The parts of a transcript, none of them empty.
#[derive(Debug)]
pub(super) struct Spans(Vec<Segment>);

impl Spans {
    /// A session's transcript as it is now.
    pub(super) fn of<S: Storage>(storage: &S, session: &Session) -> Result<Self> {
        Ok(Self::up_to(session, storage.log_end(&session.id)?))
    }

    /// A session's transcript, its own log up to the entry `end`.
    pub(super) fn up_to(session: &Session, end: u32) -> Self {
        let own = Segment { log: session.id.clone(), from: session.tail, until: end };
        Self::all_of(session.segments.iter().chain([&own]))
    }

    /// These, one behind the other.
    pub(super) fn of_parts(parts: &[Segment]) -> Self {
        Self::all_of(parts.iter())
    }

    /// What was taken out of a session's conversation, in the order in which it was.
    pub(super) fn set_aside(session: &Session) -> Self {
        Self::all_of(session.aside.iter())
    }

    fn all_of<'a>(segments: impl Iterator<Item = &'a Segment>) -> Self {
        Self(segments.filter(|segment| segment.length() > 0).cloned().collect())
    }

    pub(super) fn length(&self) -> u64 {
        self.0.iter().map(Segment::length).sum()
    }

    /// The number, in its log, of the last entry.
    pub(super) fn last(&self) -> u32 {
        self.0.last().map_or(0, |segment| segment.until)
    }

    /// Some entries from a place on, each with its own place; none: there are no more. A log that is shorter than it
    /// was (cut meanwhile) is passed over where it ends.
    pub(super) fn read<S: Storage>(&self, storage: &S, place: u64, bounds: Bounds) -> Result<Vec<(u64, String)>> {
        let mut before = 0;
        for span in &self.0 {
            let skipped = place.saturating_sub(before);
            if skipped < span.length() {
                let page = storage.read_log(&span.log, span.seq(skipped), bounds)?;
                let entries = page.entries.into_iter().take_while(|entry| entry.seq <= span.until);
                let entries: Vec<_> =
                    entries.map(|entry| (before + u64::from(entry.seq - span.from), entry.value)).collect();
                if !entries.is_empty() {
                    return Ok(entries);
                }
            }
            before += span.length();
        }
        Ok(Vec::new())
    }

    /// Shows the entries `from..until` (places) one after the other.
    pub(super) fn each<S: Storage>(
        &self,
        storage: &S,
        from: u64,
        until: u64,
        mut show: impl FnMut(u64, &str),
    ) -> Result<()> {
        let mut next = from;
        while next < until {
            let entries = self.read(storage, next, BATCH)?;
            let Some((last, _)) = entries.last() else { break };
            next = last + 1;
            for (place, text) in entries.iter().take_while(|(place, _)| *place < until) {
                show(*place, text);
            }
        }
        Ok(())
    }
}
