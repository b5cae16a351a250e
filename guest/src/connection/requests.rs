//! Requests under way, in two directions that are two types: what a client asks and waits for, and what the engine asks
//! the agent on its own account. An id of the one can never be taken for one of the other.

mod of_agent;
mod own_ids;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub(super) use of_agent::{AskedOfUser, Matter, OfAgent};
pub(super) use own_ids::{OwnId, OwnIds, Owner};

use super::client_request::ClientRequest;
use super::key::Key;
use super::load::Share;
use super::step::Step;
use super::told::Untold;
use crate::rpc::Id;

/// How long after its answer to opening a session an agent may begin to tell what it has of it, in milliseconds.
const SOON_BEHIND_ANSWER: i64 = 10_000;

/// Whether that may be yet, where the agent has answered then.
pub(super) fn is_soon_behind(answered: i64, now: i64) -> bool {
    (answered..answered + SOON_BEHIND_ANSWER).contains(&now)
}

/// What a client waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Incoming {
    /// The agent's answer to `initialize`.
    Initialize,
    /// The agent's answer to `authenticate`, after which it may know more.
    Authenticate,
    /// The agent's answer to `logout`.
    Logout,
    /// The agent's answer to `session/new`, in this directory.
    New {
        cwd: String,
        directories: Vec<String>,
        /// What it was asked for with, where that is not too long.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        given: Option<String>,
        /// The store's revision at that time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        asked_at: Option<u64>,
    },
    /// The agent's answer to `session/prompt`.
    Prompt { session: String, turn: TurnMemo },
    /// The agent's answer to `session/set_mode`.
    Mode { session: String, mode: String },
    /// The agent's answer to `session/set_model`.
    Model { session: String, model: String },
    /// The agent's answer to `session/set_config_option`; the value as JSON.
    Option { session: String, option: String, value: String },
    /// The answer of a layer behind over the same store to opening a session, of this id where the client has named it, with these
    /// params but for that.
    Relayed { session: Option<String>, given: String },
    /// Its answer to closing one.
    RelayedClose { session: String },
    /// Its answer to deleting or archiving one, by this line, which one that is started again in its place is to have too.
    RelayedPutAway { session: String, line: String },
    /// Its answer to a subscription to a list with these params.
    RelayedSubscribe { params: String },
    /// Its answer to the end of the one that the client knows by this id.
    RelayedUnsubscribe { subscription: String },
    /// The agent's answer to a request that the engine has no business with.
    Passed,
    /// What the engine answers itself in a while.
    Engine,
}

/// What a fresh instance needs of a turn, besides what is in the log.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TurnMemo {
    /// What the turn's entries in the log are marked with.
    pub(super) tag: String,
    /// An account of what the agent had not heard stands before the prompt: from where on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) account: Option<Untold>,
    /// After how many prompts that were under way it came.
    #[serde(default, skip_serializing_if = "is_first")]
    pub(super) order: u32,
    /// The prompt, where the store did not take it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) unstored: Option<Unstored>,
}

/// A prompt that the agent has, and the log had not when it was passed on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Unstored {
    /// As the log is to have it.
    pub(super) entry: String,
    /// The last write to the log before it was to be written: it is in the log if there was a later one.
    pub(super) behind: u64,
    /// Where it is kept beside the log, because it has waited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) draft: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "it is what serde asks with")]
fn is_first(order: &u32) -> bool {
    *order == 0
}

impl Requests {
    /// Whether none is under way in either direction, and the agent tells nothing for one that nobody waited for.
    pub(super) fn are_over(&self, now: i64) -> bool {
        let Self { incoming, kept, outgoing, stale, of_agent, answered_in_vain } = self;
        let is_told = answered_in_vain.values().any(|answered| is_soon_behind(*answered, now));
        let is_any = !(incoming.is_empty() && kept.is_empty() && outgoing.is_empty() && stale.is_empty());
        !is_any && !of_agent.is_any_open() && !is_told
    }

    /// Whether something was set in this session that the agent has not answered.
    pub(super) fn is_being_set(&self, id: &str) -> bool {
        self.incoming.values().any(|what| match what {
            Incoming::Mode { session, .. } | Incoming::Model { session, .. } | Incoming::Option { session, .. } => {
                session == id
            }
            _ => false,
        })
    }

    /// Whether the agent may still be telling the history of a session to nobody.
    pub(super) fn is_told_in_vain(&self, agent_id: &str) -> bool {
        self.tellings(agent_id).next().is_some()
    }

    /// Whether that is to be expected: an agent answers what was cancelled, too, but not what it was given up for.
    pub(super) fn is_worth_waiting(&self, agent_id: &str) -> bool {
        self.tellings(agent_id).any(|stale| !stale.given_up)
    }

    /// The agent has answered a request to open this session that nobody waited for any more.
    pub(super) fn answered_in_vain(&mut self, agent_id: &str, now: i64) {
        self.answered_in_vain.retain(|_, answered| is_soon_behind(*answered, now));
        self.answered_in_vain.insert(agent_id.to_owned(), now);
    }

    /// Whether it may still be telling the history behind that answer, as some do.
    pub(super) fn is_told_behind_answer_in_vain(&self, agent_id: &str, now: i64) -> bool {
        let answered = self.answered_in_vain.get(agent_id);
        answered.is_some_and(|answered| is_soon_behind(*answered, now))
    }

    fn tellings(&self, agent_id: &str) -> impl Iterator<Item = &Stale> {
        let abandoned = self.outgoing.values().filter_map(|what| match what {
            Outgoing::Abandoned(stale) => Some(stale),
            _ => None,
        });
        abandoned.chain(self.stale.values()).filter(move |stale| stale.is_telling(agent_id))
    }

    /// The agent was silent for too long: nobody waits any longer for what it may still tell of a session. What is given
    /// up, by its id on the wire.
    pub(super) fn give_up(&mut self, agent_id: &str, ids: &OwnIds) -> Vec<(Id, Stale)> {
        let abandoned = self.outgoing.iter_mut().filter_map(|(id, what)| match what {
            Outgoing::Abandoned(stale) => Some((ids.wire(*id), stale)),
            _ => None,
        });
        let all = abandoned.chain(self.stale.iter_mut().map(|(id, stale)| (id.clone(), stale)));
        let telling = all.filter(|(_, stale)| stale.is_telling(agent_id) && !stale.given_up);
        let give_up = |(id, stale): (Id, &mut Stale)| {
            stale.given_up = true;
            (id, stale.clone())
        };
        telling.map(give_up).collect()
    }
}

impl Incoming {
    /// Whether it is the agent who answers.
    pub(super) fn is_with_agent(&self) -> bool {
        *self != Self::Engine
    }

    /// Whether a layer behind over the same store closes a session for it.
    pub(super) fn closes_elsewhere(&self) -> bool {
        matches!(self, Self::RelayedClose { .. } | Self::RelayedPutAway { .. })
    }
}

/// What the engine asked the agent for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outgoing {
    /// To open a session that the agent knows by this id, or to make one.
    Step { of: Key, step: Step, agent_id: Option<String> },
    /// To put a mode, model or option back.
    Restore { of: Key },
    /// To close a session.
    Close { of: Key },
    /// To delete a session that it knows by this id.
    Delete { agent_id: String },
    /// To put a session away that it knows by this id, or to bring it back.
    Archive { session: String, agent_id: String, archived: bool },
    /// To call a session that it knows by this id as its user does.
    Title { session: String, agent_id: String, title: String, telling: Telling },
    /// A page of its own list.
    List,
    /// A page of its own list which nobody waits for any more.
    LateList,
    /// A page of its list of one folder.
    ListOfFolder,
    /// To open a session that nobody waits for any more: should it succeed after all, the agent is asked to let go.
    Abandoned(Stale),
    /// To resume a session, of a layer behind over the same store that was started again.
    Relayed { session: String },
    /// To tell it what changes in a list, for the subscription that the client knows by this id.
    RelayedSubscribe { subscription: String },
    /// Something whose answer does not matter.
    Ignored,
}

/// When an agent is told a title.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Telling {
    /// As its user sets it. What the agent refuses then it is told once more.
    AtOnce,
    /// Later, as the agent's own list has another title, or it opens the session.
    Later,
}

/// A step of an opening that nobody waits for any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stale {
    pub(super) step: Step,
    /// The agent's id of the session; none while it has not named it.
    pub(super) agent_id: Option<String>,
    /// The agent was silent for too long.
    #[serde(default)]
    pub(super) given_up: bool,
}

impl Stale {
    pub(super) fn new(step: Step, agent_id: Option<String>) -> Self {
        Self { step, agent_id, given_up: false }
    }

    /// Whether the agent tells the history of this session for it.
    fn is_telling(&self, agent_id: &str) -> bool {
        self.step == Step::Load && self.agent_id.as_deref() == Some(agent_id)
    }
}

/// All requests under way.
#[derive(Debug, Default)]
pub(super) struct Requests {
    /// By the client's id.
    pub(super) incoming: BTreeMap<ClientRequest, Incoming>,
    /// Those that the host keeps.
    pub(super) kept: BTreeMap<ClientRequest, Share>,
    /// By the engine's id.
    pub(super) outgoing: BTreeMap<OwnId, Outgoing>,
    /// What a lost instance had asked to open, by its id on the wire.
    pub(super) stale: BTreeMap<Id, Stale>,
    /// What the agent asked the client.
    pub(super) of_agent: OfAgent,
    /// When the agent has answered a request that nobody waited for any more, to open a session that it knows by this id.
    answered_in_vain: BTreeMap<String, i64>,
}
