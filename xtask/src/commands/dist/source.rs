//! The crate: the library and the program to be built by cargo, from nothing but itself. It carries the component, so that
//! neither the workspace nor the wasm target is needed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use super::super::component::{metadata, package};
use super::manifest;
use super::staged::{DOCUMENTS, Staged};
use crate::workspace;

/// The crate's own name, whose features it shares with its build script, and which makes the engine.
const CRATES: [&str; 3] = ["acp-sessions", "acp-sessions-features", "acp-sessions-component"];

/// Where the build script of the crate has the engine from.
const ENGINE: &str = "//! The engine that the build script compiles ahead of time.\n\n\
    pub(crate) static ENGINE: &[u8] = include_bytes!(\"../engine.wasm\");\n";

/// Copies to a folder all that the crate is built of, with the component that the build made.
pub(crate) fn lay_out(folder: &Path) -> Result<()> {
    let (root, host) = (workspace::root(), workspace::root().join("host"));
    for (from, to) in [
        (host.join("src"), "src"),
        (host.join("build.rs"), "build.rs"),
        (host.join("examples/embed.rs"), "examples/embed.rs"),
        (host.join("examples/lines.rs"), "examples/lines.rs"),
        (root.join("wit"), "wit"),
        (root.join("Cargo.lock"), "Cargo.lock"),
        (workspace::component()?, "engine.wasm"),
    ] {
        workspace::copy(&from, &folder.join(to), &[])?;
    }
    Ok(())
}

/// What `cargo package` makes of it.
pub(super) fn make(staged: &Staged, work: &Path, out: &Path) -> Result<PathBuf> {
    let folder = work.join("crate");
    lay_out(&folder)?;
    for name in DOCUMENTS {
        workspace::copy(&staged.folder.join(name), &folder.join(name), &[])?;
    }
    workspace::write(&folder.join("build/engine.rs"), ENGINE)?;
    let profiles =
        fs::read_to_string(workspace::root().join("Cargo.toml")).context("cannot read the workspace's manifest")?;
    let metadata = metadata()?;
    let [name, features, component] = CRATES;
    let manifest = manifest::of(package(&metadata, name)?, &metadata, features, component, &profiles)?;
    workspace::write(&folder.join("Cargo.toml"), manifest)?;

    // It is tried when all is made; and no repository is around it.
    let mut cargo = workspace::cargo(["package", "--quiet", "--no-verify", "--allow-dirty", "--manifest-path"]);
    cargo.current_dir(&folder).arg(folder.join("Cargo.toml")).arg("--target-dir").arg(work.join("packed"));
    workspace::run(&mut cargo)?;
    let name = format!("{name}-{}.crate", staged.version);
    let file = out.join(&name);
    workspace::copy(&work.join("packed/package").join(&name), &file, &[])?;
    Ok(file)
}

/// Builds the crate in an empty folder, with the command line and without it. What it needs is taken from what the workspace
/// has built of the same. Returns where the program is.
pub(super) fn install(place: &Path, files: &[PathBuf]) -> Result<PathBuf> {
    let packed = files.first().context("there is no crate")?;
    let mut tar = Command::new("tar");
    tar.args(["--extract", "--gzip", "--strip-components=1", "--file"]).arg(packed).arg("--directory").arg(place);
    workspace::run(&mut tar)?;
    let cargo = |arguments: &[&str]| -> Result<()> {
        let mut cargo = workspace::cargo(arguments);
        cargo.current_dir(place).env("CARGO_TARGET_DIR", place.join("target"));
        workspace::run(cargo.env("CARGO_BUILD_BUILD_DIR", workspace::target_dir()?))
    };
    cargo(&["check", "--release", "--locked", "--lib", "--no-default-features"])?;
    cargo(&["build", "--release", "--locked", "--bins", "--examples"])?;
    Ok(place.join("target/release/acp-sessions"))
}
