//! The agent has ended, and another was started in its place, which knows nothing of this connection: what the ended one
//! was at fails, the new one is initialized as the client has asked for it, and sessions are attached as they are used.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::connection::answer::{NOT_ANSWERED, NOT_FILLED_IN, agent_restarted, failed_with};
use crate::connection::generation::{Generation, Whose};
use crate::connection::handled::Handled;
use crate::connection::profile::AgentProfile;
use crate::connection::requests::{Incoming, Matter, Outgoing};
use crate::connection::router::Router;
use crate::connection::sums::Sums;
use crate::environment::Environment;
use crate::exchange::Output;
use crate::rpc::{self, Code, Id, Object, Outcome, RpcError};
use crate::storage::Storage;

use super::agents_subscription::AgentsSubscription;
use super::disowned::Disowned;
use super::initialize::introduced;
use super::kept::Kept;
use super::stage::{Introduction, Stage};

/// What a fresh instance needs to know of an agent that was started again.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Memo {
    generation: u32,
    introduction: Introduced,
}

/// How far an agent that was started again is with `initialize`.
#[derive(Debug, Serialize, Deserialize)]
enum Introduced {
    Agreed,
    /// It was asked under this id.
    Asked(String),
    Refused,
}

const CANCEL: &str = "$/cancel_request";

impl<S: Storage, E: Environment> Router<S, E> {
    /// The agent has ended, in the way that `how` tells people, and another was started in its place.
    pub(crate) fn agent_restarted(&mut self, how: &str) {
        if !self.connection.stage.is_initialized() {
            self.connection.ended_early.get_or_insert_with(|| how.to_owned());
        }
        let queued = self.connection.stage.begin_again();
        let relayed = self.connection.relayed.lose();
        self.lose_relayed_lists();
        self.withdraw_agents_requests();
        self.forget_discovery();
        self.connection.agents_subscription = AgentsSubscription::None;
        self.end_turns_waited_for();
        for key in self.session_keys() {
            self.with(&key, |session, cx| session.agent_lost(how, cx));
        }
        self.forget_own_requests();
        let is_lost =
            |what: &Incoming| what.is_with_agent() && *what != Incoming::Initialize && !what.closes_elsewhere();
        let lost = self.connection.requests.incoming.iter().filter(|(_, what)| is_lost(what));
        for request in lost.map(|(request, _)| request.clone()).collect::<Vec<_>>() {
            self.finish(&request, Err(agent_restarted(how)));
        }
        // What was being made gets no name any more: what waited for one was about sessions that are known.
        self.release_early();
        self.connection.disowned = Disowned::default();
        self.connection.sums = Sums::default();
        // All of that was for the agent that has ended.
        self.outputs.retain(|output| !matches!(output, Output::ToAgent(_)));
        self.close_what_was_being_closed(how);
        for waiting in relayed.into_iter().chain(queued) {
            self.connection.stage.hold(waiting);
        }
        self.introduce();
    }

    /// What the ended agent has asked the client, nobody waits for any more; late answers are not for the new one.
    fn withdraw_agents_requests(&mut self) {
        let (open, taken_back) = self.connection.requests.of_agent.take_all();
        for id in open {
            self.withdraw(&id);
        }
        for id in taken_back {
            self.outputs.push_back(Kept::TakenBack(id).with(None));
        }
        self.connection.generation = self.connection.generation.next();
    }

    /// What the agent has asked the client, nobody is to answer any more: the agent, unless it has ended, has its answers from
    /// here.
    pub(super) fn take_back(&mut self, requests: &[(Id, Matter)]) {
        for (id, matter) in requests {
            if let Whose::Present(own) = self.connection.generation.read(id)
                && !self.connection.agent_gone
            {
                let answer = match matter {
                    Matter::Permission { .. } => NOT_ANSWERED,
                    Matter::Elicitation => NOT_FILLED_IN,
                };
                self.send_agent(rpc::response(&own, answer));
            }
            self.withdraw(id);
            if self.connection.requests.of_agent.take_back(id.clone()) {
                self.outputs.push_back(Kept::TakenBack(id.clone()).with(Some("true".to_owned())));
            }
        }
    }

    /// Whether a request that goes by this id was answered for the client. An answer of the client's to it is for nobody, and
    /// what the agent asks by the same id is another request.
    pub(super) fn forget_taken_back(&mut self, id: &Id) -> bool {
        let was_taken_back = self.connection.requests.of_agent.forget_taken_back(id);
        if was_taken_back {
            self.outputs.push_back(Kept::TakenBack(id.clone()).with(None));
        }
        was_taken_back
    }

    fn withdraw(&mut self, id: &Id) {
        self.send_client(rpc::notification(CANCEL, &format!("{{\"requestId\":{}}}", id.as_json())));
    }

    /// Nobody answers these any more.
    fn forget_own_requests(&mut self) {
        let outgoing = std::mem::take(&mut self.connection.requests.outgoing);
        let opening =
            outgoing.into_iter().filter(|(_, what)| matches!(what, Outgoing::Step { .. } | Outgoing::Abandoned(_)));
        let stale = std::mem::take(&mut self.connection.requests.stale).into_keys();
        let steps: Vec<Id> = opening.map(|(id, _)| self.connection.ids.wire(id)).chain(stale).collect();
        for step in steps {
            self.forget_step(&step);
        }
    }

    /// Has an agent that was started again initialized as the one before it.
    fn introduce(&mut self) {
        let params = self.connection.introduction.clone();
        let since = self.running();
        match &mut self.connection.stage {
            Stage::New | Stage::Ready { .. } => {}
            // The client still waits for it: it is the new agent's to answer.
            Stage::Starting { .. } => {
                let incoming = &self.connection.requests.incoming;
                let request = incoming.iter().find(|(_, what)| **what == Incoming::Initialize);
                if let Some(line) = request.map(|(request, _)| rpc::request(request.id(), "initialize", &params)) {
                    self.send_agent(line);
                }
            }
            Stage::Again { asked, .. } => {
                let id = self.connection.ids.next();
                let id = self.connection.ids.wire(id);
                *asked = Some(Introduction { id: id.clone(), since });
                self.send_agent(rpc::request(&id, "initialize", &params));
            }
        }
        self.keep_restart();
    }

    /// One that has refused before is asked again when somebody needs it.
    pub(super) fn introduce_if_refused(&mut self) {
        if self.connection.stage.is_again() && self.connection.stage.introduction().is_none() {
            self.introduce();
        }
    }

    /// An agent that was started again has answered `initialize`. The client has its answer from the one before.
    pub(super) fn introduced_again(&mut self, outcome: Outcome<'_>) {
        match introduced(&outcome) {
            Ok(result) => {
                let store = self.store.identity(|| self.environment.random()).ok();
                let profile = AgentProfile::read(&result, &self.settings.agent, store.as_deref());
                if profile != self.connection.agent {
                    self.warn(
                        "the agent that was started again is another, or can do other things than the client was told",
                    );
                }
                self.set_agent_profile(profile);
                let held = self.connection.stage.take_held();
                self.connection.stage = Stage::ready_with(held);
                self.begin_with_agent();
            }
            Err(error) => {
                let message =
                    format!("Internal error: the agent was started again and refuses `initialize`: {}", error.message);
                if let Stage::Again { asked, .. } = &mut self.connection.stage {
                    *asked = None;
                }
                self.fail_held(&RpcError { message, ..error });
            }
        }
        self.keep_restart();
    }

    /// Ends the wait of those who have waited for long enough for an agent that was started again.
    pub(super) fn introduction_overdue(&mut self) {
        let running = self.running();
        let has_held = self.connection.stage.has_held();
        let Stage::Again { asked: Some(asked), .. } = &mut self.connection.stage else { return };
        if !has_held {
            asked.since = running;
        }
        if asked.since.until(running) < i64::from(self.settings.agent_timeout_ms) {
            return;
        }
        let message =
            "Internal error: the agent was started again and did not answer `initialize` in time; please try again";
        self.fail_held(&RpcError::new(Code::InternalError, message));
    }

    fn fail_held(&mut self, error: &RpcError) {
        let end = failed_with(error);
        for held in self.connection.stage.take_held() {
            self.end_held(&held, &end, error);
        }
    }

    fn keep_restart(&mut self) {
        let introduction = match &self.connection.stage {
            Stage::Again { asked: Some(asked), .. } => Introduced::Asked(asked.id.as_json().to_owned()),
            Stage::Again { asked: None, .. } => Introduced::Refused,
            Stage::New | Stage::Starting { .. } | Stage::Ready { .. } => Introduced::Agreed,
        };
        let memo = Memo { generation: self.connection.generation.0, introduction };
        self.outputs.push_back(Kept::Restart.with(serde_json::to_string(&memo).ok()));
    }

    /// Takes up what the host kept.
    pub(super) fn take_up_restart(&mut self, Memo { generation, introduction }: Memo) {
        self.connection.generation = Generation(generation);
        let asked = match introduction {
            Introduced::Agreed => return,
            Introduced::Asked(id) => Id::parse(&id).map(|id| Introduction { id, since: self.running() }),
            Introduced::Refused => None,
        };
        self.connection.stage = Stage::Again { asked, held: VecDeque::new() };
    }

    /// A request of the agent's on its way to the client, or what takes one back, by the id that tells whose it is.
    pub(super) fn marked(&self, handled: Handled, line: &str) -> Handled {
        match handled {
            Handled::Pass => self.with_mark(line).map_or(Handled::Pass, Handled::PassAs),
            Handled::PassAs(line) => Handled::PassAs(self.with_mark(&line).unwrap_or(line)),
            Handled::Done | Handled::Wait(_) => handled,
        }
    }

    fn with_mark(&self, line: &str) -> Option<String> {
        let message = Object::parse(line).filter(|_| self.connection.generation != Generation::default())?;
        let params = message.get("params").and_then(Object::parse).unwrap_or_default();
        let given = message.get("id").or_else(|| params.get("requestId"))?;
        Some(rpc::splice(line, given, self.connection.generation.mark(&Id::parse(given)?).as_json()))
    }
}
