//! An agent that wants its user logged in first.

use crate::agent::Agent;
use crate::client::{Client, Window};
use crate::ground::Broke;
use crate::kind::Trait;
use crate::talk::Talk;

/// Where an agent answers -32000 to everything, loads are answered so too, before any history once it has said so.
pub(crate) fn locked(talk: &Talk, client: &Client, agent: &Agent) -> Vec<Broke> {
    if !agent.kind.is(Trait::WantsLogin) || agent.was_unlocked {
        return Vec::new();
    }
    let is_open = |window: &&Window| window.done && !client.open.contains(&window.session);
    let is_wrong = |window: &&Window| {
        let has_past = window.required.iter().any(|(_, marks)| !marks.is_empty());
        let is_here = talk.sessions.get(&window.session).is_some_and(|session| session.life == crate::talk::Life::Here);
        let was_said = agent.locked_since.is_some_and(|since| since < window.since);
        // Both loads of a session are sent what one of them is shown, and the first may have been asked for in time.
        let is_anothers = |other: &Window| {
            other.session == window.session
                && agent.locked_since.is_some_and(|since| other.since < since)
                && window.seen.iter().all(|mark| other.seen.contains(mark))
        };
        let is_shown = !window.seen.is_empty() && !client.windows.iter().any(is_anothers);
        has_past && is_here && (window.refused.is_none() || (was_said && is_shown))
    };
    // One that wants a login and opens a session all the same has opened it, also for who asks while it is open.
    let ungranted = (0..).zip(&client.windows).filter(|(at, _)| !agent.granted.contains(at)).map(|(_, window)| window);
    let refused = ungranted.filter(|window| window.attached.as_deref() != Some("live"));
    let wrong = refused.filter(is_open).filter(is_wrong);
    wrong.map(|window| Broke::new("login", format!("the agent wants a login, the client saw {window:?}"))).collect()
}
