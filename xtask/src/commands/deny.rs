//! `cargo xtask deny`: whether all crates that anything here is built from are as `deny.toml` asks, by cargo-deny, and whether
//! none of them is built twice.

mod built_once;

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::{style, workspace};

/// The version that is installed. `deny.toml` is written for it.
const VERSION: &str = "0.20.2";

/// Whose crates are looked at: the fuzz targets have a workspace of their own.
const WORKSPACES: [&str; 2] = ["Cargo.toml", "guest/fuzz/Cargo.toml"];

/// What `deny.toml` names for one of them alone is not missed in the other.
const NOT_MISSED: [&str; 3] = ["unmatched-skip", "license-not-encountered", "license-exception-not-encountered"];

/// Where it can go to the network for what is known of faults in crates, that counts too; else a line says that it does not.
pub(crate) fn run() -> Result<()> {
    built_once::check()?;
    let tool = install()?;
    for manifest in WORKSPACES {
        println!("{}", style::heading(manifest));
        let allowed = NOT_MISSED.iter().flat_map(|lint| ["--allow", lint]);
        workspace::run(deny(&tool, manifest).arg("check").args(allowed).args(["licenses", "bans", "sources"]))?;
    }
    let fetched = deny(&tool, WORKSPACES[0]).args(["fetch", "db"]).output().context("cannot run cargo-deny")?;
    if !fetched.status.success() {
        let notice = "The database of advisories could not be had, so known faults of crates were not looked for.";
        println!("{}", style::notice(notice));
        return Ok(());
    }
    WORKSPACES
        .iter()
        .try_for_each(|manifest| workspace::run(deny(&tool, manifest).args(["check", "--disable-fetch", "advisories"])))
}

fn deny(tool: &Path, manifest: &str) -> Command {
    let mut command = Command::new(tool);
    command.current_dir(workspace::root()).args(["--locked", "--workspace", "--manifest-path", manifest]);
    command
}

/// Installs the tool in the build folder, unless it is there; returns its path.
fn install() -> Result<std::path::PathBuf> {
    let folder = workspace::target_dir()?.join("tools");
    let tool = folder.join("bin/cargo-deny");
    let version = Command::new(&tool).arg("--version").output();
    if version.is_ok_and(|told| String::from_utf8_lossy(&told.stdout).trim().ends_with(VERSION)) {
        return Ok(tool);
    }
    let mut cargo = workspace::cargo(["install", "cargo-deny", "--locked", "--version", VERSION, "--root"]);
    cargo.arg(&folder).arg("--target-dir").arg(folder.join("build"));
    // It runs for seconds, and would take minutes more to compile at its best.
    for (setting, value) in [("OPT_LEVEL", "0"), ("LTO", "off"), ("CODEGEN_UNITS", "16"), ("DEBUG", "false")] {
        cargo.env(format!("CARGO_PROFILE_RELEASE_{setting}"), value);
    }
    workspace::run(&mut cargo)?;
    Ok(tool)
}
