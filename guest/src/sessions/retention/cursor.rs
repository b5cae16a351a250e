//! How far a removal by hand has come, and what is waited for before it goes on.

use crate::sessions::open_marks;
use crate::storage::{Result, Storage};
use crate::store::{Store, keys};

/// How often it is waited anew, where the computer was asleep meanwhile or its clock was set. Whoever calls so seldom that each time
/// looks like that is to come to an end, too.
const ANEW: u32 = 3;

/// How far a removal by hand has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Cursor {
    /// It has not begun: the store is still brought up to date.
    Upgrading,
    /// Windows that were silent are given time to say that they are there.
    Awaiting(Awaiting),
    /// It goes on behind this list row, the last that was looked at, which was at this time; milliseconds since 1970.
    Behind { at: i64, row: String },
}

/// Since when windows are waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Awaiting {
    /// In milliseconds since 1970.
    since: i64,
    /// How often this was begun anew.
    anew: u32,
    /// Behind which list row the removal goes on then; at the beginning where there is none.
    pub(super) behind: Option<String>,
}

impl Cursor {
    /// `None` for what [`Self::to_text`] does not make of a removal in this folder.
    pub(super) fn parse(text: &str, cwd: Option<&str>) -> Option<Self> {
        let is_row = |row: &str| keys::is_row(row, cwd);
        if text == "-" {
            return Some(Self::Upgrading);
        }
        let (kind, rest) = text.split_once(':')?;
        let (at, rest) = rest.split_once(':')?;
        let at = at.parse().ok()?;
        match kind {
            "r" if is_row(rest) => Some(Self::Behind { at, row: rest.to_owned() }),
            "w" => {
                let (anew, row) = rest.split_once(':')?;
                let behind = Some(row.to_owned()).filter(|row| !row.is_empty());
                let is_good = behind.as_deref().is_none_or(is_row);
                is_good.then_some(Self::Awaiting(Awaiting { since: at, anew: anew.parse().ok()?, behind }))
            }
            _ => None,
        }
    }

    pub(super) fn to_text(&self) -> String {
        match self {
            Self::Upgrading => "-".to_owned(),
            Self::Awaiting(Awaiting { since, anew, behind }) => {
                format!("w:{since}:{anew}:{}", behind.as_deref().unwrap_or_default())
            }
            Self::Behind { at, row } => format!("r:{at}:{row}"),
        }
    }
}

/// Whether so little time has passed that whoever was there is still to be believed: the computer was not asleep for long, and its clock
/// was not set.
pub(super) fn is_in_one_go(since: i64, now: i64) -> bool {
    (0..open_marks::STAYS_BELIEVED).contains(&now.saturating_sub(since))
}

impl Awaiting {
    /// From now on.
    pub(super) fn begin(now: i64, behind: Option<String>) -> Self {
        Self { since: now, anew: 0, behind }
    }

    /// Whether there are windows that have been silent, and may yet say that they are there. It is the same as before while it is
    /// just waited for them.
    pub(super) fn look<S: Storage>(&mut self, store: &Store<S>, now: i64) -> Result<Awaited> {
        if !open_marks::is_any_silent(store, now)? {
            return Ok(Awaited::Nobody);
        }
        let passed = now.saturating_sub(self.since);
        if (0..open_marks::WAKES_IN).contains(&passed) {
            return Ok(Awaited::NotYet);
        }
        if !is_in_one_go(self.since, now) && self.anew < ANEW {
            (self.since, self.anew) = (now, self.anew + 1);
            return Ok(Awaited::NotYet);
        }
        Ok(Awaited::InVain)
    }
}

/// What came of waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Awaited {
    /// There is nobody to wait for.
    Nobody,
    /// It goes on.
    NotYet,
    /// Who was silent has had the time to say that he is there, and has not.
    InVain,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_as_it_was_written_and_nothing_else_is() {
        let row = || "i/m/agent/u/000/x".to_owned();
        for cursor in [
            Cursor::Upgrading,
            Cursor::Awaiting(Awaiting::begin(-5, None)),
            Cursor::Awaiting(Awaiting { since: 7, anew: 2, behind: Some(row()) }),
            Cursor::Behind { at: 1_700_000_000_000, row: row() },
        ] {
            assert_eq!(Cursor::parse(&cursor.to_text(), None), Some(cursor));
        }
        for text in
            ["", "--", "w:", "w:1", "w:1:0", "w:x:0:", "w:1:-1:", "w:1:0:x", "r:1:", "r:1:x", "i/m/agent/u/000/x"]
        {
            assert_eq!(Cursor::parse(text, None), None, "{text}");
        }
        assert_eq!(Cursor::parse(&Cursor::Behind { at: 1, row: row() }.to_text(), Some("/x")), None);
    }
}
