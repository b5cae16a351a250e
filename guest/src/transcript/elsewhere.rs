//! What is said in a session in other windows, for the client of one that has it open: turns, each as a whole once it has
//! ended, and what agents say between turns. They all write to the session's own log.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};

use super::cut::{Cut, plain_text};
use super::entry::{Entry, Kind};
use super::mend;
use crate::storage::{Bounds, Result, Storage};
use crate::store::{Segment, Session};

/// How much is looked through at a time.
const BATCH: Bounds = Bounds { limit: 256, max_bytes: 256 * 1024 };
/// How many bytes are read at a time to be shown, however little room there is.
const LEAST_BYTES: u32 = 16 * 1024;
/// How many turns that have ended are noted before they are shown: the log is not looked through further.
const MOST_ENDED: usize = 64;

/// By what a window tells what was said in it from what was said in others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Own {
    /// What the tags of its turns begin with.
    pub turns: String,
    /// Who its agent's session is, or was, where it says something between turns; see [`super::speaker`].
    pub speakers: Vec<String>,
}

impl Own {
    /// Whether this was said by its agent between turns. Another program of that agent's may have the same session open in
    /// another window.
    fn has_said(&self, entry: &Entry<'_>) -> bool {
        entry.may_be_of(&self.turns)
            && entry.speaker.is_some_and(|said_by| self.speakers.iter().any(|own| own == said_by))
    }
}

/// How much of a session's own log a client was shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// The number of its last entry.
    pub end: u32,
    /// How much of that, where it may have grown since.
    pub cut: Option<Cut>,
}

impl Shown {
    /// All of this log, which ends here.
    pub fn all<S: Storage>(storage: &S, log: &str, end: u32) -> Result<Self> {
        let page = storage.read_log(log, end, Bounds { limit: 1, max_bytes: 1 })?;
        let last = page.entries.first().filter(|entry| entry.seq == end);
        Ok(Self { end, cut: last.and_then(|last| Cut::of(end, &last.value)) })
    }
}

/// What of others' is known in a log and was not shown yet.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Elsewhere {
    /// Up to which entry the log was looked through.
    looked: u32,
    behind: BehindLooked,
    /// From which entry on the turns are to be shown that have not ended.
    begun: BTreeMap<String, u32>,
    /// What is to be shown, in this order.
    ended: VecDeque<PendingEntries>,
    /// Of a turn that has begun.
    cut: Option<Cut>,
    /// How much was shown of turns that did not end, as far as is known. The window of one may only have been stopped, and go
    /// on: the rest is shown when it ends.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    left_off: Vec<Cut>,
    /// Of what was last shown that was said between turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    words: Option<Cut>,
    /// What the window's own agent says between turns behind this entry is held back, and to be shown as well: others' words
    /// were being shown when it came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    held_behind: Option<u32>,
    /// The turns that did not end, and of whose open calls it was said that they have failed. Who opens the session next writes
    /// that to the log.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    cut_off: BTreeSet<String>,
}

/// What stands behind what was looked through, as far as is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
enum BehindLooked {
    /// Nothing of others'.
    #[default]
    Nothing,
    /// Others have written there.
    Written,
    /// Something that was said between turns, which may still grow.
    Growing,
    /// Something that may still grow, of which all that there is by now was shown.
    Quiet,
}

/// What becomes of words between turns that nothing follows yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Growing {
    /// They wait until something does.
    Waits,
    /// They are shown as far as they go, once, because what follows comes from this window.
    IsShown,
    /// They are shown as far as they go, because nothing has come to them for a while.
    IsQuiet,
}

/// Something that was said elsewhere and is over, or was held back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct PendingEntries {
    /// The turn; none: one entry, between turns, or what was taken over.
    turn: Option<String>,
    /// The log that it was taken over from; none: it stands in the session's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    log: Option<String>,
    from: u32,
    until: u32,
    #[serde(default, skip_serializing_if = "By::is_another")]
    by: By,
    /// It did not end: its window is gone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_cut_off: bool,
}

impl PendingEntries {
    fn turn(turn: String, from: u32, until: u32) -> Self {
        Self { turn: Some(turn), log: None, from, until, by: By::Another, is_cut_off: false }
    }

    /// One entry, between turns.
    fn words(seq: u32, by: By) -> Self {
        Self { turn: None, log: None, from: seq, until: seq, by, is_cut_off: false }
    }

    /// What another window has taken over from its agent.
    fn taken_over(part: Segment) -> Self {
        let Segment { log, from, until } = part;
        Self { turn: None, log: Some(log), from, until, by: By::Another, is_cut_off: false }
    }

    /// Whether it is one entry of the session's own log, between turns.
    fn is_words(&self) -> bool {
        self.turn.is_none() && self.log.is_none()
    }
}

/// Who has said something.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum By {
    /// Another window's user or agent.
    #[default]
    Another,
    /// The window's own agent.
    Own,
}

impl By {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
    fn is_another(&self) -> bool {
        *self == Self::Another
    }
}

/// Entries to be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Who has said what stands in them.
    pub by: By,
    /// There may be none among what was looked at.
    pub entries: Vec<String>,
}

impl Elsewhere {
    /// Whether there is nothing to be shown, as far as is known.
    pub fn is_idle(&self) -> bool {
        self.behind == BehindLooked::Nothing
            && self.begun.is_empty()
            && self.ended.is_empty()
            && self.held_behind.is_none()
    }

    /// Whether something is known of turns that did not end that the log does not have: what was said of one that is still to
    /// be written to it, or how much of one was shown.
    pub fn is_ahead_of_log(&self) -> bool {
        !self.cut_off.is_empty() || !self.left_off.is_empty()
    }

    /// What the window's own agent says between turns is held back from now on, and shown behind what others have said. All
    /// that it has said so far stands in the log, which ends at `end`.
    pub fn hold_back(&mut self, end: u32) {
        self.held_behind = Some(end);
        self.note_more_held();
    }

    /// Whether that is held back.
    pub fn holds_back(&self) -> bool {
        self.held_behind.is_some()
    }

    /// The agent has said more of what is held back.
    pub fn note_more_held(&mut self) {
        self.written_behind(self.looked);
    }

    /// All that was held back was shown.
    pub fn hold_no_more(&mut self) {
        self.held_behind = None;
    }

    /// Whether something stands behind what was looked through that was said between turns, and was not shown.
    pub fn is_growing(&self) -> bool {
        self.behind == BehindLooked::Growing
    }

    /// Something may have come to what was said last between turns.
    pub fn note_possible_growth(&mut self) {
        if self.behind == BehindLooked::Quiet {
            self.behind = BehindLooked::Growing;
        }
    }

    /// Whether there is something to be shown now.
    pub fn is_any_over(&self) -> bool {
        !self.ended.is_empty()
    }

    /// Whether a turn is under way elsewhere, as far as is known.
    pub fn is_any_begun(&self) -> bool {
        !self.begun.is_empty()
    }

    /// A turn is under way elsewhere, of which what stands from this entry on is to be shown.
    pub fn note_turn_begun(&mut self, turn: String, from: u32) {
        self.begun.entry(turn).or_insert(from);
    }

    /// The turns that are under way elsewhere, as far as is known, by their tags.
    pub fn begun(&self) -> impl Iterator<Item = &str> {
        self.begun.keys().map(String::as_str)
    }

    /// Up to which entry it knows the log, where that is all there is to keep of it.
    pub fn looked(&self) -> u32 {
        self.looked
    }

    /// Others have written to the log behind this entry.
    pub fn written_behind(&mut self, end: u32) {
        // All that stands up to there is the window's own, or was looked through.
        if self.behind == BehindLooked::Nothing && self.begun.is_empty() {
            self.looked = self.looked.max(end);
        }
        self.behind = BehindLooked::Written;
    }

    /// This part of another log has become part of the conversation: it was said without the layer, and another window has
    /// taken it over.
    pub fn note_taken_over(&mut self, part: Segment) {
        self.ended.push_back(PendingEntries::taken_over(part));
    }

    /// The client was shown this much, whatever there was to be shown before.
    pub fn note_shown(&mut self, shown: Shown, own: &Own) {
        *self = Self { looked: shown.end, ..Self::default() };
        let Some(cut) = shown.cut else { return };
        if let Some(turn) = cut.turn.clone() {
            if !turn.starts_with(&own.turns) {
                self.begun = [(turn, shown.end.saturating_add(1))].into();
                self.cut = Some(cut);
            }
        } else {
            (self.looked, self.behind) = (shown.end.saturating_sub(1), BehindLooked::Growing);
            self.words = Some(cut);
        }
    }

    /// Looks through what has been written to the log. What is held back is written, and does not grow any more.
    pub fn look<S: Storage>(&mut self, storage: &S, log: &str, own: &Own, growing: Growing) -> Result<()> {
        while self.behind != BehindLooked::Nothing && self.ended.len() < MOST_ENDED {
            let page = storage.read_log(log, self.looked.saturating_add(1), BATCH)?;
            let last = page.entries.last().filter(|_| !page.more).map(|entry| entry.seq);
            for entry in &page.entries {
                // What agents say between turns may grow as long as nothing follows it.
                let growing = Some(growing).filter(|_| last == Some(entry.seq));
                if !self.meet(entry.seq, &entry.value, own, growing) {
                    let is_quiet = growing == Some(Growing::IsQuiet) || self.behind == BehindLooked::Quiet;
                    self.behind = if is_quiet { BehindLooked::Quiet } else { BehindLooked::Growing };
                    return Ok(());
                }
                self.looked = entry.seq;
            }
            if !page.more {
                self.behind = BehindLooked::Nothing;
            }
        }
        Ok(())
    }

    /// Takes in an entry; says whether that is all of it. `growing`: it may still grow.
    fn meet(&mut self, seq: u32, text: &str, own: &Own, growing: Option<Growing>) -> bool {
        let Some(entry) = Entry::parse(text) else { return true };
        match (entry.turn, entry.speaker) {
            (Some(turn), _) if turn.starts_with(&own.turns) => {}
            (Some(turn), _) if entry.kind == Kind::TurnEnd => {
                // What has come to a turn that was left off may all stand in the entry that was shown last.
                let from = self.begun.remove(turn).or_else(|| self.is_left_off(turn).then_some(seq));
                if let Some(from) = from {
                    self.ended.push_back(PendingEntries::turn(turn.to_owned(), from, seq));
                }
            }
            (Some(turn), _) => {
                self.begun.entry(turn.to_owned()).or_insert(seq);
            }
            (None, Some(_)) if entry.kind == Kind::Update => {
                let by = if own.has_said(&entry) { By::Own } else { By::Another };
                let is_held = || self.held_behind.is_some_and(|behind| seq > behind);
                if by == By::Another {
                    return self.meet_words(seq, &entry, growing);
                }
                if is_held() {
                    self.ended.push_back(PendingEntries::words(seq, by));
                }
            }
            (None, _) => {}
        }
        true
    }

    /// Takes in what another's agent has said between turns, which may have been shown in part; says whether that is
    /// all of it.
    fn meet_words(&mut self, seq: u32, entry: &Entry<'_>, growing: Option<Growing>) -> bool {
        // Text alone grows.
        let growing = growing.filter(|_| plain_text(entry).is_some());
        let shown = self.words.as_ref().filter(|words| words.seq == seq);
        let is_new = match growing {
            None | Some(Growing::IsQuiet) => shown.is_none_or(|shown| shown.rest_of(entry).is_some()),
            Some(Growing::IsShown) => shown.is_none(),
            Some(Growing::Waits) => false,
        };
        let is_waiting = || self.ended.iter().any(|said| said.is_words() && said.from == seq);
        if is_new && !is_waiting() {
            self.ended.push_back(PendingEntries::words(seq, By::Another));
        }
        growing.is_none()
    }

    /// Nobody is at these of the turns that have begun: what was said in them is all.
    pub fn end_begun(&mut self, gone: &BTreeSet<String>) {
        let until = self.looked;
        let gone = self.begun.extract_if(.., |turn, _| gone.contains(turn));
        let said =
            gone.map(|(turn, from)| PendingEntries { is_cut_off: true, ..PendingEntries::turn(turn, from, until) });
        self.ended.extend(said);
    }

    /// Whether some of this turn was shown, or is to be, that did not end as far as was known.
    fn is_left_off(&self, turn: &str) -> bool {
        let is_shown = self.left_off.iter().any(|cut| cut.turn.as_deref() == Some(turn));
        is_shown || self.ended.iter().any(|said| said.turn.as_deref() == Some(turn))
    }

    /// What has come to what was shown of a turn while it could still grow. To one that did not end more may come.
    fn grown<S: Storage>(&mut self, storage: &S, log: &str, turn: &str, is_cut_off: bool) -> Result<Option<String>> {
        let is_its = |cut: &&Cut| cut.turn.as_deref() == Some(turn);
        let Some(shown) = self.cut.iter().chain(&self.left_off).find(is_its) else { return Ok(None) };
        let (rest, shown) = match shown.grown(storage, log)? {
            Some((rest, shown)) => (Some(rest), shown),
            None => (None, shown.clone()),
        };
        self.cut.take_if(|cut| is_its(&&*cut));
        self.left_off.retain(|cut| !is_its(&cut));
        self.left_off.extend(Some(shown).filter(|_| is_cut_off));
        Ok(rest)
    }

    /// What the calls come to that a turn has left open, once all else of it was shown: it did not end.
    fn ends_of_calls<S: Storage>(storage: &S, session: &Session, turn: &str) -> Result<Vec<String>> {
        let unfinished = mend::unfinished(storage, session)?;
        let left = unfinished.iter().find(|unfinished| unfinished.turn.as_deref() == Some(turn));
        let entries = left.map(mend::entries).unwrap_or_default().into_iter();
        let updates = entries.filter(|(kind, _)| *kind == Kind::Update);
        Ok(updates.map(|(kind, json)| Entry::tagged(kind, 0, Some(turn), &json)).collect())
    }

    /// The next entries to be shown, about as many bytes of them as there is room for. `None` where all was shown.
    pub fn next<S: Storage>(&mut self, storage: &S, session: &Session, room: usize) -> Result<Option<Part>> {
        let Some(PendingEntries { turn, by, is_cut_off, .. }) = self.ended.front().cloned() else { return Ok(None) };
        if let Some(turn) = turn
            && let Some(rest) = self.grown(storage, &session.id, &turn, is_cut_off)?
        {
            return Ok(Some(Part { by, entries: vec![rest] }));
        }
        let Some(said) = self.ended.front_mut() else { return Ok(None) };
        let room = u32::try_from(room).unwrap_or(u32::MAX);
        let bounds = Bounds { max_bytes: room.clamp(LEAST_BYTES, BATCH.max_bytes), ..BATCH };
        let log = said.log.clone().unwrap_or_else(|| session.id.clone());
        let page = storage.read_log(&log, said.from, bounds)?;
        let is_past = page.entries.last().is_none_or(|entry| entry.seq >= said.until) || !page.more;
        let of_turn = |text: &str| match &said.turn {
            Some(turn) => Entry::parse(text).is_some_and(|entry| entry.turn == Some(turn)),
            None => true,
        };
        let words = self.words.as_ref().filter(|words| said.is_words() && words.seq == said.from);
        let was_shown = |value: String| match words {
            Some(words) => Entry::parse(&value).and_then(|entry| words.rest_of(&entry)),
            None => Some(value),
        };
        let is_words = said.is_words() && by == By::Another;
        let met = page.entries.first().filter(|entry| is_words && entry.seq == said.from);
        let now_shown = met.and_then(|entry| Cut::of(entry.seq, &entry.value));
        // The window of a turn that did not end may only have been stopped: what it says next may come to the last entry.
        let last = page.entries.iter().find(|entry| is_cut_off && entry.seq == said.until && of_turn(&entry.value));
        let left_off = last.and_then(|entry| Cut::of(entry.seq, &entry.value));
        let ends = match said.turn.as_deref().filter(|_| is_past && said.is_cut_off) {
            Some(turn) => Self::ends_of_calls(storage, session, turn)?,
            None => Vec::new(),
        };
        let is_any_ended = !ends.is_empty();
        let known = said.turn.clone().filter(|turn| self.cut_off.contains(turn));
        let is_known =
            |text: &str| known.is_some() && Entry::parse(text).is_some_and(|entry| mend::is_end_of_call(&entry));
        let entries = page
            .entries
            .into_iter()
            .filter(|entry| entry.seq <= said.until)
            .inspect(|entry| said.from = entry.seq.saturating_add(1))
            .filter(|entry| session.has(&log, entry.seq) && of_turn(&entry.value) && !is_known(&entry.value))
            .filter_map(|entry| was_shown(entry.value))
            .chain(ends)
            .collect();
        self.words = now_shown.or_else(|| self.words.take());
        if let Some(left_off) = left_off {
            self.left_off.retain(|cut| cut.turn != left_off.turn);
            self.left_off.push(left_off);
        }
        if is_past && let Some(PendingEntries { turn: Some(turn), is_cut_off, .. }) = self.ended.pop_front() {
            if is_any_ended {
                self.cut_off.insert(turn);
            } else if !is_cut_off {
                self.cut_off.remove(&turn);
            }
        }
        Ok(Some(Part { by, entries }))
    }
}
