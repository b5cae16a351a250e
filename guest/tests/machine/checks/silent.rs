//! An agent that does not answer.

use crate::agent::{Agent, Request};
use crate::client::{Client, Window};
use crate::ground::Broke;

/// A session whose agent has it, and is only slow or silent, is not replaced by a new one of the agent's.
pub(crate) fn replaced(client: &Client, agent: &Agent) -> Vec<Broke> {
    let waiting: Vec<&Request> = agent.requests.iter().chain(agent.forgotten.values()).collect();
    let is_ignored = |window: &&Window| {
        let opens = |request: &&&Request| matches!(request.method.as_str(), "session/load" | "session/resume");
        let is_meant = |request: &&Request| {
            let is_within = request.at > window.since && window.until.is_none_or(|until| request.at < until);
            is_within && request.session() == Some(&window.session)
        };
        // Where the layer has mapped an id, the agent's may be another session's.
        let is_mapped = client.windows.iter().any(|window| window.session.starts_with("sess_"));
        !is_mapped && waiting.iter().filter(opens).any(is_meant)
    };
    let replaced = client.windows.iter().filter(|window| window.attached.as_deref() == Some("new"));
    let text = |window: &Window| format!("the agent has not answered for `{}`, and got a new session", window.session);
    replaced.filter(is_ignored).map(|window| Broke::new("replaced", text(window))).collect()
}
