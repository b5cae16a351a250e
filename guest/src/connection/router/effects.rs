//! Handling something with a session, and carrying out what follows.

use std::sync::Arc;

use crate::connection::client_request::ClientRequest;
use crate::connection::cx::Cx;
use crate::connection::effect::Effect;
use crate::connection::key::Key;
use crate::connection::live::LiveSession;
use crate::connection::requests::{Outgoing, Stale};
use crate::connection::router::Router;
use crate::connection::router::kept::{Kept, KeptSession};
use crate::connection::running::RunningAt;
use crate::environment::Environment;
use crate::exchange::Output;
use crate::rpc::{self, RpcError};
use crate::storage::Storage;

impl<S: Storage, E: Environment> Router<S, E> {
    pub(crate) fn warn(&mut self, text: impl Into<String>) {
        self.outputs.push_back(Output::Warn(text.into()));
    }

    pub(super) fn send_client(&mut self, line: String) {
        self.answered += line.len() + 1;
        self.outputs.push_back(Output::ToClient(line));
    }

    /// Sends to the client that made a request. There is one client, so it is that one.
    fn send_client_of(&mut self, _request: &ClientRequest, lines: Vec<String>) {
        for line in lines {
            self.send_client(line);
        }
    }

    pub(super) fn send_agent(&mut self, line: String) {
        self.outputs.push_back(Output::ToAgent(line));
    }

    pub(super) fn now(&self) -> i64 {
        self.environment.now().clamp(0, crate::time::LAST)
    }

    /// Now, in the time during which the program was running.
    pub(super) fn running(&self) -> RunningAt {
        self.connection.times.running.at(self.now())
    }

    /// What a session is given of its surroundings.
    pub(super) fn cx(&mut self) -> Cx<'_, S, E> {
        let connection = &mut self.connection;
        Cx {
            store: &self.store,
            environment: &self.environment,
            settings: &self.settings,
            agent: &connection.agent,
            asked: connection.asked,
            running: connection.times.running,
            connection: &connection.name,
            clients_store: connection.clients_store.as_deref(),
            arrivals: connection.arrivals,
            before: connection.before,
            states: &connection.states,
            writes: &mut connection.writes,
            needs_login: connection.needs_login,
            knows_list: connection.discovery.is_read(),
            list_holds: connection.discovery.holds(),
            list_begun: connection.discovery.begun(),
            requests: &connection.requests,
            by_agent: &connection.by_agent,
            sums: &connection.sums,
            beaten: &mut connection.beaten,
            ids: &mut connection.ids,
            effects: &mut connection.effects,
        }
    }

    /// Runs something that has consequences, and carries them out.
    pub(super) fn run<R>(&mut self, run: impl FnOnce(&mut Cx<'_, S, E>) -> R) -> R {
        let result = run(&mut self.cx());
        self.carry_out();
        result
    }

    /// Has a session handle something, and carries out what follows; `None` if there is no such session.
    pub(super) fn with<R>(
        &mut self,
        key: &Key,
        run: impl FnOnce(&mut LiveSession, &mut Cx<'_, S, E>) -> R,
    ) -> Option<R> {
        // Nothing looks for a session before this one is back: effects are carried out behind it.
        let mut sessions = std::mem::take(&mut self.connection.sessions);
        let handled = sessions.get_mut(key).map(|session| {
            let (agent_id, stamp) = (session.agent_id().clone(), session.stamp());
            let parent = session.parent().map(str::to_owned);
            let mut cx = self.cx();
            session.arrives(&cx);
            let result = run(session, &mut cx);
            let is_same = Arc::ptr_eq(session.agent_id(), &agent_id) && session.stamp() == stamp;
            (result, (!is_same || session.key() != key).then_some(agent_id), parent)
        });
        self.connection.sessions = sessions;
        let (result, changed_from, parent) = handled?;
        debug_assert!(changed_from.is_some() || self.is_kept_as_it_is(key), "a stamp hides what has changed");
        if let Some(agent_id) = changed_from {
            self.note_change(key, &agent_id);
            if let Some(parent) = parent {
                self.tell_parent_who_waits(key, parent);
            }
        }
        self.carry_out();
        Some(result)
    }

    /// Whether the host keeps of a session what there is to keep.
    fn is_kept_as_it_is(&self, key: &Key) -> bool {
        let kept = key.id().and_then(|id| self.connection.memos.get(id)).map(|kept| &kept.memo);
        let memo = self.connection.sessions.get(key).and_then(|session| session.memo(&self.connection.name));
        key.id().is_none() || kept == memo.as_ref()
    }

    /// Takes in the session that this makes: it is there before what follows is carried out.
    pub(super) fn insert_made(
        &mut self,
        make: impl FnOnce(&mut Cx<'_, S, E>) -> Result<LiveSession, RpcError>,
    ) -> Result<(), RpcError> {
        let session = make(&mut self.cx());
        let inserted = session.map(|session| self.insert(session));
        self.carry_out();
        inserted
    }

    /// Takes in a session that is new to the connection.
    pub(super) fn insert(&mut self, session: LiveSession) {
        let key = session.key().clone();
        let agent_id = session.agent_id().clone();
        self.connection.sessions.insert(key.clone(), session);
        self.note_change(&key, &agent_id);
        self.carry_out();
    }

    /// A session goes by another id, has entered another phase, or is over: the tables follow, and so does what the host
    /// keeps.
    fn note_change(&mut self, key: &Key, old_agent_id: &str) {
        let connection = &mut self.connection;
        let Some(mut session) = connection.sessions.remove(key) else { return };
        if connection.by_agent.get(old_agent_id) == Some(key) {
            connection.by_agent.remove(old_agent_id);
        }
        let key = session.key().clone();
        let (memo, given) = (session.memo(&connection.name), session.given().cloned());
        let session_is_over = session.is_gone();
        let ends_subagents = session.ends_subagents();
        let last_agent_id = session.agent_id().clone();
        if session_is_over {
            connection.unsent.left(&key, session.left_unsent());
            if let Some((of, told)) = session.told_last() {
                connection.sums.keep(of, told);
            }
            connection.showing.retain(|showing| *showing != key);
            connection.requests.of_agent.forget_session(&key);
        } else {
            if !session.agent_id().is_empty() {
                let before = connection.by_agent.insert(session.agent_id().clone(), key.clone());
                // The agent has handed out an id again that it had given to another.
                let displaced = before.filter(|other| *other != key && connection.sessions.contains_key(other));
                connection.effects.extend(displaced.map(Effect::Displaced));
            }
            connection.sessions.insert(key.clone(), session);
        }
        if session_is_over {
            if ends_subagents {
                connection.effects.push(Effect::Over(key.clone()));
            }
            self.disown_if_not_noted(&key, &last_agent_id);
        }
        let connection = &mut self.connection;
        let Some(id) = key.id() else { return };
        let kept = memo.map(|memo| KeptSession { memo, given });
        let before = connection.memos.get(id);
        let is_same_memo = before.map(|kept| &kept.memo) == kept.as_ref().map(|kept| &kept.memo);
        // It is seldom another, and may be long.
        let is_same_given = match (before.and_then(KeptSession::given), kept.as_ref().and_then(KeptSession::given)) {
            (Some(before), Some(given)) => Arc::ptr_eq(before, given),
            (before, given) => before.is_none() && given.is_none(),
        };
        if !is_same_memo {
            let value = kept.as_ref().and_then(|kept| serde_json::to_string(&kept.memo).ok());
            self.outputs.push_back(Kept::Session(id).with(value));
        }
        if !is_same_given {
            let value = kept.as_ref().and_then(KeptSession::given).map(ToString::to_string);
            self.outputs.push_back(Kept::Given(id).with(value));
        }
        if is_same_memo && is_same_given {
            return;
        }
        match kept {
            Some(kept) => connection.memos.insert(id.to_owned(), kept),
            None => connection.memos.remove(id),
        };
    }

    fn carry_out(&mut self) {
        if self.connection.effects.is_empty() {
            return;
        }
        for effect in std::mem::take(&mut self.connection.effects) {
            self.carry_out_one(effect);
        }
    }

    fn carry_out_one(&mut self, effect: Effect) {
        match effect {
            Effect::Ask { id, what, method, params } => {
                let wire = self.connection.ids.wire(id);
                let line = rpc::request(&wire, method, &params);
                if let Outgoing::Step { step, agent_id, .. } = &what {
                    self.keep_step(&wire, &Stale::new(*step, agent_id.clone()));
                }
                self.connection.requests.outgoing.insert(id, what);
                self.send_agent(line);
            }
            Effect::Abandon(id) => self.abandon(id),
            Effect::GiveUp(agent_id) => self.give_up(&agent_id),
            Effect::ToAgent(line) => self.send_agent(line),
            Effect::ToClients(line) => self.send_client(line),
            Effect::ToClientOf(request, lines) => self.send_client_of(&request, lines),
            Effect::Finish(request, result) => self.finish(&request, result),
            Effect::Release(lines) => self.handle_released(lines),
            Effect::Held { of, rest } => self.deliver_held(&of, rest),
            Effect::Show(key) => {
                if !self.connection.showing.contains(&key) {
                    self.connection.showing.push_back(key);
                }
            }
            Effect::OpenedIn(cwd) => self.connection.folders.opened(&cwd),
            Effect::Displaced(key) => {
                self.with(&key, LiveSession::displaced);
            }
            Effect::Over(key) => self.end_subagents(&key),
            Effect::PromptsAnswered(key) => self.prompts_answered(&key),
            Effect::TakeBack(requests) => self.take_back(&requests),
            Effect::Subagent { parent, update } => self.subagent_announced(&parent, &update),
            Effect::Warn(text) => self.warn(text),
            Effect::NotRecorded(error) => self.not_recorded(&error),
            Effect::NotSaved { session, reason } => self.not_saved(session, &reason),
            Effect::Deleted(ids) => {
                for id in ids {
                    self.with(&Key::Session(id), LiveSession::deleted_with_parent);
                }
            }
            Effect::DeleteAtAgent { ids, rest } => self.delete_at_agent(&ids, &rest),
            Effect::ArchiveAtAgent { session, rest } => self.tell_archived(&session, true, &rest),
            Effect::LetGo { agent_id, made } => self.let_go(&agent_id, made),
        }
    }
}
