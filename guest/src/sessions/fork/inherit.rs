//! What a fork takes over of a transcript: by sharing logs, and by copying a little where that keeps the parts few.
//!
//! If each fork only shared, one of a fork of a fork would carry a part for each of its ancestors, and everything that
//! goes over the parts (forking, searching, deleting) would cost what the depth is. So the last parts are joined as a
//! binary counter carries: where the parts before are no longer than all behind them, together they are copied into the
//! fork's own log. What is left gets shorter by more than half from part to part, and an entry is copied a few times
//! in all, not at each fork.
//!
//! Only small parts are copied, so that a long history costs nothing to fork. Where parts have become many in spite of
//! that, larger ones are copied too, twice as large with every further few parts: their number grows with the
//! logarithm of the transcript's length.

use crate::storage::{Bounds, Result, Storage};
use crate::store::{Segment, Session};

/// How much is copied at most while the parts are few.
const MOST_ENTRIES: u64 = 256;
const MOST_BYTES: u64 = 256 * 1024;
/// With each further so many parts twice as much is copied, up to this many times.
const FEW_PARTS: usize = 4;
const MOST_DOUBLINGS: usize = 4;

/// What a fork takes over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Inheritance {
    /// The parts that it shares, in the order of the conversation.
    pub(super) shared: Vec<Segment>,
    /// The entries that follow them, to be copied.
    pub(super) copied: Vec<String>,
}

/// What a fork of this session takes over, whose own log ends at `until`.
pub(super) fn inherit<S: Storage>(storage: &S, parent: &Session, until: u32) -> Result<Inheritance> {
    let mut shared = parts(parent, until);
    let first = first_to_copy(&shared);
    let mut bytes = MOST_BYTES << doublings(&shared);
    let mut copied = Vec::new();
    for part in shared.iter().skip(first).rev() {
        // A part that is too large stays what it is, and so does all before it.
        let Some(entries) = read(storage, part, &mut bytes)? else { break };
        copied.push(entries);
    }
    // Copying one part alone would not make them fewer.
    if copied.len() < 2 {
        copied.clear();
    }
    shared.truncate(shared.len() - copied.len());
    Ok(Inheritance { shared, copied: copied.into_iter().rev().flatten().collect() })
}

/// The parts of a transcript, those that adjoin each other in one log as one.
fn parts(session: &Session, until: u32) -> Vec<Segment> {
    let tail = Segment { log: session.id.clone(), from: session.tail, until };
    let mut parts: Vec<Segment> = Vec::new();
    for part in session.segments.iter().chain([&tail]).filter(|part| part.length() > 0) {
        match parts.last_mut().filter(|last| last.log == part.log && last.until + 1 == part.from) {
            Some(last) => last.until = part.until,
            None => parts.push(part.clone()),
        }
    }
    parts
}

fn doublings(parts: &[Segment]) -> usize {
    (parts.len() / FEW_PARTS).min(MOST_DOUBLINGS)
}

/// The first of the parts that are to be copied; their number where none are.
fn first_to_copy(parts: &[Segment]) -> usize {
    let most = MOST_ENTRIES << doublings(parts);
    let Some((last, before)) = parts.split_last() else { return 0 };
    let mut total = last.length();
    let mut first = parts.len();
    for (at, part) in before.iter().enumerate().rev() {
        if part.length() > total || total + part.length() > most {
            break;
        }
        total += part.length();
        first = at;
    }
    first
}

/// The entries of a part; `None` if they are more than so many bytes, or not all there: a place in the transcript must
/// stay where it is.
fn read<S: Storage>(storage: &S, part: &Segment, bytes: &mut u64) -> Result<Option<Vec<String>>> {
    let mut entries = Vec::new();
    let mut next = part.from;
    while next <= part.until {
        let limit = (part.until - next).saturating_add(1);
        let bounds = Bounds { limit, max_bytes: u32::try_from(*bytes).unwrap_or(u32::MAX) };
        let page = storage.read_log(&part.log, next, bounds)?;
        if page.entries.is_empty() {
            return Ok(None);
        }
        for entry in page.entries {
            let Some(left) = bytes.checked_sub(entry.value.len() as u64).filter(|_| entry.seq == next) else {
                return Ok(None);
            };
            *bytes = left;
            next += 1;
            entries.push(entry.value);
        }
    }
    Ok(Some(entries))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(lengths: &[u32]) -> Vec<Segment> {
        let part = |(at, length): (usize, &u32)| Segment { log: format!("log {at}"), from: 1, until: *length };
        lengths.iter().enumerate().map(part).collect()
    }

    #[test]
    fn parts_are_copied_that_are_no_longer_than_what_follows() {
        for (parts, copied) in [
            (&[][..], 0),
            (&[3], 0),
            (&[3, 3], 2),
            (&[9, 3], 0),
            (&[9, 3, 3], 2),
            (&[9, 9], 2),
            (&[100_000, 3], 0),
            (&[100_000, 3, 3], 2),
            (&[3, 100_000], 0),
            (&[128, 128], 2),
            (&[128, 129], 0),
            (&[150, 60, 30, 30], 3),
            (&[500, 500, 500, 500, 500, 500, 500, 300, 300], 2),
        ] {
            let parts = lengths(parts);
            assert_eq!(parts.len() - first_to_copy(&parts), copied, "{parts:?}");
        }
    }

    #[test]
    fn what_adjoins_in_one_log_is_one_part_and_what_is_empty_is_none() {
        let segment = |log: &str, from, until| Segment { log: log.to_owned(), from, until };
        let mut session = Session::new("own".to_owned(), "/x".to_owned(), 0);
        session.segments = vec![segment("a", 1, 2), segment("a", 3, 5), segment("b", 4, 3), segment("own", 1, 2)];
        session.tail = 3;
        assert_eq!(parts(&session, 2), [segment("a", 1, 5), segment("own", 1, 2)]);
        assert_eq!(parts(&session, 7), [segment("a", 1, 5), segment("own", 1, 7)]);
        session.tail = 5;
        assert_eq!(parts(&session, 7), [segment("a", 1, 5), segment("own", 1, 2), segment("own", 5, 7)]);
    }
}
