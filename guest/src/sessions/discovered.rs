//! Taking in rows of an agent's own list: sessions that the layer did not know, and what the agent knows better of those
//! that it does.

mod beside;
mod counted;
mod fork_of;
mod found;
mod here;
mod intake;
mod refresh;
mod row;

pub use found::Found;
pub use here::Here;
pub use row::Row;

use crate::environment::Environment;
use crate::storage::{Durability, Result, Storage, StorageError};
use crate::store::Store;
use intake::Intake;

/// Takes in rows, in one commit; `here` says by the agent's id what this connection has to do with a session. Returns what
/// the first rows were, at least one of them: the others are to come again.
///
/// Rows that say nothing new cost no write. A row that the store does not take holds up no other.
pub fn take_in<S: Storage, E: Environment>(
    store: &Store<S>,
    environment: &E,
    agent: &str,
    rows: &[Row],
    here: impl Fn(&str) -> Here,
    now: i64,
) -> Result<Vec<Found>> {
    let mut count = rows.len();
    loop {
        let taken_in = store.change_all(&[], Durability::Relaxed, |draft| {
            Intake::new(draft, environment, agent, now).take_in(&rows[..count], &here)
        });
        match taken_in {
            Ok((found, _)) => return Ok(found),
            Err(StorageError::TooLarge | StorageError::Corrupt(_)) if count > 1 => count /= 2,
            Err(error @ (StorageError::TooLarge | StorageError::Corrupt(_))) => return Ok(vec![Found::Refused(error)]),
            Err(error) => return Err(error),
        }
    }
}
