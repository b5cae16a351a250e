//! Which store to use.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;

use crate::component::{Component, Limits};
use crate::store::{Sqlite, default_path};

/// Where the sessions are.
#[derive(Debug, Args)]
pub(super) struct StoreOptions {
    /// The file that holds the sessions [default: acp-sessions/sessions.db in the user's data folder]
    #[arg(long, value_name = "PATH", env = "ACP_SESSIONS_STORE")]
    store: Option<PathBuf>,
}

impl StoreOptions {
    pub(super) fn path(&self) -> anyhow::Result<PathBuf> {
        self.store
            .clone()
            .or_else(default_path)
            .context("there is no home folder to keep sessions in: name a file with --store PATH")
    }

    pub(super) fn open(&self) -> anyhow::Result<Sqlite> {
        Ok(Sqlite::builder().file(self.path()?).build()?)
    }

    /// For commands that have no use for an empty store: it must be there already.
    pub(super) fn open_existing(&self) -> anyhow::Result<Sqlite> {
        let path = self.path()?;
        anyhow::ensure!(path.exists(), "there are no sessions yet: {} does not exist", path.display());
        self.open()
    }
}

/// Loads the engine.
pub(super) fn engine() -> anyhow::Result<Component<Sqlite>> {
    Component::embedded(Limits::default())
        .map_err(anyhow::Error::from)
        .context("the built-in session engine cannot be loaded")
}
