//! The wheel for Python with the program in it, as `uvx acp-sessions` runs it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use super::super::python;
use super::linked::{Processor, oldest_libc};
use super::staged::Staged;
use crate::workspace;

/// The package for Python, for this kind of machine, with the program beside it.
pub(super) fn make(staged: &Staged, work: &Path, out: &Path) -> Result<PathBuf> {
    let (source, built, unpacked) = (work.join("python"), work.join("wheel"), work.join("unpacked"));
    python::install()?;
    python::source(&source)?;
    let pip = ["pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-build-isolation"];
    workspace::run(python()?.arg("-m").args(pip).arg("--wheel-dir").arg(&built).arg(&source))?;
    let plain = only(&built)?;

    workspace::run(python()?.args(["-m", "wheel", "unpack", "--dest"]).arg(&unpacked).arg(&plain))?;
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
    workspace::run(python()?.args(["-m", "wheel", "pack", "--dest-dir"]).arg(&packed).arg(&package))?;

    let (major, minor) = oldest_libc(&staged.program())?;
    let platform = format!("manylinux_{major}_{minor}_{}", Processor::of_this_machine()?.python);
    workspace::run(
        python()?.args(["-m", "wheel", "tags", "--remove", "--platform-tag", &platform]).arg(only(&packed)?),
    )?;
    let tagged = only(&packed)?;
    let file = out.join(tagged.file_name().context("the wheel has no name")?);
    workspace::copy(&tagged, &file, &[])?;
    Ok(file)
}

/// The interpreter with what makes wheels. The same sources give the same bytes.
fn python() -> Result<Command> {
    let mut python = python::interpreter()?;
    // The first moment that a wheel can tell.
    python.env("SOURCE_DATE_EPOCH", "315532800");
    Ok(python)
}

/// The one thing in a folder.
fn only(folder: &Path) -> Result<PathBuf> {
    let mut entries = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let entry = entries.next().with_context(|| format!("nothing is in {}", folder.display()))??;
    anyhow::ensure!(entries.next().is_none(), "more than one thing is in {}", folder.display());
    Ok(entry.path())
}
