//! The store in SQLite: a file that several processes share, or one in memory that goes with its owner.

mod bounded;
mod builder;
mod contract;
mod error;
mod logs;
mod maintenance;
mod open;
mod patience;
mod phrase;
mod records;
mod schema;
mod text;
mod transaction;

#[cfg(test)]
mod tests;

use rusqlite::Connection;

use self::patience::Patience;
use crate::component::storage::Durability;

pub use self::builder::Builder;
pub use self::error::{Error, OpenError};
pub use self::maintenance::Health;

/// An open store.
#[derive(Debug)]
pub struct Sqlite {
    connection: Connection,
    /// What `PRAGMA synchronous` stands at.
    durability: Durability,
    patience: Patience,
}

impl Sqlite {
    /// Where and how to open one.
    pub fn builder() -> Builder {
        Builder::default()
    }
}
