//! The stores that can be lent to an engine.
//!
//! Anything that implements [`storage::Host`](crate::component::storage::Host) is one; this program brings
//! [`Sqlite`], as a file shared by several processes or in memory.

pub mod location;
pub mod sqlite;

pub use self::location::default_path;
pub use self::sqlite::Sqlite;
