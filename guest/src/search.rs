//! Text search: how a query finds what is indexed.

pub mod find;
pub mod lookup;
mod parts;
pub mod query;
pub mod snippet;
