//! What is stored, as far as it can be read: bytes that are no text keep nobody from what stands beside them.

use std::borrow::Cow;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row, params};

use super::error::{Error, Result};

/// A column's text, with U+FFFD for whatever is none.
pub(super) fn readable(row: &Row<'_>, column: usize) -> rusqlite::Result<String> {
    Ok(text(row.get_ref(column)?).into_owned())
}

/// A value's text, with U+FFFD for whatever is none.
pub(super) fn text(value: ValueRef<'_>) -> Cow<'_, str> {
    match value {
        // Nearly all of it is text, which is sooner told than where text ends.
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
            str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
        }
        ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => Cow::Borrowed(""),
    }
}

/// The tables that have names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Table {
    Logs,
    Owners,
}

impl Table {
    /// Names behind this one, in their order; none that are no text, which nobody can ask for.
    pub(super) fn names(self, connection: &Connection, after: Option<&str>, limit: u32) -> Result<Vec<String>> {
        let mut statement = connection.prepare_cached(match self {
            Self::Logs => "SELECT name FROM logs WHERE name >= ?1 ORDER BY name",
            Self::Owners => "SELECT name FROM owners WHERE name >= ?1 ORDER BY name",
        })?;
        // The least name behind the one before.
        let start = after.map(|after| format!("{after}\0")).unwrap_or_default();
        let mut rows = statement.query(params![start])?;
        let mut names = Vec::new();
        while names.len() < limit as usize
            && let Some(row) = rows.next()?
        {
            let Ok(name) = row.get_ref(0)?.as_str() else { continue };
            let is_next = names.last().map_or(name >= start.as_str(), |before: &String| name > before.as_str());
            if !is_next {
                return Err(Error::Disorder);
            }
            names.push(name.to_owned());
        }
        Ok(names)
    }
}
