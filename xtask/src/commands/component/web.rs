//! The component for the web, where it is fetched before it runs: the same engine, as small as the compiler makes it.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result};

use super::{PACKAGE, envelope};
use crate::wasm_target::WasmTarget;
use crate::{guest, imports, workspace};

/// What it is called.
pub(super) const COMPONENT: &str = "acp-sessions-web.wasm";

/// The level of optimisation.
pub(crate) const OPT_LEVEL: &str = "s";

/// Where it is once it was built.
pub(crate) fn path() -> Result<PathBuf> {
    Ok(workspace::component()?.with_file_name(COMPONENT))
}

/// Builds it of the component that the build made and leaves it beside that one. Returns its path.
pub(crate) fn build() -> Result<PathBuf> {
    let (root, target_dir) = (workspace::root(), workspace::target_dir()?);
    let module = guest::build(&WasmTarget::detect()?, &root, PACKAGE, OPT_LEVEL, &target_dir.join("guest"))?;
    let read = |path: &PathBuf| fs::read(path).with_context(|| format!("cannot read {}", path.display()));
    let (component, path) = (workspace::component()?, path()?);
    workspace::write(&path, &envelope::with_module(&read(&component)?, &read(&module)?)?)?;
    imports::check(&path)?;
    Ok(path)
}
