//! The package for Python, in an environment of its own in cargo's target directory.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use super::test::official;
use crate::workspace;

/// What is copied of the package to be built: so building it leaves nothing in the checkout.
const SOURCES: [&str; 3] = ["pyproject.toml", "README.md", "src"];

/// What Python has compiled.
const COMPILED: [&str; 1] = ["__pycache__"];

/// The package's folder.
pub(crate) fn package() -> PathBuf {
    workspace::root().join("embed/python")
}

/// The folder of its environment.
pub(crate) fn environment() -> Result<PathBuf> {
    Ok(workspace::target_dir()?.join("embed-python"))
}

/// Installs what it needs, what builds it and what checks it.
pub(crate) fn install() -> Result<()> {
    let (requirements, environment) = (package().join("tests/requirements.txt"), environment()?);
    official::once(&requirements, &environment, || official::environment(&environment, &requirements))
}

/// The interpreter of its environment.
pub(crate) fn interpreter() -> Result<Command> {
    Ok(Command::new(official::interpreter(&environment()?)?))
}

/// Copies all that the package is built of to an empty folder, with the component that the build made.
pub(crate) fn source(to: &Path) -> Result<()> {
    if to.exists() {
        fs::remove_dir_all(to).with_context(|| format!("cannot remove {}", to.display()))?;
    }
    for name in SOURCES {
        workspace::copy(&package().join(name), &to.join(name), &COMPILED)?;
    }
    workspace::copy(&workspace::component()?, &to.join("src/acp_sessions/engine.wasm"), &COMPILED)?;
    // The tables of its store in a file are the host's.
    workspace::copy(
        &workspace::root().join("host/src/store/sqlite/schema"),
        &to.join("src/acp_sessions/sqlite/schema"),
        &COMPILED,
    )
}
