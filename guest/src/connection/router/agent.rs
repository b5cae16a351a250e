//! What comes from the agent.

use crate::connection::answer::{AUTH_REQUIRED, NOT_ANSWERED, NOT_FILLED_IN};
use crate::connection::client_request::ClientRequest;
use crate::connection::handled::{Handled, Handling};
use crate::connection::key::Key;
use crate::connection::live::{Question, Setting};
use crate::connection::requests::{AskedOfUser, Incoming, Matter, Outgoing, OwnId, Owner, Stale};
use crate::connection::router::Router;
use crate::environment::Environment;
use crate::exchange::Peer;
use crate::rpc::{self, Id, Message, NotAMessage, Object, Outcome, RpcError};
use crate::storage::Storage;

use super::kept::Kept;

/// The requests by which an agent asks its user.
const PERMISSION: &str = "session/request_permission";
const ELICITATION: &str = "elicitation/create";

/// The answer to such a request (its line) where nobody is there to answer it.
pub(super) fn not_answered(line: &str) -> &'static str {
    let is_elicitation = Object::parse_or_empty(line).get_string("method").as_deref() == Some(ELICITATION);
    if is_elicitation { NOT_FILLED_IN } else { NOT_ANSWERED }
}

impl<S: Storage, E: Environment> Router<S, E> {
    /// A line from the agent.
    pub(crate) fn agent_line(&mut self, line: String) {
        let handled = match Message::parse(&line) {
            Err(NotAMessage) => return self.line_off(Peer::Agent, &line),
            Ok(Message::Response { id, outcome }) => self.agent_response(&line, &id, outcome),
            Ok(Message::Request { id, method, params }) => {
                let handled = self.agent_request(&line, &id, &method, params);
                self.marked(handled, &line)
            }
            Ok(Message::Notification { method, params }) if method == "session/update" => {
                self.session_update(&line, params)
            }
            Ok(Message::Notification { method, params }) => self.agent_notification(&line, &method, params),
        };
        match handled {
            Handled::Done | Handled::Wait(_) => {}
            Handled::Pass => self.send_client(line),
            Handled::PassAs(line) => self.send_client(line),
        }
        self.release_early();
    }

    fn agent_response(&mut self, line: &str, id: &Id, outcome: Outcome<'_>) -> Handled {
        if *id == Id::null()
            && let Outcome::Error(error) = outcome
            && let Some(meant) = self.only_open_request()
        {
            self.agent_line(rpc::failure(&meant, &RpcError::read(error)));
            return Handled::Done;
        }
        if let Some(line) = self.misspelled(line, id, Self::is_with_agent) {
            self.agent_line(line);
            return Handled::Done;
        }
        self.note_login(outcome);
        if self.connection.stage.is_introduction(id) {
            self.introduced_again(outcome);
            return Handled::Done;
        }
        let owner = self.connection.ids.read(id);
        if let Owner::Engine(own) = owner {
            self.own_answered(own, outcome);
            return Handled::Done;
        }
        if let Some(stale) = self.connection.requests.stale.remove(id) {
            self.forget_step(id);
            self.abandoned_answered(&stale, outcome);
            return Handled::Done;
        }
        let request = ClientRequest::new(id.clone());
        if !self.is_with_agent(id) {
            if owner == Owner::Client {
                // Its id may be any text.
                self.warn("the agent answered a request that is not open; dropped");
            }
            return Handled::Done;
        }
        let Some(what) = self.settle(&request) else { return Handled::Done };
        self.client_answered(line, &request, what, outcome).unwrap_or_else(|error| {
            self.send_client(rpc::failure(id, &error));
            Handled::Done
        })
    }

    /// The agent has answered a client's request.
    fn client_answered(
        &mut self,
        line: &str,
        request: &ClientRequest,
        what: Incoming,
        outcome: Outcome<'_>,
    ) -> Handling {
        match what {
            Incoming::Initialize => {
                self.initialized(request, outcome);
                Ok(Handled::Done)
            }
            Incoming::Authenticate => {
                self.authenticated(outcome);
                Ok(Handled::Pass)
            }
            Incoming::Logout => {
                self.logged_out(outcome);
                Ok(Handled::Pass)
            }
            Incoming::New { cwd, directories, given, asked_at } => {
                self.new_session_made(line, (cwd, directories), given.as_deref(), asked_at, outcome)
            }
            Incoming::Prompt { session, turn } => {
                let key = Key::Session(session);
                let ended = self.with(&key, |session, cx| session.prompt_answered(line, request, outcome, cx));
                Ok(ended.unwrap_or_else(|| self.answered_too_late(line, request, &key, &turn.tag, outcome)))
            }
            Incoming::Mode { session, mode } => {
                Ok(self.setting_answered(line, request, session, &Setting::Mode(mode), outcome))
            }
            Incoming::Model { session, model } => {
                Ok(self.setting_answered(line, request, session, &Setting::Model(model), outcome))
            }
            Incoming::Option { session, option, value } => {
                Ok(self.setting_answered(line, request, session, &Setting::Option(option, value), outcome))
            }
            Incoming::Relayed { session, given } => {
                self.relayed_opened(session, given, outcome);
                Ok(Handled::Pass)
            }
            Incoming::RelayedClose { session } | Incoming::RelayedPutAway { session, .. } => {
                self.relayed_closed(&session, outcome);
                Ok(Handled::Pass)
            }
            Incoming::RelayedSubscribe { params } => {
                self.relayed_subscribed(params, outcome);
                Ok(Handled::Pass)
            }
            Incoming::RelayedUnsubscribe { subscription } => {
                self.forget_relayed_list(&subscription);
                Ok(Handled::Pass)
            }
            Incoming::Passed | Incoming::Engine => Ok(Handled::Pass),
        }
    }

    /// The agent has answered a request of the engine's.
    fn own_answered(&mut self, id: OwnId, outcome: Outcome<'_>) {
        let Some(what) = self.connection.requests.outgoing.remove(&id) else { return };
        match what {
            Outgoing::Step { of, step, agent_id } => {
                self.forget_step(&self.connection.ids.wire(id));
                if step.makes()
                    && let Outcome::Result(result) = outcome
                    && let Some(name) = Object::parse_or_empty(result).get_string("sessionId")
                {
                    // What the agent has said of it so far belongs to its opening.
                    self.name_opening(&of, &name);
                }
                if self.with(&of, |session, cx| session.step_answered(id, outcome, cx)).is_none() {
                    self.abandoned_answered(&Stale::new(step, agent_id), outcome);
                }
            }
            Outgoing::Restore { of } => {
                self.with(&of, |session, cx| session.restore_answered(id, outcome, cx));
            }
            Outgoing::Close { of } => {
                self.with(&of, |session, cx| session.close_answered(id, outcome, cx));
            }
            Outgoing::Delete { agent_id } => self.delete_answered(&agent_id, outcome),
            Outgoing::Archive { session, agent_id, archived } => {
                self.archive_answered(&session, &agent_id, archived, outcome);
            }
            Outgoing::List => self.discovered(outcome),
            Outgoing::Title { session, agent_id, title, telling } => {
                self.title_answered(&session, &agent_id, &title, telling, outcome);
            }
            Outgoing::LateList => self.discovered_late(outcome),
            Outgoing::ListOfFolder => self.folder_listed(id, outcome),
            Outgoing::Relayed { session } => self.relayed_resumed(&session, outcome),
            Outgoing::RelayedSubscribe { subscription } => self.relayed_list_answered(&subscription, outcome),
            Outgoing::Abandoned(stale) => {
                self.forget_step(&self.connection.ids.wire(id));
                self.abandoned_answered(&stale, outcome);
            }
            Outgoing::Ignored => {}
        }
    }

    /// Whether the agent works for whoever is there, or wants its user to log in first.
    pub(super) fn note_login(&mut self, outcome: Outcome<'_>) {
        if let Outcome::Error(error) = outcome
            && RpcError::read(error).code == AUTH_REQUIRED
        {
            self.set_needs_login(true);
        }
    }

    /// What an error without an id must be about: agents answer so to a request they could not read.
    fn only_open_request(&self) -> Option<Id> {
        let requests = &self.connection.requests;
        let own = requests.outgoing.keys().map(|id| self.connection.ids.wire(*id));
        let clients = requests.incoming.iter().filter(|(_, what)| what.is_with_agent());
        let again = self.connection.stage.introduction().map(|asked| asked.id.clone());
        let mut open = own.chain(clients.map(|(request, _)| request.id().clone())).chain(again);
        let id = open.next()?;
        (open.next().is_none() && id != Id::null()).then_some(id)
    }

    fn agent_request(&mut self, line: &str, id: &Id, method: &str, params: Option<&str>) -> Handled {
        if method == "session/update" {
            // It wants an answer to what asks for none.
            self.send_agent(rpc::response(id, "{}"));
            self.agent_line(rpc::notification(method, params.unwrap_or("{}")));
            return Handled::Done;
        }
        let asked = params.filter(|_| matches!(method, PERMISSION | ELICITATION)).and_then(Object::parse);
        let session = asked.as_ref().and_then(|asked| asked.get_string("sessionId"));
        let key = session.and_then(|session| self.connection.by_agent.get(session.as_str()).cloned());
        if let Some(session) = key.as_ref().and_then(|key| self.connection.sessions.get_mut(key))
            && session.holds_question(id, line)
        {
            let kept = Kept::Held(self.connection.generation.mark(id));
            self.outputs.push_back(kept.with(Some(not_answered(line).to_owned())));
            return Handled::Done;
        }
        let known_as = self.connection.generation.mark(id);
        self.forget_taken_back(&known_as);
        let (Some(asked), Some(key)) = (asked, key) else {
            self.connection.requests.of_agent.insert(known_as, None);
            return self.pass_to_client(line, params);
        };
        if method == ELICITATION {
            self.elicitation_asked(known_as, &key);
        } else if self.is_being_closed(&key) {
            self.send_agent(rpc::response(id, NOT_ANSWERED));
            return Handled::Done;
        } else {
            self.permission_asked(known_as, &key, asked);
        }
        self.pass_to_client(line, params)
    }

    /// The agent has its user fill in a form or go somewhere, in a session.
    fn elicitation_asked(&mut self, known_as: Id, key: &Key) {
        let of_user = AskedOfUser { session: key.clone(), matter: Matter::Elicitation };
        let question = Question::of(&known_as, &of_user.matter);
        if self.connection.requests.of_agent.insert(known_as, Some(of_user)) {
            self.with(key, |session, cx| session.elicitation_asked(question, cx));
        }
    }

    /// The agent asks for permission in a session, with these params.
    fn permission_asked(&mut self, known_as: Id, key: &Key, mut asked: Object<'_>) {
        let matter = Matter::permission(&asked);
        let question = Question::of(&known_as, &matter);
        let of_user = AskedOfUser { session: key.clone(), matter };
        asked.remove("sessionId");
        let rest = asked.to_json();
        let is_remembered = self.connection.requests.of_agent.insert(known_as, Some(of_user));
        self.with(key, |session, cx| session.permission_asked(is_remembered.then_some(question), &rest, cx));
    }

    pub(super) fn agent_notification(&mut self, line: &str, method: &str, params: Option<&str>) -> Handled {
        if self.connection.agent.has_same_store {
            if let Some(handled) = self.relayed_list_changed(line, method, params) {
                return handled;
            }
        } else if self.agents_list_changed(method, params) {
            return Handled::Done;
        }
        if method != "$/cancel_request" {
            return self.pass_to_client(line, params);
        }
        let withdrawn = params.and_then(Object::parse).and_then(|params| params.get("requestId").and_then(Id::parse));
        let mut sessions = self.connection.sessions.values_mut();
        if withdrawn.is_some_and(|id| sessions.any(|session| session.holds_withdrawal(&id, line))) {
            return Handled::Done;
        }
        let handled = self.pass_to_client(line, params);
        self.agent_withdraws(params);
        self.marked(handled, line)
    }

    /// The agent waits no more for what it has asked.
    fn agent_withdraws(&mut self, params: Option<&str>) {
        let params = params.and_then(Object::parse).unwrap_or_default();
        let Some(id) = params.get("requestId").and_then(Id::parse) else { return };
        let request = self.connection.generation.mark(&id);
        if let Some(AskedOfUser { session, matter }) = self.connection.requests.of_agent.of_user(&request).cloned() {
            self.with(&session, |session, cx| session.question_withdrawn(&request, &matter, cx));
        }
    }

    /// Passes a line that names a session, if it does, by the client's id for it.
    pub(super) fn pass_to_client(&self, line: &str, params: Option<&str>) -> Handled {
        let Some(params) = params.and_then(Object::parse) else { return Handled::Pass };
        let Some(agent_id) = params.get_string("sessionId") else { return Handled::Pass };
        match self.connection.by_agent.get(agent_id.as_str()) {
            Some(Key::Session(id)) => Handled::named(line, &params, "sessionId", id),
            _ => Handled::Pass,
        }
    }
}
