//! strace, by which the trial of crashes records what a program writes.

use anyhow::{Context as _, Result};

use super::wasm_target::{answers, apt_get};

/// Installs it from Debian, unless it is there.
pub(crate) fn ensure() -> Result<()> {
    if answers("strace") {
        return Ok(());
    }
    apt_get(&["update", "--quiet"])
        .and_then(|()| apt_get(&["install", "--quiet", "--yes", "--no-install-recommends", "strace"]))
        .context("strace is missing, and apt-get does not install it")
}
