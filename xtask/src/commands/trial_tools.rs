//! What the trials need of other people's programs: strace, by which that of crashes records what a program writes, and
//! libfaketime, by which that of programs at work puts the clock forward and back.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

use super::wasm_target::{answers, apt_get};

/// Installs them from Debian, unless they are there.
pub(crate) fn ensure() -> Result<()> {
    let missing: Vec<&str> = [("strace", answers("strace")), ("faketime", has_faketime())]
        .into_iter()
        .filter_map(|(package, is_there)| (!is_there).then_some(package))
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let install = [&["install", "--quiet", "--yes", "--no-install-recommends"], &missing[..]].concat();
    apt_get(&["update", "--quiet"])
        .and_then(|()| apt_get(&install))
        .with_context(|| format!("{} is missing, and apt-get does not install it", missing.join(" and ")))
}

/// Whether the library is in any of the folders for libraries of one architecture.
fn has_faketime() -> bool {
    let folders = fs::read_dir(Path::new("/usr/lib")).into_iter().flatten().flatten();
    folders.into_iter().any(|folder| folder.path().join("faketime/libfaketime.so.1").exists())
}
