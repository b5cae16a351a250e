//! Engines that are compiled already: the one that the build script left in this program, so that a start costs no
//! compiler, and what this program itself has compiled.

#![expect(unsafe_code, reason = "loading native code is unsafe by nature; see `load` and `load_compiled`")]

use wasmtime::Engine;
use wasmtime::component::Component;

use super::cache::Sound;

/// Compiled by `build.rs` from `guest/`, with the settings of [`crate::engine_config`].
static ENGINE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/engine.cwasm"));

/// Loads the embedded component.
pub(super) fn load(engine: &Engine) -> wasmtime::Result<Component> {
    // SAFETY: the bytes are part of this program and come from wasmtime's own `precompile_component`, in the version
    // that is linked here; wasmtime checks the version and the settings before it uses them.
    unsafe { Component::deserialize(engine, ENGINE) }
}

/// Loads what this program, or one like it, has compiled and kept.
pub(super) fn load_compiled(engine: &Engine, code: &Sound) -> wasmtime::Result<Component> {
    // SAFETY: a `Sound` is made by `cache` alone, of a file that nobody but this user (and root) could write or put in its
    // place, that is as long and has the digest that it was written with, under a name that tells the component and the settings of
    // this very compiler. So the bytes come from `precompile_component` of a program like this one. They were read before they were
    // checked, and are in memory of our own. Who can act as this user can do all that the code could do anyway.
    unsafe { Component::deserialize(engine, code.bytes()) }
}
