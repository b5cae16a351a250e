//! Builds the engine component out of the guest crate.
//!
//! Writes it to `OUT_DIR`, and a copy to `target/component/acp-sessions.wasm` for those who embed it elsewhere.

use std::fs;
use std::process::ExitCode;

use anyhow::{Context as _, Result};

#[path = "../build/component.rs"]
mod component;
#[path = "../build/guest.rs"]
mod guest;
#[path = "../build/wasm_target.rs"]
mod wasm_target;

/// What the guest is made of, and what makes it, relative to the workspace.
const INPUTS: [&str; 7] =
    ["guest/src", "guest/Cargo.toml", "wit", "Cargo.toml", "Cargo.lock", "host/build", "host/component/build.rs"];

fn main() -> ExitCode {
    component::exit(run())
}

fn run() -> Result<()> {
    let folders = component::Folders::of_cargo()?;
    let engine = folders.build("acp-sessions-guest", &INPUTS)?;
    component::write(&folders.out.join("engine.wasm"), &engine)?;
    let shared = folders.target.join("component");
    fs::create_dir_all(&shared).with_context(|| format!("cannot create {}", shared.display()))?;
    component::write(&shared.join("acp-sessions.wasm"), &engine)
}
