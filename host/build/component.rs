//! A component out of a crate of the workspace.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use wit_component::ComponentEncoder;

use crate::guest;
use crate::wasm_target::{self, WasmTarget};

/// The level of optimisation of what runs in a host that compiles it ahead of time.
const FOR_SPEED: &str = "3";

/// What a build script runs for, as its end.
pub(crate) fn exit(result: Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Where a build script reads and writes.
#[derive(Debug)]
pub(crate) struct Folders {
    /// The workspace.
    pub(crate) root: PathBuf,
    /// What the build script makes.
    pub(crate) out: PathBuf,
    /// The build results of all.
    pub(crate) target: PathBuf,
}

impl Folders {
    pub(crate) fn of_cargo() -> Result<Self> {
        let package = PathBuf::from(variable("CARGO_MANIFEST_DIR")?);
        let is_workspace = |folder: &&Path| folder.join("Cargo.lock").is_file();
        let root = package.ancestors().skip(1).find(is_workspace).context("the package is in no workspace")?.to_owned();
        let out = PathBuf::from(variable("OUT_DIR")?);
        // The folder that cargo marks as its target directory.
        let target = out.ancestors().find(|folder| folder.join("CACHEDIR.TAG").is_file()).unwrap_or(&out).to_owned();
        Ok(Self { root, out, target })
    }

    /// Builds the package as a component, by the world that wit-bindgen noted in it, and again when one of the inputs
    /// changes, which are relative to the workspace.
    pub(crate) fn build(&self, package: &str, inputs: &[&str]) -> Result<Vec<u8>> {
        for input in inputs {
            println!("cargo::rerun-if-changed={}", self.root.join(input).display());
        }
        println!("cargo::rerun-if-env-changed={}", wasm_target::SOURCE_VARIABLE);
        let target = WasmTarget::detect()?;
        let module = guest::build(&target, &self.root, package, FOR_SPEED, &self.target.join("guest"))?;
        let bytes = fs::read(&module).with_context(|| format!("cannot read {}", module.display()))?;
        let encoder = ComponentEncoder::default().validate(true).module(&bytes);
        let component = encoder.and_then(|mut encoder| encoder.encode());
        component.with_context(|| format!("the module of {package} does not make a component"))
    }
}

pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))
}

fn variable(name: &str) -> Result<String> {
    env::var(name).with_context(|| format!("cargo did not set {name}"))
}
