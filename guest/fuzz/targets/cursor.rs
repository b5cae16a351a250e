//! Cursors: whatever comes is either one of ours or refused; ours come back as they were, and damage is noticed.

#![no_main]

use acp_sessions_guest::sessions::cursor::{Cursor, Fields, Place};
use acp_sessions_guest::time;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    if let Some(cursor) = Cursor::decode(&text) {
        assert_eq!(cursor.encode(), text, "two ways to write one cursor");
    }
    if let Some((cursor, at)) = made_of(data) {
        let encoded = cursor.encode();
        assert_eq!(Cursor::decode(&encoded), Some(cursor));
        let mut damaged = encoded.clone().into_bytes();
        let at = usize::from(at) % damaged.len();
        damaged[at] = if damaged[at] == b'A' { b'B' } else { b'A' };
        let damaged = String::from_utf8(damaged).expect("ASCII");
        assert_eq!(Cursor::decode(&damaged), None);
    }
});

/// A cursor of these bytes, and a place to damage it.
fn made_of(data: &[u8]) -> Option<(Cursor, u16)> {
    let (filter, data) = data.split_first_chunk()?;
    let (started, data) = data.split_first_chunk()?;
    let (number, data) = data.split_first_chunk()?;
    let (at, id) = data.split_first_chunk()?;
    let number = u64::from_le_bytes(*number);
    let place = if id.is_empty() {
        Place::Changed { revision: number }
    } else {
        let recency = i64::try_from(number % time::LAST.unsigned_abs()).ok()?;
        Place::Row { recency, id: String::from_utf8_lossy(id).into_owned() }
    };
    let at = u16::from_le_bytes(*at);
    let fields = [Fields::AsEver, Fields::Extended, Fields::OfTheDraft][usize::from(at % 3)];
    let cursor = Cursor { filter: u64::from_le_bytes(*filter), started: u64::from_le_bytes(*started), place, fields };
    Some((cursor, at))
}
