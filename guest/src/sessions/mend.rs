//! Ending what a killed process left unfinished in a transcript, so that no tool call is shown as running for ever.

use super::windows::OtherWindows;
use crate::storage::{Durability, Result, Storage};
use crate::store::{Session, Store};
use crate::transcript::{Recorder, mend};

/// Ends the turns that nobody is at any more. Those that another connection may be at are left alone.
pub fn mend<S: Storage>(store: &Store<S>, session: &Session, connection: &str, now: i64) -> Result<()> {
    let unfinished = mend::unfinished(store.storage(), session)?;
    if unfinished.is_empty() {
        return Ok(());
    }
    let others = OtherWindows::read(store, &session.id, connection, now)?;
    let begun: Vec<&str> = unfinished.iter().filter_map(|turn| turn.turn.as_deref()).collect();
    let mut recorder = Recorder::new(&session.id);
    for turn in unfinished.iter().filter(|turn| !others.may_be_at(turn.turn.as_deref(), &begun)) {
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
    let unfinished = mend::unfinished(store.storage(), &session)?;
    if unfinished.is_empty() {
        return Ok(None);
    }
    let others = OtherWindows::read(store, id, connection, now)?;
    let begun: Vec<&str> = unfinished.iter().filter_map(|turn| turn.turn.as_deref()).collect();
    let is_under_way = unfinished.iter().any(|turn| others.may_be_at(turn.turn.as_deref(), &begun));
    Ok(is_under_way.then_some(session))
}
