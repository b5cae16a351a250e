//! Whether the same sources give the same bytes in another folder.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use tempfile::TempDir;

use super::PACKAGE;
use crate::wasm_target::WasmTarget;
use crate::{guest, workspace};

/// What is no source.
const PASSED_OVER: [&str; 5] = [".git", ".venv", "embed", "node_modules", "target"];

/// Builds the engine at each level of optimisation here, and of a copy of the checkout elsewhere, with nothing to begin with:
/// both must be the same.
pub(crate) fn check(levels: &[&str]) -> Result<()> {
    let target = WasmTarget::detect()?;
    let elsewhere = TempDir::with_prefix("another-place-").context("cannot create a folder for temporary files")?;
    let (root, fresh) = (elsewhere.path().join("a/copy"), elsewhere.path().join("fresh"));
    workspace::copy(&workspace::root(), &root, &PASSED_OVER)?;
    for level in levels {
        let build = |root: &Path, target_dir: &Path| {
            let module = guest::build(&target, root, PACKAGE, level, target_dir)?;
            fs::read(&module).with_context(|| format!("cannot read {}", module.display()))
        };
        let here = build(&workspace::root(), &workspace::target_dir()?.join("guest"))?;
        let there = build(&root, &fresh)?;
        if here != there {
            let at = here.iter().zip(&there).position(|(here, there)| here != there);
            bail!(
                "at level {level} two folders give two engines, from byte {}",
                at.unwrap_or(here.len().min(there.len()))
            );
        }
        println!("At level {level} both have the same {} bytes.", here.len());
    }
    Ok(())
}
