//! Where things are, and how to run the tools that make them.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

/// The folder of the workspace.
pub(crate) fn root() -> PathBuf {
    let own = env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    own.parent().map(Path::to_owned).unwrap_or(own)
}

/// The folder that holds the programs cargo builds, this one among them.
pub(crate) fn programs() -> Result<PathBuf> {
    let own = env::current_exe().context("cannot tell where this program is")?;
    Ok(own.parent().context("this program is in no folder")?.to_owned())
}

/// Cargo's target directory.
pub(crate) fn target_dir() -> Result<PathBuf> {
    Ok(programs()?.parent().context("the programs are in no target directory")?.to_owned())
}

/// A program that cargo has built.
pub(crate) fn program(name: &str) -> Result<PathBuf> {
    let path = programs()?.join(name).with_extension(env::consts::EXE_EXTENSION);
    if !path.is_file() {
        bail!("{} was not built", path.display());
    }
    Ok(path)
}

/// The built component.
pub(crate) fn component() -> Result<PathBuf> {
    Ok(target_dir()?.join("component/acp-sessions.wasm"))
}

/// Cargo, in the workspace, with these arguments.
pub(crate) fn cargo<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Command {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(root()).args(arguments);
    cargo
}

/// Builds these programs. Dependencies get the features that the whole workspace asks of them, whichever program is
/// built, so that each is built once.
pub(crate) fn build(programs: &[&str]) -> Result<()> {
    let programs = programs.iter().flat_map(|name| ["--bin", name]);
    run(cargo(["build", "--release", "--workspace"]).args(programs))
}

/// Runs a command to its end; an error unless it succeeds.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let status = command.status().with_context(|| format!("cannot run {name}"))?;
    if !status.success() {
        let words: Vec<_> = command.get_args().map(OsStr::to_string_lossy).collect();
        let name = Path::new(&name).file_name().map_or(name.as_str().into(), OsStr::to_string_lossy);
        bail!("`{name} {}` failed ({status})", words.join(" "));
    }
    Ok(())
}

/// What a command prints; an error unless it succeeds.
pub(crate) fn printed(command: &mut Command) -> Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().with_context(|| format!("cannot run {name}"))?;
    if !output.status.success() {
        bail!("{name} failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The triple of this machine.
pub(crate) fn host() -> Result<String> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = printed(Command::new(rustc).arg("-vV"))?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).context("rustc does not say what machine this is")
}

/// Copies a file, or a folder with all that is in it but what bears one of these names, and makes the folders that it is in.
pub(crate) fn copy(from: &Path, to: &Path, passed_over: &[&str]) -> Result<()> {
    let failed = || format!("cannot copy {} to {}", from.display(), to.display());
    if from.is_dir() {
        fs::create_dir_all(to).with_context(failed)?;
        for entry in fs::read_dir(from).with_context(failed)? {
            let name = entry.with_context(failed)?.file_name();
            if !passed_over.iter().any(|passed_over| name == *passed_over) {
                copy(&from.join(&name), &to.join(&name), passed_over)?;
            }
        }
        return Ok(());
    }
    fs::create_dir_all(to.parent().unwrap_or(to)).with_context(failed)?;
    fs::copy(from, to).map(|_| ()).with_context(failed)
}

/// Writes a file, and makes the folders that it is in.
pub(crate) fn write(path: &Path, bytes: impl AsRef<[u8]>) -> Result<()> {
    let written = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(path, bytes));
    written.with_context(|| format!("cannot write {}", path.display()))
}
