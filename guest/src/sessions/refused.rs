//! A prompt that an agent refused when its client had already left.

use crate::storage::{Durability, Result, Storage};
use crate::store::{Decision, Store};
use crate::transcript::{Entry, Kind, Recorder, begun};

/// Notes in the log of this session that the agent says of the turn of this tag that it has no such session (its `error`, JSON).
/// The turn had come to an end with its client. Nothing that was said in it counts as heard by the agent any more.
pub fn note<S: Storage>(store: &Store<S>, id: &str, tag: &str, error: &str, now: i64) -> Result<()> {
    let begun = begun(store.storage(), id, tag)?;
    let with = begun.prompts.first().and_then(|text| Entry::parse(text)?.with());
    let (Some(place), Some((agent, agent_id))) = (begun.place, with) else { return Ok(()) };
    let mut recorder = Recorder::new(id);
    recorder.set_turn(Some(tag.to_owned()));
    recorder.push(Kind::TurnEnd, now, &format!("{{\"error\":{error}}}"));
    recorder.flush_with(store, Durability::Durable, |before, _, _| {
        let Some(mut session) = before.cloned() else { return Ok(Decision::Keep) };
        let heard = session.length_up_to(place.saturating_sub(1));
        if let Some(known) = session.agents.get_mut(&agent).filter(|known| known.id == agent_id) {
            known.heard = known.heard.min(heard);
        }
        Ok(Decision::put(session))
    })?;
    Ok(())
}
