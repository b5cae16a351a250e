//! An engine that does what it should not, on demand: for the tests of what an engine may use up.
//!
//! It answers every request by itself. `hostile/PLACE` with `{"what": MISDEED}` has it do that in the export of that name; what
//! was open when an instance was lost is answered with -32603, as every engine must. Of the typed interface, whatever names a
//! session, a folder or words to search for names the misdeed.

#![cfg(target_arch = "wasm32")]

mod bindings;
mod connection;
mod misdeed;
mod sessions;
