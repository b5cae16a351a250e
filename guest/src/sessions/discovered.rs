//! Taking in rows of an agent's own list: sessions that the layer did not know, and what the agent knows better of those
//! that it does.

mod beside;
mod counted;
mod fork_of;
mod found;
mod here;
mod intake;
mod other_names;
mod owner;
mod parents;
mod refresh;
mod renamed;
mod row;

pub use fork_of::ForkOf;
pub use found::Found;
pub use here::Here;
pub use row::Row;

use crate::environment::Environment;
use crate::storage::{Durability, Result, Storage, StorageError};
use crate::store::Store;
use intake::Intake;

/// Takes in rows, in one commit; `here` says by the agent's id what this connection has to do with a session. Returns what
/// the first rows were, at least one of them: the others are to come again. Of these also which are forks of a session that
/// is not known: see [`join`].
///
/// Rows that say nothing new cost no write. A row that the store does not take holds up no other.
pub fn take_in<S: Storage, E: Environment>(
    store: &Store<S>,
    environment: &E,
    agent: &str,
    rows: &[Row],
    here: impl Fn(&str) -> Here,
    now: i64,
) -> Result<(Vec<Found>, Vec<ForkOf>)> {
    let mut count = rows.len();
    loop {
        let taken_in = store.change_all(&[], Durability::Relaxed, |draft| {
            Intake::new(draft, environment, agent, now).take_in(&rows[..count], &here)
        });
        match taken_in {
            Ok((taken_in, _)) => return Ok(taken_in),
            Err(StorageError::TooLarge | StorageError::Corrupt(_)) if count > 1 => count /= 2,
            Err(error @ (StorageError::TooLarge | StorageError::Corrupt(_))) => {
                return Ok((vec![Found::Refused(error)], Vec::new()));
            }
            Err(error) => return Err(error),
        }
    }
}

/// Takes in which sessions these were forked from, where the layer knows those by now. One that the store does not take, or
/// cannot read, is passed over.
pub fn join<S: Storage, E: Environment>(
    store: &Store<S>,
    environment: &E,
    agent: &str,
    forks: &[ForkOf],
    now: i64,
) -> Result<()> {
    let joined =
        store.change_all(&[], Durability::Relaxed, |draft| Intake::new(draft, environment, agent, now).join(forks));
    match joined {
        Ok(_) => Ok(()),
        Err(StorageError::TooLarge | StorageError::Corrupt(_)) => match forks {
            [] | [_] => Ok(()),
            forks => forks.chunks(1).try_for_each(|fork| join(store, environment, agent, fork, now)),
        },
        Err(error) => Err(error),
    }
}
