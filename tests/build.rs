//! Builds the engine that does what it should not, as the host's build does the real one, for the tests to load.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use wit_component::ComponentEncoder;

#[path = "../host/build/guest.rs"]
mod guest;
#[path = "../host/build/wasm_target.rs"]
mod wasm_target;

/// What it is made of, relative to the workspace.
const INPUTS: [&str; 6] = ["tests/hostile", "wit", "Cargo.toml", "Cargo.lock", "host/build", "tests/build.rs"];

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let folder = |name: &str| env::var(name).map(PathBuf::from).with_context(|| format!("cargo did not set {name}"));
    let (tests, out) = (folder("CARGO_MANIFEST_DIR")?, folder("OUT_DIR")?);
    let root = tests.parent().context("the tests have no parent folder")?;
    for input in INPUTS {
        println!("cargo::rerun-if-changed={}", root.join(input).display());
    }
    println!("cargo::rerun-if-env-changed={}", wasm_target::SOURCE_VARIABLE);
    let target = wasm_target::WasmTarget::detect()?;
    let module = guest::build(&target, root, "acp-sessions-hostile", &target_dir(&out).join("guest"))?;
    let bytes = fs::read(&module).with_context(|| format!("cannot read {}", module.display()))?;
    let component = ComponentEncoder::default().validate(true).module(&bytes).and_then(ComponentEncoder::encode);
    let path = out.join("hostile.wasm");
    fs::write(&path, component.context("the module does not make a component")?)
        .with_context(|| format!("cannot write {}", path.display()))
}

/// The folder that cargo marks as its target directory, above `OUT_DIR`.
fn target_dir(out: &Path) -> PathBuf {
    out.ancestors().find(|folder| folder.join("CACHEDIR.TAG").is_file()).unwrap_or(out).to_owned()
}
