//! `initialize`: what the agent can do, and what the layer adds to it.

use std::collections::VecDeque;

use serde_json::json;

use crate::connection::answer::result_of;
use crate::connection::asked::AskedFor;
use crate::connection::client_request::ClientRequest;
use crate::connection::handled::{Handled, Handling};
use crate::connection::profile::AgentProfile;
use crate::connection::requests::Incoming;
use crate::connection::router::Router;
use crate::environment::Environment;
use crate::rpc::{self, Code, Object, Outcome, RpcError};
use crate::settings::{Dialect, Settings};
use crate::storage::Storage;

use super::kept::Kept;
use super::stage::{Order, Stage};

/// What the layer adds to what the agent can do.
struct Added {
    /// In `sessionCapabilities`.
    to_sessions: &'static [&'static str],
    /// In its `list` (draft: session list extensions).
    to_list: &'static [&'static str],
}

impl Added {
    const ALL: Self = Self {
        to_sessions: &["list", "delete", "resume", "close", "fork", "archive", "status", "title"],
        to_list: &["limit", "changes", "subscribe"],
    };

    /// A layer over the same store has said all of that, and hides what it hides.
    const NOTHING: Self = Self { to_sessions: &[], to_list: &[] };
}

impl<S: Storage, E: Environment> Router<S, E> {
    /// Whether nothing has come yet.
    pub(crate) fn is_new(&self) -> bool {
        matches!(self.connection.stage, Stage::New)
    }

    pub(super) fn initialize(&mut self, line: &str, request: &ClientRequest, params: Option<&str>) -> Handling {
        if !matches!(self.connection.stage, Stage::New) {
            return Err(RpcError::new(Code::InvalidRequest, "Invalid request: the connection is already initialized"));
        }
        let object = params.and_then(Object::parse).unwrap_or_default();
        let is_version = |json: &&str| rpc::whole_number(json).is_some_and(|version| u16::try_from(version).is_ok());
        let Some(version) = object.get("protocolVersion").filter(is_version) else {
            return Err(RpcError::invalid_params("protocolVersion", "must be a number from 0 to 65535"));
        };
        self.expect(request, Incoming::Initialize);
        self.connection.asked = AskedFor::read(&object);
        // The layer speaks version 1 to both sides, whatever the client would like.
        let params = rpc::splice(params.unwrap_or_default(), version, "1");
        self.outputs.push_back(Kept::Introduction.with(Some(params.clone())));
        self.connection.introduction = params;
        self.connection.stage = Stage::Starting { held: VecDeque::new() };
        Ok(if version == "1" { Handled::Pass } else { Handled::PassAs(rpc::splice(line, version, "1")) })
    }

    pub(super) fn initialized(&mut self, request: &ClientRequest, outcome: Outcome<'_>) {
        let stage = std::mem::take(&mut self.connection.stage);
        let Stage::Starting { held } = stage else {
            self.connection.stage = stage;
            return;
        };
        match introduced(&outcome) {
            Ok(result) => {
                // Where it cannot be told which store this is, it is taken for another one.
                let store = self.store.identity(|| self.environment.random()).ok();
                self.set_agent_profile(AgentProfile::read(&result, &self.settings.agent, store.as_deref()));
                self.connection.stage = Stage::ready_with(held);
                let added = if self.connection.agent.has_same_store { Added::NOTHING } else { Added::ALL };
                let answer = with_layer(&result, &self.settings, store.as_deref(), &added);
                self.send_client(rpc::response(request.id(), &answer));
                self.begin_with_agent();
            }
            // The client may try again, say with other capabilities or after logging in.
            Err(error) => {
                self.send_client(rpc::failure(request.id(), &error));
                self.handle_released(held);
            }
        }
    }

    /// The agent has said what it is called and can do.
    pub(super) fn set_agent_profile(&mut self, profile: AgentProfile) {
        let value = serde_json::to_string(&profile).ok();
        self.outputs.push_back(Kept::Profile.with(value));
        self.connection.agent = profile;
    }

    /// What the agent is asked for as soon as it can be.
    pub(super) fn begin_with_agent(&mut self) {
        self.tell_store();
        if self.connection.agent.has_same_store {
            self.resume_all_relayed();
            self.follow_relayed_lists();
        } else {
            self.repeat_deletes();
            self.begin_discovery();
        }
    }

    /// Goes on with lines that wait, as far as it may.
    pub(crate) fn drain_queue(&mut self) {
        while self.may_go_on() {
            let Stage::Ready { queue, order } = &mut self.connection.stage else { return };
            let Some(line) = queue.pop_front() else { return };
            if queue.is_empty() {
                *order = Order::AsTheyCame;
            } else if let Order::OneByOne { last } = order {
                // A turn may take as long as it likes; nothing has to wait for its end.
                let next = line.request.clone().filter(|_| !line.is_prompt());
                *last = next.or_else(|| last.take());
            }
            self.handle_released([line]);
        }
    }

    /// Whether there is a line that waits for nothing but its turn.
    fn may_go_on(&self) -> bool {
        let Stage::Ready { queue, order } = &self.connection.stage else { return false };
        let Some(line) = queue.front().filter(|_| !self.is_out_of_room()) else { return false };
        let waits = match order {
            Order::OneByOne { last: Some(last) } if line.request.is_some() => {
                self.connection.requests.incoming.contains_key(last)
            }
            _ => false,
        };
        !waits
    }

    /// Whether lines or lists wait for nothing but the client to have read what it was answered before.
    pub(super) fn has_put_off(&self) -> bool {
        self.connection.discovery.has_due() || self.may_go_on()
    }
}

/// The agent's answer to `initialize`, where it speaks the version that the layer does.
pub(super) fn introduced<'a>(outcome: &Outcome<'a>) -> Result<Object<'a>, RpcError> {
    let result = Object::parse_or_empty(result_of(outcome)?);
    match result.get("protocolVersion") {
        Some(version) if rpc::whole_number(version) != Some(1) => Err(RpcError::new(
            Code::InternalError,
            format!("Internal error: the agent speaks protocol version {version} only, and this layer speaks 1"),
        )),
        _ => Ok(result),
    }
}

/// The agent's answer with what the layer adds.
fn with_layer(result: &Object<'_>, settings: &Settings, store: Option<&str>, added: &Added) -> String {
    let mut capabilities = result.get_object("agentCapabilities");
    let mut session = capabilities.get_object("sessionCapabilities");
    for marker in added.to_sessions {
        if !session.get_some(marker).is_some_and(|marker| marker.starts_with('{')) {
            session.set(marker, "{}");
        }
    }
    let mut list = session.get_object("list");
    for marker in added.to_list {
        list.set(marker, "{}");
    }
    let list = list.to_json();
    session.set("list", list);
    let of_old = capabilities.get("session").filter(|_| settings.prefer_load).and_then(Object::parse);
    let of_old = of_old.map(|mut session| {
        session.remove("resume");
        session.to_json()
    });
    if settings.prefer_load {
        // What a client does not see it does not choose; one that asks all the same is answered.
        session.remove("resume");
    }
    let session = session.to_json();
    let mut meta = capabilities.get_object("_meta");
    let mut own =
        json!({ "version": env!("CARGO_PKG_VERSION"), "list": {"search": true, "filters": true}, "replay": true });
    if let Some(store) = store {
        own["store"] = store.into();
    }
    meta.set("acp-sessions", own.to_string());
    let meta = meta.to_json();
    capabilities.set("loadSession", "true");
    capabilities.set("sessionCapabilities", session);
    if let Some(of_old) = of_old {
        capabilities.set("session", of_old);
    }
    if settings.dialect == Dialect::Draft {
        capabilities.set("listSessions", "true");
    }
    capabilities.set("_meta", meta);
    let capabilities = capabilities.to_json();
    let mut answer = result.clone();
    answer.set("protocolVersion", "1");
    answer.set("agentCapabilities", capabilities);
    answer.to_json()
}
