//! The order in which a transcript is given: turn by turn.
//!
//! Several windows on one session write to one log, so the entries of their turns lie between each other. From a turn's
//! first entry on, its entries are given up to its end, and those between them are passed over; then reading goes back to
//! the first that was passed over, and what was given is skipped. Prompts that bear one tag, because a client did not wait
//! for the first, are one turn. What belongs to no turn is never drawn forward. Every
//! entry is given once, whatever the turns do: one that does not end counts as over when nothing of it was seen for a
//! while, and what comes of it later is given where it stands. So does one whose window others took for gone: it may only have
//! been stopped, and go on.

use super::cut::Prefix;
use super::entry::{Entry, Kind};
use super::mend;
use super::position::{Done, MOST_DONE, Position};

/// How far is read on for a turn of which nothing is seen.
#[derive(Debug, Clone, Copy)]
pub(super) struct LookAhead {
    pub(super) entries: u64,
    pub(super) bytes: usize,
}

impl Default for LookAhead {
    fn default() -> Self {
        Self { entries: 2000, bytes: 8 * 1024 * 1024 }
    }
}

/// What to do with an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryAction {
    /// It comes now.
    Give,
    /// It was given, or is gone back to.
    Pass,
    /// Neither: first comes what was passed over.
    GoBack,
}

/// Reads in that order: is shown the entry at [`Position::next`] and says what to do with it.
#[derive(Debug)]
pub(super) struct Turns {
    position: Position,
    look_ahead: LookAhead,
    /// How much has gone by since the turn was seen.
    quiet: u64,
    quiet_bytes: usize,
}

impl Turns {
    /// From this place on.
    pub(super) fn from(position: Position, look_ahead: LookAhead) -> Self {
        Self { position, look_ahead, quiet: 0, quiet_bytes: 0 }
    }

    pub(super) fn position(&self) -> &Position {
        &self.position
    }

    /// The last entry that was given may still grow, and so much of it was given; or it may not.
    pub(super) fn cut_at(&mut self, cut: Option<Prefix>) {
        self.position.cut = cut;
    }

    /// There are no entries before this one.
    pub(super) fn skip_to(&mut self, place: u64) {
        self.position.next = self.position.next.max(place);
    }

    /// Shown the text of the next entry.
    pub(super) fn meet(&mut self, text: &str) -> EntryAction {
        let step = self.decide(text);
        self.forget_done();
        step
    }

    fn decide(&mut self, text: &str) -> EntryAction {
        let entry = Entry::parse(text);
        let tag = entry.and_then(|entry| entry.turn);
        let kind = entry.map(|entry| entry.kind);
        let ends = entry.is_some_and(|entry| entry.kind == Kind::TurnEnd && !mend::is_end_of_turn(&entry));
        let is_quiet = self.quiet >= self.look_ahead.entries || self.quiet_bytes >= self.look_ahead.bytes;
        if let Some(turn) = &self.position.turn {
            let is_its = tag == Some(&**turn);
            if is_quiet && self.leave() {
                return EntryAction::GoBack;
            }
            if !is_quiet {
                return if is_its { self.give_of_turn(ends) } else { self.pass(tag, text.len()) };
            }
        }
        self.meet_outside(tag, kind)
    }

    /// There are no more entries. Says whether some were passed over, which come now.
    pub(super) fn meet_end(&mut self, length: u64) -> bool {
        if self.position.back.is_some() {
            return self.leave();
        }
        self.skip_to(length);
        self.forget_done();
        false
    }

    fn meet_outside(&mut self, tag: Option<&str>, kind: Option<Kind>) -> EntryAction {
        let place = self.position.next;
        let is_given = tag.is_some_and(|tag| self.is_done(tag, place));
        self.position.next += 1;
        if is_given {
            return EntryAction::Pass;
        }
        // An end that stands alone begins nothing; and where too much is open at once, entries come as they stand.
        let begins = kind != Some(Kind::TurnEnd) && self.position.done.len() < MOST_DONE;
        self.position.turn = tag.filter(|_| begins).map(Into::into);
        EntryAction::Give
    }

    fn give_of_turn(&mut self, ends: bool) -> EntryAction {
        self.position.next += 1;
        (self.quiet, self.quiet_bytes) = (0, 0);
        if ends {
            self.leave();
        }
        EntryAction::Give
    }

    fn pass(&mut self, tag: Option<&str>, bytes: usize) -> EntryAction {
        let place = self.position.next;
        if !tag.is_some_and(|tag| self.is_done(tag, place)) {
            self.position.back.get_or_insert(place);
        }
        self.position.next += 1;
        self.quiet += 1;
        self.quiet_bytes += bytes;
        EntryAction::Pass
    }

    /// The turn is over. Says whether reading goes back.
    fn leave(&mut self) -> bool {
        let seen = self.position.next - self.quiet.min(self.position.next);
        (self.quiet, self.quiet_bytes) = (0, 0);
        let (turn, back) = (self.position.turn.take(), self.position.back.take());
        let Some(back) = back else { return false };
        if let Some(turn) = turn.filter(|_| seen > back) {
            self.position.done.push(Done { turn, until: seen });
        }
        self.position.next = back;
        true
    }

    /// What was given ahead is of no interest where everything before it was given too.
    fn forget_done(&mut self) {
        let first_left = self.position.first_left();
        self.position.done.retain(|done| done.until > first_left);
    }

    fn is_done(&self, tag: &str, place: u64) -> bool {
        self.position.done.iter().any(|done| *done.turn == *tag && place < done.until)
    }
}
