//! Worktrees that come and go while lists with them are followed (draft: session list extensions). No host tells of that; but
//! in one that matters a session is begun soon. One that goes, or comes back with its sessions, is found within a minute.

use crate::connection::router::Router;
use crate::environment::Environment;
use crate::sessions::changes::SomeChanges;
use crate::storage::Storage;

impl<S: Storage, E: Environment> Router<S, E> {
    /// Where a session has begun, since a revision, that the lists with worktrees lack, it may be in a new one: which there are
    /// is found out again, and once in a while in any case. Whoever follows a list that has others now is told to read it anew.
    pub(super) fn follow_worktrees(&mut self, step: &SomeChanges, since: u64, now: i64) {
        let of = &mut self.connection.subscriptions;
        let mut begun = step.changed.iter().filter(|changed| changed.session.born > since);
        if begun.any(|changed| of.may_lack(changed)) {
            of.ask_for_worktrees(now);
        }
        if !step.is_over || !of.asks_for_worktrees(now) {
            return;
        }
        for id in of.find_worktrees(&|cwd: &str| self.environment.worktrees(cwd)) {
            self.tell_to_read_again(&id);
        }
    }
}
