//! Each request is answered exactly once. More than once is found as it happens.

use crate::agent::Agent;
use crate::client::Client;
use crate::ground::Broke;

/// What is not answered when all has settled. `is_over`: the connection has ended, so that no excuse is left.
pub(crate) fn answered(client: &Client, agent: &Agent, is_over: bool) -> Vec<Broke> {
    let excused = |id: &String| !is_over && agent.forgotten.contains_key(id);
    let open: Vec<_> = client.asked.iter().filter(|(id, _)| !excused(id)).collect();
    let mut broken = Vec::new();
    if (is_over || agent.forgotten.is_empty()) && !open.is_empty() {
        broken.push(Broke::new("unanswered", format!("never answered: {open:?}")));
    }
    if client.nameless > 0 {
        broken.push(Broke::new("nameless", format!("{} bad lines were never answered", client.nameless)));
    }
    let unanswered: Vec<_> = agent.asked.iter().filter(|(_, asked)| asked.answered == 0).collect();
    if !is_over && !unanswered.is_empty() {
        broken.push(Broke::new("permission", format!("the agent was never answered: {unanswered:?}")));
    }
    broken
}
