//! Taking in rows of an agent's own list: sessions that the layer did not know, and what the agent knows better of those
//! that it does.

mod intake;
mod refresh;
mod row;

pub use row::Row;

use crate::environment::Environment;
use crate::storage::{Durability, Result, Storage, StorageError};
use crate::store::Store;
use intake::Intake;

/// What a row was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// A session that is listed from now on.
    New,
    /// One that was listed before.
    Known,
    /// The same, which its user has given this title and the agent has not.
    Named(String),
    /// One that was put away here, or brought back, which the agent has not followed.
    Archived {
        /// The session.
        id: String,
        /// Whether it is put away.
        archived: bool,
    },
    /// One that was deleted here; the agent has not followed.
    Deleted,
    /// One that the agent has made in vain, which it was asked to let go of.
    InVain,
    /// The store does not take it, or cannot read what it has of it.
    Refused(StorageError),
}

/// What a connection has to do with a session of the agent's that is in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Here {
    /// It has the session open.
    Open,
    /// The agent has made the session for it in vain. Unless somebody else has it, it is nobody's.
    InVain,
    /// Nothing.
    Nothing,
}

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
