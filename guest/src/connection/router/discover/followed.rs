//! Following the agent's own list, where the agent tells what changes in it (draft: session list extensions): what its other
//! programs do is here within a moment then. What clients follow are lists of the layer's, so whatever the agent tells of
//! lists is for the layer.

use serde_json::json;
use serde_json::value::RawValue;

use super::{Phase, SessionNews, Trouble};
use crate::connection::requests::Outgoing;
use crate::connection::router::Router;
use crate::connection::router::agents_subscription::AgentsSubscription;
use crate::environment::Environment;
use crate::rpc::{Object, Outcome};
use crate::storage::Storage;

/// How much of what the agent has said may wait for a store that takes nothing. Beyond that its list is read anew.
const MOST_SAID: usize = 4096;

impl<S: Storage, E: Environment> Router<S, E> {
    /// Whether the first page is to be asked for with a subscription; then it counts as asked for.
    pub(super) fn subscribes_to_agent(&mut self) -> bool {
        let subscribes = self.connection.agent.list_extensions.is_some_and(|has| has.tells_changes)
            && self.connection.agents_subscription == AgentsSubscription::None;
        if subscribes {
            self.connection.agents_subscription = AgentsSubscription::AskedFor;
        }
        subscribes
    }

    /// A page has come, or was refused: notes the subscription that begins with it. Says whether it was asked for with one.
    pub(super) fn subscription_answered(&mut self, outcome: Outcome<'_>) -> bool {
        let subscription = &mut self.connection.agents_subscription;
        let was_asked_for = *subscription == AgentsSubscription::AskedFor;
        let id = match outcome {
            Outcome::Result(result) => Object::parse_or_empty(result).get_string("subscriptionId"),
            Outcome::Error(_) => None,
        };
        match (id, outcome) {
            (Some(id), _) => *subscription = AgentsSubscription::Known(id),
            (None, Outcome::Result(_)) if was_asked_for => *subscription = AgentsSubscription::Refused,
            (None, Outcome::Error(_)) if was_asked_for => *subscription = AgentsSubscription::None,
            (None, _) => {}
        }
        was_asked_for
    }

    /// Something that the agent says of a list; whether it is that.
    pub(in crate::connection::router) fn agents_list_changed(&mut self, method: &str, params: Option<&str>) -> bool {
        match method {
            "session/list/changes" => self.agent_told_changes(&params.and_then(Object::parse).unwrap_or_default()),
            "session/list/resync" => self.connection.discovery.is_stale = true,
            // It says less than a subscription does.
            "session/list_changed" => {
                self.connection.discovery.is_stale |= !self.connection.agents_subscription.is_known();
            }
            _ => return false,
        }
        true
    }

    fn agent_told_changes(&mut self, params: &Object<'_>) {
        if let Some(id) = params.get_string("subscriptionId") {
            match &self.connection.agents_subscription {
                AgentsSubscription::Known(known) if *known != id => self.unsubscribe_from_agent(&id),
                // One of a lost instance goes on.
                AgentsSubscription::None => self.connection.agents_subscription = AgentsSubscription::Known(id),
                AgentsSubscription::AskedFor | AgentsSubscription::Known(_) | AgentsSubscription::Refused => {}
            }
        }
        let rows: Vec<&RawValue> =
            params.get("sessions").and_then(|rows| serde_json::from_str(rows).ok()).unwrap_or_default();
        let gone: Vec<String> =
            params.get("removed").and_then(|ids| serde_json::from_str(ids).ok()).unwrap_or_default();
        let now = self.now();
        let discovery = &mut self.connection.discovery;
        let is_paused = matches!(discovery.trouble, Trouble::Paused { .. });
        if is_paused && discovery.said.len() + rows.len() + gone.len() > MOST_SAID {
            discovery.is_stale = true;
            return;
        }
        // What goes while pages are read moves others past the cursor.
        discovery.seen.has_moved |= discovery.phase == Phase::Reading && !gone.is_empty();
        discovery.said.extend(rows.into_iter().map(|row| SessionNews::Row { json: row.get().to_owned(), asked: now }));
        discovery.said.extend(gone.into_iter().map(SessionNews::Gone));
    }

    /// The agent's user is about to be another one.
    pub(in crate::connection::router) fn end_agents_subscription(&mut self) {
        if let AgentsSubscription::Known(id) = std::mem::take(&mut self.connection.agents_subscription) {
            self.unsubscribe_from_agent(&id);
        }
    }

    pub(in crate::connection::router) fn unsubscribe_from_agent(&mut self, id: &str) {
        let params = json!({ "subscriptionId": id }).to_string();
        self.run(|cx| cx.ask(Outgoing::Ignored, "session/list/unsubscribe", params));
    }
}
