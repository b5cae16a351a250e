//! What is not exact yet, and therefore not held. Everything else is held for these sessions too.
//!
//! Turns that run at the same time, from two windows or because a client did not wait for the first, are whole in the log.
//! What is not exact is comparing them with what an agent replays that keeps only one order of what was said at once, and
//! handing over to one of two agents what the other says while it is being told of something else.

use acp_sessions_guest::storage::Memory;
use acp_sessions_guest::store::{Store, keys};

use crate::talk::Talk;

/// Whether turns of this session ran at the same time, or from several windows.
pub(crate) fn is_concurrent(talk: &Talk, id: &str) -> bool {
    let parts = talk.sessions.get(id).map(|session| session.parts.as_slice()).unwrap_or_default();
    let turns: Vec<_> = parts.iter().map(|part| &talk.turns[part.turn]).collect();
    let overlaps = |at: usize| {
        let (turn, earlier) = (turns[at], &turns[..at]);
        earlier.iter().any(|other| other.line != turn.line || other.ended.is_none_or(|ended| ended > turn.began))
    };
    (0..turns.len()).any(overlaps)
}

/// Whether they are also compared with what an agent replays; or whether nobody can tell whose replay it is, or of what.
pub(crate) fn is_compared_concurrent(talk: &Talk, id: &str) -> bool {
    talk.some_agent_loads && (talk.some_replays_are_vague || is_asked_for_another(talk) || is_concurrent(talk, id))
}

/// Whether of two programs of one name the one hands out ids that are also the other's, and the other is asked for sessions
/// by their ids: it may take one for another of its own.
pub(crate) fn is_asked_for_another(talk: &Talk) -> bool {
    talk.counting.iter().any(|name| talk.asked_by_id.contains(name))
}

/// Whether another session has this agent's id by now, because another program of the agent's name has handed it out again:
/// what the one lists, or is to delete, is then taken to be about the other's.
pub(crate) fn is_given_again(talk: &Talk, store: &Store<&Memory>, agent: &'static str, own: &str, id: &str) -> bool {
    let holder = store.record(keys::agent_session(agent, own)).ok().flatten();
    talk.counting.contains(&Some(agent)) && holder.is_some_and(|holder| holder != id)
}
