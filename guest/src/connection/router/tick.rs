//! What time brings: writing what was recorded, deadlines, open marks, retention, removing what was deleted.

use crate::connection::live::LiveSession;
use crate::connection::router::Router;
use crate::connection::router::times::{SWEEP_FIRST, Upgrade};
use crate::environment::Environment;
use crate::sessions::removal::{self, RemovalStep};
use crate::sessions::{open_marks, retention, staging, upgrade};
use crate::storage::Storage;

/// How often retention looks, in milliseconds, and how often while there is more to remove.
const SWEEP_EVERY: i64 = 600_000;
const SWEEP_AGAIN: i64 = 100;
/// A clock that goes on by more than this has been asleep: other windows need a moment to say that they are still there.
const ASLEEP: i64 = 60_000;
/// How often it is looked whether others have left anything to be removed, and when some more of it is.
const REMOVE_EVERY: i64 = 60_000;
const REMOVE_AGAIN: u32 = 20;
/// How many sessions it removes at a time: requests wait for these.
const SWEEP_BATCH: u32 = 4;
const HOUR: i64 = 3_600_000;

impl<S: Storage, E: Environment> Router<S, E> {
    /// Time has passed. Returns when to call again.
    pub(crate) fn tick(&mut self) -> u32 {
        let now = self.now();
        self.look_at_clock(now);
        self.wake(now);
        self.write_due(now);
        for key in self.session_keys() {
            self.with(&key, |session, cx| {
                session.others_have_written(cx);
                session.rest_is_told(cx);
                session.opening_overdue(cx);
                session.telling_overdue(cx);
                session.late_replay_overdue(cx);
                session.closing_overdue(cx);
                session.look_at_state(cx);
            });
        }
        self.introduction_overdue();
        self.lists_overdue(now);
        self.page_overdue();
        let worktrees = self.ask_for_worktrees(now);
        self.beat();
        self.sweep(now);
        let is_removing = self.remove_some(now);
        let is_upgrading = self.upgrade_some();
        self.discover_some();
        self.note_folders(now);
        self.keep_in_step(now);
        let changes = self.tell_changes(now);
        if self.has_more_of_list() || is_upgrading {
            return 0;
        }
        let is_soon =
            |session: &LiveSession| session.is_due(now) || session.awaits_others() || session.awaits_rest_of_history();
        let is_due = self.connection.sessions.values().any(is_soon);
        let next = if is_due { self.settings.flush_ms } else { 1000 };
        let next = if is_removing { next.min(REMOVE_AGAIN) } else { next };
        let patience = self.connection.discovery.patience(now);
        [changes, worktrees, patience].into_iter().flatten().fold(next, u32::min)
    }

    /// Deadlines are kept in the clock's own time: where it has been set back, they are moved along.
    fn look_at_clock(&mut self, now: i64) {
        let times = &mut self.connection.times;
        let back = times.seen - now;
        times.seen = now;
        if -back > ASLEEP {
            times.sweep = times.sweep.max(now + SWEEP_FIRST);
        }
        if back > 0 {
            times.flushed = times.flushed.min(now) - i64::from(self.settings.flush_ms);
            times.sweep -= back;
            times.removal = now;
            self.connection.beaten = None;
        }
    }

    /// Time has passed, or something has come. Where this program has been asleep, others have been, too: a computer that wakes
    /// up wakes them one after the other, and what is under way in a window that has not yet said that it is still there is not
    /// over. Where the clock was set, it was set for all of them.
    pub(super) fn wake(&mut self, now: i64) {
        let Some(before) = self.connection.times.running.look(now) else { return };
        let until = now + open_marks::BELIEVED_FOR;
        if let Err(error) = open_marks::vouch(&self.store, &self.connection.name, before, until) {
            self.not_recorded(&error.to_string());
        }
    }

    /// Writes what was recorded, if it has waited long enough.
    fn write_due(&mut self, now: i64) -> bool {
        if (0..i64::from(self.settings.flush_ms)).contains(&(now - self.connection.times.flushed)) {
            return false;
        }
        self.connection.times.flushed = now;
        let due = self.connection.sessions.iter().filter(|(_, session)| session.is_due(now));
        for key in due.map(|(key, _)| key.clone()).collect::<Vec<_>>() {
            self.with(&key, |session, cx| session.write_if_due(cx, false));
        }
        if !self.is_saving_put_off() {
            self.saved_again();
        }
        true
    }

    /// Writes what is due while lines keep coming, and what has grown large at once.
    pub(crate) fn flush_full(&mut self) {
        let now = self.now();
        if self.write_due(now) {
            // It may be long since anybody has said that time has passed: the clock has stepped, the computer was asleep, or
            // lines keep coming. Others would take what is under way here for cut off.
            if !self.is_saving_put_off() {
                self.beat();
            }
            self.keep_in_step(now);
            self.tell_changes(now);
            return;
        }
        let full = self.connection.sessions.iter().filter(|(_, session)| session.is_full());
        for key in full.map(|(key, _)| key.clone()).collect::<Vec<_>>() {
            self.with(&key, |session, cx| session.write_if_due(cx, false));
        }
    }

    /// Vouches for this connection's open marks, and sets those that are not there.
    fn beat(&mut self) {
        if self.connection.sessions.is_empty() {
            return;
        }
        if let Err(error) = self.cx().beat() {
            return self.not_recorded(&error.to_string());
        }
        // Marks that the store did not take.
        let unmarked = self.connection.sessions.iter().filter(|(_, session)| session.lacks_mark());
        for key in unmarked.map(|(key, _)| key.clone()).collect::<Vec<_>>() {
            self.with(&key, LiveSession::mark);
        }
    }

    /// Brings a store of an earlier version up to date, a few sessions at a time; says whether there is more to do at
    /// once. It does not come before `initialize` is answered.
    fn upgrade_some(&mut self) -> bool {
        if !self.connection.stage.is_initialized() {
            return false;
        }
        let is_due = match self.connection.times.upgrade {
            Upgrade::Unknown => upgrade::is_due(&self.store),
            Upgrade::UnderWay => upgrade::step(&self.store),
            Upgrade::Over => return false,
        };
        let is_due = is_due.unwrap_or_else(|error| {
            self.warn(format!("the store of an earlier version could not be brought up to date: {error}"));
            false
        });
        self.connection.times.upgrade = if is_due { Upgrade::UnderWay } else { Upgrade::Over };
        is_due
    }

    /// Removes some of what deleted sessions have left; says whether there is more.
    fn remove_some(&mut self, now: i64) -> bool {
        if !self.connection.stage.is_initialized() {
            return false;
        }
        if now < self.connection.times.removal && !self.store.take_let_go() {
            return false;
        }
        let step = removal::try_step(&self.store);
        // The rest of what it has removed waits for a moment.
        self.store.take_let_go();
        let (is_more, wait) = match step {
            Ok(RemovalStep::More) => (true, i64::from(REMOVE_AGAIN)),
            Ok(RemovalStep::Over | RemovalStep::Outrun) => (false, REMOVE_EVERY),
            Err(error) => {
                self.warn(format!("what deleted sessions have left could not be removed yet: {error}"));
                (false, SWEEP_EVERY)
            }
        };
        self.connection.times.removal = now + wait;
        is_more
    }

    /// Removes what has been idle for too long, a few sessions at a time.
    fn sweep(&mut self, now: i64) {
        if now < self.connection.times.sweep {
            return;
        }
        let policy = retention::Policy {
            idle_since: days_before(now, self.settings.retain_days),
            unprompted_since: hours_before(now, self.settings.prune_empty_hours),
        };
        let after = self.connection.times.sweep_after.take();
        let is_first = after.is_none();
        if is_first {
            // Nothing that its user has said anything in is taken for empty.
            self.give_back_all_unsent(now);
        }
        let swept = retention::sweep(&self.store, &policy, now, SWEEP_BATCH, after).and_then(|swept| {
            if is_first {
                staging::sweep(&self.store, now)?;
            }
            Ok(swept)
        });
        let wait = match swept {
            Ok(swept) => {
                self.connection.times.sweep_after = swept.next;
                if self.connection.times.sweep_after.is_some() { SWEEP_AGAIN } else { SWEEP_EVERY }
            }
            Err(error) => {
                self.warn(format!("old sessions could not be removed: {error}"));
                SWEEP_EVERY
            }
        };
        self.connection.times.sweep = now + wait;
    }
}

fn days_before(now: i64, days: u32) -> Option<i64> {
    (days > 0).then(|| now - i64::from(days) * 24 * HOUR)
}

fn hours_before(now: i64, hours: u32) -> Option<i64> {
    (hours > 0).then(|| now - i64::from(hours) * HOUR)
}
