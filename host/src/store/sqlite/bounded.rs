//! Reads that stop at a number of rows or bytes.

use rusqlite::{Row, Rows};

use super::error::{Error, Result};

/// How much one read may return. At least one row comes where there is one, whatever its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bounds {
    pub(super) limit: u32,
    pub(super) max_bytes: u32,
}

impl Bounds {
    /// How many rows to ask for: one more than may be returned, to know whether there are more.
    pub(super) fn rows(self) -> i64 {
        i64::from(self.limit.max(1)) + 1
    }
}

/// Takes rows until a bound is reached; says whether any were left. `read` returns the size beside the row, or none for a row
/// that is passed over; `is_next` says whether a row may follow the one before, or be the first. An error where it may not.
pub(super) fn take_bounded<T>(
    mut rows: Rows<'_>,
    bounds: Bounds,
    is_next: impl Fn(Option<&T>, &T) -> bool,
    read: impl Fn(&Row<'_>) -> rusqlite::Result<Option<(T, usize)>>,
) -> Result<(Vec<T>, bool)> {
    let mut taken = Vec::new();
    let mut bytes = 0;
    while let Some(row) = rows.next()? {
        let Some((entry, size)) = read(row)? else { continue };
        if !taken.is_empty() && taken.len() >= bounds.limit as usize {
            return Ok((taken, true));
        }
        bytes += size;
        if !taken.is_empty() && bytes > bounds.max_bytes as usize {
            return Ok((taken, true));
        }
        if !is_next(taken.last(), &entry) {
            return Err(Error::Disorder);
        }
        taken.push(entry);
    }
    Ok((taken, false))
}
