//! Builds the engine component out of the guest crate, compiles it ahead of time and leaves both for the host to embed.
//!
//! Writes `engine.wasm` (the component) and `engine.cwasm` (compiled for the target) to `OUT_DIR`, and a copy of the
//! component to `target/component/acp-sessions.wasm` for those who embed it elsewhere.

use std::env;
use std::fs;
use std::process::ExitCode;

use anyhow::{Context as _, Result};

#[path = "build/component.rs"]
mod component;
// It is public in the library, which includes it too.
#[allow(unreachable_pub)]
#[path = "src/engine_config.rs"]
mod engine_config;
#[path = "build/guest.rs"]
mod guest;
#[path = "build/wasm_target.rs"]
mod wasm_target;

/// What the guest is made of, and what makes it, relative to the workspace.
const INPUTS: [&str; 8] = [
    "guest/src",
    "guest/Cargo.toml",
    "wit",
    "Cargo.toml",
    "Cargo.lock",
    "host/build.rs",
    "host/build",
    "host/src/engine_config.rs",
];

fn main() -> ExitCode {
    component::exit(run())
}

fn run() -> Result<()> {
    let folders = component::Folders::of_cargo()?;
    let engine = folders.build("acp-sessions-guest", &INPUTS)?;
    component::write(&folders.out.join("engine.wasm"), &engine)?;
    component::write(&folders.out.join("engine.cwasm"), &precompile(&engine)?)?;
    let shared = folders.target.join("component");
    fs::create_dir_all(&shared).with_context(|| format!("cannot create {}", shared.display()))?;
    component::write(&shared.join("acp-sessions.wasm"), &engine)
}

fn precompile(component: &[u8]) -> Result<Vec<u8>> {
    let mut config = engine_config::config();
    // Naming the target keeps this machine's own processor features out of a program that others will run.
    config.target(&env::var("TARGET").context("cargo did not set TARGET")?)?;
    Ok(wasmtime::Engine::new(&config)?.precompile_component(component)?)
}
