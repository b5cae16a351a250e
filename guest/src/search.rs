//! Text search: how a query finds what is indexed.

pub mod find;
mod parts;
pub mod query;
pub mod snippet;
