//! What comes from the client.

use crate::connection::client_request::ClientRequest;
use crate::connection::effect::Waiting;
use crate::connection::generation::Whose;
use crate::connection::handled::{Handled, Handling};
use crate::connection::key::Key;
use crate::connection::live::LiveSession;
use crate::connection::method::Method;
use crate::connection::params::Params;
use crate::connection::put_away::Then;
use crate::connection::requests::{AskedOfUser, Incoming, Matter, Owner};
use crate::connection::router::Router;
use crate::environment::Environment;
use crate::exchange::Peer;
use crate::rpc::{self, Code, Id, Message, NotAMessage, Object, Outcome, RpcError};
use crate::storage::Storage;

use super::chain;
use super::layers;
use super::stage::Stage;

/// Whether a line waits for those that were sent before it. One that is no message is refused at once; and what the agent
/// waits for, or the client does not wait for any more, may be what keeps the others from getting on.
fn waits_in_line(line: &str) -> bool {
    match Message::parse(line) {
        Ok(Message::Request { .. }) => true,
        Ok(Message::Notification { method, .. }) => method != "$/cancel_request",
        Ok(Message::Response { .. }) | Err(_) => false,
    }
}

/// With so many bytes for the client, no more of what it asks is answered until they have been pulled.
const MOST_ANSWERED: usize = 1024 * 1024;

impl<S: Storage, E: Environment> Router<S, E> {
    /// A line from the client.
    pub(crate) fn client_line(&mut self, line: String) {
        // What follows from it may be newer than what waits to be told.
        self.tell_untold();
        let is_put_off = self.is_out_of_room() && self.connection.stage.is_ready();
        if (is_put_off || self.connection.stage.holds_lines()) && waits_in_line(&line) {
            let waiting = self.waiting(line);
            if let Some(request) = &waiting.request
                && let Some(error) = self.taken(request)
            {
                self.send_client(rpc::failure(request.id(), &error));
            } else {
                self.hold(waiting);
                self.introduce_if_refused();
            }
        } else {
            self.handle_client_line(line);
        }
    }

    /// Whether lines wait: behind `initialize`, for a session on its way, for the agent's list, or for the host.
    pub(crate) fn holds_lines(&self) -> bool {
        self.connection.stage.has_held()
            || self.connection.discovery.is_waited_for()
            || !self.connection.awaiting_worktrees.is_empty()
            || self.connection.sessions.values().any(LiveSession::is_waited_for)
            || self.connection.relayed.is_waited_for()
    }

    /// Whether there is so much for the client already that what it asks next is answered when it has been pulled.
    pub(super) fn is_out_of_room(&self) -> bool {
        self.answered > MOST_ANSWERED
    }

    /// Whether so much of the client's waits that no more should come for now.
    pub(crate) fn is_full(&self) -> bool {
        self.connection.load.is_full()
    }

    /// Reads a line that is to wait.
    fn waiting(&self, line: String) -> Waiting {
        let (request, method) = match Message::parse(&line) {
            Ok(Message::Request { id, method, .. }) => (Some(ClientRequest::new(id)), Some(Method::of(&method))),
            _ => (None, None),
        };
        let share = self.connection.load.share(line.len());
        Waiting { line, request, method, _share: share }
    }

    /// Keeps a line until the connection gets on.
    fn hold(&mut self, waiting: Waiting) {
        self.expect_waiting(&waiting);
        if let Some(id) = waiting.session().filter(|_| waiting.is_prompt()) {
            self.keep_unsent(&Key::Session(id), &waiting);
        }
        self.connection.stage.hold(waiting);
    }

    /// A request of the client's is handled as if it came now, when the agent that was started again can be asked.
    pub(super) fn ask_again(&mut self, line: String) {
        let waiting = self.waiting(line);
        self.hold(waiting);
    }

    /// A request that waits counts as open, so that it is not forgotten with a lost instance, and its id is taken.
    fn expect_waiting(&mut self, waiting: &Waiting) {
        if let Some(request) = &waiting.request {
            self.expect(request, Incoming::Engine);
            self.keep_request(request);
        }
    }

    fn handle_client_line(&mut self, line: String) {
        let handled = match Message::parse(&line) {
            Err(NotAMessage) => return self.line_off(Peer::Client, &line),
            Ok(Message::Request { id, method, params }) => {
                let request = ClientRequest::new(id);
                match self.refusal(&line, &request, &method) {
                    Some(error) => {
                        self.forget_unsent(&request);
                        self.send_client(rpc::failure(request.id(), &error));
                        return;
                    }
                    None => self.handle_request(&line, &request, Method::of(&method), params),
                }
            }
            Ok(Message::Notification { method, params }) => self.client_notification(&line, &method, params),
            Ok(Message::Response { id, outcome }) => {
                if let Some(line) =
                    self.misspelled(&line, &id, |engine, id| engine.connection.requests.of_agent.contains(id))
                {
                    return self.client_line(line);
                }
                self.client_answers_agent(&line, &id, outcome)
            }
        };
        match handled {
            Handled::Done => {}
            Handled::Pass => self.send_agent(line),
            Handled::PassAs(line) => self.send_agent(line),
            Handled::Wait(key) => {
                let waiting = self.waiting(line);
                self.keep_unsent(&key, &waiting);
                match self.connection.sessions.get_mut(&key) {
                    Some(session) => session.wait(waiting),
                    None => self.connection.relayed.wait(&key, waiting),
                }
            }
        }
    }

    /// Why a request is refused before anything else is looked at.
    fn refusal(&self, line: &str, request: &ClientRequest, method: &str) -> Option<RpcError> {
        let invalid = |message: String| Some(RpcError::new(Code::InvalidRequest, message));
        if rpc::is_too_deep(line) {
            return invalid(format!("Invalid request: it nests deeper than {} levels", rpc::DEEPEST));
        }
        if matches!(self.connection.stage, Stage::New) && method == chain::INITIALIZE {
            // As the first line it would have begun a chain, if the host had no agent.
            return invalid(
                "Invalid request: this layer has an agent of its own and is no proxy in a chain; a conductor starts one \
                 without a command (`acp-sessions proxy`)"
                    .to_owned(),
            );
        }
        if matches!(self.connection.stage, Stage::New) && method != "initialize" {
            return invalid("Invalid request: the first request must be `initialize`".to_owned());
        }
        self.taken(request).or_else(|| self.connection.agent_gone.then(|| self.agent_gone()))
    }

    /// Why a request's id cannot be used.
    pub(super) fn taken(&self, request: &ClientRequest) -> Option<RpcError> {
        let is_ours = matches!(self.connection.ids.read(request.id()), Owner::Engine(_));
        let is_taken = is_ours || self.connection.requests.incoming.contains_key(request);
        is_taken.then(|| RpcError::new(Code::InvalidRequest, "Invalid request: a request with this id is still open"))
    }

    /// Handles a request whose id is free.
    fn handle_request(&mut self, line: &str, request: &ClientRequest, method: Method, params: Option<&str>) -> Handled {
        // Unless a handler says otherwise, the engine answers it.
        self.expect(request, Incoming::Engine);
        let handled = self.client_request(line, request, method, params).unwrap_or_else(|error| {
            self.finish(request, Err(error));
            Handled::Done
        });
        self.keep_request(request);
        handled
    }

    fn client_request(
        &mut self,
        line: &str,
        request: &ClientRequest,
        method: Method,
        params: Option<&str>,
    ) -> Handling {
        if let Some(key) = self.waits_for(method, params) {
            return Ok(Handled::Wait(key));
        }
        if let Some(key) = self.attach_for(method, params)? {
            return Ok(Handled::Wait(key));
        }
        if let Some(key) = self.resumed_for(method, params) {
            return Ok(Handled::Wait(key));
        }
        let read = || Params::read(params);
        if self.connection.agent.has_same_store && method != Method::Initialize {
            // A layer behind this one over the same store does it, and this one keeps out of its way.
            return self.relay(line, request, method, params);
        }
        match method {
            Method::Initialize => self.initialize(line, request, params),
            Method::Authenticate => Ok(self.pass_request(line, request, params, Incoming::Authenticate)),
            Method::Logout => Ok(self.pass_request(line, request, params, Incoming::Logout)),
            Method::New => self.new_session(request, &read()?),
            Method::Load => self.load(request, &read()?),
            Method::Resume => self.resume(request, &read()?),
            Method::Fork => self.fork(request, &read()?),
            Method::List => self.list(request, params),
            Method::Subscribe => self.subscribe(request, params),
            Method::Unsubscribe => self.unsubscribe(request, &read()?),
            Method::Delete => self.close(request, &read()?, Then::Delete),
            Method::Close => self.close(request, &read()?, Then::Nothing),
            Method::Archive => self.close(request, &read()?, Then::Archive),
            Method::Unarchive => self.unarchive(request, &read()?),
            Method::Status => self.status(request, &read()?),
            Method::SetTitle => self.set_title(request, &read()?),
            Method::Prompt => self.prompt(line, request, &read()?),
            Method::SetMode => self.set_mode(line, request, &read()?),
            Method::SetModel => self.set_model(line, request, &read()?),
            Method::SetConfigOption => self.set_config_option(line, request, &read()?),
            Method::Other => Ok(self.pass_request(line, request, params, Incoming::Passed)),
        }
    }

    /// The session whose present phase a request for it has to wait for the end of.
    fn waits_for(&self, method: Method, params: Option<&str>) -> Option<Key> {
        let id = Object::parse(params?)?.get_string("sessionId")?;
        let key = Key::Session(id);
        let session = self.connection.sessions.get(&key)?;
        // What is to close it once it has been opened comes behind that.
        let is_opened_next = session.is_closing() && session.is_opened_next();
        let waits = (session.is_opening() && method.waits_while_opening())
            || (is_opened_next && (method.waits_while_opening() || method.closes()))
            || (session.is_closing() && method.waits_while_closing());
        waits.then_some(key)
    }

    fn client_notification(&mut self, line: &str, method: &str, params: Option<&str>) -> Handled {
        if matches!(self.connection.stage, Stage::New) {
            return Handled::Done;
        }
        match method {
            "session/cancel" => self.cancel(line, params),
            "$/cancel_request" => self.cancel_request(line, params),
            layers::STORE if !self.connection.agent.has_same_store => self.client_is_layer(params),
            _ => match (self.waits_for(Method::Other, params), self.attach_for(Method::Other, params)) {
                (Some(key), _) | (None, Ok(Some(key))) => Handled::Wait(key),
                (None, _) => match self.resumed_for(Method::Other, params) {
                    Some(key) => Handled::Wait(key),
                    None => self.pass_to_agent(line, params),
                },
            },
        }
    }

    pub(super) fn pass_request(
        &mut self,
        line: &str,
        request: &ClientRequest,
        params: Option<&str>,
        what: Incoming,
    ) -> Handled {
        self.expect(request, what);
        self.pass_to_agent(line, params)
    }

    /// Passes a line that names a session, if it does, by the agent's id for it.
    pub(super) fn pass_to_agent(&self, line: &str, params: Option<&str>) -> Handled {
        let Some(params) = params.and_then(Object::parse) else { return Handled::Pass };
        let session = params.get_string("sessionId").and_then(|id| self.connection.sessions.get(&Key::Session(id)));
        match session {
            Some(session) if !session.agent_id().is_empty() => {
                Handled::named(line, &params, "sessionId", session.agent_id())
            }
            // An agent that was started again is at nothing in it.
            Some(session) if session.is_detached() => Handled::Done,
            _ => Handled::Pass,
        }
    }

    /// Handles lines that waited, as if they came now.
    pub(super) fn handle_released(&mut self, lines: impl IntoIterator<Item = Waiting>) {
        for waiting in lines {
            if let Some(request) = &waiting.request
                && self.settle(request).is_none()
            {
                // It was taken back meanwhile.
                continue;
            }
            if self.connection.stage.is_again() {
                self.client_line(waiting.line);
            } else {
                self.handle_client_line(waiting.line);
            }
        }
    }

    /// The client has answered a request of the agent's.
    pub(super) fn client_answers_agent(&mut self, line: &str, id: &Id, outcome: Outcome<'_>) -> Handled {
        if self.forget_taken_back(id) {
            return Handled::Done;
        }
        self.user_answered(id, outcome);
        self.answer_for_agent(line, id)
    }

    /// An answer of the client's, for the agent if it is that one's request and not one's that has ended.
    fn answer_for_agent(&self, line: &str, id: &Id) -> Handled {
        match self.connection.generation.read(id) {
            Whose::Past => Handled::Done,
            Whose::Present(own) if own == *id => Handled::Pass,
            Whose::Present(own) => {
                let answer = Object::parse_or_empty(line);
                let given = answer.get("id").unwrap_or_default();
                Handled::PassAs(rpc::splice(line, given, own.as_json()))
            }
        }
    }

    /// The client answered what the agent has asked its user, if it was that.
    fn user_answered(&mut self, id: &Id, outcome: Outcome<'_>) {
        let Some(AskedOfUser { session, matter }) = self.connection.requests.of_agent.remove(id) else { return };
        let client = client_name(&self.connection.introduction);
        self.with(&session, |session, cx| match &matter {
            Matter::Permission { tool_call } => {
                session.permission_answered((id, outcome), tool_call.as_deref(), client.as_deref(), cx);
            }
            Matter::Elicitation => session.elicitation_over(id, cx),
        });
    }
}

/// How much of a client's name is noted, in bytes.
const LONGEST_NAME: usize = 256;

/// What a client calls itself in the params of `initialize`.
fn client_name(introduction: &str) -> Option<String> {
    let introduction = Object::parse(introduction)?;
    let info = Object::parse(introduction.get("clientInfo")?)?;
    let mut name = info.get_string("name").filter(|name| !name.is_empty())?;
    name.truncate(name.floor_char_boundary(LONGEST_NAME));
    Some(name)
}
