//! Who follows which lists: by subscriptions, which are given what changes, and by watches, of which only a hint comes
//! (draft: session list extensions).

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::untold::Untold;
use crate::rpc::RpcError;
use crate::sessions::changes::{Changed, Follower, Scope, SomeChanges};
use crate::sessions::filter::{Filter, Found, Worktrees};

/// How many subscriptions a connection may have.
pub(super) const MOST_SUBSCRIPTIONS: usize = 128;
/// How many lists are watched for hints: the ones that were asked for last.
const MOST_WATCHES: usize = 64;
/// For how long, in milliseconds, as the draft has it.
const WATCHED_FOR: i64 = 600_000;

/// For how long it is asked which worktrees there are, in milliseconds: Git may take ten seconds to say so, and a host goes on for
/// some with what it knew.
const ASKED_FOR: i64 = 15_000;
/// How often it is asked, though nothing tells that there are others, in milliseconds.
const ASKED_EVERY: i64 = 60_000;

/// Why a client is not given one more than it may have.
pub(super) fn too_many() -> RpcError {
    let message = format!("would be one of more than {MOST_SUBSCRIPTIONS}: end another one before");
    RpcError::invalid_params("params", message)
}

/// Which list is watched.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Watched {
    /// The directory, as the client calls it.
    cwd: String,
    has_worktrees: bool,
    /// The agent whose sessions are listed; none where they are all agents'.
    agent: Option<String>,
}

/// A list whose first page was asked for.
#[derive(Debug)]
struct Watch {
    scope: Scope,
    until: i64,
}

/// What a step has found, and the subscriptions that were not told of it yet.
#[derive(Debug)]
pub(super) struct Findings {
    pub(super) step: SomeChanges,
    pub(super) untold: VecDeque<String>,
}

/// All of them, and how far they have been followed: all of a connection's together.
#[derive(Debug, Default)]
pub(super) struct Subscriptions {
    pub(super) by_id: BTreeMap<String, Scope>,
    watches: BTreeMap<Watched, Watch>,
    /// None where nobody follows anything.
    pub(super) follower: Option<Follower>,
    /// A look is under way.
    pub(super) is_looking: bool,
    /// What its last step has found, while there are some that were not told of it.
    pub(super) found: Option<Findings>,
    /// What it has found so far and was not told yet.
    pub(super) untold: Untold,
    /// When to look next.
    pub(super) next_look: i64,
    /// The directories of watched lists that are not what they were, to be told when the look is over.
    pub(super) hints: BTreeSet<String>,
    /// Until when it is asked with each look which worktrees there are.
    worktrees_until: i64,
    /// When it is asked next though nothing tells that there are others.
    worktrees_next: i64,
    /// The directories whose worktrees are asked for until the host has said which there are: no longer, since each answer may
    /// cost a program of its own.
    worktrees_due: BTreeSet<String>,
    /// The host was told that it cannot be followed.
    pub(super) warned: bool,
}

impl Subscriptions {
    /// Somebody follows from now on.
    pub(super) fn begin(&mut self, follower: Follower, now: i64) {
        self.follower = Some(follower);
        self.found = None;
        self.next_look = now;
        self.worktrees_next = now + ASKED_EVERY;
    }

    /// Whether nobody follows anything.
    pub(super) fn is_idle(&self) -> bool {
        self.by_id.is_empty() && self.watches.is_empty()
    }

    /// Whether there is nothing to know of any.
    pub(super) fn are_none(&self) -> bool {
        self.is_idle() && self.follower.is_none() && !self.warned
    }

    /// The client has asked for the first page of the list of a directory.
    pub(super) fn watch(&mut self, cwd: String, scope: Scope, now: i64) {
        let has_worktrees = !scope.with_worktrees().is_empty();
        let watched = Watched { cwd, has_worktrees, agent: scope.agent().map(str::to_owned) };
        self.watches.insert(watched, Watch { scope, until: now + WATCHED_FOR });
        if self.watches.len() > MOST_WATCHES {
            let first = self.watches.iter().min_by_key(|(_, watch)| watch.until).map(|(watched, _)| watched.clone());
            first.map(|watched| self.watches.remove(&watched));
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

    /// It was found out by the way which worktrees a list has: it is asked soon for those that are followed and have others.
    pub(super) fn compare_worktrees(&mut self, found: &Filter) {
        let outdated = self.scopes().filter(|scope| scope.is_outdated_by(found));
        let directories: Vec<String> = outdated.flat_map(Scope::with_worktrees).cloned().collect();
        self.worktrees_due.extend(directories);
    }

    /// Whether anything is to be asked of worktrees now: once in a while of each directory, where nothing tells that there are others.
    pub(super) fn asks_for_worktrees(&mut self, now: i64) -> bool {
        // What is further off was put there by a clock that has been set back since.
        if !(now + 1..=now + ASKED_EVERY).contains(&self.worktrees_next) {
            self.worktrees_next = now + ASKED_EVERY;
            self.worktrees_due = self.directories();
        }
        if (now..=now + ASKED_FOR).contains(&self.worktrees_until) {
            self.worktrees_due = self.directories();
        }
        !self.worktrees_due.is_empty()
    }

    fn scopes(&self) -> impl Iterator<Item = &Scope> {
        self.by_id.values().chain(self.watches.values().map(|watch| &watch.scope))
    }

    /// The directories that are followed with their worktrees.
    fn directories(&self) -> BTreeSet<String> {
        self.scopes().flat_map(Scope::with_worktrees).cloned().collect()
    }

    /// Whether a session may be in a worktree of which one of the lists does not know.
    pub(super) fn may_lack(&self, changed: &Changed) -> bool {
        self.scopes().any(|scope| scope.may_lack(changed))
    }

    /// Finds out which worktrees there are of the directories that are due. Gives the subscriptions that have others now, and notes
    /// the watched lists.
    pub(super) fn find_worktrees(&mut self, worktrees: Worktrees<'_>) -> Vec<String> {
        let due = std::mem::take(&mut self.worktrees_due).into_iter();
        let asked: BTreeMap<_, _> = due.map(|cwd| (cwd.clone(), worktrees(&cwd))).collect();
        let not_yet = asked.iter().filter(|(_, found)| found.is_none());
        self.worktrees_due = not_yet.map(|(cwd, _)| cwd.clone()).collect();
        let known = |cwd: &str| asked.get(cwd).cloned().flatten();
        let is_moved = |scope: &mut Scope| scope.find(&known) == Found::Others;
        let moved = self.by_id.iter_mut().filter_map(|(id, scope)| is_moved(scope).then(|| id.clone())).collect();
        for (watched, watch) in &mut self.watches {
            if is_moved(&mut watch.scope) && !self.by_id.values().any(|scope| scope.covers(&watch.scope)) {
                self.hints.insert(watched.cwd.clone());
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
        self.hints.extend(unsubscribed.map(|(watched, _)| watched.cwd.clone()));
    }
}
