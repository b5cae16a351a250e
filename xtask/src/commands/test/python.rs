//! The package for Python, in an environment of its own in cargo's target directory.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use super::official::{environment, interpreter, once, pip};
use super::report::Outcome;
use crate::workspace;

/// What is copied of the package to be installed: so installing it leaves nothing in the checkout.
const SOURCES: [&str; 3] = ["pyproject.toml", "README.md", "src"];

fn package() -> PathBuf {
    workspace::root().join("embed/python")
}

fn folder() -> Result<PathBuf> {
    Ok(workspace::target_dir()?.join("embed-python"))
}

/// Installs what it needs and what checks it.
pub(super) fn install() -> Outcome {
    let requirements = package().join("tests/requirements.txt");
    let installed = folder().and_then(|folder| once(&requirements, &folder, || environment(&folder, &requirements)));
    installed.map_or_else(|error| Outcome::Missing(format!("{error:#}; its tests did not run")), |()| Outcome::Passed)
}

/// Installs the package with the component that the build made, and runs its tests: the conformance corpus is one.
pub(super) fn check() -> Result<()> {
    let (package, environment) = (package(), folder()?);
    let source = environment.join("source");
    if source.exists() {
        fs::remove_dir_all(&source).with_context(|| format!("cannot remove {}", source.display()))?;
    }
    for name in SOURCES {
        copy(&package.join(name), &source.join(name))?;
    }
    copy(&workspace::component()?, &source.join("src/acp_sessions/engine.wasm"))?;
    // The tables of its store in a file are the host's.
    copy(&workspace::root().join("host/src/store/sqlite/schema"), &source.join("src/acp_sessions/sqlite/schema"))?;
    workspace::run(pip(&environment)?.args(["--no-deps", "--no-build-isolation", "--force-reinstall"]).arg(&source))?;

    let python = || -> Result<Command> {
        let mut python = Command::new(interpreter(&environment)?);
        python.current_dir(&package).arg("-B");
        // What it compiles is compiled once for a build.
        python.env("XDG_CACHE_HOME", environment.join("cache"));
        python.env("HOSTILE_ENGINE", workspace::target_dir()?.join("hostile/engine.wasm"));
        // It shares files with the package.
        python.env("ACP_SESSIONS_PROGRAM", workspace::program("acp-sessions")?);
        Ok(python)
    };
    workspace::run(python()?.args(["-m", "unittest", "discover", "--start-directory", "tests"]))?;
    let cache = environment.join("mypy");
    let types = ["-m", "mypy", "--strict", "--python-version", "3.10", "--cache-dir"];
    workspace::run(python()?.args(types).arg(cache).args(["src", "tests", "bench"]))
}

/// Copies a file, or a folder with all that is in it but what Python has compiled.
fn copy(from: &Path, to: &Path) -> Result<()> {
    let failed = || format!("cannot copy {} to {}", from.display(), to.display());
    if from.is_dir() {
        for entry in fs::read_dir(from).with_context(failed)? {
            let name = entry.with_context(failed)?.file_name();
            if name != "__pycache__" {
                copy(&from.join(&name), &to.join(&name))?;
            }
        }
        return Ok(());
    }
    fs::create_dir_all(to.parent().unwrap_or(to)).with_context(failed)?;
    fs::copy(from, to).map(|_| ()).with_context(failed)
}
