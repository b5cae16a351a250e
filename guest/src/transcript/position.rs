//! Places in a transcript that is read turn by turn.

use std::fmt::Write as _;
use std::sync::Arc;

use super::cut::Prefix;
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
    /// How much of the last entry that was given, where that could still grow: it is the one before [`Self::reached`].
    pub(super) cut: Option<Prefix>,
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
        if let Some(Prefix { length, sum }) = self.cut {
            let _ = write!(cursor, "-c{length}.{sum:08x}");
        }
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

    /// The layout and the place that a cursor means; also for those of earlier versions (`r1-N`, and none of which say how much
    /// of an entry was given).
    pub fn from_cursor(cursor: &str) -> Option<(u64, Self)> {
        if let Some(count) = cursor.strip_prefix("r1-") {
            return Some((0, Self::at(number(count)?)));
        }
        let mut parts = cursor.strip_prefix("r2-")?.split('-').peekable();
        let layout = number(parts.next()?)?;
        let mut position = Self::at(number(parts.next()?)?);
        if let Some(cut) = parts.next_if(|part| part.starts_with('c')) {
            position.cut = Some(prefix(&cut[1..])?);
        }
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
            && (self.cut.is_none() || self.reached() > 0)
            && self.done.len() <= MOST_DONE
            && self.done.iter().all(|done| done.until > self.first_left())
    }
}

fn number(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

fn prefix(text: &str) -> Option<Prefix> {
    let (length, sum) = text.split_once('.')?;
    let is_sum = sum.len() == 8 && sum.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    Some(Prefix { length: number(length)?, sum: u32::from_str_radix(sum, 16).ok().filter(|_| is_sum)? })
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
                Position {
                    next: 9,
                    back: Some(4),
                    turn: Some("b_1".into()),
                    done: vec![done("d2", 8), done("x", 77)],
                    cut: None,
                },
                "r2-1-9-b4-tb_1-d8.d2-d77.x",
            ),
            (0, Position { cut: Some(Prefix { length: 12, sum: 0xfe }), ..Position::at(5) }, "r2-0-5-c12.000000fe"),
            (
                0,
                Position {
                    next: 9,
                    back: Some(4),
                    turn: Some("c1".into()),
                    cut: Some(Prefix { length: 0, sum: u32::MAX }),
                    ..Position::default()
                },
                "r2-0-9-c0.ffffffff-b4-tc1",
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
            "r2-0-0-c1.00000000",
            "r2-0-5-c",
            "r2-0-5-c1",
            "r2-0-5-c1.",
            "r2-0-5-c1.0000000",
            "r2-0-5-c1.0000000F",
            "r2-0-5-c1.+0000000",
            "r2-0-5-cx.00000000",
            "r2-0-5-ta-c1.00000000",
            "r2-0-5-c1.00000000-c1.00000000",
            "r2-0-99999999999999999999",
            &format!("r2-0-5{many}"),
            &format!("r2-0-5-t{}", "a".repeat(33)),
        ] {
            assert_eq!(Position::from_cursor(text), None, "{text}");
        }
    }
}
