//! Carrying on after an instance was lost, with what the host kept of the connection.

use std::collections::VecDeque;

use super::awaiting::Awaiting;
use super::initialize::Phase;
use super::open_session::{Kept, OpenSession};
use crate::engine::{Arrival, Content, Engine, Peer};
use crate::environment::Environment;
use crate::rpc::{Code, Id, Message, RpcError};
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
            let Content::Line(line) = arrival.content else { continue };
            let request = match (arrival.from, Message::parse(&line)) {
                // A request that was not passed on yet, or the answer to one that now never comes.
                (Peer::Client, Ok(Message::Request { id, .. })) | (Peer::Agent, Ok(Message::Response { id, .. })) => id,
                _ => continue,
            };
            let is_open = self.connection.awaiting.contains_key(&request);
            match arrival.from {
                Peer::Agent if is_open => self.finish(&request, Err(error.clone())),
                Peer::Client if !is_open => self.refuse(&request, &error),
                _ => {}
            }
        }
    }

    fn reopen(&mut self, session_id: &str, value: &str) {
        let Ok(kept) = serde_json::from_str::<Kept>(value) else { return };
        let stored = self
            .store
            .session(session_id)
            .and_then(|session| Ok(session.map(|session| (session, self.store.state(session_id)))));
        match stored {
            Ok(Some((session, Ok(state)))) => {
                let mut open = OpenSession::new(&session, kept.agent_id, state);
                open.rehydrate = kept.rehydrate;
                self.insert_open(session_id, open);
            }
            Ok(Some((_, Err(error)))) | Err(error) => self.recording_failed(&error),
            // It was being opened, and is not known yet.
            Ok(None) => {}
        }
    }
}
