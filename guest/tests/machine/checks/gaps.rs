//! What is not held. Everything else is held for these sessions too.
//!
//! **What cannot be known.** An agent is told from others by its name, and a session of its own by the id it gives. Two
//! programs of one name, of which the one hands out ids that are also the other's, are taken for one agent: where the other
//! is asked for a session by such an id, it opens the one that it has by it, and says nothing that would tell. A resume or
//! a fork gives no word of what was said in it. What a load replays may have nothing in common with the log, but so it is
//! where an agent has made a summary of the conversation, and that one is to be gone on with. Without this exemption 5 of
//! 20,000 cases fail. For the same reason a row that lists such an id, and a delete of it, are taken to be about the session
//! that was given it last: 3 of 100,000 cases (454034, 473267, 482834). And where it is asked to
//! delete what had an id while it is making a session that it gives the same, it deletes that one, whose id nobody knew
//! (1632078).
//!
//! **What is said in one session of an agent's by two of its programs at the same time**, each behind a window of its own.
//! The agent keeps it in one order, and it is written here as each window comes to it: neither need be the order in which it
//! was said, and no word of the replay says which window it came from. Where the two contradict each other the agent's counts,
//! as it is the one that is gone on with; nothing is lost, and what was said may stand there in both places. Where two programs of one name have given the same id to sessions of
//! their own, what the one heard is taken to be known to the other as well. And what an agent says while a prompt is on its
//! way to it comes before that prompt to the agent, and behind it here (604245). Without this exemption 25 of 20,000 cases
//! fail, as 2024, 2825 and 11386; 11 of 30,000 of them for something that stands there twice. Prompts that a client does not wait for, and windows whose agents have a session each, are
//! held to all of it.
//!
//! **What an agent says between turns, and another program of its tells at once.** It is written within 200 ms. Where another
//! window loads the session in that time, what that one's agent tells has it, becomes part of the transcript, and what the first
//! writes then is there twice. Of a turn under way the log tells, so that no replay is taken over in the midst of one; of
//! words that nobody asked for nothing tells before they are written (38975). Only such words are exempt, and only from
//! standing there once.
//!
//! **A load that is told in the midst of a turn.** An agent that is silent about a load for longer than it is waited for is gone
//! on with. What it tells of the history once it has the next prompt cannot be told from what it says in that turn, and would stand
//! there twice (882041). The machine's agent does not tell it then (`agent/say.rs`).
//!
//! **A window that is not given the time.** Whoever has been given nothing to do for longer than its open marks are believed,
//! by a clock that was set or a computer that was asleep, is taken for gone by who opens its session, and its turn for cut off
//! (27832), and so is one whose mark a failing store did not take, until time passes on it and the store takes the mark. The
//! first vouches for itself again with what it does next. Such a turn need not be in one piece, and what its connection is asked
//! next, while it is still under way there, is one with it or not (723412). What it was told of that turn and had not written
//! when another window's agent told it stands there twice, as words between turns do (762624), and so does what it was told of it
//! afterwards (1369228).
//!
//! **An agent that says it has told all of a session when it has told a part.** Nobody can know, as long as its list gives the
//! same time. What was said outside the layer and not told then may be missing; nothing else.
//!
//! **A session that its agent began in the place of its own while the store took nothing**, and which another window has read in
//! the agent's list before the first could have it noted. It is one more of the agent's own to everybody, and is not deleted with
//! the session that it stands in for (685101); nor is one of which nothing could be noted before its program was killed (1975944).
//! To its own window it is one more as well, if that reads the list meanwhile (710173).
//!
//! **A turn that a failing store took nothing of.** No log tells that it is under way, so a replay of another window's agent,
//! which has its prompt, is taken over in the midst of it. What the first window writes when the store works again stands there
//! twice, until the next load from that agent sets one of the two aside (101350). Only what was said in a turn during which the
//! store has failed is exempt, only until it takes what it is given again, and only from standing there once. Where the instance
//! was lost as well, what it had kept of the turn is written behind what came later, and stays there twice (1330177). None of the
//! first 20,000 needs it.
//!
//! **A session that is taken back without the layer while its agent is speaking.** To the agent, what it says from then on is the
//! end of an earlier answer; here it is the end of what it was saying, which cannot be taken apart. Up to the next prompt it may
//! stand in both places (1315320, 1368312).

use acp_sessions_guest::storage::Memory;
use acp_sessions_guest::store::{Store, keys};

use crate::talk::{Mark, Talk};

/// Whether a session may stand in the list twice, because a failing store took no note of whose it is.
pub(crate) fn may_have_twins(talk: &Talk) -> bool {
    talk.had_faults
}

/// Whether nobody can tell whose replay it is that the sessions are compared with.
pub(crate) fn is_compared_in_vain(talk: &Talk) -> bool {
    talk.some_agent_loads && is_asked_for_another(talk)
}

/// The same, or in which order it was said, and so where it has to stand.
pub(crate) fn is_in_no_order(talk: &Talk, id: &str) -> bool {
    is_compared_in_vain(talk) || talk.some_agent_loads && talk.is_shared(id)
}

/// Whether this was said in a turn that was taken for cut off, or of which a failing store took nothing before its instance was
/// lost.
pub(crate) fn may_stand_twice(talk: &Talk, mark: Mark) -> bool {
    let turn = talk.said[mark].turn.map(|turn| &talk.turns[turn]);
    turn.is_some_and(|turn| turn.given_up.is_some() || turn.untold && turn.shaken)
}

/// Whether of two programs of one name the one hands out ids that are also the other's, and the other is asked for sessions
/// by their ids: it may take one for another of its own.
pub(crate) fn is_asked_for_another(talk: &Talk) -> bool {
    talk.counting.iter().any(|name| talk.asked_by_id.contains(name))
}

/// Whether that is so of an agent that this session is open by, or was: what it replays may be another's.
pub(crate) fn is_anothers_perhaps(talk: &Talk, store: &Store<&Memory>, id: &str) -> bool {
    let record = store.session(id).ok().flatten();
    let agents = record.iter().flat_map(|record| record.agents.keys());
    let doubtful = talk.counting.iter().filter(|name| talk.asked_by_id.contains(*name));
    let doubtful: Vec<&str> = doubtful.map(|name| name.unwrap_or("unnamed")).collect();
    talk.some_agent_loads && agents.into_iter().any(|agent| doubtful.contains(&agent.as_str()))
}

/// Whether another session has this agent's id by now, because another program of the agent's name has handed it out again:
/// what the one lists, or is to delete, is then taken to be about the other's.
pub(crate) fn is_given_again(talk: &Talk, store: &Store<&Memory>, agent: &'static str, own: &str, id: &str) -> bool {
    let holder = store.record(keys::agent_session(agent, own)).ok().flatten();
    talk.counting.contains(&Some(agent)) && holder.is_some_and(|holder| holder != id)
}
