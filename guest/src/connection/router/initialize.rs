//! `initialize`: what the agent can do, and what the layer adds to it.

use std::collections::VecDeque;

use serde_json::json;

use crate::connection::answer::result_of;
use crate::connection::asked::AskedFor;
use crate::connection::client_request::ClientRequest;
use crate::connection::effect::Waiting;
use crate::connection::handled::{Handled, Handling};
use crate::connection::profile::AgentProfile;
use crate::connection::requests::Incoming;
use crate::connection::router::Router;
use crate::environment::Environment;
use crate::exchange::Output;
use crate::rpc::{self, Code, Object, Outcome, RpcError};
use crate::settings::Settings;
use crate::storage::Storage;

/// How far the connection is.
#[derive(Debug, Default)]
pub(super) enum Stage {
    /// Nothing but `initialize` may come.
    #[default]
    New,
    /// The agent has not answered `initialize` yet; what the client sent after it waits.
    Starting { held: VecDeque<Waiting> },
    /// Everything may come, but for what waits until the client has read the answers to what it asked before.
    Ready { queue: VecDeque<Waiting>, order: Order },
}

/// In what order lines that wait are handled.
#[derive(Debug, Default)]
pub(super) enum Order {
    /// As they came.
    #[default]
    AsTheyCame,
    /// So came what is behind `initialize`: each request is handled when the one before has been answered.
    OneByOne { last: Option<ClientRequest> },
}

impl Stage {
    /// Ready, with nothing waiting.
    pub(super) fn ready() -> Self {
        Self::Ready { queue: VecDeque::new(), order: Order::default() }
    }

    /// Whether everything may come.
    pub(super) fn is_ready(&self) -> bool {
        matches!(self, Self::Ready { .. })
    }

    fn held_mut(&mut self) -> Option<&mut VecDeque<Waiting>> {
        match self {
            Self::New => None,
            Self::Starting { held } | Self::Ready { queue: held, .. } => Some(held),
        }
    }

    /// Whether a line that comes now has to wait.
    pub(super) fn holds_lines(&self) -> bool {
        match self {
            Self::New => false,
            Self::Starting { .. } => true,
            Self::Ready { queue, .. } => !queue.is_empty(),
        }
    }

    /// Whether lines wait.
    pub(super) fn has_held(&self) -> bool {
        match self {
            Self::New => false,
            Self::Starting { held } | Self::Ready { queue: held, .. } => !held.is_empty(),
        }
    }

    pub(super) fn hold(&mut self, line: Waiting) {
        if let Some(held) = self.held_mut() {
            held.push_back(line);
        }
    }

    /// Takes a waiting request back; says whether it waited here.
    pub(super) fn withdraw(&mut self, request: &ClientRequest) -> bool {
        let Some(held) = self.held_mut() else { return false };
        let before = held.len();
        held.retain(|waiting| waiting.request.as_ref() != Some(request));
        held.len() < before
    }

    pub(super) fn take_held(&mut self) -> Vec<Waiting> {
        self.held_mut().map(|held| held.drain(..).collect()).unwrap_or_default()
    }
}

/// The key of what the host keeps of the client's capabilities for a lost instance.
pub(super) const ASKED_FOR: &str = "client";

/// What the layer answers, whatever the agent can do.
const ADDED: [&str; 8] = ["list", "delete", "resume", "close", "fork", "archive", "status", "title"];

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
        let asked = AskedFor::read(&object);
        if std::mem::replace(&mut self.connection.asked, asked) != asked {
            self.outputs
                .push_back(Output::Keep { key: ASKED_FOR.to_owned(), value: serde_json::to_string(&asked).ok() });
        }
        self.connection.stage = Stage::Starting { held: VecDeque::new() };
        // The layer speaks version 1 to both sides, whatever the client would like.
        Ok(if version == "1" { Handled::Pass } else { Handled::PassAs(rpc::splice(line, version, "1")) })
    }

    pub(super) fn initialized(&mut self, request: &ClientRequest, outcome: Outcome<'_>) {
        let stage = std::mem::take(&mut self.connection.stage);
        let Stage::Starting { held } = stage else {
            self.connection.stage = stage;
            return;
        };
        let result = result_of(&outcome).and_then(|result| {
            let result = Object::parse_or_empty(result);
            match result.get("protocolVersion") {
                None => Ok(result),
                Some(version) if rpc::whole_number(version) == Some(1) => Ok(result),
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
                // Where it cannot be told which store this is, it is taken for another one.
                let store = self.store.identity(|| self.environment.random()).ok();
                self.connection.agent = AgentProfile::read(&result, &self.settings.agent, store.as_deref());
                self.connection.stage = Stage::Ready { queue: held, order: Order::OneByOne { last: None } };
                let profile = serde_json::to_string(&self.connection.agent).ok();
                self.outputs.push_back(Output::Keep { key: "agent".to_owned(), value: profile });
                self.send_client(rpc::response(request.id(), &with_layer(&result, &self.settings, store.as_deref())));
                if !self.connection.agent.has_same_store {
                    self.repeat_deletes();
                    self.begin_discovery();
                }
            }
            // The client may try again, say with other capabilities or after logging in.
            Err(error) => {
                self.send_client(rpc::failure(request.id(), &error));
                self.handle_released(held);
            }
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
                let next = line.request.clone().filter(|_| !line.is_prompt);
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

/// The agent's answer with what the layer adds.
fn with_layer(result: &Object<'_>, settings: &Settings, store: Option<&str>) -> String {
    let mut capabilities = Object::parse_or_empty(result.get("agentCapabilities").unwrap_or("{}"));
    let mut session = Object::parse_or_empty(capabilities.get("sessionCapabilities").unwrap_or("{}"));
    for marker in ADDED {
        if !session.get_some(marker).is_some_and(|marker| marker.starts_with('{')) {
            session.set(marker, "{}");
        }
    }
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
    let mut meta = Object::parse_or_empty(capabilities.get_some("_meta").unwrap_or("{}"));
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
    if settings.draft {
        capabilities.set("listSessions", "true");
    }
    capabilities.set("_meta", meta);
    let capabilities = capabilities.to_json();
    let mut answer = result.clone();
    answer.set("protocolVersion", "1");
    answer.set("agentCapabilities", capabilities);
    answer.to_json()
}
