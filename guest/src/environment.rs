//! What the engine is lent besides storage: a clock, randomness, and what the host knows of folders.

use std::cell::Cell;

/// The repository whose main worktree a directory is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    /// The hash of its first commit.
    pub first_commit: String,
    /// How many levels below the worktree's root the directory is.
    pub depth: u32,
}

/// What time it is, bytes nobody can guess, and what lies where sessions are.
pub trait Environment {
    /// Milliseconds since 1970, UTC.
    fn now(&self) -> i64;

    /// 64 random bits, good enough for ids.
    fn random(&self) -> u64;

    /// The directories that correspond to this one in the other worktrees of its repository, and its other paths. None where they are
    /// not known yet: then they are being found out, and may be by the time they are asked for again. There are none where there
    /// is no file system.
    fn worktrees(&self, _cwd: &str) -> Option<Vec<String>> {
        Some(Vec::new())
    }

    /// Which repository's main worktree a directory is in. None also where that is not known yet: then it is being found
    /// out, and may be by the time it is asked again. Nothing is known where there is no file system.
    fn repository(&self, _cwd: &str) -> Option<Repository> {
        None
    }
}

impl<E: Environment + ?Sized> Environment for &E {
    fn now(&self) -> i64 {
        (**self).now()
    }

    fn random(&self) -> u64 {
        (**self).random()
    }

    fn worktrees(&self, cwd: &str) -> Option<Vec<String>> {
        (**self).worktrees(cwd)
    }

    fn repository(&self, cwd: &str) -> Option<Repository> {
        (**self).repository(cwd)
    }
}

/// An environment as one call of the host's sees it: all that happens in a call happens at once. The clock is asked
/// once at most, and only where the time matters: calls out of the component are dear in some runtimes.
#[derive(Debug)]
pub struct Moment<E> {
    environment: E,
    now: Cell<Option<i64>>,
}

impl<E> Moment<E> {
    /// The first moment.
    pub fn new(environment: E) -> Self {
        Self { environment, now: Cell::new(None) }
    }

    /// This moment is over.
    pub fn pass(&self) {
        self.now.set(None);
    }
}

impl<E: Environment> Environment for Moment<E> {
    fn now(&self) -> i64 {
        let now = self.now.get().unwrap_or_else(|| self.environment.now());
        self.now.set(Some(now));
        now
    }

    fn random(&self) -> u64 {
        self.environment.random()
    }

    fn worktrees(&self, cwd: &str) -> Option<Vec<String>> {
        self.environment.worktrees(cwd)
    }

    fn repository(&self, cwd: &str) -> Option<Repository> {
        self.environment.repository(cwd)
    }
}
