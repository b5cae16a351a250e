//! Ending what a killed process left unfinished in a transcript, so that no tool call is shown as running for ever.

use super::windows::OtherWindows;
use crate::storage::{Durability, Result, Storage};
use crate::store::{Session, Store};
use crate::transcript::Recorder;
use crate::transcript::mend::{self, Unfinished};

/// Ends the turns that nobody is at any more. Those that another connection may be at are left alone.
pub fn mend<S: Storage>(store: &Store<S>, session: &Session, connection: &str, now: i64) -> Result<()> {
    let mut recorder = Recorder::new(&session.id);
    for turn in unfinished(store, session, connection, now)?.gone {
        recorder.set_turn(turn.turn.clone());
        for (kind, json) in mend::entries(&turn) {
            recorder.push(kind, now, &json);
        }
    }
    recorder.flush(store, &[], Durability::Relaxed)?;
    Ok(())
}

/// Whether another connection is at work in a session, or may be: what its agent tells need not be all of it yet. One that was
/// killed a moment ago may be, too.
pub fn is_at_work_elsewhere<S: Storage>(store: &Store<S>, id: &str, connection: &str, now: i64) -> Result<bool> {
    let others = OtherWindows::read(store, id, connection, now)?;
    Ok(others.is_any_at_work() || (!others.is_empty() && under_way_elsewhere(store, id, connection, now)?.is_some()))
}

/// The session's record, if another connection is in the midst of a turn of it, of which it may not have written all yet.
pub fn under_way_elsewhere<S: Storage>(
    store: &Store<S>,
    id: &str,
    connection: &str,
    now: i64,
) -> Result<Option<Session>> {
    let Some(session) = store.session(id)? else { return Ok(None) };
    let under_way = unfinished(store, &session, connection, now)?.under_way;
    Ok((!under_way.is_empty()).then_some(session))
}

/// The turns of a session that began and did not end.
#[derive(Default)]
struct Turns {
    /// Those that another connection may be at.
    under_way: Vec<Unfinished>,
    /// Those that nobody is at any more.
    gone: Vec<Unfinished>,
}

fn unfinished<S: Storage>(store: &Store<S>, session: &Session, connection: &str, now: i64) -> Result<Turns> {
    let unfinished = mend::unfinished(store.storage(), session)?;
    if unfinished.is_empty() {
        return Ok(Turns::default());
    }
    let others = OtherWindows::read(store, &session.id, connection, now)?;
    let begun: Vec<String> = unfinished.iter().filter_map(|turn| turn.turn.clone()).collect();
    let may_go_on = |turn: &Unfinished| others.may_be_at(turn.turn.as_deref(), &begun);
    let (under_way, gone) = unfinished.into_iter().partition(may_go_on);
    Ok(Turns { under_way, gone })
}
