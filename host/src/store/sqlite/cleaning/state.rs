//! How far the file is, as its own table says: any process goes on where another has left it.

use rusqlite::{Connection, Row, params};

use super::super::error::Result;

/// Nothing was removed for this long before a pass begins, in milliseconds, so that many removals share one.
const QUIET: i64 = 2_000;
/// Unless the first of them was made so long ago.
const PATIENCE: i64 = 60_000;
/// A slice that is due later than this was put off by a clock that has been set back since.
const LONGEST_WAIT: i64 = 60_000;

/// What is being done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// Nothing.
    Rest,
    /// The parts of the search index are to be merged into one.
    Index,
    /// They are being merged into this part.
    Merging {
        /// Its number.
        into: i64,
        /// Whether it is without what was deleted, once it is made.
        is_last: bool,
    },
    /// Pages are looked at, this one next.
    Pages(u32),
    /// The journal is to be emptied; so often that failed.
    Journal(u32),
}

impl Stage {
    fn parse(stage: i64, place: i64) -> Self {
        let number = u32::try_from(place).unwrap_or(1);
        match stage {
            1 => Self::Index,
            2 => Self::Merging { into: place, is_last: false },
            3 => Self::Merging { into: place, is_last: true },
            4 => Self::Pages(number),
            5 => Self::Journal(number),
            _ => Self::Rest,
        }
    }

    fn to_columns(self) -> (i64, i64) {
        match self {
            Self::Rest => (0, 0),
            Self::Index => (1, 0),
            Self::Merging { into, is_last } => (if is_last { 3 } else { 2 }, into),
            Self::Pages(page) => (4, page.into()),
            Self::Journal(failed) => (5, failed.into()),
        }
    }
}

/// The table's row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct State {
    /// How many commits have removed something.
    pub(super) removed: i64,
    /// How many of them the last pass is about.
    pub(super) covered: i64,
    first: i64,
    last: i64,
    /// What is being done.
    pub(super) stage: Stage,
    /// When the next slice is due.
    pub(super) due: i64,
}

impl State {
    pub(super) fn read(connection: &Connection) -> Result<Self> {
        let mut statement =
            connection.prepare_cached("SELECT removed, covered, first, last, stage, place, due FROM cleaning")?;
        let read = |row: &Row<'_>| {
            Ok(Self {
                removed: row.get(0)?,
                covered: row.get(1)?,
                first: row.get(2)?,
                last: row.get(3)?,
                stage: Stage::parse(row.get(4)?, row.get(5)?),
                due: row.get(6)?,
            })
        };
        Ok(statement.query_row([], read)?)
    }

    pub(super) fn write(&self, connection: &Connection) -> Result<()> {
        let (stage, place) = self.stage.to_columns();
        connection
            .prepare_cached("UPDATE cleaning SET covered = ?1, first = ?2, stage = ?3, place = ?4, due = ?5")?
            .execute(params![self.covered, self.first, stage, place, self.due])?;
        Ok(())
    }

    /// Whether the file holds nothing of what the first so many commits have removed.
    pub(super) fn is_clean_of(&self, removed: i64) -> bool {
        self.stage == Stage::Rest && self.covered >= removed
    }

    /// Whether nobody has done anything since the other was read.
    pub(super) fn is_where(&self, other: &Self) -> bool {
        (self.stage, self.covered, self.due) == (other.stage, other.covered, other.due)
    }

    /// A pass begins, about all that has been removed by now.
    pub(super) fn begin(&mut self) {
        (self.covered, self.first, self.stage) = (self.removed, 0, Stage::Index);
    }

    /// After how many milliseconds the next slice is due; none: there is nothing to do.
    pub(super) fn wait(&self, now: i64) -> Option<i64> {
        if self.is_clean_of(self.removed) {
            return None;
        }
        let wait = if self.stage == Stage::Rest {
            // What lies ahead was noted by a clock that has been set back since.
            let quiet = (self.last + QUIET - now).min(QUIET);
            quiet.min(self.first + PATIENCE - now)
        } else {
            self.due - now
        };
        Some(if wait > LONGEST_WAIT { 0 } else { wait.max(0) })
    }
}

/// Notes that the commit that this is a part of removes something.
pub(in super::super) fn note(connection: &Connection, now: i64) -> Result<()> {
    connection
        .prepare_cached(
            "UPDATE cleaning SET removed = removed + 1, last = ?1, first = CASE first WHEN 0 THEN ?1 ELSE first END",
        )?
        .execute([now])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const REST: State = State { removed: 3, covered: 3, first: 0, last: 90_000, stage: Stage::Rest, due: 0 };

    #[test]
    fn a_pass_begins_when_it_has_been_quiet_or_somebody_has_waited_long_enough() {
        assert_eq!(REST.wait(100_000), None);
        let removed = State { removed: 4, first: 90_000, ..REST };
        for (last, now, wait) in [
            (90_000, 90_000, 2_000),
            (90_000, 91_500, 500),
            (90_000, 92_000, 0),
            (149_500, 149_900, 100),
            (149_500, 150_000, 0),
            // The clock has been set back.
            (190_000, 90_000, 2_000),
        ] {
            assert_eq!(State { last, ..removed }.wait(now), Some(wait), "{last} {now}");
        }
    }

    #[test]
    fn slices_wait_for_their_time_unless_the_clock_was_set_back() {
        for (due, wait) in [(0, 0), (100_000, 0), (100_030, 30), (999_999, 0)] {
            let state = State { stage: Stage::Pages(7), due, ..REST };
            assert_eq!(state.wait(100_000), Some(wait), "{due}");
        }
    }

    #[test]
    fn stages_are_read_as_they_are_written() {
        let merging = |is_last| Stage::Merging { into: 12, is_last };
        for stage in [Stage::Rest, Stage::Index, merging(true), merging(false), Stage::Pages(9), Stage::Journal(3)] {
            let (number, place) = stage.to_columns();
            assert_eq!(Stage::parse(number, place), stage);
        }
    }
}
