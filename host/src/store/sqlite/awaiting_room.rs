//! A store that could only be opened for reading, because there was no room for what SQLite writes beside it, is opened to write
//! as soon as there is: others may write to it from then on, which who only reads does not see.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::place::Place;
use super::search_memory::SearchMemory;
use super::{Builder, Sqlite, open};
use crate::component::storage::Durability;

/// How long after an attempt it is tried again, when the store is next used.
const AGAIN: Duration = Duration::from_secs(1);

/// How it is opened, and when that was tried last.
#[derive(Debug)]
pub(super) struct AwaitingRoom {
    builder: Builder,
    file: PathBuf,
    tried: Instant,
}

impl AwaitingRoom {
    pub(super) fn new(builder: &Builder, file: PathBuf) -> Self {
        Self { builder: builder.clone(), file, tried: Instant::now() }
    }
}

impl Sqlite {
    /// Opens it to write if it waits for that and can be by now.
    pub(super) fn look_for_room(&mut self) {
        let Some(awaiting) = self.awaiting_room.as_mut().filter(|awaiting| awaiting.tried.elapsed() >= AGAIN) else {
            return;
        };
        awaiting.tried = Instant::now();
        if self.place.as_ref().is_some_and(|place| Place::check(place).is_err()) {
            return;
        }
        let Some(connection) = open::again_to_write(&awaiting.builder, &awaiting.file) else { return };
        tracing::info!("there is room again: the store {} is written to from now on", awaiting.file.display());
        self.connection = connection;
        self.durability = Durability::Relaxed;
        self.search_memory = SearchMemory::default();
        self.awaiting_room = None;
    }
}
