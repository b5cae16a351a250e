//! Replay: a transcript read back a piece at a time, as far as the reader has room, each turn as a whole.

use crate::storage::{Bounds, Result, Storage};
use crate::store::{Segment, Session};

use super::cut::{Cut, Since};
use super::elsewhere::Shown;
use super::entry::Entry;
use super::position::Position;
use super::spans::{BATCH, Spans};
use super::turns::{EntryAction, LookAhead, Turns};

/// How many bytes are read at a time, however little room there is.
const LEAST_BYTES: u32 = 16 * 1024;

/// Where a replay begins.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Start {
    /// At the first entry.
    #[default]
    Beginning,
    /// So that this many updates are left.
    Last(u64),
    /// At this place.
    At(Position),
}

/// What of a session is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Part {
    /// The conversation.
    #[default]
    Conversation,
    /// What was taken out of it, because its agent went back behind it.
    SetAside,
}

/// What one step of a replay gave.
#[derive(Debug, PartialEq, Eq)]
pub enum Progress {
    /// These entries (as the log holds them) with the position after each; there may be more.
    Entries(Vec<(Position, String)>),
    /// The end as it was known when the replay began, or was last extended.
    End,
}

/// An entry that is given.
struct Given<P> {
    /// Where it stands: how many entries stand before it.
    place: u64,
    /// What the reader wants of the position behind it.
    after: P,
    text: String,
}

/// Reads a transcript in the order of its turns.
#[derive(Debug)]
pub struct Replay {
    spans: Spans,
    turns: Turns,
    /// The last entry of all that stood there when it was given, if it is one that may grow: its place, and how much of it.
    cut: Option<(u64, Cut)>,
    grown: Grown,
}

/// What has become of the last entry that was given before, where that could grow.
#[derive(Debug, PartialEq, Eq)]
enum Grown {
    /// Nothing, or that was given.
    Not,
    /// This is its rest, which comes before anything else, and behind it stands this much of it.
    By(String, Option<(u64, Cut)>),
    /// Something else stands there.
    Gone,
}

/// Whether somebody is shown updates of this name.
pub(super) type Admits<'a> = &'a dyn Fn(&str) -> bool;

impl Replay {
    /// A replay of what the session's transcript holds now.
    pub fn open<S: Storage>(storage: &S, session: &Session, start: Start) -> Result<Self> {
        Self::of(storage, session, Part::Conversation, start, &|_| true)
    }

    /// A replay of a part of that, for somebody to whom updates of these names are shown: others do not count as the
    /// last ones.
    pub fn of<S: Storage>(
        storage: &S,
        session: &Session,
        part: Part,
        start: Start,
        admits: Admits<'_>,
    ) -> Result<Self> {
        let spans = match part {
            Part::Conversation => Spans::of(storage, session)?,
            Part::SetAside => Spans::set_aside(session),
        };
        Self::over(storage, spans, start, LookAhead::default(), admits)
    }

    #[cfg(test)]
    pub(super) fn open_with<S: Storage>(
        storage: &S,
        session: &Session,
        start: Start,
        look_ahead: LookAhead,
    ) -> Result<Self> {
        Self::over(storage, Spans::of(storage, session)?, start, look_ahead, &|_| true)
    }

    fn over<S: Storage>(
        storage: &S,
        spans: Spans,
        start: Start,
        look_ahead: LookAhead,
        admits: Admits<'_>,
    ) -> Result<Self> {
        let position = match start {
            Start::Beginning => Position::default(),
            Start::At(position) => position,
            Start::Last(updates) => Position::at(place_of_last(storage, &spans, updates, admits)?),
        };
        let mut replay = Self { spans, turns: Turns::from(position, look_ahead), cut: None, grown: Grown::Not };
        replay.look_at_last(storage)?;
        Ok(replay)
    }

    /// Whoever goes on behind an entry that could grow is first given what has come to it. Of one that is the last of all it is
    /// noted how much there was.
    fn look_at_last<S: Storage>(&mut self, storage: &S) -> Result<()> {
        let (position, length) = (self.turns.position(), self.spans.length());
        let is_at_end = position.back.is_none() && position.next == length;
        let Some(place) = position.reached().checked_sub(1).filter(|_| is_at_end || position.cut.is_some()) else {
            return Ok(());
        };
        let entries = self.spans.read(storage, place, Bounds { limit: 1, ..BATCH })?;
        let text = entries.first().filter(|(at, _)| *at == place).map(|(_, text)| text.as_str());
        let now = text.filter(|_| place + 1 == length).and_then(|text| Cut::of(self.spans.last(), text));
        let now = now.map(|cut| (place, cut));
        let since = position.cut.map_or(Since::Same, |given| {
            text.and_then(Entry::parse).map_or(Since::Another, |entry| Since::of(&given, &entry))
        });
        self.grown = match since {
            Since::Grown(rest) => Grown::By(rest, now),
            Since::Same => {
                self.cut_at(now);
                Grown::Not
            }
            Since::Another => {
                self.cut_at(None);
                Grown::Gone
            }
        };
        Ok(())
    }

    fn cut_at(&mut self, cut: Option<(u64, Cut)>) {
        self.turns.cut_at(cut.as_ref().map(|(_, cut)| cut.given));
        self.cut = cut;
    }

    /// A replay of all that the session's transcript holds, its own log up to the entry `own_end`.
    pub fn up_to(session: &Session, own_end: u32) -> Self {
        let turns = Turns::from(Position::default(), LookAhead::default());
        Self { spans: Spans::up_to(session, own_end), turns, cut: None, grown: Grown::Not }
    }

    /// A replay of these parts of logs.
    pub fn of_parts(parts: &[Segment]) -> Self {
        let turns = Turns::from(Position::default(), LookAhead::default());
        Self { spans: Spans::of_parts(parts), turns, cut: None, grown: Grown::Not }
    }

    /// Where the reader stands.
    pub fn position(&self) -> &Position {
        self.turns.position()
    }

    /// Whether this transcript has such a place.
    pub fn contains(&self, position: &Position) -> bool {
        position.reached() <= self.spans.length() && self.grown != Grown::Gone
    }

    /// Takes in what was recorded since in the conversation; says whether there is anything to read.
    pub fn extend<S: Storage>(&mut self, storage: &S, session: &Session) -> Result<bool> {
        let before = self.spans.length();
        self.spans = Spans::of(storage, session)?;
        if self.spans.length() > before && self.position().cut.is_some() {
            self.look_at_last(storage)?;
        }
        Ok(self.position().first_left() < self.spans.length())
    }

    /// How much of the session's own log was given, where all was that was there. The session must be the one that is read.
    pub fn shown(&self, session: &Session) -> Shown {
        let length = self.spans.length();
        let behind = session.tail.saturating_sub(1);
        let own = length.saturating_sub(session.length_up_to(behind));
        let end = u32::try_from(own + u64::from(behind)).unwrap_or(u32::MAX);
        let cut = self.cut.as_ref().filter(|(place, _)| place + 1 == length && own > 0);
        Shown { end, cut: cut.map(|(_, cut)| cut.clone()) }
    }

    /// The next few entries, about as many bytes of them as there is room for, but at least one.
    pub fn next<S: Storage>(&mut self, storage: &S, room: u32) -> Result<Progress> {
        let given = self.read_on(storage, room, Position::clone)?;
        if given.is_empty() {
            return Ok(Progress::End);
        }
        Ok(Progress::Entries(given.into_iter().map(|given| (given.after, given.text)).collect()))
    }

    /// The next few entries without their positions, about as many bytes of them as there is room for; `None` at the
    /// end.
    pub fn next_texts<S: Storage>(&mut self, storage: &S, room: u32) -> Result<Option<Vec<String>>> {
        let given = self.read_on(storage, room, |_| ())?;
        Ok((!given.is_empty()).then(|| given.into_iter().map(|given| given.text).collect()))
    }

    /// Shows all that is left, each entry with its number: entries are counted from 1 in the order in which they stand,
    /// which need not be that of the conversation. Returns how many entries stand there.
    pub fn each<S: Storage>(mut self, storage: &S, mut show: impl FnMut(u64, &str)) -> Result<u64> {
        loop {
            let given = self.read_on(storage, BATCH.max_bytes, |_| ())?;
            if given.is_empty() {
                return Ok(self.spans.length());
            }
            for Given { place, text, .. } in given {
                show(place + 1, &text);
            }
        }
    }

    /// The next few entries; none: there are no more.
    fn read_on<S: Storage, P>(
        &mut self,
        storage: &S,
        room: u32,
        after: impl Fn(&Position) -> P,
    ) -> Result<Vec<Given<P>>> {
        let bounds = Bounds { max_bytes: room.clamp(LEAST_BYTES, BATCH.max_bytes), ..BATCH };
        let length = self.spans.length();
        if let Grown::By(text, now) = std::mem::replace(&mut self.grown, Grown::Not) {
            let place = self.position().reached().saturating_sub(1);
            self.cut_at(now);
            return Ok(vec![Given { place, after: after(self.position()), text }]);
        }
        let mut given = Vec::new();
        let mut bytes = 0;
        while given.is_empty() {
            let entries = self.spans.read(storage, self.position().next, bounds)?;
            if entries.is_empty() && !self.turns.meet_end(length) {
                break;
            }
            for (place, text) in entries {
                if !given.is_empty() && bytes + text.len() > room as usize {
                    break;
                }
                self.turns.skip_to(place);
                match self.turns.meet(&text) {
                    EntryAction::Give => {
                        bytes += text.len();
                        if place + 1 == length {
                            self.cut_at(Cut::of(self.spans.last(), &text).map(|cut| (place, cut)));
                        }
                        given.push(Given { place, after: after(self.position()), text });
                    }
                    EntryAction::Pass => {}
                    EntryAction::GoBack => break,
                }
                if self.position().next != place + 1 {
                    break;
                }
            }
        }
        Ok(given)
    }
}

/// The place from which on there are this many updates that are admitted, found from the end.
fn place_of_last<S: Storage>(storage: &S, spans: &Spans, updates: u64, admits: Admits<'_>) -> Result<u64> {
    let total = spans.length();
    let mut left = updates;
    let mut window_end = total;
    while window_end > 0 && left > 0 {
        let window_start = window_end.saturating_sub(u64::from(BATCH.limit));
        let mut counts = Vec::new();
        spans.each(storage, window_start, window_end, |place, text| {
            let entry = Entry::parse(text).filter(|entry| entry.update_name().is_none_or(|name| admits(&name)));
            counts.push((place, entry.map_or(0, |entry| entry.updates().len())));
        })?;
        for (place, count) in counts.into_iter().rev() {
            left = left.saturating_sub(count as u64);
            if left == 0 {
                return Ok(place);
            }
        }
        window_end = window_start;
    }
    Ok(if left == 0 { total } else { 0 })
}
