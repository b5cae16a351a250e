//! What a session's agent knows by the end of a turn.

use super::gaps::is_asked_for_another;
use crate::agent::Agent;
use crate::ground::Ground;
use crate::talk::{Cut, Life, Mark};

/// The agent that a turn was with, in this session of its own, knows all that was said before it, from its own memory or
/// because it was told.
pub(crate) fn heard(agent: &Agent, ground: &mut Ground, (turn, own): (usize, &str), known: &[Mark]) {
    let talk = &ground.talk;
    let (began, line, session) = (talk.turns[turn].began, talk.turns[turn].line, &talk.turns[turn].session);
    if talk.had_faults || is_asked_for_another(talk) {
        return;
    }
    let is_shared = talk.is_shared(session);
    let is_seen = |began: u64| agent.opened_at.get(own).is_some_and(|opened| began > *opened);
    if talk.sessions.get(session).is_none_or(|session| session.life != Life::Here) {
        return;
    }
    let missing: Vec<Mark> = talk
        .required(session)
        .into_iter()
        // Where its connection did not wait for it, the last of those that are one with it has ended.
        .filter(|(earlier, _)| talk.span(&talk.turns[*earlier], Cut::Nowhere, |_| true).1 < began)
        // An agent that forgets does not know what another of its processes has heard before it has opened the session.
        .filter(|(earlier, _)| {
            let earlier = &talk.turns[*earlier];
            let is_kept = earlier.began < agent.began || !agent.kind.forgets();
            earlier.line == line || is_seen(earlier.began) || is_kept
        })
        // Of two programs that had it open at once each has an account of its own; what is told here is what the other was
        // told since.
        .filter(|(earlier, _)| {
            let earlier = &talk.turns[*earlier];
            !is_shared || earlier.line != line && is_seen(earlier.began)
        })
        // Whether a program that forgets has the session shows with its answer, and here there was none (1239565), or one
        // that says nothing (461896).
        .filter(|(earlier, _)| {
            let is_hollow = talk.hollow.contains(earlier);
            let earlier = &talk.turns[*earlier];
            earlier.line == line || !(earlier.unanswered || is_hollow) || !talk.some_agent_forgets
        })
        .flat_map(|(_, marks)| marks)
        .filter(|mark| !known.contains(mark) && !talk.said[*mark].rewound && !talk.said[*mark].thought)
        .collect();
    if !missing.is_empty() {
        ground.broke("heard", format!("the agent of a turn {turn} was never told {missing:?}, it knows {known:?}"));
    }
}
