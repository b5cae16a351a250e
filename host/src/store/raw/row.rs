//! One row as a page stores it.

use crate::store::format::varint;

/// What stands in a column, of what stores have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) enum Value {
    Null,
    Number(i64),
    /// Text, or what should be some: bytes.
    Bytes(Vec<u8>),
    /// A number that is none.
    Other,
}

/// A row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Row {
    /// Its number; 0 in a table without numbers.
    pub(in super::super) number: i64,
    /// Its columns.
    pub(in super::super) values: Vec<Value>,
}

impl Row {
    /// The text in a column, with U+FFFD for what is none; whether there was anything that is none.
    pub(in super::super) fn text(&self, column: usize) -> Option<(String, bool)> {
        match self.values.get(column)? {
            Value::Bytes(bytes) => {
                let text = String::from_utf8_lossy(bytes);
                let is_whole = matches!(text, std::borrow::Cow::Borrowed(_));
                Some((text.into_owned(), is_whole))
            }
            _ => None,
        }
    }
}

/// Reads the columns of a row; `None` where they are damaged.
pub(super) fn values(payload: &[u8]) -> Option<Vec<Value>> {
    let (header, mut at) = varint(payload)?;
    let header = usize::try_from(header).ok().filter(|header| *header <= payload.len())?;
    let mut rest = &payload[header..];
    let mut values = Vec::new();
    while at < header {
        let (kind, length) = varint(&payload[at..header])?;
        at += length;
        let size = match kind {
            0 | 8 | 9 => 0,
            1..=4 => usize::try_from(kind).ok()?,
            5 => 6,
            6 | 7 => 8,
            12.. => usize::try_from((kind - 12) / 2).ok()?,
            _ => return None,
        };
        let (value, behind) = rest.split_at_checked(size)?;
        rest = behind;
        values.push(match kind {
            0 => Value::Null,
            1..=6 => Value::Number(number(value)),
            7 => Value::Other,
            8 | 9 => Value::Number(kind - 8),
            _ => Value::Bytes(value.to_vec()),
        });
    }
    Some(values)
}

fn number(bytes: &[u8]) -> i64 {
    let negative = bytes.first().is_some_and(|first| first & 0x80 != 0);
    bytes.iter().fold(if negative { -1 } else { 0 }, |number, byte| number << 8 | i64::from(*byte))
}
