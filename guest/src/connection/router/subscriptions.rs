//! Who follows which lists: by subscriptions, which are given what changes, and by watches, of which only a hint comes
//! (draft: session list extensions).

use std::collections::{BTreeMap, BTreeSet};

use crate::sessions::changes::{Changed, Follower, Scope};
use crate::sessions::filter::{Found, Worktrees};

/// How many subscriptions a connection may have.
pub(super) const MOST_SUBSCRIPTIONS: usize = 128;
/// How many lists are watched for hints: the ones that were asked for last.
const MOST_WATCHES: usize = 64;
/// For how long, in milliseconds, as the draft has it.
const WATCHED_FOR: i64 = 600_000;

/// For how long it is asked which worktrees there are, in milliseconds: Git may take ten seconds to say so, and a host goes on for
/// some with what it knew.
const ASKED_FOR: i64 = 15_000;

/// A list whose first page was asked for.
#[derive(Debug)]
struct Watch {
    scope: Scope,
    until: i64,
}

/// All of them, and how far they have been followed: all of a connection's together.
#[derive(Debug, Default)]
pub(super) struct Subscriptions {
    pub(super) by_id: BTreeMap<String, Scope>,
    /// By the directory, as the client calls it, and whether worktrees are listed with it.
    watches: BTreeMap<(String, bool), Watch>,
    /// None where nobody follows anything.
    pub(super) follower: Option<Follower>,
    /// A look is under way.
    pub(super) is_looking: bool,
    /// When to look next.
    pub(super) next_look: i64,
    /// The directories of watched lists that are not what they were, to be told when the look is over.
    pub(super) hints: BTreeSet<String>,
    /// Until when it is asked with each look which worktrees there are.
    worktrees_until: i64,
    /// The host was told that it cannot be followed.
    pub(super) warned: bool,
}

impl Subscriptions {
    /// Whether nobody follows anything.
    pub(super) fn is_idle(&self) -> bool {
        self.by_id.is_empty() && self.watches.is_empty()
    }

    /// The client has asked for the first page of the list of a directory.
    pub(super) fn watch(&mut self, cwd: &str, has_worktrees: bool, scope: Scope, now: i64) {
        self.watches.insert((cwd.to_owned(), has_worktrees), Watch { scope, until: now + WATCHED_FOR });
        if self.watches.len() > MOST_WATCHES {
            let first = self.watches.iter().min_by_key(|(_, watch)| watch.until).map(|(key, _)| key.clone());
            first.map(|key| self.watches.remove(&key));
        }
    }

    /// Nobody waits any more for hints that were asked for long ago, by a clock that may have been set back since.
    pub(super) fn forget_old_watches(&mut self, now: i64) {
        self.watches.retain(|_, watch| (now..=now + WATCHED_FOR).contains(&watch.until));
        if self.is_idle() && self.follower.is_some() {
            *self = Self::default();
        }
    }

    /// It is asked with each look for some seconds which worktrees there are.
    pub(super) fn ask_for_worktrees(&mut self, now: i64) {
        self.worktrees_until = now + ASKED_FOR;
    }

    /// Whether it is.
    pub(super) fn asks_for_worktrees(&self, now: i64) -> bool {
        (now..=now + ASKED_FOR).contains(&self.worktrees_until)
    }

    /// Whether a session may be in a worktree of which one of the lists does not know.
    pub(super) fn may_lack(&self, changed: &Changed) -> bool {
        let watched = self.watches.values().map(|watch| &watch.scope);
        self.by_id.values().chain(watched).any(|scope| scope.may_lack(changed))
    }

    /// Finds out anew which worktrees there are. Gives the subscriptions that have others now, and notes the watched lists.
    pub(super) fn find_worktrees(&mut self, worktrees: Worktrees<'_>) -> Vec<String> {
        let is_moved = |scope: &mut Scope| scope.find(worktrees) == Found::Others;
        let moved = self.by_id.iter_mut().filter_map(|(id, scope)| is_moved(scope).then(|| id.clone())).collect();
        for ((cwd, _), watch) in &mut self.watches {
            if is_moved(&mut watch.scope) && !self.by_id.values().any(|scope| scope.covers(&watch.scope)) {
                self.hints.insert(cwd.clone());
            }
        }
        moved
    }

    /// Something concerns these lists: those that are watched are not what they were, unless a subscription tells of it.
    pub(super) fn note_change(&mut self, concerns: impl Fn(&Scope) -> bool) {
        if !self.by_id.values().any(&concerns) {
            self.note_hints(concerns);
        }
    }

    /// The lists that are watched of these are not what they were, but for those of which a subscription tells more.
    pub(super) fn note_hints(&mut self, concerns: impl Fn(&Scope) -> bool) {
        let concerned = self.watches.iter().filter(|(_, watch)| concerns(&watch.scope));
        let unsubscribed = concerned.filter(|(_, watch)| !self.by_id.values().any(|scope| scope.covers(&watch.scope)));
        self.hints.extend(unsubscribed.map(|((cwd, _), _)| cwd.clone()));
    }
}
