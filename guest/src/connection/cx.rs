//! What a session needs of its surroundings to handle something.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use serde_json::json;

use super::asked::AskedFor;
use super::client_request::ClientRequest;
use super::effect::Effect;
use super::key::Key;
use super::load::Load;
use super::profile::AgentProfile;
use super::requests::{Outgoing, OwnId, OwnIds, Requests, Telling};
use super::running::{Running, RunningAt};
use super::sums::Sums;
use crate::environment::Environment;
use crate::rpc::{self, RpcError};
use crate::sessions::{open_marks, windows};
use crate::settings::Settings;
use crate::storage::{Storage, StorageError};
use crate::store::{Session, Store};
use crate::transcript::through;

/// How long before something is asked of the agent its own list may have been asked for so that it tells what was before that, in
/// milliseconds: it is read anew about as often for who looks at a list.
const LISTED_BEFORE: i64 = 60_000;

/// The store, the clock and what is known of the agent, to read; what follows, to add to.
pub(super) struct Cx<'a, S, E> {
    pub(super) store: &'a Store<S>,
    pub(super) environment: &'a E,
    pub(super) settings: &'a Settings,
    pub(super) agent: &'a AgentProfile,
    /// What the client has asked for.
    pub(super) asked: AskedFor,
    /// How long the program has been running.
    pub(super) running: Running,
    /// Names the connection in open marks and turns.
    pub(super) connection: &'a str,
    /// The store that the client has, as it has told: it is a layer in front of this one.
    pub(super) clients_store: Option<&'a str>,
    /// How many of the arrivals that are being handled it has begun to handle, or has handled.
    pub(super) arrivals: u32,
    /// How much has arrived on it before those.
    pub(super) before: u64,
    /// The states of open sessions that are held in memory, and what is replayed of others.
    pub(super) states: &'a Load,
    /// How often it has written to logs.
    pub(super) writes: &'a mut u64,
    /// The agent has refused to do anything before its user logs in, and nobody has since.
    pub(super) needs_login: bool,
    /// The agent's own list has been read to its end on this connection.
    pub(super) knows_list: bool,
    /// During which times that list, as it was read, tells what the agent has then.
    pub(super) list_holds: Range<i64>,
    /// When it was begun that it was last read, and is being read.
    pub(super) list_begun: [Option<i64>; 2],
    /// What else is under way.
    pub(super) requests: &'a Requests,
    /// What goes by which id of the agent's.
    pub(super) by_agent: &'a BTreeMap<Arc<str>, Key>,
    /// What the agent has said that sessions cost which were open before.
    pub(super) sums: &'a Sums,
    /// When the connection last said that its open marks may be believed; never before the first of them.
    pub(super) beaten: &'a mut Option<i64>,
    pub(super) ids: &'a mut OwnIds,
    pub(super) effects: &'a mut Vec<Effect>,
}

impl<S: Storage, E: Environment> Cx<'_, S, E> {
    /// Milliseconds since 1970.
    pub(super) fn now(&self) -> i64 {
        self.environment.now().clamp(0, crate::time::LAST)
    }

    /// Now, in the time during which the program was running: what an agent's silence is measured by.
    pub(super) fn running(&self) -> RunningAt {
        self.running.at(self.now())
    }

    /// Whether the agent's own list tells what it has now.
    pub(super) fn has_recent_list(&self) -> bool {
        self.list_holds.contains(&self.now())
    }

    /// Whether the agent's own list tells what it has at any time, as it is followed.
    pub(super) fn follows_list(&self) -> bool {
        self.list_holds.end == i64::MAX
    }

    /// Whether the agent's own list was asked for not long before this time.
    pub(super) fn was_listed_before(&self, at: i64) -> bool {
        self.list_begun.iter().flatten().any(|begun| (*begun..begun.saturating_add(LISTED_BEFORE)).contains(&at))
    }

    /// Says that the connection's open marks may be believed, if that is due.
    pub(super) fn beat(&mut self) -> Result<(), StorageError> {
        let now = self.now();
        if self.beaten.is_some_and(|at| (at..at + open_marks::BEAT_EVERY).contains(&now)) {
            return Ok(());
        }
        let until = now + open_marks::BELIEVED_FOR;
        match *self.beaten {
            Some(at) => open_marks::renew(self.store, self.connection, at + open_marks::BELIEVED_FOR, until)?,
            None => open_marks::beat(self.store, self.connection, until)?,
        };
        *self.beaten = Some(now);
        Ok(())
    }

    /// What the tags of the turns begin with of a window that is opened on this connection.
    pub(super) fn window(&self) -> String {
        windows::window_of(self.connection)
    }

    /// What the entries of a new turn of this window are marked with, so that a reader tells them from another's.
    pub(super) fn turn_tag(&self, window: &str) -> String {
        self.through(windows::turn_tag(window, self.environment.random()))
    }

    /// The tag of a turn, or a speaker in a window, with the store through which it is said.
    pub(super) fn through(&self, said: String) -> String {
        match self.clients_store {
            Some(store) => through(&said, store),
            None => said,
        }
    }

    /// A new message id, as JSON.
    pub(super) fn message_id(&self) -> String {
        format!("\"msg_{:016x}\"", self.environment.random())
    }

    pub(super) fn push(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    /// Asks the agent something on the engine's own account.
    pub(super) fn ask(&mut self, what: Outgoing, method: &'static str, params: String) -> OwnId {
        let id = self.ids.next();
        self.push(Effect::Ask { id, what, method, params });
        id
    }

    /// Tells the agent what the user calls this session of its, if it takes titles.
    pub(super) fn tell_agent_title(&mut self, session: &str, agent_id: &str, title: &str) {
        if self.agent.title {
            let params = json!({ "sessionId": agent_id, "title": title }).to_string();
            let (session, agent_id, title) = (session.to_owned(), agent_id.to_owned(), title.to_owned());
            let asked = Outgoing::Title { session, agent_id, title, telling: Telling::Later };
            self.ask(asked, "session/set_title", params);
        }
    }

    /// Answers a request that the engine has kept open.
    pub(super) fn finish(&mut self, request: &ClientRequest, result: Result<String, RpcError>) {
        self.push(Effect::Finish(request.clone(), result));
    }

    /// Tells the clients something about a session.
    pub(super) fn notify(&mut self, session: &str, update: &str) {
        let id = json!(session);
        let params = format!("{{\"sessionId\":{id},\"update\":{update}}}");
        self.push(Effect::ToClients(rpc::notification("session/update", &params)));
    }

    /// Tells the clients what a session is called.
    pub(super) fn tell_title(&mut self, session: &Session) {
        if let Some(title) = session.title.text() {
            let update = json!({ "sessionUpdate": "session_info_update", "title": title });
            self.notify(&session.id, &update.to_string());
        }
    }
}
