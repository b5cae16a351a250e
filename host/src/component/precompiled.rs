//! The engine as the build script left it: compiled ahead of time, so that a start costs no compiler.

#![expect(unsafe_code, reason = "loading native code is unsafe by nature; see `load`")]

use wasmtime::Engine;
use wasmtime::component::Component;

/// Compiled by `build.rs` from `guest/`, with the settings of [`crate::engine_config`].
static ENGINE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/engine.cwasm"));

/// Loads the embedded component.
pub(super) fn load(engine: &Engine) -> wasmtime::Result<Component> {
    // SAFETY: the bytes are part of this program and come from wasmtime's own `precompile_component`, in the version
    // that is linked here; wasmtime checks the version and the settings before it uses them.
    unsafe { Component::deserialize(engine, ENGINE) }
}
