//! The parts that FTS5's index is made of, as far as they tell whether a merge is under way. What is deleted stays in a part
//! as it was until the part is merged with those that say so.

use rusqlite::Connection;

use super::super::error::Result;
use crate::store::format::varint;

/// The row of the index that names its parts.
const STRUCTURE: i64 = 10;

/// Marks a record with more numbers for each part.
const LONGER: [u8; 4] = [0xff, 0, 0, 1];

/// A part into which others are being merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Made {
    /// Its number.
    pub(super) number: i64,
    /// Whether none is older: of what was deleted nothing has to stay then, not even that it was.
    pub(super) is_oldest: bool,
}

/// The parts into which others are being merged, the newest first.
pub(super) fn being_made(connection: &Connection) -> Result<Vec<Made>> {
    let mut statement = connection.prepare_cached("SELECT block FROM texts_data WHERE id = ?1")?;
    let block: Vec<u8> = statement.query_row([STRUCTURE], |row| row.get(0))?;
    Ok(read(&block).unwrap_or_default())
}

fn read(block: &[u8]) -> Option<Vec<Made>> {
    // It begins with a number that counts changes of the settings.
    let mut rest = block.get(4..)?;
    let is_longer = rest.starts_with(&LONGER);
    if is_longer {
        rest = &rest[4..];
    }
    let levels = number(&mut rest)?;
    let _segments = number(&mut rest)?;
    let _written = number(&mut rest)?;
    let mut made = Vec::new();
    let mut is_merged = false;
    for level in 1..=levels {
        let merged = number(&mut rest)?;
        let segments = number(&mut rest)?;
        let mut last = None;
        for _ in 0..segments {
            last = Some(number(&mut rest)?);
            for _ in 0..if is_longer { 7 } else { 2 } {
                number(&mut rest)?;
            }
        }
        // What is merged of one level becomes the last part of the next.
        let is_oldest = level == levels && segments == 1;
        made.extend(last.filter(|_| is_merged).map(|number| Made { number, is_oldest }));
        is_merged = merged > 0;
    }
    Some(made)
}

/// The number that stands next.
fn number(rest: &mut &[u8]) -> Option<i64> {
    let (number, length) = varint(rest)?;
    *rest = &rest[length..];
    Some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merges_under_way_are_told() {
        let cookie = [0, 0, 0, 7];
        let of = |rest: &[u8]| read(&[&cookie, rest].concat());
        assert_eq!(of(&[1, 1, 5, 0, 1, 3, 1, 2]), Some(vec![]));
        // Two of the first level are being merged into the last part of the second, which is the fifth.
        let merging = [2, 4, 5, 2, 2, 3, 1, 2, 4, 1, 1, 0, 2, 2, 1, 9, 5, 1, 0x81, 0];
        assert_eq!(of(&merging), Some(vec![Made { number: 5, is_oldest: false }]));
        assert_eq!(of(&merging[..9]), None);
        let longer = [&LONGER[..], &[2, 2, 5, 1, 1, 3, 1, 2, 0, 0, 0, 0, 0, 0, 1, 6, 1, 1, 0, 0, 0, 0, 0]].concat();
        assert_eq!(of(&longer), Some(vec![Made { number: 6, is_oldest: true }]));
    }
}
