//! What is not exact yet, and therefore not held. Everything else is held for these sessions too.
//!
//! Turns that run at the same time, from two windows or because a client did not wait for the first, are whole in the log.
//! What is not exact is comparing them with what an agent replays that keeps only one order of what was said at once, and
//! handing over to one of two agents what the other says while it is being told of something else.

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

/// Whether they are also compared with what an agent replays; or whether two programs of one name hand out the same ids
/// for sessions of their own and one of them replays, so that nobody can tell whose replay it is.
pub(crate) fn is_compared_concurrent(talk: &Talk, id: &str) -> bool {
    talk.some_agent_loads && (talk.some_agent_reuses_ids || is_concurrent(talk, id))
}
