//! What is not held. Everything else is held for these sessions too.
//!
//! **What cannot be known.** An agent is told from others by its name, and a session of its own by the id it gives. Two
//! programs of one name, of which the one hands out ids that are also the other's, are taken for one agent: where the other
//! is asked for a session by such an id, it opens the one that it has by it, and says nothing that would tell. A resume or
//! a fork gives no word of what was said in it. What a load replays may have nothing in common with the log, but so it is
//! where an agent has made a summary of the conversation, and that one is to be gone on with. Without this exemption 5 of
//! 20,000 cases fail. For the same reason a row that lists such an id, and a delete of it, are taken to be about the session
//! that was given it last: 3 of 100,000 cases (454034, 473267, 482834).
//!
//! **What is not exact yet.** Turns that run at the same time, from two windows or because a client did not wait for the
//! first, are whole in the log. Without the exemption about 44 of 20,000 cases fail. About half of them are replays: an agent
//! keeps one order of what was said at once, which need not be the log's. The other half are about what is handed over; in
//! those that were looked at, a prompt does not wait for a first one that bears an account: what another window has said
//! since is handed over behind the first, and not with the second.

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
    talk.some_agent_loads && (is_asked_for_another(talk) || is_concurrent(talk, id))
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
