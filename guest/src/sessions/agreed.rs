//! What an agent agrees to that was set in a session, where that is open no more by then.

use crate::storage::{Durability, Expectation, Result, Storage, Write};
use crate::store::{Decision, State, Store, keys};
use crate::transcript::Recorder;

/// Makes this change of what is in force in the session with this agent, if the session is still there.
pub fn note<S: Storage>(store: &Store<S>, id: &str, agent: &str, change: impl Fn(&mut State)) -> Result<()> {
    if store.session(id)?.is_none() {
        return Ok(());
    }
    // What others say of its state meanwhile stays.
    Recorder::new(id).flush_with(store, Durability::Relaxed, |_, expected, writes| {
        let (session, key) = (keys::session(id), keys::state(id));
        let (record, stored) = (store.record(session.clone())?, store.record(key.clone())?);
        if record.is_none() {
            return Ok(Decision::Keep);
        }
        let mut state = stored.as_deref().map_or(Ok(State::default()), State::parse)?.with_agent(agent);
        change(&mut state);
        state.bound();
        expected.push(Expectation { key: session, value: record });
        expected.push(Expectation { key: key.clone(), value: stored });
        writes.push(Write::Put { key, value: state.to_text() });
        Ok(Decision::Keep)
    })?;
    Ok(())
}
