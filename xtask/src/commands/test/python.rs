//! The package for Python, installed and checked.

use std::fs;
use std::process::Command;

use anyhow::{Context as _, Result};

use super::super::python as package;
use super::report::Outcome;
use crate::workspace;

/// Installs what it needs and what checks it.
pub(super) fn install() -> Outcome {
    let installed = package::install();
    installed.map_or_else(|error| Outcome::Missing(format!("{error:#}; its tests did not run")), |()| Outcome::Passed)
}

/// Installs the package with the component that the build made, and runs its tests: the conformance corpus is one.
pub(super) fn check() -> Result<()> {
    package::install_package()?;
    let environment = package::environment()?;
    let python = || -> Result<Command> {
        let mut python = package::interpreter()?;
        python.current_dir(package::package()).arg("-B");
        // What it compiles is compiled once for a build.
        python.env("XDG_CACHE_HOME", environment.join("cache"));
        python.env("HOSTILE_ENGINE", workspace::target_dir()?.join("hostile/engine.wasm"));
        // It shares files with the package.
        python.env("ACP_SESSIONS_PROGRAM", workspace::program("acp-sessions")?);
        Ok(python)
    };
    workspace::run(python()?.args(["-m", "unittest", "discover", "--start-directory", "tests"]))?;
    let (oldest, cache) = (oldest_python()?, environment.join("mypy"));
    let types = ["-m", "mypy", "--strict", "--python-version", &oldest, "--cache-dir"];
    workspace::run(python()?.args(types).arg(cache).args(["src", "tests", "bench"]))?;
    let manifest = package::package().join("pyproject.toml");
    let resolve = ["pip", "compile", "--no-build", "--python-version", &oldest];
    // What is installed here is for another version: of what the package needs there may be none for the oldest.
    workspace::run(package::uv()?.args(resolve).arg(manifest))
}

/// The oldest version of Python that the package says it is for.
fn oldest_python() -> Result<String> {
    let manifest =
        fs::read_to_string(package::package().join("pyproject.toml")).context("cannot read pyproject.toml")?;
    let mut lines = manifest.lines();
    let oldest = lines.find_map(|line| line.strip_prefix("requires-python = \">=")?.strip_suffix('"'));
    Ok(oldest.context("pyproject.toml does not say which Python the package is for")?.to_owned())
}
