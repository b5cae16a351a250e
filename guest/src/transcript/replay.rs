//! Replay: a transcript read back a piece at a time, as far as the reader has room.

use crate::storage::{Bounds, Result, Storage};
use crate::store::{Segment, Session};

use super::entry::Entry;

/// How many entries are read at a time.
const BATCH: u32 = 512;
/// How many bytes are read at a time; one larger entry still comes whole.
const BATCH_BYTES: u32 = 256 * 1024;

/// A part of a log: `from..=until`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// The log.
    pub log: String,
    /// The first entry.
    pub from: u64,
    /// The last entry.
    pub until: u64,
}

/// A place in a transcript, counted over all its spans: how many entries lie before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Position(u64);

impl Position {
    /// Behind this many entries.
    pub fn at(count: u64) -> Self {
        Self(count)
    }

    /// How many entries lie before it.
    pub fn reached(self) -> u64 {
        self.0
    }

    /// The place as clients are given it.
    pub fn to_cursor(self) -> String {
        format!("r1-{}", self.0)
    }

    /// The place that a cursor means.
    pub fn from_cursor(cursor: &str) -> Option<Self> {
        cursor.strip_prefix("r1-")?.parse().ok().map(Self)
    }
}

/// Where a replay begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Start {
    /// At the first entry.
    #[default]
    Beginning,
    /// So that this many updates are left.
    Last(u64),
    /// At this place.
    At(Position),
}

/// What one step of a replay gave.
#[derive(Debug, PartialEq, Eq)]
pub enum Progress {
    /// These entries (as the log holds them) with the position after each; there may be more.
    Entries(Vec<(Position, String)>),
    /// The end as it was known when the replay began, or was last extended.
    End,
}

/// Reads a transcript in order.
#[derive(Debug)]
pub struct Replay {
    spans: Vec<Span>,
    position: u64,
}

/// A session's transcript as spans, the rest of its own log up to `end`.
fn spans(session: &Session, end: u64) -> Vec<Span> {
    let before = session.segments.iter();
    before
        .map(|Segment { log, from, until }| Span { log: log.clone(), from: *from, until: *until })
        .chain([Span { log: session.id.clone(), from: session.tail, until: end }])
        .filter(|span| span.until >= span.from)
        .collect()
}

fn length(spans: &[Span]) -> u64 {
    spans.iter().map(|span| span.until - span.from + 1).sum()
}

impl Replay {
    /// A replay of what the session's transcript holds now.
    pub fn open<S: Storage>(storage: &S, session: &Session, start: Start) -> Result<Self> {
        let mut replay = Self { spans: spans(session, storage.log_end(&session.id)?), position: 0 };
        replay.position = match start {
            Start::Beginning => 0,
            Start::At(position) => position.0,
            Start::Last(updates) => replay.place_of_last(storage, updates)?,
        };
        Ok(replay)
    }

    /// Where the reader stands.
    pub fn position(&self) -> Position {
        Position(self.position)
    }

    /// Whether this transcript has such a place.
    pub fn contains(&self, position: Position) -> bool {
        position.0 <= length(&self.spans)
    }

    /// Takes in what was recorded since; says whether anything was.
    pub fn extend<S: Storage>(&mut self, storage: &S, session: &Session) -> Result<bool> {
        self.spans = spans(session, storage.log_end(&session.id)?);
        Ok(self.position < length(&self.spans))
    }

    /// The next few entries, about as many bytes of them as there is room for, but at least one.
    pub fn next<S: Storage>(&mut self, storage: &S, room: u32) -> Result<Progress> {
        let bounds = Bounds { limit: BATCH, max_bytes: BATCH_BYTES.min(room) };
        let mut before = 0;
        for span in &self.spans {
            let length = span.until - span.from + 1;
            if self.position >= before + length {
                before += length;
                continue;
            }
            let page = storage.read_log(&span.log, span.from + (self.position - before), bounds)?;
            let entries: Vec<_> = page
                .entries
                .into_iter()
                .take_while(|entry| entry.seq <= span.until)
                .map(|entry| (Position(before + (entry.seq - span.from) + 1), entry.value))
                .collect();
            // A log that is shorter than it was (cut meanwhile) ends here; what follows it is read on.
            self.position = entries.last().map_or(before + length, |(position, _)| position.0);
            if !entries.is_empty() {
                return Ok(Progress::Entries(entries));
            }
            before += length;
        }
        Ok(Progress::End)
    }

    /// The place from which on there are this many updates, found from the end.
    fn place_of_last<S: Storage>(&self, storage: &S, updates: u64) -> Result<u64> {
        let total = length(&self.spans);
        let mut left = updates;
        let mut window_end = total;
        while window_end > 0 && left > 0 {
            let window_start = window_end.saturating_sub(u64::from(BATCH));
            let mut reader = Self { spans: self.spans.clone(), position: window_start };
            let mut counts = Vec::new();
            while reader.position < window_end {
                let Progress::Entries(entries) = reader.next(storage, BATCH_BYTES)? else { break };
                for (position, text) in entries.iter().filter(|(position, _)| position.0 <= window_end) {
                    let count = Entry::parse(text).map_or(0, |entry| entry.updates().len() as u64);
                    counts.push((position.0, count));
                }
            }
            for (position, count) in counts.into_iter().rev() {
                left = left.saturating_sub(count);
                if left == 0 {
                    return Ok(position - 1);
                }
            }
            window_end = window_start;
        }
        Ok(if left == 0 { total } else { 0 })
    }
}
