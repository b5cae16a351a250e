//! Where somebody goes on who follows a list without a connection.

use super::{Follower, STEP, Scope, SomeChanges};
use crate::sessions::states::AgentsWords;
use crate::storage::{Result, Storage};
use crate::store::Store;

/// What the text begins with where the list has worktrees: a follower's begins with a digit.
const OF_WORKTREES: char = 'w';

/// How far somebody has followed a list, and in which directories that is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position {
    follower: Follower,
    /// [Those](Scope::worktrees_fingerprint) that the list was followed in. A position of before there were any knows of none.
    worktrees: Option<u64>,
}

impl Position {
    /// Follows this list from now on.
    pub fn begin<S: Storage>(store: &Store<S>, scope: &Scope, now: i64) -> Result<Self> {
        let follower = Follower::begin(store, now, &AgentsWords::new())?;
        Ok(Self { follower, worktrees: scope.worktrees_fingerprint() })
    }

    /// Looks whether anything has changed, or goes on with the look that is under way. Where the list has other worktrees than
    /// it had it is to be read anew: nothing says what was in those all along.
    pub fn step<S: Storage>(&mut self, store: &Store<S>, scope: &Scope, now: i64) -> Result<SomeChanges> {
        if self.worktrees == scope.worktrees_fingerprint() {
            return self.follower.step(store, now, &AgentsWords::new(), STEP);
        }
        *self = Self::begin(store, scope, now)?;
        Ok(SomeChanges { is_over: true, is_to_be_read_anew: true, ..SomeChanges::default() })
    }

    /// What [`Self::read_from`] reads.
    pub fn to_text(&self) -> String {
        let follower = self.follower.to_text();
        self.worktrees
            .map_or_else(|| follower.clone(), |worktrees| format!("{OF_WORKTREES}{worktrees:016x}/{follower}"))
    }

    /// Goes on from there; `None` for what is no such place.
    pub fn read_from(text: &str) -> Option<Self> {
        let Some(rest) = text.strip_prefix(OF_WORKTREES) else {
            return Some(Self { follower: Follower::read_from(text)?, worktrees: None });
        };
        let (worktrees, follower) = rest.split_once('/')?;
        let worktrees = u64::from_str_radix(worktrees, 16).ok()?;
        Some(Self { follower: Follower::read_from(follower)?, worktrees: Some(worktrees) })
    }
}
