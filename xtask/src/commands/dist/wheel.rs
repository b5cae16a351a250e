//! The wheel for Python with the program in it, as `uvx acp-sessions` runs it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use super::super::python::{self, only, reproducible};
use super::linked::{Processor, oldest_libc};
use super::staged::Staged;
use crate::workspace;

/// The package for Python, for this kind of machine, with the program beside it.
pub(super) fn make(staged: &Staged, work: &Path, out: &Path) -> Result<PathBuf> {
    let (source, built, unpacked) = (work.join("python"), work.join("wheel"), work.join("unpacked"));
    python::install()?;
    python::source(&source)?;
    let plain = python::wheel(&source, &built)?;

    workspace::run(reproducible()?.args(["-m", "wheel", "unpack", "--dest"]).arg(&unpacked).arg(&plain))?;
    let package = only(&unpacked)?;
    let scripts = package.join(format!("acp_sessions-{}.data/scripts", staged.version));
    let program = scripts.join("acp-sessions");
    workspace::copy(&staged.program(), &program, &[])?;
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).context("cannot make it a program")?;
    let described = package.join(format!("acp_sessions-{}.dist-info", staged.version));
    for part in ["LICENSE", "NOTICES.txt"] {
        workspace::copy(&staged.folder.join(part), &described.join("licenses").join(part), &[])?;
    }
    let packed = work.join("packed");
    fs::create_dir_all(&packed).with_context(|| format!("cannot create {}", packed.display()))?;
    workspace::run(reproducible()?.args(["-m", "wheel", "pack", "--dest-dir"]).arg(&packed).arg(&package))?;

    let (major, minor) = oldest_libc(&staged.program())?;
    let platform = format!("manylinux_{major}_{minor}_{}", Processor::of_this_machine()?.python);
    workspace::run(
        reproducible()?.args(["-m", "wheel", "tags", "--remove", "--platform-tag", &platform]).arg(only(&packed)?),
    )?;
    let tagged = only(&packed)?;
    let file = out.join(tagged.file_name().context("the wheel has no name")?);
    workspace::copy(&tagged, &file, &[])?;
    Ok(file)
}
