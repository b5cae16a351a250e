//! Builds the engine that does what it should not, as the host's build does the real one, and a storage that is a component,
//! for the tests to load.

use std::fs;
use std::process::ExitCode;

use anyhow::{Context as _, Result};

#[path = "../host/build/component.rs"]
mod component;
#[path = "../host/build/guest.rs"]
mod guest;
#[path = "../host/build/wasm_target.rs"]
mod wasm_target;

/// What both are made of, relative to the workspace, and each of them.
const INPUTS: [&str; 5] = ["wit", "Cargo.toml", "Cargo.lock", "host/build", "tests/build.rs"];
const HOSTILE: [&str; 1] = ["tests/hostile"];
const MEMORY: [&str; 3] = ["tests/memory", "guest/Cargo.toml", "guest/src"];

fn main() -> ExitCode {
    component::exit(run())
}

fn run() -> Result<()> {
    let folders = component::Folders::of_cargo()?;
    let memory = folders.build("acp-sessions-memory", &[&MEMORY[..], &INPUTS].concat())?;
    component::write(&folders.out.join("memory.wasm"), &memory)?;
    let hostile = folders.build("acp-sessions-hostile", &[&HOSTILE[..], &INPUTS].concat())?;
    component::write(&folders.out.join("hostile.wasm"), &hostile)?;
    // The tests of the packages for other languages find it here.
    let shared = folders.target.join("hostile");
    fs::create_dir_all(&shared).with_context(|| format!("cannot create {}", shared.display()))?;
    component::write(&shared.join("engine.wasm"), &hostile)
}
