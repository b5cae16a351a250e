//! Keeping account of requests: each gets exactly one answer.

use crate::connection::client_request::ClientRequest;
use crate::connection::key::Key;
use crate::connection::live::LiveSession;
use crate::connection::requests::{Incoming, Outgoing, OwnId, Stale};
use crate::connection::router::Router;
use crate::connection::step::Step;
use crate::environment::Environment;
use crate::rpc::{self, Id, Object, Outcome, RpcError};
use crate::storage::Storage;
use crate::store::keys;
use serde_json::json;

use super::kept::Kept;

impl<S: Storage, E: Environment> Router<S, E> {
    /// Notes that a request of the client's waits for an answer.
    pub(super) fn expect(&mut self, request: &ClientRequest, what: Incoming) {
        self.connection.requests.incoming.insert(request.clone(), what);
    }

    /// Whether a request of this id is the client's, and open.
    pub(crate) fn is_clients(&self, id: &Id) -> bool {
        self.connection.requests.incoming.contains_key(&ClientRequest::new(id.clone()))
    }

    /// Whether a request of this id is the client's, and the agent's to answer.
    pub(super) fn is_with_agent(&self, id: &Id) -> bool {
        let request = ClientRequest::new(id.clone());
        self.connection.requests.incoming.get(&request).is_some_and(Incoming::is_with_agent)
    }

    /// Has the host keep what a request that is still open waits for.
    pub(super) fn keep_request(&mut self, request: &ClientRequest) {
        let Some(what) = self.connection.requests.incoming.get(request) else { return };
        let value = serde_json::to_string(what).ok();
        let kept = Kept::Request(request.clone());
        let share = self.connection.load.share(kept.key().len() + value.as_ref().map_or(0, String::len));
        self.connection.requests.kept.insert(request.clone(), share);
        self.outputs.push_back(kept.with(value));
    }

    /// Notes that it is answered; what it waited for.
    pub(super) fn settle(&mut self, request: &ClientRequest) -> Option<Incoming> {
        let what = self.connection.requests.incoming.remove(request)?;
        if self.connection.requests.kept.remove(request).is_some() {
            self.outputs.push_back(Kept::Request(request.clone()).with(None));
        }
        Some(what)
    }

    /// Answers a request of the client's that is open.
    pub(super) fn finish(&mut self, request: &ClientRequest, result: Result<String, RpcError>) {
        if self.settle(request).is_none() {
            return;
        }
        self.forget_unsent(request);
        match result {
            Ok(result) => self.send_client(rpc::response(request.id(), &result)),
            Err(error) => self.send_client(rpc::failure(request.id(), &error)),
        }
    }

    /// Nobody waits for this any more: the agent is told, and a late success is cleaned up behind.
    pub(super) fn abandon(&mut self, id: OwnId) {
        let wire = self.connection.ids.wire(id);
        let Some(Outgoing::Step { step, agent_id, .. }) = self.connection.requests.outgoing.remove(&id) else { return };
        self.connection.requests.outgoing.insert(id, Outgoing::Abandoned(Stale::new(step, agent_id)));
        let params = format!("{{\"requestId\":{}}}", wire.as_json());
        self.send_agent(rpc::notification("$/cancel_request", &params));
    }

    /// The agent was silent for too long about a session: what it may still tell of it is not waited for, not by an instance
    /// that takes this one's place either.
    pub(super) fn give_up(&mut self, agent_id: &str) {
        for (wire, stale) in self.connection.requests.give_up(agent_id, &self.connection.ids) {
            self.keep_step(&wire, &stale);
        }
    }

    /// Has the host keep that the agent was asked to open something.
    pub(super) fn keep_step(&mut self, wire: &Id, stale: &Stale) {
        let value = serde_json::to_string(stale).ok();
        self.outputs.push_back(Kept::Step(wire.clone()).with(value));
    }

    /// The host need not keep any more that the agent was asked to open something.
    pub(super) fn forget_step(&mut self, wire: &Id) {
        self.outputs.push_back(Kept::Step(wire.clone()).with(None));
    }

    /// The answer to something that nobody waits for any more.
    pub(super) fn abandoned_answered(&mut self, stale: &Stale, outcome: Outcome<'_>) {
        let now = self.now();
        if let Some(agent_id) = &stale.agent_id {
            self.connection.requests.answered_in_vain(agent_id, now);
        }
        if let (Step::Load, Some(agent_id)) = (stale.step, &stale.agent_id)
            && let Some(key) = self.connection.by_agent.get(agent_id.as_str()).cloned()
        {
            // What the agent has told of the session so far was for nobody; what follows is for the one who asked since.
            self.with(&key, LiveSession::earlier_answered);
        }
        let Outcome::Result(result) = outcome else { return };
        let made = stale.step.makes().then(|| Object::parse_or_empty(result).get_string("sessionId"));
        if let Some(agent_id) = made.unwrap_or_else(|| stale.agent_id.clone()) {
            self.let_go(&agent_id, stale.step.makes());
        }
    }

    /// A session is over that its agent had open by this id, which was the agent's alone. Where the store has not taken note
    /// of whose it is, nothing else tells that the client knows no session by it.
    pub(super) fn disown_if_not_noted(&mut self, key: &Key, agent_id: &str) {
        let is_the_agents_alone = !agent_id.is_empty() && key.id().is_some_and(|id| id != agent_id);
        if !is_the_agents_alone || self.connection.by_agent.contains_key(agent_id) {
            return;
        }
        let noted = self.store.record(keys::agent_session(&self.connection.agent.name, agent_id));
        if !matches!(noted, Ok(Some(_))) {
            self.connection.disowned.insert(agent_id.to_owned());
        }
    }

    /// Asks the agent to let go of a session that nobody uses: to close it, and to delete one that was made in vain.
    pub(super) fn let_go(&mut self, agent_id: &str, made: bool) {
        if self.connection.by_agent.contains_key(agent_id) {
            return;
        }
        if made {
            self.connection.disowned.insert(agent_id.to_owned());
        }
        let (close, delete) = (self.connection.agent.close, self.connection.agent.delete && made);
        let params = json!({ "sessionId": agent_id }).to_string();
        self.run(|cx| {
            if close {
                cx.ask(Outgoing::Ignored, "session/close", params.clone());
            }
            if delete {
                cx.ask(Outgoing::Delete { agent_id: agent_id.to_owned() }, "session/delete", params);
            }
        });
    }
}
