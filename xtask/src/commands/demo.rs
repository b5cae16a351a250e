//! `cargo xtask demo`: an editor's conversation with the built-in agent, played and shown.

mod editor;
mod show;
pub(crate) mod story;

use anyhow::{Context as _, Result};

use crate::{style, workspace};

/// Builds the program, plays the conversation and shows it; an error if anything is not as it should be.
pub(crate) fn run() -> Result<()> {
    super::wasm_target::ensure()?;
    workspace::build(&["acp-sessions"])?;
    let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
    story::tell(&workspace::program("acp-sessions")?, folder.path())?;
    println!("\n{}", style::good("All of it went as it should."));
    Ok(())
}
