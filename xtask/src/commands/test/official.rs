//! Official clients and real agents, installed inside the checkout for the whole-program tests.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use super::super::wasm_target::apt_get;
use super::report::Outcome;
use crate::workspace;

/// Something to install from a registry, by its lock file.
pub(crate) struct Package {
    /// What it is, for people.
    pub(super) name: &'static str,
    /// What is in the names of the test files that need it.
    pub(super) tests: &'static str,
    folder: &'static str,
    registry: Registry,
}

enum Registry {
    Npm,
    Python,
}

/// All that the tests need.
pub(super) const PACKAGES: [Package; 3] = [
    Package {
        name: "The official TypeScript client",
        tests: "typescript",
        folder: "tests/clients/ts",
        registry: Registry::Npm,
    },
    Package {
        name: "The official Python client",
        tests: "python",
        folder: "tests/clients/python",
        registry: Registry::Python,
    },
    Package {
        name: "Agents of the npm registry",
        tests: "real_agent",
        folder: "tests/real_agents",
        registry: Registry::Npm,
    },
];

/// What makes the bindings of the package for JavaScript. No test of cargo's needs it.
pub(crate) const JAVASCRIPT: Package =
    Package { name: "What makes bindings for JavaScript", tests: "", folder: "embed/js", registry: Registry::Npm };

impl Package {
    /// Installs it, unless what is installed is what the lock file says.
    pub(crate) fn install(&self) -> Outcome {
        let folder = workspace::root().join(self.folder);
        let (lock, installed) = match self.registry {
            Registry::Npm => ("package-lock.json", "node_modules"),
            Registry::Python => ("requirements.txt", ".venv"),
        };
        let result = once(&folder.join(lock), &folder.join(installed), || match self.registry {
            Registry::Npm => npm(&folder),
            Registry::Python => python(&folder),
        });
        result.map_or_else(
            |error| Outcome::Missing(format!("{error:#}; the tests that need it did not run")),
            |()| Outcome::Passed,
        )
    }
}

/// Installs, unless what is in the folder is what this file says.
pub(crate) fn once(lock: &Path, installed: &Path, install: impl FnOnce() -> Result<()>) -> Result<()> {
    let stamp = installed.join(".installed");
    let wanted = fs::read(lock).with_context(|| format!("cannot read {}", lock.display()))?;
    if fs::read(&stamp).is_ok_and(|present| present == wanted) {
        eprintln!("already installed");
        return Ok(());
    }
    install()?;
    fs::write(&stamp, wanted).with_context(|| format!("cannot write {}", stamp.display()))
}

/// Without install scripts: none of these packages needs its own. What it tells is no part of what a command prints for programs.
fn npm(folder: &Path) -> Result<()> {
    let mut npm = Command::new("npm");
    npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]).current_dir(folder);
    workspace::run(npm.stdout(io::stderr()))
}

fn python(folder: &Path) -> Result<()> {
    environment(&folder.join(".venv"), &folder.join("requirements.txt"))
}

/// Makes an environment of Python's in this folder, with what these requirements say in it.
pub(crate) fn environment(folder: &Path, requirements: &Path) -> Result<()> {
    let make = || workspace::run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(folder));
    // Debian's own Python leaves out what makes an environment.
    make().or_else(|error| {
        apt_get(&["update", "--quiet"])
            .and_then(|()| apt_get(&["install", "--quiet", "--yes", "python3-venv"]))
            .map_err(|_| error)?;
        make()
    })?;
    workspace::run(pip(folder)?.arg("--requirement").arg(requirements))
}

/// The interpreter of an environment.
pub(crate) fn interpreter(environment: &Path) -> Result<PathBuf> {
    let paths = ["bin/python", "Scripts/python.exe"].map(|path| environment.join(path));
    paths.into_iter().find(|path| path.exists()).context("the new environment has no python")
}

/// `pip install`, in an environment.
pub(crate) fn pip(environment: &Path) -> Result<Command> {
    let mut pip = Command::new(interpreter(environment)?);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    Ok(pip)
}
