//! A long backlog is written piece by piece, so that a store that fails is not given all of it each time.

use super::Recorder;
use super::flush::Flushed;
use crate::storage::{Durability, Result, Storage, StorageError, Write};
use crate::store::Store;

/// About how much goes into one commit.
const PIECE: usize = 1024 * 1024;
/// About how much goes into the first commit after one that failed.
const PROBE: usize = 16 * 1024;

/// What became of a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece {
    /// No more waits than goes into one commit: nothing was done.
    Last,
    /// It is in the store.
    Written {
        /// Whether a note went with it.
        is_noted: bool,
    },
    /// The session was deleted meanwhile: all was dropped.
    Deleted,
}

impl Recorder {
    /// Whether more waits than goes into one commit.
    pub fn is_long(&self) -> bool {
        self.backlog.bytes() > self.most()
    }

    /// A store that failed the last time is given little until it takes that.
    fn most(&self) -> usize {
        if self.backlog.has_failed() { PROBE } else { PIECE }
    }

    /// Writes a piece, if more waits than goes into one commit. It ends where an arrival behind `before` does (see
    /// [`Recorder::at`]), and `note` makes what is written with it, of how many of those are in the log then. No note goes
    /// with a piece behind which something still waits that came before them.
    pub fn write_piece<S: Storage>(
        &mut self,
        store: &Store<S>,
        durability: Durability,
        before: u64,
        note: impl Fn(u64) -> Option<Write>,
    ) -> Result<Piece> {
        let written = self.try_write_piece(store, durability, before, note);
        self.note(written)
    }

    /// Writes all but the last piece.
    pub(super) fn drain<S: Storage>(&mut self, store: &Store<S>, durability: Durability) -> Result<Flushed> {
        loop {
            match self.write_piece(store, durability, u64::MAX, |_| None)? {
                Piece::Last => return Ok(Flushed::Written),
                Piece::Written { .. } => {}
                Piece::Deleted => return Ok(Flushed::Deleted),
            }
        }
    }

    fn try_write_piece<S: Storage>(
        &mut self,
        store: &Store<S>,
        durability: Durability,
        before: u64,
        note: impl Fn(u64) -> Option<Write>,
    ) -> Result<Piece> {
        let mut most = self.most();
        while self.backlog.bytes() > most {
            let (rows, arrived) = self.cut(most, before);
            let note = arrived.and_then(&note);
            let extra: Vec<Write> = note.into_iter().collect();
            let written =
                self.again_elsewhere(store, |recorder| recorder.write_once(store, &[], &extra, durability, rows));
            match written {
                Ok(Flushed::Written) => return Ok(Piece::Written { is_noted: !extra.is_empty() }),
                Ok(Flushed::Deleted) => return Ok(Piece::Deleted),
                // Less, until the one is found that the store will never take.
                Err(StorageError::TooLarge) if rows > 1 => most /= 2,
                Err(error @ StorageError::TooLarge) => self.backlog.give_up_first(&error.to_string()),
                Err(error) => return Err(error),
            }
        }
        Ok(Piece::Last)
    }

    /// How many rows a piece of about so many bytes has, at least one, and how many of the arrivals behind `before` are in
    /// the log with it: none, where something still waits that came before them.
    fn cut(&self, most: usize, before: u64) -> (usize, Option<u64>) {
        let (mut rows, mut bytes, mut arrived) = (0, 0, 0);
        for row in self.backlog.rows() {
            bytes += row.bytes();
            let is_parted = row.arrived <= before || row.arrived > arrived;
            if rows > 0 && bytes > most && is_parted {
                return (rows, (row.arrived > before).then(|| arrived.saturating_sub(before)));
            }
            (rows, arrived) = (rows + 1, row.arrived);
        }
        // The open run goes with the last row.
        let arrived = self.run.as_ref().map_or(arrived, |run| run.arrived);
        (rows, Some(arrived.saturating_sub(before)))
    }
}
