//! Having the engine look at the whole store, call by call.

use super::super::printable::Out;
use super::found::Found;
use super::interrupt::Interrupt;
use super::progress::{Done, Progress};
use crate::component::sessions::Mending;
use crate::sessions::Sessions;
use crate::store::Sqlite;

/// How many sessions are looked at in one call.
const STEP: u32 = 100;

/// A checkup from its beginning to its end.
#[derive(Debug)]
pub(super) struct Pass {
    mending: Mending,
    pub(super) found: Found,
    pub(super) done: Done,
    pub(super) progress: Progress,
}

impl Pass {
    /// `entries` is how many the logs have.
    pub(super) fn new(mending: Mending, entries: i64, progress: Progress) -> Self {
        let done = Done { sessions: 0, entries: 0, of: u64::try_from(entries).unwrap_or_default() };
        Self { mending, found: Found::default(), done, progress }
    }

    /// Goes on until it is done or interrupted.
    pub(super) fn run(
        &mut self,
        sessions: &mut Sessions<'_, Sqlite>,
        interrupt: &Interrupt,
        mut out: Option<&mut Out>,
    ) -> anyhow::Result<()> {
        let mut cursor = None;
        while !interrupt.is_set() {
            let checked = sessions.check(self.mending, STEP, cursor.as_deref())?;
            self.done.sessions += u64::from(checked.done);
            self.done.entries += u64::from(checked.entries);
            checked.findings.into_iter().for_each(|finding| self.found.add(finding));
            cursor = checked.next_cursor;
            if cursor.is_none() {
                break;
            }
            if let Some(out) = &mut out {
                self.progress.show(self.done, out)?;
            }
        }
        Ok(())
    }
}
