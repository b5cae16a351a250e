//! The Rust SDK's conductor, which does for proxies what the layer does without them: the yardstick.

use std::path::PathBuf;

use anyhow::{Context as _, Result};

use crate::workspace;

const NAME: &str = "agent-client-protocol-conductor";
const VERSION: &str = "5.0.0";

/// The program; built first if it is not there yet.
pub(super) fn installed() -> Result<PathBuf> {
    let root = workspace::target_dir()?.join("conductor");
    let program = root.join("bin").join(NAME).with_extension(std::env::consts::EXE_EXTENSION);
    if !program.is_file() {
        eprintln!("Building {NAME} {VERSION} to compare with; only the first time");
        let mut cargo = workspace::cargo(["install", "--locked", NAME, "--version", VERSION, "--root"]);
        cargo.arg(&root).arg("--target-dir").arg(root.join("build"));
        workspace::run(&mut cargo).context("the conductor to compare with cannot be installed")?;
    }
    Ok(program)
}
