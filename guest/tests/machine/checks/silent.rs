//! An agent that does not answer.

use crate::agent::{Agent, Request};
use crate::client::{Client, Window};
use crate::ground::Broke;

/// A session whose agent has it, and is only slow or silent, is not replaced by a new one of the agent's. One that the agent
/// refuses to open is, and one whose id it has given to another since it was asked for it (104834).
pub(crate) fn replaced(client: &Client, agent: &Agent) -> Vec<Broke> {
    let waiting = || agent.requests.iter().chain(agent.forgotten.values()).filter(|request| request.opens());
    let is_ignored = |window: &Window| {
        let is_meant = |request: &Request| {
            let is_within = request.at > window.since && window.until.is_none_or(|until| request.at < until);
            let is_given_anew = request.session().and_then(|id| agent.begun.get(id)).is_some_and(|at| *at > request.at);
            is_within && !is_given_anew && request.wanted() == Some(&window.session)
        };
        waiting().any(is_meant)
    };
    let windows = (0..).zip(&client.windows).filter(|(_, window)| window.attached.as_deref() == Some("new"));
    let replaced = windows.filter(|(at, window)| !agent.refused.contains(at) && is_ignored(window));
    let text = |window: &Window| format!("the agent has not answered for `{}`, and got a new session", window.session);
    replaced.map(|(_, window)| Broke::new("replaced", text(window))).collect()
}
