//! Open marks: which sessions some connection, of this process or another, has open.

use crate::storage::{Bounds, Result, Storage};
use crate::store::{Store, keys};

/// Whether a connection has the session open. A mark is believed until the time it bears, so that a killed process
/// does not keep its sessions open for ever.
pub fn is_open<S: Storage>(store: &Store<S>, id: &str, now: i64) -> Result<bool> {
    let prefix = keys::open_marks(id);
    let bounds = Bounds { limit: 100, max_bytes: 64 * 1024 };
    let marks = store.storage().scan(&prefix, &keys::range_end(&prefix), false, bounds)?;
    Ok(marks.entries.iter().any(|mark| mark.value.parse::<i64>().is_ok_and(|until| until > now)))
}
