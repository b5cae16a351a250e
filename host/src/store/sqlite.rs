//! The store in SQLite: a file that several processes share, or one in memory that goes with its owner.

mod again;
mod awaiting_room;
mod bounded;
mod builder;
mod cleaning;
mod contract;
mod error;
mod examine;
mod giving_back;
mod kind;
mod logs;
mod maintenance;
mod mend;
mod open;
mod owner_names;
mod patience;
mod phrase;
mod place;
mod readable;
mod records;
mod salvage;
mod schema;
mod search_memory;
mod text;
mod transaction;

#[cfg(test)]
#[path = "../../adapter/src/lib.rs"]
#[allow(dead_code, unreachable_pub, unused_imports, reason = "these tests need but one half of it")]
mod adapter;
#[cfg(test)]
mod cost;
#[cfg(test)]
mod scene;
#[cfg(test)]
mod states;
#[cfg(test)]
mod tests;

use std::thread;
use std::time::Instant;

use rusqlite::Connection;

use self::patience::Patience;
use crate::component::storage::Durability;

pub use self::builder::Builder;
pub use self::error::{Error, OpenError};
pub use self::giving_back::GivenBack;
pub use self::maintenance::{Damaged, Fault, Health, fault_of_journal};
pub use self::salvage::{Salvage, Salvaged};

use self::awaiting_room::AwaitingRoom;
use self::place::Place;
use self::search_memory::SearchMemory;

/// An open store.
#[derive(Debug)]
pub struct Sqlite {
    connection: Connection,
    /// Where it lies; none in memory.
    place: Option<Place>,
    /// What `PRAGMA synchronous` stands at.
    durability: Durability,
    patience: Patience,
    gives_way: bool,
    /// When it failed to clean its file.
    cleaning_failed: Option<Instant>,
    /// When it found that there is nothing to clean; none once it has removed something since.
    found_clean: Option<Instant>,
    search_memory: SearchMemory,
    /// Where it can only be read for want of room.
    awaiting_room: Option<AwaitingRoom>,
}

impl Sqlite {
    /// Where and how to open one.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Lets others have their turn after a commit that has kept them waiting since then. They look again every few
    /// milliseconds, and would find the next commit each time.
    fn give_way(&self, since: Instant) {
        if self.gives_way {
            thread::sleep(since.elapsed());
        }
    }
}
