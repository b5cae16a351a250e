//! Ending what a killed process left unfinished in a transcript, so that no tool call is shown as running for ever.

use super::open_marks;
use crate::storage::{Durability, Result, Storage};
use crate::store::{Session, Store};
use crate::transcript::{Recorder, mend};

/// Ends the turns that nobody is at any more. Where another connection has the session open it is left alone: they may
/// be under way there.
pub fn mend<S: Storage>(store: &Store<S>, session: &Session, connection: &str, now: i64) -> Result<()> {
    let unfinished = mend::unfinished(store.storage(), session)?;
    if unfinished.is_empty() || open_marks::is_open_elsewhere(store, &session.id, connection, now)? {
        return Ok(());
    }
    let mut recorder = Recorder::new(&session.id);
    for turn in &unfinished {
        recorder.set_turn(turn.turn.clone());
        for (kind, json) in mend::entries(turn) {
            recorder.push(kind, now, &json);
        }
    }
    recorder.flush(store, &[], Durability::Relaxed)?;
    Ok(())
}

/// The session's record, if another connection is in the midst of a turn of it, of which it may not have written all yet.
pub fn under_way_elsewhere<S: Storage>(
    store: &Store<S>,
    id: &str,
    connection: &str,
    now: i64,
) -> Result<Option<Session>> {
    let Some(session) = store.session(id)? else { return Ok(None) };
    let is_open = open_marks::is_open_elsewhere(store, id, connection, now)?;
    let is_under_way = is_open && !mend::unfinished(store.storage(), &session)?.is_empty();
    Ok(is_under_way.then_some(session))
}
