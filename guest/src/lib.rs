//! The session engine of the Agent Client Protocol: a state machine without I/O.
//!
//! Lines of JSON-RPC go in by [`engine::Engine::receive`], lines to send come out by [`engine::Engine::pull`]; what
//! must last goes through the [`storage::Storage`] trait. Compiled to WebAssembly this is the component of
//! `wit/world.wit`; compiled natively it is a library with the same behaviour, which is how its tests run it.

mod checksum;
mod connection;
pub mod engine;
pub mod environment;
pub mod exchange;
pub mod index;
pub mod reconcile;
pub mod rpc;
pub mod search;
pub mod sessions;
pub mod settings;
pub mod storage;
pub mod store;
pub mod time;
pub mod transcript;

#[cfg(all(target_arch = "wasm32", feature = "component"))]
mod bindings;
