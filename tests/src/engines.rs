//! Engines in files, to be run with `--component`.

use std::path::PathBuf;

use crate::launch::{Launch, built};
use crate::scene::Scene;

/// The engine that does what it should not, on demand (`tests/hostile`).
pub fn hostile() -> PathBuf {
    concat!(env!("OUT_DIR"), "/hostile.wasm").into()
}

/// A storage that is a component (`tests/memory`).
pub fn memory() -> PathBuf {
    concat!(env!("OUT_DIR"), "/memory.wasm").into()
}

/// The engine that is built into the program, as a file.
pub fn real() -> PathBuf {
    let program = built("acp-sessions");
    let target = program.parent().and_then(|profile| profile.parent()).expect("the folder of all build results");
    target.join("component/acp-sessions.wasm")
}

/// Where the program keeps what it has compiled, if its cache is the scene's.
pub fn cache(scene: &Scene) -> PathBuf {
    scene.file("cache/acp-sessions/engines")
}

/// With a cache of its own.
#[must_use]
pub fn with_cache(launch: Launch, scene: &Scene) -> Launch {
    launch.env("XDG_CACHE_HOME", scene.file("cache"))
}
