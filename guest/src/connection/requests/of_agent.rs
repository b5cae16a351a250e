//! What the agent asks the client, which passes it on to its user.

use std::collections::{BTreeMap, BTreeSet};

use crate::connection::key::Key;
use crate::rpc::{Id, Object};

/// Requests of the agent's to the client that are open, by the ids that the client knows them by.
#[derive(Debug, Default)]
pub(in crate::connection) struct OfAgent {
    open: BTreeMap<Id, Option<AskedOfUser>>,
    /// Those that were answered for the client, which may still answer them.
    taken_back: BTreeSet<Id>,
}

/// That the agent has asked its user something.
#[derive(Debug, Clone)]
pub(in crate::connection) struct AskedOfUser {
    /// In this session.
    pub(in crate::connection) session: Key,
    /// This.
    pub(in crate::connection) matter: Matter,
}

/// What an agent asks its user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::connection) enum Matter {
    /// Permission, which is history.
    Permission {
        /// For this tool call; none for one that does not say or has a very long id.
        tool_call: Option<String>,
    },
    /// To fill in a form or to go somewhere (`elicitation/create`), of which nothing is kept.
    Elicitation,
}

impl Matter {
    /// Reads the params of a request for permission.
    pub(in crate::connection) fn permission(params: &Object<'_>) -> Self {
        let call = params.get_object("toolCall");
        Self::Permission { tool_call: call.get_string("toolCallId").filter(|id| id.len() <= LONGEST_OF_AGENT) }
    }
}

/// How many of them are remembered, and how long their ids may be: of the rest the answers pass as they stand.
const MOST_OF_AGENT: usize = 4096;
const LONGEST_OF_AGENT: usize = 256;

impl OfAgent {
    /// Whether the client has yet to answer one.
    pub(in crate::connection) fn is_any_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// The agent asks for something; `of_user`: of its user in a session. Returns whether it is remembered.
    pub(in crate::connection) fn insert(&mut self, id: Id, of_user: Option<AskedOfUser>) -> bool {
        let is_remembered = self.open.len() < MOST_OF_AGENT && id.as_json().len() <= LONGEST_OF_AGENT;
        if is_remembered {
            self.open.insert(id, of_user);
        }
        is_remembered
    }

    /// The client has answered; what its user was asked, if anything was.
    pub(in crate::connection) fn remove(&mut self, id: &Id) -> Option<AskedOfUser> {
        self.open.remove(id).flatten()
    }

    pub(in crate::connection) fn contains(&self, id: &Id) -> bool {
        self.open.contains_key(id) || self.taken_back.contains(id)
    }

    /// What it asks its user by this request.
    pub(in crate::connection) fn of_user(&self, id: &Id) -> Option<&AskedOfUser> {
        self.open.get(id)?.as_ref()
    }

    /// What it asks its user in a session.
    pub(in crate::connection) fn matters_in(&self, key: &Key) -> Vec<(Id, Matter)> {
        let asked = self.open.iter().filter_map(|(id, of)| Some((id, of.as_ref().filter(|of| of.session == *key)?)));
        asked.map(|(id, of)| (id.clone(), of.matter.clone())).collect()
    }

    /// It is answered for the client. Returns whether that is remembered.
    pub(in crate::connection) fn take_back(&mut self, id: Id) -> bool {
        self.open.remove(&id);
        self.taken_back.len() < MOST_OF_AGENT && self.taken_back.insert(id)
    }

    /// The client has answered as well, or the agent asks something else by this id; whether it was answered for the client.
    pub(in crate::connection) fn forget_taken_back(&mut self, id: &Id) -> bool {
        self.taken_back.remove(id)
    }

    /// The agent has ended: what it has asked is nothing any more. First what is open, then what was answered for the client.
    pub(in crate::connection) fn take_all(&mut self) -> (impl Iterator<Item = Id> + use<>, BTreeSet<Id>) {
        let all = std::mem::take(self);
        (all.open.into_keys(), all.taken_back)
    }

    /// A session is over: nobody notes any more what its user answers.
    pub(in crate::connection) fn forget_session(&mut self, key: &Key) {
        let is_its = |of: &&mut Option<AskedOfUser>| of.as_ref().is_some_and(|asked| asked.session == *key);
        self.open.values_mut().filter(is_its).for_each(|of| *of = None);
    }
}
