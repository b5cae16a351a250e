//! The package for Python, in an environment of its own in cargo's target directory.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use super::test::official;
use crate::workspace;

/// What is copied of the package to be built: so building it leaves nothing in the checkout.
const SOURCES: [&str; 3] = ["pyproject.toml", "README.md", "src"];

/// What Python has compiled.
const COMPILED: [&str; 1] = ["__pycache__"];

/// The package's folder.
pub(crate) fn package() -> PathBuf {
    workspace::root().join("embed/python")
}

/// The folder of its environment.
pub(crate) fn environment() -> Result<PathBuf> {
    Ok(workspace::target_dir()?.join("embed-python"))
}

/// Installs what it needs, what builds it and what checks it.
pub(crate) fn install() -> Result<()> {
    let (requirements, environment) = (package().join("tests/requirements.txt"), environment()?);
    official::once(&requirements, &environment, || official::environment(&environment, &requirements))
}

/// The interpreter of its environment.
pub(crate) fn interpreter() -> Result<Command> {
    Ok(Command::new(official::interpreter(&environment()?)?))
}

/// uv, which keeps what it fetches with the environment and takes an interpreter that is there.
pub(crate) fn uv() -> Result<Command> {
    let environment = environment()?;
    let mut uv = Command::new(official::interpreter(&environment)?.with_file_name("uv"));
    uv.env("UV_CACHE_DIR", environment.join("uv")).env("UV_PYTHON_DOWNLOADS", "never").arg("--quiet");
    Ok(uv)
}

/// Installs the package, with the component that the build made.
pub(crate) fn install_package() -> Result<()> {
    let environment = environment()?;
    let built = environment.join("source");
    source(&built)?;
    let options = ["--no-deps", "--no-build-isolation", "--force-reinstall"];
    workspace::run(official::pip(&environment)?.args(options).arg(&built))
}

/// Makes the wheel that fits every machine of a copy of the package, in an empty folder. Returns its path.
pub(crate) fn wheel(source: &Path, to: &Path) -> Result<PathBuf> {
    let pip = ["pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-build-isolation"];
    workspace::run(reproducible()?.arg("-m").args(pip).arg("--wheel-dir").arg(to).arg(source))?;
    only(to)
}

/// The interpreter with what makes wheels. The same sources give the same bytes.
pub(crate) fn reproducible() -> Result<Command> {
    let mut python = interpreter()?;
    // The first moment that a wheel can tell.
    python.env("SOURCE_DATE_EPOCH", "315532800");
    Ok(python)
}

/// The one thing in a folder.
pub(crate) fn only(folder: &Path) -> Result<PathBuf> {
    let mut entries = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let entry = entries.next().with_context(|| format!("nothing is in {}", folder.display()))??;
    anyhow::ensure!(entries.next().is_none(), "more than one thing is in {}", folder.display());
    Ok(entry.path())
}

/// Copies all that the package is built of to an empty folder, with the component that the build made.
pub(crate) fn source(to: &Path) -> Result<()> {
    if to.exists() {
        fs::remove_dir_all(to).with_context(|| format!("cannot remove {}", to.display()))?;
    }
    for name in SOURCES {
        workspace::copy(&package().join(name), &to.join(name), &COMPILED)?;
    }
    workspace::copy(&workspace::component()?, &to.join("src/acp_sessions/engine.wasm"), &COMPILED)?;
    // The tables of its store in a file are the host's.
    workspace::copy(
        &workspace::root().join("host/src/store/sqlite/schema"),
        &to.join("src/acp_sessions/sqlite/schema"),
        &COMPILED,
    )
}
