//! What the engine may know of the folders that sessions are in: the import `folders`, as whoever runs the engine has it.
//!
//! The program has it of Git, by Git's own program: whoever has repositories has that, and a library would be much of this
//! program (`ARCHITECTURE.md` has the figures). Each question is put by a thread of its own: no call of the engine's waits for it.

mod asked;
mod git;
mod worktrees;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

pub use crate::component::folders::Repository;

use self::asked::{Asked, Terms};
use crate::component::folders::Host;

/// How long the worktrees of a folder are taken to stay as they are.
const WORKTREES_FRESH: Duration = Duration::from_secs(3);
/// For how long it is said of an answer that it is not known yet, and is worth asking for again soon. Git mostly takes a few
/// milliseconds.
const PATIENCE: Duration = Duration::from_millis(900);
/// How long the repository of a folder is taken to stay the same: that changes hardly ever, and may take long to be found out.
const REPOSITORY_FRESH: Duration = Duration::from_mins(10);

/// Somebody who knows of folders. The engine waits for each of these calls, so they should return at once.
pub trait Lookup: Send + Sync {
    /// The directories that correspond to this one in the other worktrees of its repository, and its own other paths where it is
    /// reached by links; only those that exist. None where they are not known yet: a list waits for them for up to a second, and
    /// they are asked for again.
    fn worktrees(&self, cwd: &str) -> Option<Vec<String>>;

    /// The repository whose main worktree a directory is in. None also where that is not known yet: it is asked again.
    fn repository(&self, cwd: &str) -> Option<Repository>;

    /// Whether something that was asked for is being found out, or was and was not asked for since: it is worth asking for it
    /// again soon.
    fn is_finding(&self) -> bool {
        false
    }
}

/// What is known of folders. Its clones know the same.
#[derive(Clone, Default)]
pub struct Folders(Option<Arc<dyn Lookup>>);

impl Folders {
    /// Nothing, as where there is no file system.
    pub fn none() -> Self {
        Self::default()
    }

    /// What Git says of the folders of this machine, if it is there.
    pub fn of_git() -> Self {
        let worktrees = Terms { fresh: WORKTREES_FRESH, patience: PATIENCE };
        let repositories = Terms { fresh: REPOSITORY_FRESH, patience: PATIENCE };
        Self::by(Git {
            worktrees: Asked::new(worktrees, worktrees::worktrees),
            repositories: Asked::new(repositories, git::repository),
        })
    }

    /// Whether something that was asked for is being found out, or is known and was not asked for since: the engine is to be
    /// told soon that time has passed.
    pub fn is_finding(&self) -> bool {
        self.0.as_ref().is_some_and(|lookup| lookup.is_finding())
    }

    /// Ends what is being found out, as the program ends.
    pub fn stop() {
        git::stop();
    }

    /// What somebody else knows.
    pub fn by(lookup: impl Lookup + 'static) -> Self {
        Self(Some(Arc::new(lookup)))
    }
}

impl fmt::Debug for Folders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Folders::by(..)" } else { "Folders::none()" })
    }
}

/// What Git says, kept for a while.
struct Git {
    worktrees: Asked<Vec<String>>,
    repositories: Asked<Option<Repository>>,
}

impl Lookup for Git {
    fn worktrees(&self, cwd: &str) -> Option<Vec<String>> {
        self.worktrees.ask(cwd)
    }

    fn repository(&self, cwd: &str) -> Option<Repository> {
        self.repositories.ask(cwd).flatten()
    }

    fn is_finding(&self) -> bool {
        self.worktrees.is_asking() || self.repositories.is_asking()
    }
}

/// The repository whose main worktree a directory is in, as Git says. It may take ten seconds to find out.
pub fn repository_of(cwd: &str) -> Option<Repository> {
    git::repository(cwd)
}

impl Host for Folders {
    fn worktrees(&mut self, cwd: String) -> wasmtime::Result<Option<Vec<String>>> {
        Ok(self.0.as_ref().map_or_else(|| Some(Vec::new()), |lookup| lookup.worktrees(&cwd)))
    }

    fn repository_of(&mut self, cwd: String) -> wasmtime::Result<Option<Repository>> {
        Ok(self.0.as_ref().and_then(|lookup| lookup.repository(&cwd)))
    }
}
