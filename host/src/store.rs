//! The stores that can be lent to an engine.
//!
//! Anything that implements [`storage::Host`](crate::component::storage::Host) and [`Upkeep`], whose one method has a default,
//! is one; [`Sessions`](crate::sessions::Sessions) needs only the first. This program brings [`Sqlite`], as a file shared by
//! several processes or in memory.

mod format;
pub mod location;
mod raw;
pub mod sqlite;

use std::time::Duration;

pub use self::location::default_path;
pub use self::sqlite::Sqlite;

/// What a store does besides what it is asked.
pub trait Upkeep {
    /// Does a little of it, if there is anything to do by now; returns when to call again where there is more. It is called
    /// about once a second in any case.
    fn keep_up(&mut self) -> Option<Duration> {
        None
    }
}
