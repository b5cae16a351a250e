//! An agent's process: what it was asked, what it has open, what it says.

mod answer;
mod hear;
mod say;
mod tell;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::disk::{Disk, Kept};
use crate::ground::Ground;
use crate::kind::Kind;

/// A request that it has not answered.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) id: Value,
    pub(crate) method: String,
    pub(crate) params: Value,
    /// When it came.
    pub(crate) at: u64,
    /// Whether it had said by then that it has the session open.
    is_of_open: bool,
    /// How much of a history it has replayed for this one.
    replayed: usize,
    cancelled: bool,
}

/// What became of a request of its own.
#[derive(Debug, Clone, Default)]
pub(crate) struct Asked {
    pub(crate) answered: u32,
}

/// An agent's process.
#[derive(Debug)]
pub(crate) struct Agent {
    pub(crate) kind: Kind,
    pub(crate) requests: Vec<Request>,
    /// Its own requests, by id.
    pub(crate) asked: BTreeMap<String, Asked>,
    /// What it has open.
    pub(crate) open: BTreeSet<String>,
    /// Where it keeps its sessions if they end with it.
    private: Option<Disk>,
    /// When it began.
    pub(crate) began: u64,
    logged_in: bool,
    /// Somebody has tried to log in.
    pub(crate) was_unlocked: bool,
    /// When it was asked to open what it has open.
    pub(crate) opened_at: std::collections::BTreeMap<String, u64>,
    /// When it began what it was asked to begin.
    pub(crate) begun: BTreeMap<String, u64>,
    /// What it has deleted, as it was asked to before it had given the id of it; see [`crate::checks::gaps`].
    deleted_unseen: BTreeSet<String>,
    /// When it first said that it wants its user logged in.
    pub(crate) locked_since: Option<u64>,
    /// The clients' windows whose requests for a session it has granted, logged in or not.
    pub(crate) granted: BTreeSet<u64>,
    /// The clients' windows whose requests for a session it has refused.
    pub(crate) refused: BTreeSet<u64>,
    /// Requests it has forgotten, by id.
    pub(crate) forgotten: BTreeMap<String, Request>,
    next_request: u32,
    /// What whoever has subscribed to its list knows of it.
    told: Option<tell::Told>,
}

impl Agent {
    pub(crate) fn start(kind: Kind, ground: &mut Ground) -> Self {
        ground.processes += 1;
        let first = if kind.counts_anew() { 0 } else { ground.processes * 1000 };
        let private = kind.forgets().then(|| Disk::starting_at(first));
        Self { private, began: ground.talk.next_moment(), ..Self::resting(kind) }
    }

    /// Another process of this agent, in the place of this one, which has ended. What the clients' windows have come to stays.
    pub(crate) fn started_again(&self, ground: &mut Ground) -> Self {
        let (granted, refused, was_unlocked) = (self.granted.clone(), self.refused.clone(), self.was_unlocked);
        Self { was_unlocked, granted, refused, ..Self::start(self.kind, ground) }
    }

    /// An agent that does not run: there is nothing but what it keeps.
    pub(crate) fn resting(kind: Kind) -> Self {
        Self {
            kind,
            requests: Vec::new(),
            asked: BTreeMap::new(),
            open: BTreeSet::new(),
            private: kind.forgets().then(Disk::default),
            began: 0,
            logged_in: false,
            was_unlocked: false,
            opened_at: std::collections::BTreeMap::new(),
            begun: BTreeMap::new(),
            deleted_unseen: BTreeSet::new(),
            locked_since: None,
            granted: BTreeSet::new(),
            refused: BTreeSet::new(),
            forgotten: BTreeMap::new(),
            next_request: 0,
            told: None,
        }
    }

    /// Where it keeps its sessions.
    pub(crate) fn disk<'a>(&'a mut self, ground: &'a mut Ground) -> &'a mut Disk {
        match &mut self.private {
            Some(disk) => disk,
            None => ground.disk(self.kind),
        }
    }

    pub(crate) fn kept<'a>(&'a mut self, ground: &'a mut Ground, id: &str) -> Option<&'a mut Kept> {
        self.disk(ground).sessions.get_mut(id)
    }

    /// One of its open sessions, those with a turn under way first.
    fn open_at(&self, at: u8) -> Option<String> {
        let busy = self.requests.iter().filter(|request| request.method == "session/prompt");
        let busy: Vec<&str> = busy.filter_map(Request::session).filter(|id| self.open.contains(*id)).collect();
        let idle = self.open.iter().map(String::as_str).filter(|id| !busy.contains(id));
        let all: Vec<&str> = busy.iter().copied().chain(idle).collect();
        all.get(usize::from(at) % all.len().max(1)).map(|id| (*id).to_owned())
    }

    /// How many histories it is asked for.
    pub(crate) fn loads(&self) -> usize {
        self.requests.iter().filter(|request| request.method == "session/load").count()
    }

    /// The sessions that it is asked to load.
    pub(crate) fn loading(&self) -> impl Iterator<Item = String> {
        let loads = self.requests.iter().filter(|request| request.method == "session/load");
        loads.filter_map(Request::session).map(str::to_owned)
    }

    /// Where the session of the last prompt stands among those that are open.
    pub(crate) fn place_of_last_prompt(&self) -> u8 {
        let prompt = self.requests.iter().rfind(|request| request.method == "session/prompt");
        let session = prompt.and_then(Request::session).map(str::to_owned);
        (0..u8::MAX).find(|at| self.open_at(*at) == session).unwrap_or(0)
    }
}

impl Request {
    pub(crate) fn session(&self) -> Option<&str> {
        self.params["sessionId"].as_str()
    }

    /// Whether it asks to have a session open that there is.
    pub(crate) fn opens(&self) -> bool {
        matches!(self.method.as_str(), "session/load" | "session/resume")
    }

    /// The layer's id of the session that a client wants opened by it.
    pub(crate) fn wanted(&self) -> Option<&str> {
        self.params["_meta"]["machine"]["session"].as_str()
    }

    /// The client's window that it is for.
    pub(crate) fn window(&self) -> Option<u64> {
        self.params["_meta"]["machine"]["window"].as_u64()
    }
}

fn update(session: &str, update: &Value) -> String {
    json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": session, "update": update}})
        .to_string()
}

fn text_chunk(kind: &str, text: &str) -> Value {
    json!({"sessionUpdate": kind, "content": {"type": "text", "text": text}})
}
