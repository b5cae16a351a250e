//! What the agent says of its session's usage, in the midst of what else is known of the session.

use super::spending::{ParentsCount, When};
use super::{LiveSession, Phase, Target};
use crate::connection::cx::Cx;
use crate::connection::effect::Effect;
use crate::environment::Environment;
use crate::rpc::{Object, whole_number};
use crate::sessions::fork::spent_before;
use crate::storage::{Storage, StorageError};
use crate::store::{Cost, Costs, Origin, Session, Usage};
use crate::transcript::speaker;

impl LiveSession {
    /// What the store knows of the cost of the agent's session: what is said from now on is compared with that. Others may
    /// say something meanwhile, with agents of their own, who keep counts of their own.
    pub(super) fn begin_count<S: Storage, E: Environment>(&mut self, agent_id: &str, cx: &mut Cx<'_, S, E>) {
        let of = speaker(&cx.agent.name, agent_id);
        if agent_id.is_empty() {
            return;
        }
        if self.spending.counts(&of) {
            return self.hear_of_others(&of, agent_id, cx);
        }
        let stored = match self.stored_usage(&of, agent_id, cx) {
            Ok(usage) => usage,
            Err(error) => return cx.push(Effect::NotRecorded(error.to_string())),
        };
        let is_own = stored.as_ref().is_some_and(|usage| usage.told(&of).is_none()) && self.is_made_here(cx);
        // What cannot be read it has not done.
        let tells_one_sum = cx.store.is_told_as_one_sum(&cx.agent.name).unwrap_or_default();
        self.spending.begin_count(of.clone(), cx.connection, stored.as_ref(), (is_own, tells_one_sum));
        self.read_state(cx);
        self.spending.hears(&stored.unwrap_or_default(), self.told_last_in_store(&of, cx).as_ref());
        if let Some(told) = cx.sums.of(&of) {
            self.spending.continue_from(told);
        }
    }

    /// A turn goes on in which an instance was lost. What was told in it and not counted yet, the state has: it is counted
    /// with the turn's end, if nothing more is told in it.
    pub(in crate::connection) fn count_in_turn<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) {
        if self.is_in_turn() {
            self.begin_count(&self.agent_id.clone(), cx);
        }
    }

    /// What others were told since the count began: until this window is told something, its agent may take up what they
    /// have counted.
    fn hear_of_others<S: Storage, E: Environment>(&mut self, of: &str, agent_id: &str, cx: &Cx<'_, S, E>) {
        if self.spending.is_told_here() {
            return;
        }
        // What cannot be read is not compared with.
        if let Ok(Some(usage)) = self.stored_usage(of, agent_id, cx) {
            self.spending.hears(&usage, self.told_last_in_store(of, cx).as_ref());
        }
    }

    /// What others were told since, where all are told one sum, also of a session that the agent has begun here or of which this
    /// window was told something: its agent has that in what it tells next.
    fn hear_of_shared<S: Storage, E: Environment>(&mut self, of: &str, cx: &Cx<'_, S, E>) {
        if !self.spending.is_told_here() && !self.spending.has_begun(of) {
            return;
        }
        let Some(Ok(usage)) = self.key.id().map(|id| cx.store.usage(id)) else { return };
        if self.spending.looks_whether_shared(&usage) {
            let is_others = |by: &str| !by.is_empty() && by != cx.connection;
            let last = self.told_last_in_store(of, cx).filter(|(_, by)| is_others(by));
            self.spending.hears(&usage, last.as_ref());
        }
    }

    /// A turn ends. What others were told in theirs may show only now, where all are told one sum: what they count of it is not
    /// this turn's.
    pub(super) fn look_back_at_cost<S: Storage, E: Environment>(&mut self, cx: &Cx<'_, S, E>) {
        let Some(of) = self.spending.of_shared() else { return };
        let of = of.to_owned();
        if let Some(Ok(usage)) = self.key.id().map(|id| cx.store.usage(id)) {
            self.spending.looks_back(&usage, self.told_last_in_store(&of, cx).as_ref());
        }
    }

    /// What was told last, and to which connection, as the state in the store has it: it may have been lost with who was to
    /// write it as used, or another window has yet to write it.
    fn told_last_in_store<S: Storage, E: Environment>(&self, of: &str, cx: &Cx<'_, S, E>) -> Option<(Cost, String)> {
        let state = cx.store.state(self.key.id()?).ok()?.with_agent(&cx.agent.name);
        Some((state.told_cost(of)?, state.usage_by))
    }

    /// Whether it was made here, in whichever window, rather than found with the agent. Where that cannot be read it was not.
    fn is_made_here<S: Storage, E: Environment>(&self, cx: &Cx<'_, S, E>) -> bool {
        let stored = self.key.id().and_then(|id| cx.store.session(id).ok().flatten());
        stored.is_some_and(|session| session.origin == Origin::Layer)
    }

    /// What the store knows of it. Of a fork that is being made, that is what it is going to know.
    fn stored_usage<S: Storage, E: Environment>(
        &self,
        of: &str,
        agent_id: &str,
        cx: &Cx<'_, S, E>,
    ) -> Result<Option<Usage>, StorageError> {
        if self.spending.has_begun(of) {
            return Ok(None);
        }
        if let Phase::Opening(opening) = &self.phase
            && let Target::Fork(parent) = &opening.target
        {
            let told = parent.count.as_ref().map(|count| &count.told);
            return spent_before(cx.store, &parent.session, told, (&cx.agent.name, agent_id));
        }
        self.key.id().map(|id| cx.store.usage(id)).transpose()
    }

    /// The agent has begun this session of its own.
    pub(in crate::connection) fn begins_count<S: Storage, E: Environment>(&mut self, cx: &Cx<'_, S, E>) {
        let of = speaker(&cx.agent.name, &self.agent_id);
        // What cannot be read is not added to either.
        let stored = self.key.id().and_then(|id| cx.store.usage(id).ok());
        let others = stored.map(|usage| usage.known(&of)).unwrap_or_default();
        self.spending.begins(of, others);
    }

    /// What a fork of this session goes on counting from, if it is the one that the agent has open for it and anything was said
    /// of it.
    pub(in crate::connection) fn parents_count<S: Storage, E: Environment>(
        &mut self,
        session: &Session,
        cx: &mut Cx<'_, S, E>,
    ) -> Option<ParentsCount> {
        let own = session.id_at(&cx.agent.name).filter(|own| **own == *self.agent_id)?;
        let of = speaker(&cx.agent.name, own);
        self.begin_count(own, cx);
        self.hear_of_shared(&of, cx);
        self.spending.parents_count(&of)
    }

    /// What the agent has said here that its session has cost, and whose that is, if it has said anything.
    pub(in crate::connection) fn told_last(&self) -> Option<(String, Costs)> {
        self.spending.told_last()
    }

    /// The agent has told the usage of its session.
    pub(super) fn note_usage<S: Storage, E: Environment>(
        &mut self,
        agent_id: &str,
        update: &str,
        cx: &mut Cx<'_, S, E>,
    ) {
        self.begin_count(agent_id, cx);
        let of = speaker(&cx.agent.name, agent_id);
        self.change_state(|state| {
            state.usage_of.clone_from(&of);
            cx.connection.clone_into(&mut state.usage_by);
        });
        let body = Object::parse_or_empty(update);
        let number = |name: &str| body.get(name).and_then(whole_number);
        if self.is_in_turn() {
            self.spending.note_context(number("used").zip(number("size")));
        }
        let Some(cost) = Cost::told(update) else { return };
        if self.spending.is_news(&cost) {
            self.hear_of_shared(&of, cx);
        }
        match &self.phase {
            Phase::Opening(opening) => {
                let when = if opening.target.is_fork() { When::Never } else { When::Before };
                self.spending.told_with_history(&cost, when);
            }
            _ if cx.requests.is_told_in_vain(agent_id) => self.spending.told_with_history(&cost, When::Before),
            _ => {
                self.spending.end_history();
                self.spending.told(&cost);
            }
        }
    }
}
