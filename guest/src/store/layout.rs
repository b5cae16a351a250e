//! Which layout the store's indexes have. They are derived, so a store of an earlier version is read as it is and brought
//! up to date bit by bit (`sessions/upgrade.rs`); this tells how far that has come.

use super::keys;
use crate::storage::Write;

/// The layout that this version writes. The second had nothing by how long there was activity. The first had list rows by
/// last activity and by directory only, whichever agent knew a session, and no record that named it.
const PRESENT: u32 = 3;
const RECORDS: &str = "records ";
const ROWS: &str = "rows";

/// How far a store is on the way to the present layout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Layout {
    /// It is there.
    Present,
    /// The index entries of the sessions up to this key are as they shall be; those behind it are as they were.
    Records(String),
    /// So are those of all sessions. What is left of the rows as they were is to be taken out.
    Rows,
}

impl Layout {
    /// Reads the record. A store without one is of an earlier version, if there ever was a session in it.
    pub fn parse(text: Option<&str>, has_sessions: bool) -> Self {
        let Some(text) = text else {
            return if has_sessions { Self::Records(String::new()) } else { Self::Present };
        };
        if text == ROWS {
            return Self::Rows;
        }
        match text.strip_prefix(RECORDS) {
            Some(behind) => Self::Records(behind.to_owned()),
            None if text.parse::<u32>().is_ok_and(|layout| layout >= PRESENT) => Self::Present,
            None => Self::Records(String::new()),
        }
    }

    /// Notes it.
    pub fn write(&self) -> Write {
        let value = match self {
            Self::Present => PRESENT.to_string(),
            Self::Records(behind) => format!("{RECORDS}{behind}"),
            Self::Rows => ROWS.to_owned(),
        };
        Write::Put { key: keys::LAYOUT.to_owned(), value }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layout_is_read_as_it_is_written() {
        for layout in [Layout::Present, Layout::Records(String::new()), Layout::Records("s/x".to_owned()), Layout::Rows]
        {
            let Write::Put { key, value } = layout.write() else { panic!("not written") };
            assert_eq!(key, keys::LAYOUT);
            assert_eq!(Layout::parse(Some(&value), true), layout);
        }
    }

    #[test]
    fn what_does_not_say_is_older_if_there_is_anything_in_it() {
        let anew = Layout::Records(String::new());
        for (text, has_sessions, expected) in [
            (None, false, Layout::Present),
            (None, true, anew.clone()),
            (Some("1"), true, anew.clone()),
            (Some("2"), true, anew.clone()),
            (Some("?"), true, anew),
            // A later version's is not to be taken for an earlier one's.
            (Some("4"), true, Layout::Present),
        ] {
            assert_eq!(Layout::parse(text, has_sessions), expected, "{text:?}");
        }
    }
}
