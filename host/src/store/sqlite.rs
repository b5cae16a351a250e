//! The store in SQLite: a file that several processes share, or one in memory that goes with its owner.

mod bounded;
mod builder;
mod cleaning;
mod contract;
mod error;
mod logs;
mod maintenance;
mod open;
mod phrase;
mod records;
mod schema;
mod text;

#[cfg(test)]
mod tests;

use std::time::{Duration, Instant};

use rusqlite::Connection;

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
    busy_for: Duration,
    /// Whether it is in a file, rather than in memory.
    is_file: bool,
    /// When it failed to clean its file.
    cleaning_failed: Option<Instant>,
}

impl Sqlite {
    /// Where and how to open one.
    pub fn builder() -> Builder {
        Builder::default()
    }
}
