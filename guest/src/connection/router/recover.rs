//! Carrying on after an instance was lost, with what the host kept of the connection.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::connection::asked::AskedFor;
use crate::connection::client_request::ClientRequest;
use crate::connection::handled::Handled;
use crate::connection::key::Key;
use crate::connection::live::{LiveSession, Memo};
use crate::connection::params::Params;
use crate::connection::requests::{AskedOfUser, Incoming, Owner};
use crate::connection::router::Router;
use crate::environment::Environment;
use crate::exchange::{Arrival, Content, Peer};
use crate::rpc::{self, Code, Id, Malformed, Meant, Message, Object, Outcome, RpcError};
use crate::sessions::open_marks;
use crate::storage::Storage;
use crate::transcript::begun;

use super::kept::Kept;
use super::stage::Stage;

impl<S: Storage, E: Environment> Router<S, E> {
    /// Takes up the memos. What the lost instance was working on is answered with an error; everything else goes on.
    pub(crate) fn carry_on(&mut self, kept: Vec<(String, String)>, lost: Vec<Arrival>) {
        let mut orphans = Vec::new();
        let (mut sessions, mut given) = (Vec::new(), BTreeMap::<_, String>::new());
        let (mut subscriptions, mut held) = (Vec::new(), Vec::new());
        let mut restarted = None;
        for (key, value) in kept {
            match Kept::read(&key) {
                Some(Kept::Profile) => {
                    self.connection.agent = serde_json::from_str(&value).unwrap_or_default();
                    self.connection.stage = Stage::ready();
                }
                Some(Kept::Introduction) => {
                    self.connection.asked = AskedFor::read(&Object::parse_or_empty(&value));
                    self.connection.introduction = value;
                }
                Some(Kept::ClientsStore) => self.connection.clients_store = Some(value),
                Some(Kept::Restart) => restarted = serde_json::from_str(&value).ok(),
                Some(Kept::Login) => self.connection.needs_login = true,
                Some(Kept::Session(session)) => sessions.push((session.to_owned(), value)),
                Some(Kept::Given(session)) => {
                    given.insert(session.to_owned(), value);
                }
                Some(Kept::Relayed(session)) => self.connection.relayed.take_up(session.to_owned(), value),
                Some(Kept::RelayedList(id)) => {
                    if let Ok(list) = serde_json::from_str(&value) {
                        self.connection.relayed_lists.take_up(id.to_owned(), list);
                    }
                }
                Some(Kept::Subscription(id)) => subscriptions.push((id.to_owned(), value)),
                Some(Kept::Step(id)) => {
                    if let Ok(stale) = serde_json::from_str(&value) {
                        self.connection.requests.stale.insert(id, stale);
                    }
                }
                Some(Kept::Request(request)) => {
                    let what = serde_json::from_str(&value).unwrap_or(Incoming::Engine);
                    if !what.is_with_agent() {
                        orphans.push(request.clone());
                    }
                    self.expect(&request, what);
                    let share = self.connection.load.share(key.len() + value.len());
                    self.connection.requests.kept.insert(request, share);
                }
                Some(Kept::TakenBack(id)) => {
                    self.connection.requests.of_agent.take_back(id);
                }
                Some(Kept::Held(id)) => held.push((id, value)),
                // What cannot be read is lost with its instance.
                Some(Kept::Chain | Kept::HandedOver) | None => {}
            }
        }
        let mut marks = BTreeSet::new();
        for (session, value) in sessions {
            marks.extend(self.reopen(&session, &value, given.get(&session).map(String::as_str)));
        }
        self.disbelieve(&marks);
        self.connection.unsent.note_lost(marks);
        for key in self.session_keys() {
            self.give_back_unsent(key.id().unwrap_or_default());
        }
        // What is written from now on comes behind all that was.
        let writes = self.connection.sessions.values().map(LiveSession::last_write).max();
        self.connection.writes = writes.unwrap_or_default();
        self.tell_parents_who_waits();
        if self.connection.requests.incoming.values().any(|what| *what == Incoming::Initialize) {
            self.connection.stage = Stage::Starting { held: VecDeque::new() };
        }
        if let Some(memo) = restarted {
            self.take_up_restart(memo);
        }
        for (id, params) in subscriptions {
            self.subscribe_again(&id, &params);
        }
        self.answer_held(held);
        let error = RpcError::new(Code::InternalError, "Internal error: the request was lost; please try again");
        for request in orphans {
            self.finish(&request, Err(error.clone()));
        }
        for arrival in lost {
            self.connection.arrivals += 1;
            self.make_up_for(arrival, &error);
        }
        self.connection.end_arrivals();
        self.connection.sessions.values_mut().for_each(LiveSession::forget_recorded_arrivals);
        self.read_list_after_loss();
    }

    /// What is being done in these sessions, their own marks say from now on. Those of lost instances stay, for whoever may still
    /// have to know what was written.
    fn disbelieve(&mut self, connections: &BTreeSet<String>) {
        for lost in connections {
            if *lost == self.connection.name {
                continue;
            }
            // They are believed for a few more seconds where it is not noted.
            if let Err(error) = open_marks::leave(&self.store, lost) {
                self.not_recorded(&error.to_string());
            }
        }
    }

    /// How far the lost instance was with the agent's list is not known.
    fn read_list_after_loss(&mut self) {
        if !self.connection.stage.is_ready() {
            return;
        }
        if self.connection.agent.has_same_store {
            self.follow_relayed_lists();
        } else if !self.connection.needs_login {
            self.begin_discovery();
        }
    }

    /// Something that the lost instance did not finish with. Requests fail, whoever asked; what answers or tells the
    /// other side something is passed on, though it may be missing from the history.
    fn make_up_for(&mut self, arrival: Arrival, error: &RpcError) {
        let arrival = self.enter(arrival);
        let line = match arrival.content {
            Content::Line(line) => line,
            Content::TooLong(ends) => return self.without_middle(arrival.peer, &ends, Malformed::TooLong),
            Content::NotBearable(ends) => return self.without_middle(arrival.peer, &ends, Malformed::NotBearable),
            Content::NotText(text) => return self.line_not_text(arrival.peer, &text),
        };
        let Ok(message) = Message::parse(&line) else {
            for line in self.meant(arrival.peer, Meant::read(&line)) {
                self.make_up_for(Arrival { peer: arrival.peer, content: Content::Line(line) }, error);
            }
            return;
        };
        if let (Peer::Agent, Message::Response { id, .. }) = (arrival.peer, &message)
            && let Some(line) = self.misspelled(&line, id, Self::is_with_agent)
        {
            return self.make_up_for(Arrival { peer: arrival.peer, content: Content::Line(line) }, error);
        }
        let handled = match (arrival.peer, message) {
            (Peer::Client, Message::Request { id, method, params }) => {
                if method == "session/prompt" {
                    self.prompt_lost(params);
                }
                // One that is open under this id came before, and has an answer of its own.
                let taken = self.taken(&ClientRequest::new(id.clone()));
                self.send_client(rpc::failure(&id, taken.as_ref().unwrap_or(error)));
                return;
            }
            (Peer::Agent, Message::Response { id, outcome }) => return self.answer_lost(&id, outcome, error),
            (Peer::Agent, Message::Request { id, .. }) => return self.send_agent(rpc::failure(&id, error)),
            (Peer::Client, Message::Response { id, outcome }) => self.client_answers_agent(&line, &id, outcome),
            (Peer::Client, Message::Notification { params, .. }) => self.pass_to_agent(&line, params),
            (Peer::Agent, Message::Notification { method, params }) if method == "session/update" => {
                self.session_update(&line, params)
            }
            (Peer::Agent, Message::Notification { method, params }) => self.agent_notification(&line, &method, params),
        };
        let line = match handled {
            Handled::Pass => line,
            Handled::PassAs(line) => line,
            Handled::Done | Handled::Wait(_) => return,
        };
        match arrival.peer {
            Peer::Client => self.send_agent(line),
            Peer::Agent => self.send_client(line),
        }
    }

    fn prompt_lost(&mut self, params: Option<&str>) {
        let Ok(params) = Params::read(params) else { return };
        let (Ok(session), Ok(prompt)) = (params.session_id(), params.array("prompt")) else { return };
        self.with(&Key::Session(session), |session, cx| session.prompt_lost(prompt, cx));
    }

    /// An answer of the agent's is lost: whoever waits for it is told so.
    fn answer_lost(&mut self, id: &Id, outcome: Outcome<'_>, error: &RpcError) {
        self.note_login(outcome);
        if self.connection.stage.is_introduction(id) {
            return self.introduced_again(outcome);
        }
        if let Some(stale) = self.connection.requests.stale.remove(id) {
            self.forget_step(id);
            return self.abandoned_answered(&stale, outcome);
        }
        if self.connection.ids.read(id) != Owner::Client {
            return;
        }
        let request = ClientRequest::new(id.clone());
        match self.connection.requests.incoming.get(&request) {
            // The client may send it again.
            Some(Incoming::Initialize) => self.connection.stage = Stage::New,
            Some(Incoming::Logout) => self.logged_out(outcome),
            Some(Incoming::Prompt { .. }) => {
                let line = rpc::failure(id, error);
                return self.agent_line(line);
            }
            _ => {}
        }
        self.finish(&request, Err(error.clone()));
    }

    /// Takes up a session that was open. The conversation goes on, also where the store cannot be read. Returns whose open mark
    /// of it was the lost instance's.
    fn reopen(&mut self, id: &str, value: &str, given: Option<&str>) -> Option<String> {
        let memo = serde_json::from_str::<Memo>(value).ok();
        let is_deleted = matches!(self.store.session(id), Ok(None));
        let Some(memo) = memo.filter(|_| !is_deleted) else {
            let nothing = [Kept::Session(id), Kept::Given(id)].map(|kept| kept.with(None));
            self.outputs.extend(nothing);
            return None;
        };
        let mark = memo.mark.clone();
        for question in &memo.questions {
            if let Some(request) = Id::parse(&question.request) {
                let of_user = AskedOfUser { session: Key::Session(id.to_owned()), matter: question.matter() };
                self.connection.requests.of_agent.insert(request, Some(of_user));
            }
        }
        let (agent_id, untold) = (memo.agent_id.clone(), memo.untold);
        let mut session = LiveSession::open_unread(id.to_owned(), agent_id, untold);
        session.set_given(given);
        let written = memo.mark.as_deref().map(|mark| open_marks::written(&self.store, id, mark));
        // Where that cannot be read, what was written may be written again; it is not lost.
        session.take_up(memo, written.and_then(Result::ok).unwrap_or_default(), self.now());
        let prompts = self.connection.requests.incoming.iter().filter_map(|(request, what)| match what {
            Incoming::Prompt { session, turn } if session == id => Some((request.clone(), turn.clone())),
            _ => None,
        });
        let mut prompts: Vec<_> = prompts.collect();
        prompts.sort_by_key(|(_, turn)| turn.order);
        for (request, turn) in prompts {
            let begun = begun(self.store.storage(), id, &turn.tag).unwrap_or_default();
            session.take_up_turn(request, turn, begun);
        }
        session.forget_missing_without_turn();
        session.questions_without_turn(true);
        if self.connection.requests.is_worth_waiting(session.agent_id()) {
            session.await_what_is_told(self.running());
        }
        self.insert(session);
        self.with(&Key::Session(id.to_owned()), |session, cx| {
            session.mark(cx);
            session.count_in_turn(cx);
        });
        mark
    }
}
