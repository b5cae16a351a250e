//! Compiles the engine component ahead of time, for the host to embed: writes `engine.cwasm` to `OUT_DIR`.

use std::env;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

#[path = "build/engine.rs"]
mod engine;
// It is public in the library, which includes it too.
#[allow(unreachable_pub)]
#[path = "src/engine_config.rs"]
mod engine_config;

fn main() -> Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build/engine.rs");
    println!("cargo::rerun-if-changed=src/engine_config.rs");
    let mut config = engine_config::config();
    // Naming the target keeps this machine's own processor features out of a program that others will run.
    config.target(&variable("TARGET")?)?;
    let compiled = wasmtime::Engine::new(&config)?.precompile_component(engine::ENGINE)?;
    let path = Path::new(&variable("OUT_DIR")?).join("engine.cwasm");
    fs::write(&path, compiled).with_context(|| format!("cannot write {}", path.display()))
}

fn variable(name: &str) -> Result<String> {
    env::var(name).with_context(|| format!("cargo did not set {name}"))
}
