//! Each form, installed in an empty folder, and the life of a session played with it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use tempfile::TempDir;

use super::super::{demo::story, python};
use super::{links, source};
use crate::{style, workspace};

/// Where to look for the program once it is installed.
type Install = fn(&Path, &[PathBuf]) -> Result<PathBuf>;

const FORMS: [(&str, Install); 5] =
    [(".tar.gz", unpacked), (".deb", by_dpkg), (".tgz", by_npm), (".whl", by_uv), (".crate", source::install)];

/// Tries them all.
pub(super) fn check(files: &[PathBuf]) -> Result<()> {
    for file in files {
        links::check(file)?;
    }
    for (ending, install) in FORMS {
        let of_form = |file: &&PathBuf| file.to_string_lossy().ends_with(ending);
        let files: Vec<PathBuf> = files.iter().filter(of_form).cloned().collect();
        let names: Vec<_> =
            files.iter().filter_map(|file| file.file_name()).map(|name| name.to_string_lossy()).collect();
        println!("\n{}", style::heading(names.join(", ")));
        let (place, scene) = (folder()?, folder()?);
        let program = install(place.path(), &files)?;
        if !program.is_file() {
            bail!("{} is not installed by {}", program.display(), names.join(", "));
        }
        story::tell(&program, scene.path())?;
    }
    Ok(())
}

fn folder() -> Result<TempDir> {
    tempfile::tempdir().context("cannot create a folder for temporary files")
}

fn unpacked(place: &Path, files: &[PathBuf]) -> Result<PathBuf> {
    let archive = files.first().context("there is no archive")?;
    workspace::run(Command::new("tar").arg("--extract").arg("--file").arg(archive).arg("--directory").arg(place))?;
    let entry = fs::read_dir(place)?.next().context("the archive is empty")??;
    Ok(entry.path().join("acp-sessions"))
}

fn by_dpkg(place: &Path, files: &[PathBuf]) -> Result<PathBuf> {
    // What dpkg knows of a system on which nothing is installed.
    for part in ["var/lib/dpkg/info", "var/lib/dpkg/updates", "var/log"] {
        fs::create_dir_all(place.join(part)).context("cannot create a folder for dpkg")?;
    }
    fs::write(place.join("var/lib/dpkg/status"), "").context("cannot write a file for dpkg")?;
    let mut dpkg = Command::new("dpkg");
    dpkg.arg("--root").arg(place).args([
        "--force-depends",
        "--force-not-root",
        "--force-script-chrootless",
        "--install",
    ]);
    workspace::run(dpkg.args(files))?;
    Ok(place.join("usr/bin/acp-sessions"))
}

fn by_npm(place: &Path, files: &[PathBuf]) -> Result<PathBuf> {
    fs::write(place.join("package.json"), "{}").context("cannot write package.json")?;
    let mut npm = Command::new("npm");
    npm.current_dir(place).args(["install", "--no-audit", "--no-fund", "--ignore-scripts"]).args(files);
    workspace::run(&mut npm)?;
    // The package for JavaScript is the same one.
    let import =
        "import { createEngine } from 'acp-sessions'; if (typeof createEngine !== 'function') process.exit(1);";
    workspace::run(Command::new("node").current_dir(place).args(["--input-type=module", "--eval", import]))?;
    Ok(place.join("node_modules/.bin/acp-sessions"))
}

/// As `uvx` does it, with all that the package needs.
fn by_uv(place: &Path, files: &[PathBuf]) -> Result<PathBuf> {
    let programs = place.join("bin");
    let mut uv = python::uv()?;
    uv.env("UV_TOOL_DIR", place.join("tools")).env("UV_TOOL_BIN_DIR", &programs);
    workspace::run(uv.args(["tool", "install", "--python", "python3", "--no-build"]).args(files))?;
    Ok(programs.join("acp-sessions"))
}
