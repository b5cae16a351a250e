//! Lines that are no messages by the letter, from either side: taken as they were meant, or whoever waits is told why not.

use std::sync::Arc;

use serde_json::json;

use super::{Router, chain};
use crate::connection::client_request::ClientRequest;
use crate::connection::key::Key;
use crate::connection::requests::Owner;
use crate::environment::Environment;
use crate::exchange::{Arrival, Content, Peer};
use crate::rpc::{self, Bad, Id, Malformed, Meant, Object, What};
use crate::storage::Storage;

/// Why something is missing in a log.
const NOT_TAKEN: &str = "the agent sent an update that could not be taken";

impl<S: Storage, E: Environment> Router<S, E> {
    /// A line that is no message as it stands.
    pub(super) fn line_off(&mut self, peer: Peer, line: &str) {
        self.take_meant(peer, Meant::read(line));
    }

    /// A line that cannot be taken for this reason, and of which only the beginning is there, and perhaps the end.
    pub(super) fn without_middle(&mut self, peer: Peer, ends: &str, why: Malformed) {
        if peer == Peer::Agent {
            self.note_lost_update(ends);
        }
        self.take_meant(peer, Meant::Bad(Bad::read_shortened(ends, why)));
    }

    /// An update that is not there whole is missing in the history of its session.
    fn note_lost_update(&mut self, ends: &str) {
        if !ends.contains("\"session/update\"") {
            return;
        }
        let is_named = |agent_id: &&Arc<str>| ends.contains(&json!(&***agent_id).to_string());
        let sessions: Vec<Key> =
            self.connection.by_agent.iter().filter(|(id, _)| is_named(id)).map(|(_, key)| key.clone()).collect();
        for key in sessions {
            self.with(&key, |session, cx| session.note_loss(cx.now(), NOT_TAKEN));
        }
    }

    /// A line that is not UTF-8, as well as it can be read.
    pub(super) fn line_not_text(&mut self, peer: Peer, text: &str) {
        self.take_meant(peer, Meant::read_not_text(text));
    }

    fn take_meant(&mut self, peer: Peer, meant: Meant) {
        for line in self.meant(peer, meant) {
            self.take(Arrival { peer, content: Content::Line(line) });
        }
    }

    /// The messages that are meant, if any are. What cannot be taken is dealt with.
    pub(super) fn meant(&mut self, peer: Peer, meant: Meant) -> Vec<String> {
        match (peer, meant) {
            (_, Meant::Message(line)) => vec![line],
            (Peer::Agent, Meant::Several(lines)) => lines,
            // The protocol has no batches, and a client would wait for one in answer.
            (Peer::Client, Meant::Several(_)) => {
                self.cannot_take(peer, Bad { what: What::Nameless, why: Malformed::Batch });
                Vec::new()
            }
            (_, Meant::Bad(bad)) => {
                self.cannot_take(peer, bad);
                Vec::new()
            }
        }
    }

    fn cannot_take(&mut self, peer: Peer, bad: Bad) {
        let (peer, bad) = if self.in_chain && peer == Peer::Client { chain::enter_bad(bad) } else { (peer, bad) };
        match peer {
            Peer::Agent => self.cannot_take_agents(bad),
            Peer::Client => self.cannot_take_clients(bad),
        }
    }

    fn cannot_take_agents(&mut self, Bad { what, why }: Bad) {
        self.warn(why.of_line());
        match what {
            What::Answer(id) | What::Either(id) => {
                let open = |id: &Id| self.is_open_at_agent(id).then(|| id.clone());
                let open = open(&id).or_else(|| open(&id.in_other_words()?));
                if let Some(id) = open {
                    self.agent_line(rpc::failure(&id, &why.of_answer("agent")));
                }
            }
            What::Request(id) => self.send_agent(rpc::failure(&id, &why.of_agent())),
            What::Nameless => {}
        }
    }

    fn cannot_take_clients(&mut self, Bad { what, why }: Bad) {
        let asked = |id: &Id| self.connection.requests.of_agent.contains(id);
        let is_asked = |id: &Id| asked(id) || id.in_other_words().is_some_and(|id| asked(&id));
        match what {
            What::Answer(id) => self.client_line(rpc::failure(&id, &why.of_answer("client"))),
            What::Either(id) if is_asked(&id) => self.client_line(rpc::failure(&id, &why.of_answer("client"))),
            What::Request(id) | What::Either(id) => {
                // The answer to a request that is open is another one; and of what is not JSON nobody answers for the id.
                let is_taken = self.taken(&ClientRequest::new(id.clone())).is_some();
                let id = if is_taken || why == Malformed::NotJson { Id::null() } else { id };
                self.send_client(rpc::failure(&id, &why.of_client()));
            }
            What::Nameless => self.send_client(rpc::failure(&Id::null(), &why.of_client())),
        }
    }

    /// Whether this is the id of something that the agent has yet to answer.
    fn is_open_at_agent(&self, id: &Id) -> bool {
        let requests = &self.connection.requests;
        if self.connection.stage.is_introduction(id) {
            return true;
        }
        match self.connection.ids.read(id) {
            Owner::Engine(own) => requests.outgoing.contains_key(&own),
            Owner::Client | Owner::OtherEngine => self.is_with_agent(id) || requests.stale.contains_key(id),
        }
    }

    /// The line with its id as it was given, if it answers under another spelling of it and nothing is open under that.
    pub(super) fn misspelled(&self, line: &str, id: &Id, is_open: impl Fn(&Self, &Id) -> bool) -> Option<String> {
        let meant = id.in_other_words()?;
        if is_open(self, id) || !is_open(self, &meant) {
            return None;
        }
        let mut answer = Object::parse(line)?;
        answer.set("id", meant.as_json());
        Some(answer.to_json())
    }
}
