//! Which store to use.

use std::env;
use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use directories::BaseDirs;

use crate::store::sqlite::{Builder, OpenError};
use crate::store::{Sqlite, default_path};

/// Where the sessions are.
#[derive(Debug, Args)]
pub(super) struct StoreOptions {
    /// The file that holds the sessions [default: what `ACP_SESSIONS_STORE` names, or acp-sessions/sessions.db in the user's
    /// data folder]
    #[arg(long, value_name = "PATH")]
    store: Option<PathBuf>,
}

/// Names the store where the command line does not; set to nothing it is not set.
const VARIABLE: &str = "ACP_SESSIONS_STORE";

/// Editors give what their settings have: no shell has made a home folder of the tilde.
fn in_home(path: PathBuf) -> PathBuf {
    let below = path.strip_prefix("~").ok().filter(|below| !below.as_os_str().is_empty());
    below.and_then(|below| Some(BaseDirs::new()?.home_dir().join(below))).unwrap_or(path)
}

impl StoreOptions {
    pub(super) fn path(&self) -> anyhow::Result<PathBuf> {
        self.named()
            .or_else(default_path)
            .context("there is no home folder to keep sessions in: name a file with --store PATH")
    }

    pub(super) fn open(&self) -> anyhow::Result<Sqlite> {
        let path = self.path()?;
        if path.exists() {
            check_readable(&path)?;
        }
        Ok(self.builder()?.build()?)
    }

    fn builder(&self) -> anyhow::Result<Builder> {
        let builder = Sqlite::builder().file(self.path()?);
        // In a folder that somebody has named there may be other things, for others too.
        Ok(if self.named().is_none() { builder.owns_folder() } else { builder })
    }

    fn named(&self) -> Option<PathBuf> {
        let by_variable = || env::var_os(VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from);
        self.store.clone().or_else(by_variable).map(in_home)
    }

    /// What the command line names, if it does.
    pub(super) fn given(&self) -> Option<&Path> {
        self.store.as_deref()
    }

    /// For commands that have no use for an empty store: it must be there already.
    pub(super) fn open_existing(&self) -> anyhow::Result<Sqlite> {
        self.check_exists()?;
        self.open()
    }

    /// Opens a store that must be there already for long work, beside which others go on with theirs.
    pub(super) fn open_existing_beside_others(&self) -> anyhow::Result<Sqlite> {
        self.check_exists()?;
        Ok(self.builder()?.gives_way().build()?)
    }

    pub(super) fn check_exists(&self) -> anyhow::Result<()> {
        let path = self.path()?;
        let is_there = path.try_exists().with_context(|| format!("{} cannot be looked at", path.display()))?;
        anyhow::ensure!(is_there, "there are no sessions yet: {} does not exist", path.display());
        check_readable(&path)
    }
}

/// That it is a file that may be read. Of anything else nothing is opened: a pipe would wait for somebody who writes.
fn check_readable(path: &Path) -> anyhow::Result<()> {
    if !path.is_file() {
        return Err(OpenError::NoFile(path.to_owned()).into());
    }
    // SQLite says of a file that may not be read no more than that it cannot be opened.
    File::open(path).with_context(|| format!("the session store {} cannot be read", path.display()))?;
    Ok(())
}
