//! Between the engine's storage trait and the storage types that the host has from `wit/`.
//!
//! The program has no use for this: there the component's own bindings stand between the two. Tests and benches run
//! the engine's code as a library over the host's stores ([`Lent`]), and hold the engine's stores against the contract
//! of the host's ([`Hosted`]).

mod hosted;
mod lent;
mod types;

pub use hosted::Hosted;
pub use lent::Lent;
