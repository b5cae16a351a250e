//! Places in a transcript that is read turn by turn.

use std::fmt::Write as _;
use std::sync::Arc;

use super::entry::is_tag;

/// How many turns may be finished ahead of what is still to be gone back to.
pub(super) const MOST_DONE: usize = 16;

/// A place in a transcript: what was given, and so what is still to come. Entries are counted over all parts of the
/// transcript.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Position {
    /// Where reading goes on.
    pub(super) next: u64,
    /// The turn that is being given.
    pub(super) turn: Option<Arc<str>>,
    /// The first entry that was passed over for the sake of that turn.
    pub(super) back: Option<u64>,
    /// Turns that were given ahead of others.
    pub(super) done: Vec<Done>,
}

/// A turn of which everything before this entry was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Done {
    pub(super) turn: Arc<str>,
    pub(super) until: u64,
}

impl Position {
    /// Behind the first entries, this many.
    pub fn at(count: u64) -> Self {
        Self { next: count, ..Self::default() }
    }

    /// How far reading has come: no entry behind this many was given.
    pub fn reached(&self) -> u64 {
        self.done.iter().map(|done| done.until).max().unwrap_or_default().max(self.next)
    }

    /// The place as clients are given it. It holds as long as the transcript keeps its layout
    /// ([`crate::store::Session::layout`]).
    pub fn to_cursor(&self, layout: u64) -> String {
        let mut cursor = format!("r2-{layout}-{}", self.next);
        // Writing to a text does not fail.
        if let Some(back) = self.back {
            let _ = write!(cursor, "-b{back}");
        }
        if let Some(turn) = &self.turn {
            let _ = write!(cursor, "-t{turn}");
        }
        for Done { turn, until } in &self.done {
            let _ = write!(cursor, "-d{until}.{turn}");
        }
        cursor
    }

    /// The layout and the place that a cursor means; also for those of an earlier version (`r1-N`).
    pub fn from_cursor(cursor: &str) -> Option<(u64, Self)> {
        if let Some(count) = cursor.strip_prefix("r1-") {
            return Some((0, Self::at(number(count)?)));
        }
        let mut parts = cursor.strip_prefix("r2-")?.split('-').peekable();
        let layout = number(parts.next()?)?;
        let mut position = Self::at(number(parts.next()?)?);
        if let Some(back) = parts.next_if(|part| part.starts_with('b')) {
            position.back = Some(number(&back[1..])?);
        }
        if let Some(turn) = parts.next_if(|part| part.starts_with('t')) {
            position.turn = Some(turn_of(&turn[1..])?);
        }
        for part in parts {
            let (until, turn) = part.strip_prefix('d')?.split_once('.')?;
            position.done.push(Done { until: number(until)?, turn: turn_of(turn)? });
        }
        position.is_sound().then_some((layout, position))
    }

    /// The first entry that was not given.
    pub(super) fn first_left(&self) -> u64 {
        self.back.unwrap_or(self.next)
    }

    /// Whether it is one that reading can come to.
    fn is_sound(&self) -> bool {
        self.back.is_none_or(|back| back < self.next && self.turn.is_some())
            && self.done.len() <= MOST_DONE
            && self.done.iter().all(|done| done.until > self.first_left())
    }
}

fn number(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

fn turn_of(text: &str) -> Option<Arc<str>> {
    is_tag(text).then(|| text.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_are_read_as_they_are_written() {
        let done = |turn: &str, until| Done { turn: turn.into(), until };
        for (layout, position, cursor) in [
            (0, Position::default(), "r2-0-0"),
            (3, Position::at(17), "r2-3-17"),
            (0, Position { turn: Some("3f1".into()), ..Position::at(4) }, "r2-0-4-t3f1"),
            (
                1,
                Position { next: 9, back: Some(4), turn: Some("b_1".into()), done: vec![done("d2", 8), done("x", 77)] },
                "r2-1-9-b4-tb_1-d8.d2-d77.x",
            ),
        ] {
            assert_eq!(position.to_cursor(layout), cursor);
            assert_eq!(Position::from_cursor(cursor), Some((layout, position)));
        }
        assert_eq!(Position::from_cursor("r1-5"), Some((0, Position::at(5))));
    }

    #[test]
    fn what_is_no_cursor_is_refused() {
        let many = "-d9.a".repeat(MOST_DONE + 1);
        for text in [
            "",
            "r1-",
            "r1-x",
            "r1-+5",
            "r2-0",
            "r2-0-",
            "r2-0-5-",
            "r2-0-5-b3",
            "r2-0-5-b5-ta",
            "r2-0-5-t",
            "r2-0-5-ta#",
            "r2-0-5-d5.a",
            "r2-0-5-d9.",
            "r2-0-5-d9.a-x",
            "r2-0-5-ta-b3",
            "r3-0-5",
            "r2-0-99999999999999999999",
            &format!("r2-0-5{many}"),
            &format!("r2-0-5-t{}", "a".repeat(33)),
        ] {
            assert_eq!(Position::from_cursor(text), None, "{text}");
        }
    }
}
