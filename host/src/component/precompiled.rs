//! Engines that are compiled already: the one that the build script left in this program, so that a start costs no
//! compiler, and what this program itself has compiled.

#![expect(unsafe_code, reason = "loading native code is unsafe by nature; see `ENGINE`, `load` and `load_compiled`")]

use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use wasmtime::component::Component;
use wasmtime::{CustomCodeMemory, Engine};

use super::cache::Sound;

/// Whether the embedded engine runs where the system has mapped it together with this program's own code. Its pages come
/// into memory as they are run and are the same ones for all processes; elsewhere each process copies all 12 MB at its start.
const IN_PLACE: bool = cfg!(target_os = "linux");

/// Whether it runs there already: wasmtime knows a piece of code by where it is, and has each once. Who loads it again has a copy.
static IS_TAKEN: AtomicBool = AtomicBool::new(false);

const LENGTH: usize = include_bytes!(concat!(env!("OUT_DIR"), "/engine.cwasm")).len();

/// Begins with a page, as what it holds is laid out for.
#[repr(C, align(4096))]
struct Pages([u8; LENGTH]);

/// Compiled by `build.rs` from `guest/`, with the settings of [`crate::engine_config`].
// SAFETY: nothing that the linker knows of refers to what is in here, so that it is entered through wasmtime alone. That the
// section can be executed is what it is put there for: it is code, and the data beside it is known as this program is.
#[cfg_attr(target_os = "linux", unsafe(link_section = ".text.acp_sessions_engine"))]
static ENGINE: Pages = Pages(*include_bytes!(concat!(env!("OUT_DIR"), "/engine.cwasm")));

/// Code that can be executed as it is, and that nobody can write.
struct MappedForExecution;

impl CustomCodeMemory for MappedForExecution {
    fn required_alignment(&self) -> usize {
        align_of::<Pages>()
    }

    fn publish_executable(&self, _: *const u8, _: usize) -> wasmtime::Result<()> {
        Ok(())
    }

    fn unpublish_executable(&self, _: *const u8, _: usize) -> wasmtime::Result<()> {
        Ok(())
    }
}

/// Loads the embedded component, with an engine for it alone: that one makes no other code executable.
pub(super) fn load() -> wasmtime::Result<(Engine, Component)> {
    let mut config = crate::engine_config::config();
    let is_in_place = IN_PLACE && !IS_TAKEN.swap(true, Ordering::Relaxed);
    if is_in_place {
        config.with_custom_code_memory(Some(Arc::new(MappedForExecution)));
    }
    let engine = Engine::new(&config)?;
    // SAFETY: the bytes are part of this program and come from wasmtime's own `precompile_component`, in the version
    // that is linked here; wasmtime checks the version and the settings before it uses them. They are there as long as the
    // program is, and the system lets nobody write them.
    let component = unsafe {
        if is_in_place {
            Component::deserialize_raw(&engine, NonNull::from(ENGINE.0.as_slice()))
        } else {
            Component::deserialize(&engine, ENGINE.0.as_slice())
        }
    };
    Ok((engine, component?))
}

/// Loads what this program, or one like it, has compiled and kept.
pub(super) fn load_compiled(engine: &Engine, code: &Sound) -> wasmtime::Result<Component> {
    // SAFETY: a `Sound` is made by `cache` alone, of a file that nobody but this user (and root) could write or put in its
    // place, that is as long and has the digest that it was written with, under a name that tells the component and the settings of
    // this very compiler. So the bytes come from `precompile_component` of a program like this one. They were read before they were
    // checked, and are in memory of our own. Who can act as this user can do all that the code could do anyway.
    unsafe { Component::deserialize(engine, code.bytes()) }
}
