//! `session/update` from the agent: to the session it is about, wherever that is.

use serde_json::json;

use crate::connection::handled::Handled;
use crate::connection::key::Key;
use crate::connection::live::Update;
use crate::connection::params::without_own;
use crate::connection::requests::{Incoming, Outgoing, Stale};
use crate::connection::router::Router;
use crate::connection::router::layers::SaidElsewhere;
use crate::environment::Environment;
use crate::rpc::{Message, Object, RpcError};
use crate::sessions::info;
use crate::storage::Storage;
use crate::store::keys;
use crate::transcript::UpdateKind;

/// Whether a notification's params name this session.
fn names(params: Option<&str>, agent_id: &str) -> bool {
    params.and_then(Object::parse).and_then(|params| params.get_string("sessionId")).as_deref() == Some(agent_id)
}

/// How many bytes of updates may wait for the answer that names their session.
const MOST_BYTES: usize = 8 * 1024 * 1024;

/// Why something is missing in the log of a session.
const OVERFLOWED: &str = "the agent told more of the session than is kept before it has named it";

impl<S: Storage, E: Environment> Router<S, E> {
    pub(super) fn session_update(&mut self, line: &str, params: Option<&str>) -> Handled {
        if self.connection.agent.has_same_store {
            return Handled::Pass;
        }
        let Some(mut params) = params.and_then(Object::parse) else { return Handled::Pass };
        let Some(agent_id) = params.get_string("sessionId") else { return Handled::Pass };
        if self.connection.agent.is_layer
            && let Some(said) = SaidElsewhere::read(&params)
        {
            if self.is_told_here(&said, &agent_id) {
                return Handled::Done;
            }
            // The client is told so, and the log is not.
            match params.get("_meta").and_then(without_own) {
                Some(rest) => params.set("_meta", rest),
                None => params.remove("_meta"),
            }
        }
        let Some(key) = self.connection.by_agent.get(agent_id.as_str()).cloned() else {
            return self.update_of_unknown(line, &agent_id, &params);
        };
        match Update::read(line, &params) {
            Some(update) => self.with(&key, |session, cx| session.update(&update, cx)).unwrap_or(Handled::Done),
            None => match key.id() {
                Some(id) => Handled::named(line, &params, "sessionId", id),
                None => Handled::Done,
            },
        }
    }

    /// An update for a session that is not open here: one that has no name yet, one of the store, or the agent's own
    /// business.
    fn update_of_unknown(&mut self, line: &str, agent_id: &str, params: &Object<'_>) -> Handled {
        let is_history = || Update::read(line, params).is_some_and(|update| update.kind.is_history());
        if self.connection.requests.is_told_in_vain(agent_id) && is_history() {
            // It has a name. Held, it would be told with what the agent tells to the next who asks.
            return Handled::Done;
        }
        if self.is_naming() {
            if self.connection.early.bytes + line.len() <= MOST_BYTES {
                self.connection.early.push(line.to_owned());
                return Handled::Done;
            }
            if is_history() {
                self.connection.early.overflow(agent_id);
            }
        }
        match self.update_of_stored(line, agent_id, params) {
            Ok(handled) => handled,
            Err(error) => {
                // It may be a deleted one; nobody is shown what could not be looked up.
                self.not_recorded(&error.message);
                Handled::Done
            }
        }
    }

    /// For a session of the store that is not open, only what its row shows counts; nothing does for a deleted one.
    fn update_of_stored(&mut self, line: &str, agent_id: &str, params: &Object<'_>) -> Result<Handled, RpcError> {
        let agent = &self.connection.agent.name;
        // Under its own id it would be taken for another session of that id, or for one that was deleted.
        let keys = [
            keys::agent_session(agent, agent_id),
            keys::agent_tombstone(agent, agent_id),
            keys::session(agent_id),
            keys::tombstone(agent_id),
        ];
        let is_disowned = self.connection.disowned.contains(agent_id);
        let mut known = self.store.storage().get(&keys)?.into_iter();
        let (id, tombstone) = (known.next().flatten(), known.next().flatten());
        let is_others = is_disowned || known.any(|record| record.is_some());
        let Some(id) = id else {
            return Ok(if tombstone.is_some() || is_others { Handled::Done } else { Handled::Pass });
        };
        let Some(update) = Update::read(line, params).filter(|update| update.kind == UpdateKind::Info) else {
            return Ok(Handled::Done);
        };
        let Some(shown) = info::without_own_words(update.update) else { return Ok(Handled::Done) };
        let Some(shown) = info::store(&self.store, &id, (&self.connection.agent.name, &shown), self.now())? else {
            return Ok(Handled::Done);
        };
        if shown == update.update {
            return Ok(Handled::named(line, params, "sessionId", &id));
        }
        let mut params = params.clone();
        params.set("sessionId", json!(id).to_string());
        params.set("update", shown);
        Ok(Handled::PassAs(crate::rpc::notification("session/update", &params.to_json())))
    }

    /// Whether the agent is making a session whose id is not known here yet.
    fn is_naming(&self) -> bool {
        let requests = &self.connection.requests;
        requests.incoming.values().any(|what| matches!(what, Incoming::New { .. }))
            || requests.stale.values().any(|stale| stale.step.makes())
            || requests.outgoing.values().any(|what| match what {
                Outgoing::Step { step, .. } | Outgoing::Abandoned(Stale { step, .. }) => step.makes(),
                _ => false,
            })
    }

    /// The agent has named a session that it was asked to make; what it said of it before is handled now.
    pub(super) fn name_opening(&mut self, of: &Key, agent_id: &str) {
        if agent_id.is_empty()
            || !self.connection.sessions.contains_key(of)
            || self.connection.by_agent.contains_key(agent_id)
        {
            return;
        }
        self.connection.by_agent.insert(agent_id.into(), of.clone());
        let early = self.connection.early.take_lines();
        for line in early {
            match Message::parse(&line) {
                Ok(Message::Notification { params, .. }) if names(params, agent_id) => {
                    match self.session_update(&line, params) {
                        Handled::Done | Handled::Wait(_) => {}
                        Handled::Pass => self.send_client(line),
                        Handled::PassAs(line) => self.send_client(line),
                    }
                }
                _ => self.connection.early.push(line),
            }
        }
    }

    /// A session is opened that the agent knows by this id: what it said of it before was about no session that it was
    /// making.
    pub(super) fn settle_early(&mut self, agent_id: &str) {
        for line in self.connection.early.take_lines() {
            let params = match Message::parse(&line) {
                Ok(Message::Notification { params, .. }) if names(params, agent_id) => params,
                _ => {
                    self.connection.early.push(line);
                    continue;
                }
            };
            let Some(params) = params.and_then(Object::parse) else { continue };
            match self.update_of_stored(&line, agent_id, &params) {
                Ok(Handled::Pass) => self.send_client(line),
                Ok(Handled::PassAs(line)) => self.send_client(line),
                Ok(Handled::Done | Handled::Wait(_)) => {}
                Err(error) => self.not_recorded(&error.message),
            }
        }
    }

    /// Handles the updates that came before their session had a name, once all have.
    pub(super) fn release_early(&mut self) {
        if (self.connection.early.lines.is_empty() && self.connection.early.overflowed.is_empty()) || self.is_naming() {
            return;
        }
        let early = std::mem::take(&mut self.connection.early);
        for line in early.lines {
            self.agent_line(line);
        }
        for agent_id in early.overflowed {
            if let Some(key) = self.connection.by_agent.get(agent_id.as_str()).cloned() {
                self.with(&key, |session, cx| session.note_loss(cx.now(), OVERFLOWED));
            }
        }
    }

    /// Sessions that are open here, by their keys.
    pub(super) fn session_keys(&self) -> Vec<Key> {
        self.connection.sessions.keys().cloned().collect()
    }
}
