//! `initialize`: what the agent can do, and what the layer adds to it.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::agent::{DONE, result_of};
use super::awaiting::Awaiting;
use super::{Handled, Handling};
use crate::engine::{Engine, Output};
use crate::environment::Environment;
use crate::rpc::{self, Code, Id, Object, Outcome, RpcError};
use crate::storage::Storage;

/// How far the connection is.
#[derive(Debug, Default)]
pub(super) enum Phase {
    /// Nothing but `initialize` may come.
    #[default]
    New,
    /// The agent has not answered `initialize` yet; what the client sent after it waits.
    Starting { held: VecDeque<String> },
    /// Everything may come. What came behind `initialize` is answered in order, each request after the one before.
    Ready { queue: VecDeque<String>, waits_for: Option<Id> },
}

/// What the layer needs to know of the agent.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a capability of its own")]
pub(super) struct AgentProfile {
    /// Its name, from `agentInfo`.
    pub(super) name: Option<String>,
    pub(super) load: bool,
    pub(super) resume: bool,
    pub(super) list: bool,
    pub(super) fork: bool,
    pub(super) delete: bool,
    pub(super) close: bool,
}

/// What the layer answers, whatever the agent can do.
const ADDED: [&str; 8] = ["list", "delete", "resume", "close", "fork", "archive", "status", "title"];

impl AgentProfile {
    fn read(result: &Object<'_>) -> Self {
        let info = Object::parse_or_empty(result.get("agentInfo").unwrap_or("{}"));
        let capabilities = Object::parse_or_empty(result.get("agentCapabilities").unwrap_or("{}"));
        let session = Object::parse_or_empty(capabilities.get("sessionCapabilities").unwrap_or("{}"));
        // A marker is an object; some agents of old say `true`.
        let has = |name: &str| session.get_some(name).is_some_and(|marker| marker != "false");
        Self {
            name: info.get_string("name"),
            load: capabilities.get("loadSession") == Some("true"),
            resume: has("resume"),
            list: has("list"),
            fork: has("fork"),
            delete: has("delete"),
            close: has("close"),
        }
    }
}

impl<S: Storage, E: Environment> Engine<S, E> {
    pub(super) fn initialize(&mut self, line: &str, id: &Id, params: Option<&str>) -> Handling {
        if !matches!(self.connection.phase, Phase::New) {
            return Err(RpcError::new(Code::InvalidRequest, "Invalid request: the connection is already initialized"));
        }
        let object = params.and_then(Object::parse);
        let version = object.as_ref().and_then(|params| params.get("protocolVersion"));
        let Some(version) = version.filter(|version| serde_json::from_str::<u16>(version).is_ok()) else {
            return Err(RpcError::invalid_params("protocolVersion", "must be a number from 0 to 65535"));
        };
        self.expect_answer(id, Awaiting::Initialize)?;
        self.connection.phase = Phase::Starting { held: VecDeque::new() };
        // The layer speaks version 1 to both sides, whatever the client would like.
        Ok(if version == "1" { Handled::Pass } else { Handled::PassAs(rpc::splice(line, version, "1")) })
    }

    /// The held lines' requests count as open, so that none of them is forgotten with a lost instance.
    pub(super) fn note_held(&mut self) {
        let (Phase::Starting { held } | Phase::Ready { queue: held, .. }) = &self.connection.phase else { return };
        let Some(Ok(rpc::Message::Request { id, .. })) = held.back().map(|line| rpc::Message::parse(line)) else {
            return;
        };
        if !self.connection.awaiting.contains_key(&id) {
            // The id is free, so this cannot fail.
            let _ = self.expect_answer(&id, Awaiting::Own);
        }
    }

    pub(super) fn initialized(&mut self, id: &Id, outcome: Outcome<'_>) -> Handling {
        let phase = std::mem::take(&mut self.connection.phase);
        let Phase::Starting { held } = phase else { return DONE };
        let result = result_of(&outcome).and_then(|result| {
            let result = Object::parse_or_empty(result);
            match result.get("protocolVersion") {
                Some("1") | None => Ok(result),
                Some(version) => Err(RpcError::new(
                    Code::InternalError,
                    format!(
                        "Internal error: the agent speaks protocol version {version} only, and this layer speaks 1"
                    ),
                )),
            }
        });
        match result {
            Ok(result) => {
                self.connection.agent = AgentProfile::read(&result);
                self.connection.phase = Phase::Ready { queue: held, waits_for: None };
                let profile = serde_json::to_string(&self.connection.agent).ok();
                self.outputs.push_back(Output::Keep { key: "agent".to_owned(), value: profile });
                let answer = with_layer(&result, self.settings.draft);
                self.answer(id, &answer);
                self.begin_discovery();
            }
            // The client may try again, say with other capabilities or after logging in.
            Err(error) => {
                self.refuse(id, &error);
                self.handle_held(held);
            }
        }
        DONE
    }

    /// Goes on with what came behind `initialize`, as far as it may.
    pub(crate) fn drain_queue(&mut self) {
        loop {
            let Phase::Ready { queue, waits_for } = &mut self.connection.phase else { return };
            let Some(line) = queue.front() else { return };
            let request = match rpc::Message::parse(line) {
                Ok(rpc::Message::Request { id, method, .. }) => Some((id, method == "session/prompt")),
                _ => None,
            };
            let is_open = waits_for.as_ref().is_some_and(|id| self.connection.awaiting.contains_key(id));
            if is_open && request.is_some() {
                return;
            }
            let Some(line) = queue.pop_front() else { return };
            // A turn may take as long as it likes; nothing has to wait for its end.
            *waits_for = request.filter(|(_, is_prompt)| !is_prompt).map(|(id, _)| id).or_else(|| waits_for.take());
            self.handle_held([line]);
        }
    }
}

/// The agent's answer with what the layer adds.
fn with_layer(result: &Object<'_>, draft: bool) -> String {
    let mut capabilities = Object::parse_or_empty(result.get("agentCapabilities").unwrap_or("{}"));
    let mut session = Object::parse_or_empty(capabilities.get("sessionCapabilities").unwrap_or("{}"));
    for marker in ADDED {
        if !session.get_some(marker).is_some_and(|marker| marker.starts_with('{')) {
            session.set(marker, "{}");
        }
    }
    let session = session.to_json();
    let mut meta = Object::parse_or_empty(capabilities.get_some("_meta").unwrap_or("{}"));
    let own =
        json!({ "version": env!("CARGO_PKG_VERSION"), "list": {"search": true, "filters": true}, "replay": true });
    meta.set("acp-sessions", own.to_string());
    let meta = meta.to_json();
    capabilities.set("loadSession", "true");
    capabilities.set("sessionCapabilities", session);
    if draft {
        capabilities.set("listSessions", "true");
    }
    capabilities.set("_meta", meta);
    let capabilities = capabilities.to_json();
    let mut answer = result.clone();
    answer.set("protocolVersion", "1");
    answer.set("agentCapabilities", capabilities);
    answer.to_json()
}
