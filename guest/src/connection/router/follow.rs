//! Telling the client what changes in lists that it follows: `session/list/changes`, `session/list/resync` and
//! `session/list_changed` (draft: session list extensions). It is looked once a second, and only where anybody follows. Where much
//! has changed, a look is many steps, each of which holds others up for a moment only: what they find goes on lines together.

use serde_json::json;

use crate::connection::router::Router;
use crate::connection::router::subscriptions::Findings;
use crate::connection::router::untold::Untold;
use crate::environment::Environment;
use crate::rpc;
use crate::sessions::changes::STEP;
use crate::storage::{Result, Storage};

/// How long after a look the next one is, in milliseconds: no session's change is told more often.
const LOOK_EVERY: i64 = 1000;
/// The most bytes of rows that are made at once, but for those of one subscription: each may be told all that a step has found.
const MOST_AT_ONCE: usize = 1024 * 1024;

impl<S: Storage, E: Environment> Router<S, E> {
    /// Tells some of what has changed, if it is time to. Returns in how many milliseconds it is to be called again; none
    /// where nobody follows. A client that does not read is told nothing: what it is told is as things are then.
    pub(super) fn tell_changes(&mut self, now: i64) -> Option<u32> {
        self.connection.subscriptions.forget_old_watches(now);
        let of = &self.connection.subscriptions;
        if of.is_idle() {
            return None;
        }
        let wait = of.next_look - now;
        if !of.is_looking && (1..=LOOK_EVERY).contains(&wait) {
            return Some(u32::try_from(wait).unwrap_or_default());
        }
        self.look(now);
        Some(u32::try_from(LOOK_EVERY).unwrap_or_default())
    }

    /// Goes on with a look that is under way: a step of it, so that others get their turn between.
    pub(super) fn go_on_telling(&mut self) {
        if self.is_telling() {
            self.look(self.now());
        }
    }

    /// Whether a look is under way, which is gone on with when the client has room.
    pub(super) fn is_telling(&self) -> bool {
        self.connection.subscriptions.is_looking
    }

    fn look(&mut self, now: i64) {
        if self.is_out_of_room() || !self.client_has_room {
            return;
        }
        self.refresh_agents_list();
        let is_over = self.tell_some(now).unwrap_or_else(|error| {
            if !std::mem::replace(&mut self.connection.subscriptions.warned, true) {
                self.warn(format!("what changes in lists cannot be told for now: {error}"));
            }
            self.tell_untold();
            true
        });
        let of = &mut self.connection.subscriptions;
        of.is_looking = !is_over;
        of.next_look = now + LOOK_EVERY;
    }

    /// Takes a step of a look, unless not all were told of the one before, and tells what has come together; says whether that was
    /// all.
    fn tell_some(&mut self, now: i64) -> Result<bool> {
        if let Some(found) = self.connection.subscriptions.found.take() {
            return Ok(self.tell_found(found));
        }
        let words = self.agents_words()?;
        let of = &mut self.connection.subscriptions;
        let Some(follower) = &mut of.follower else { return Ok(true) };
        let began = follower.began();
        let step = follower.step(&self.store, now, &words, STEP)?;
        self.follow_worktrees(&step, began, now);
        let of = &mut self.connection.subscriptions;
        if step.is_to_be_read_anew {
            let ids: Vec<String> = of.by_id.keys().cloned().collect();
            of.note_hints(|_| true);
            of.untold = Untold::default();
            for id in &ids {
                self.tell_to_read_again(id);
            }
            self.tell_hints();
            return Ok(true);
        }
        of.warned = false;
        for gone in &step.departed {
            of.note_change(|scope| scope.lacks(gone));
        }
        for changed in &step.changed {
            of.note_change(|scope| scope.has(changed));
        }
        let untold = of.by_id.keys().cloned().collect();
        Ok(self.tell_found(Findings { step, untold }))
    }

    /// Tells subscriptions what a step has found, one after the other, and not so many at once that their rows take much memory.
    /// Says whether the look is over.
    fn tell_found(&mut self, mut found: Findings) -> bool {
        let mut bytes = 0;
        while let Some(id) = found.untold.pop_front() {
            let of = &mut self.connection.subscriptions;
            let Some(scope) = of.by_id.get(&id) else { continue };
            let news = scope.news(&found.step);
            bytes += news.length();
            for line in of.untold.add(&id, news) {
                self.send_client(line);
            }
            if bytes > MOST_AT_ONCE && !found.untold.is_empty() {
                self.connection.subscriptions.found = Some(found);
                return false;
            }
        }
        if found.step.is_over {
            self.tell_untold();
            self.tell_hints();
        }
        found.step.is_over
    }

    /// The client is told of sessions as they are now. Subscriptions that were not told yet what a step has found, which may be older,
    /// are to be read again.
    pub(super) fn give_up_found(&mut self) {
        let found = self.connection.subscriptions.found.as_mut();
        for id in found.map(|found| std::mem::take(&mut found.untold)).unwrap_or_default() {
            if self.connection.subscriptions.by_id.contains_key(&id) {
                self.tell_to_read_again(&id);
            }
        }
    }

    /// Tells what a look has found so far. It does not wait any more to share a line with what is to come.
    pub(super) fn tell_untold(&mut self) {
        for line in self.connection.subscriptions.untold.take_all() {
            self.send_client(line);
        }
    }

    /// Not every change can be told to a subscription.
    pub(super) fn tell_to_read_again(&mut self, id: &str) {
        let params = json!({ "subscriptionId": id }).to_string();
        self.send_client(rpc::notification("session/list/resync", &params));
    }

    /// Says which lists are not what they were.
    fn tell_hints(&mut self) {
        for cwd in std::mem::take(&mut self.connection.subscriptions.hints) {
            self.send_client(rpc::notification("session/list_changed", &json!({ "cwd": cwd }).to_string()));
        }
    }
}
