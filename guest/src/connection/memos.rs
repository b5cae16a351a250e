//! Carrying on after an instance was lost, with what the host kept of the connection.

use std::collections::VecDeque;

use super::Handled;
use super::awaiting::Awaiting;
use super::initialize::Phase;
use super::open_session::{Kept, OpenSession};
use crate::engine::{Arrival, Content, Engine, Peer};
use crate::environment::Environment;
use crate::rpc::{self, Code, Id, Message, RpcError};
use crate::storage::Storage;

impl<S: Storage, E: Environment> Engine<S, E> {
    /// Takes up the memos. What the lost instance was working on is answered with an error; everything else goes on.
    pub(crate) fn carry_on(&mut self, kept: Vec<(String, String)>, lost: Vec<Arrival>) {
        let mut orphans = Vec::new();
        // The numbers of the lost instance's own requests must not come again: late answers would be mistaken.
        self.connection.next_id = self.environment.random() >> 16;
        for (key, value) in kept {
            if key == "agent" {
                self.connection.agent = serde_json::from_str(&value).unwrap_or_default();
                self.connection.phase = Phase::Ready { queue: VecDeque::new(), waits_for: None };
            } else if let Some(session) = key.strip_prefix("s/") {
                self.reopen(session, &value);
            } else if let Some(id) = key.strip_prefix("q/").and_then(Id::parse) {
                match serde_json::from_str::<Awaiting>(&value) {
                    Ok(awaiting) if awaiting.passes_answer() => {
                        self.connection.awaiting.insert(id, awaiting);
                    }
                    _ => orphans.push(id),
                }
            }
        }
        if self.connection.awaiting.values().any(|awaiting| *awaiting == Awaiting::Initialize) {
            self.connection.phase = Phase::Starting { held: VecDeque::new() };
        }
        let error = RpcError::new(Code::InternalError, "Internal error: the request was lost; please try again");
        for id in orphans {
            self.connection.awaiting.insert(id.clone(), Awaiting::Own);
            self.finish(&id, Err(error.clone()));
        }
        for arrival in lost {
            if let Content::Line(line) = arrival.content {
                self.make_up_for(arrival.from, line, &error);
            }
        }
    }

    /// A line that the lost instance did not finish with. Requests fail, whoever asked; what answers or tells the
    /// other side something is passed on, though it may be missing from the history.
    fn make_up_for(&mut self, from: Peer, line: String, error: &RpcError) {
        let Ok(message) = Message::parse(&line) else { return };
        let handled = match (from, message) {
            (Peer::Client, Message::Request { id, .. }) => {
                if !self.connection.awaiting.contains_key(&id) {
                    self.refuse(&id, error);
                }
                return;
            }
            (Peer::Agent, Message::Response { id, .. }) => return self.finish(&id, Err(error.clone())),
            (Peer::Agent, Message::Request { id, .. }) => return self.send_agent(rpc::failure(&id, error)),
            (Peer::Client, Message::Response { .. }) => Handled::Pass,
            (Peer::Client, Message::Notification { params, .. }) => self.pass_to_agent(&line, params),
            (Peer::Agent, Message::Notification { params, .. }) => self.pass_to_client(&line, params),
        };
        let line = match handled {
            Handled::Pass => line,
            Handled::PassAs(line) => line,
            Handled::Done | Handled::Hold(_) => return,
        };
        match from {
            Peer::Client => self.send_agent(line),
            Peer::Agent => self.send_client(line),
        }
    }

    fn reopen(&mut self, session_id: &str, value: &str) {
        let Ok(kept) = serde_json::from_str::<Kept>(value) else { return };
        match (self.store.session(session_id), self.store.state(session_id)) {
            (Ok(Some(session)), Ok(state)) => {
                let mut open = OpenSession::new(&session, kept.agent_id, state);
                open.rehydrate = kept.rehydrate;
                self.insert_open(session_id, open);
            }
            // It was being opened, and is not known yet.
            (Ok(None), Ok(_)) => {}
            (Err(error), _) | (_, Err(error)) => self.recording_failed(&error),
        }
    }
}
