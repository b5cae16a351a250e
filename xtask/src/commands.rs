//! One module a command.

pub(crate) mod bench;
pub(crate) mod build;
pub(crate) mod component;
pub(crate) mod demo;
pub(crate) mod deny;
pub(crate) mod dist;
pub(crate) mod fuzz;
pub(crate) mod javascript;
pub(crate) mod python;
pub(crate) mod test;
pub(crate) mod torture;
pub(crate) mod trial_tools;
pub(crate) mod wasm_target;
