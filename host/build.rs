//! Builds the engine component out of the guest crate, compiles it ahead of time and leaves both for the host to embed.
//!
//! Writes `engine.wasm` (the component) and `engine.cwasm` (compiled for the target) to `OUT_DIR`, and a copy of the
//! component to `target/component/acp-sessions.wasm` for those who embed it elsewhere.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use wit_component::ComponentEncoder;

// It is public in the library, which includes it too.
#[allow(unreachable_pub)]
#[path = "src/engine_config.rs"]
mod engine_config;
#[path = "build/guest.rs"]
mod guest;
#[path = "build/wasm_target.rs"]
mod wasm_target;

/// What the guest is made of, relative to the workspace.
const INPUTS: [&str; 5] = ["guest/src", "guest/Cargo.toml", "wit", "Cargo.toml", "Cargo.lock"];

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
    let host = PathBuf::from(variable("CARGO_MANIFEST_DIR")?);
    let root = host.parent().context("the host crate has no parent folder")?;
    for input in INPUTS {
        println!("cargo::rerun-if-changed={}", root.join(input).display());
    }
    for own in ["build.rs", "build", "src/engine_config.rs"] {
        println!("cargo::rerun-if-changed={own}");
    }
    println!("cargo::rerun-if-env-changed={}", wasm_target::SOURCE_VARIABLE);

    let out = PathBuf::from(variable("OUT_DIR")?);
    let target_dir = target_dir(&out);
    let target = wasm_target::WasmTarget::detect()?;
    let module = guest::build(&target, root, "acp-sessions-guest", &target_dir.join("guest"))?;
    let component = encode(&module)?;
    write(&out.join("engine.wasm"), &component)?;
    write(&out.join("engine.cwasm"), &precompile(&component)?)?;
    let shared = target_dir.join("component");
    fs::create_dir_all(&shared).with_context(|| format!("cannot create {}", shared.display()))?;
    write(&shared.join("acp-sessions.wasm"), &component)
}

/// Makes a component of the module, by the world that wit-bindgen noted in it.
fn encode(module: &Path) -> Result<Vec<u8>> {
    let bytes = fs::read(module).with_context(|| format!("cannot read {}", module.display()))?;
    let encoded = ComponentEncoder::default().validate(true).module(&bytes).and_then(ComponentEncoder::encode);
    encoded.context("the guest module does not make a component")
}

fn precompile(component: &[u8]) -> Result<Vec<u8>> {
    let mut config = engine_config::config();
    // Naming the target keeps this machine's own processor features out of a program that others will run.
    config.target(&variable("TARGET")?)?;
    Ok(wasmtime::Engine::new(&config)?.precompile_component(component)?)
}

/// The folder that cargo marks as its target directory, above `OUT_DIR`.
fn target_dir(out: &Path) -> PathBuf {
    out.ancestors().find(|folder| folder.join("CACHEDIR.TAG").is_file()).unwrap_or(out).to_owned()
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))
}

fn variable(name: &str) -> Result<String> {
    env::var(name).with_context(|| format!("cargo did not set {name}"))
}
