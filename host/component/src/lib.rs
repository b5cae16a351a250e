//! The engine as a WebAssembly component, made of the guest crate as this crate is built.
//!
//! A crate of its own, because making it needs nothing of wasmtime: it is built beside wasmtime's compiler, and not behind it.

/// The component, of the world `engine` of `wit/`.
pub static ENGINE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/engine.wasm"));
