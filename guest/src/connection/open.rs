//! `session/load` and `session/resume`: the history from the log, the session from the agent, whichever way it has.

use serde_json::json;
use serde_json::value::RawValue;

use super::attach::{Attach, Attached, Owner, Step};
use super::awaiting::Awaiting;
use super::open_session::OpenSession;
use super::params::Params;
use super::replay::Replaying;
use super::{Handled, Handling};
use crate::engine::Engine;
use crate::environment::Environment;
use crate::rpc::{Id, Object, RpcError};
use crate::search;
use crate::storage::{Storage, Write};
use crate::store::{Origin, Session, State, keys};
use crate::transcript::{Position, Start};

/// What an open request is still owed.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Wanted {
    History(Start),
    NoHistory,
}

impl<S: Storage, E: Environment> Engine<S, E> {
    pub(super) fn load(&mut self, id: &Id, params: &Params<'_>) -> Handling {
        let session = params.session_id()?;
        params.cwd()?;
        params.check_mcp_servers(true)?;
        params.check_additional_directories()?;
        let start = start_wanted(params)?;
        self.open_session(id, session, params, Wanted::History(start))
    }

    pub(super) fn resume(&mut self, id: &Id, params: &Params<'_>) -> Handling {
        let session = params.session_id()?;
        params.cwd()?;
        params.check_mcp_servers(false)?;
        params.check_additional_directories()?;
        self.open_session(id, session, params, Wanted::NoHistory)
    }

    fn open_session(&mut self, id: &Id, session_id: String, params: &Params<'_>, wanted: Wanted) -> Handling {
        if let Some(open) = self.connection.sessions.get(&session_id) {
            if open.is_busy_opening() || open.closing.is_some() {
                return Ok(Handled::Hold(session_id));
            }
            if open.deleted {
                return Err(RpcError::session_not_found(&session_id));
            }
            return self.open_again(id, session_id, wanted);
        }
        let Some(session) = self.store.session(&session_id)? else {
            return self.open_unknown(id, session_id, params, &wanted);
        };
        let state = self.store.state(&session_id)?;
        let same_agent = session.agent.is_none() || session.agent == self.connection.agent.name;
        let name = self.connection.agent.name.clone().unwrap_or_default();
        let agent_id = session.id_at(&name).map(str::to_owned).filter(|_| same_agent);
        let agent = &self.connection.agent;
        let mut plan = Vec::new();
        // A session whose history is with the agent only has to be loaded once, to have it here.
        let adopts = session.origin == Origin::Agent && agent.load && wanted != Wanted::NoHistory;
        if agent.resume && !adopts {
            plan.push(Step::Resume);
        }
        if agent.load {
            plan.push(Step::Load);
        }
        if agent.resume && adopts {
            plan.push(Step::Resume);
        }
        plan.push(Step::New);
        self.expect_answer(id, Awaiting::Own)?;
        let mut attach = Attach::new(agent_id.clone(), params.without_session(), plan);
        attach.adopts = adopts;
        if !same_agent {
            attach.note(&format!("it was made with another agent, {}", session.agent.as_deref().unwrap_or("unnamed")));
        }
        let mut open = OpenSession::new(&session, agent_id.unwrap_or_default(), state);
        open.attach = Some(attach);
        let start = match wanted {
            // The agent's own replay is shown as it comes.
            Wanted::History(start) if !adopts => Some(start),
            _ => None,
        };
        let result = Replaying::open(&self.store, id, session, start);
        let replaying = match result {
            Ok(replaying) => replaying,
            Err(error) => {
                self.settle(id);
                return Err(error);
            }
        };
        open.replaying = Some(replaying);
        self.insert_open(&session_id, open);
        self.mark_soon(&session_id);
        self.attach_next(&Owner::Session(session_id.clone()));
        self.connection.replaying.push_back(session_id);
        Ok(Handled::Done)
    }

    /// A session that is open here already: the agent has it, the history is in the log.
    fn open_again(&mut self, id: &Id, session_id: String, wanted: Wanted) -> Handling {
        self.write_session(&session_id, true)?;
        let Some(session) = self.store.session(&session_id)? else {
            return Err(RpcError::session_not_found(&session_id));
        };
        let start = match wanted {
            Wanted::History(start) => Some(start),
            Wanted::NoHistory => None,
        };
        let replaying = Replaying::open(&self.store, id, session, start)?;
        self.expect_answer(id, Awaiting::Own)?;
        if let Some(open) = self.connection.sessions.get_mut(&session_id) {
            open.replaying = Some(replaying);
        }
        self.connection.replaying.push_back(session_id);
        Ok(Handled::Done)
    }

    /// A session the layer has never seen: the agent may have it from before the layer came between.
    fn open_unknown(&mut self, id: &Id, session_id: String, params: &Params<'_>, wanted: &Wanted) -> Handling {
        let agent = &self.connection.agent;
        let may_know = agent.load || agent.resume;
        if !may_know || self.store.is_deleted(&session_id)? || self.is_agent_deleted(&session_id)? {
            return Err(RpcError::session_not_found(&session_id));
        }
        let step =
            if agent.load && (*wanted != Wanted::NoHistory || !agent.resume) { Step::Load } else { Step::Resume };
        self.expect_answer(id, Awaiting::Own)?;
        let mut session = Session::new(session_id.clone(), params.cwd()?, self.now());
        session.agent.clone_from(&self.connection.agent.name);
        let name = session.agent.clone().unwrap_or_default();
        session.give_to(&name, &session_id, u64::MAX);
        session.origin = Origin::Agent;
        let mut attach = Attach::new(Some(session_id.clone()), params.without_session(), [step]);
        attach.adopts = step == Step::Load && *wanted != Wanted::NoHistory;
        let mut open = OpenSession::new(&session, session_id.clone(), State::default());
        open.attach = Some(attach);
        open.replaying = Some(Replaying::unknown(id, session));
        self.insert_open(&session_id, open);
        self.attach_next(&Owner::Session(session_id));
        Ok(Handled::Done)
    }

    fn is_agent_deleted(&self, agent_id: &str) -> Result<bool, RpcError> {
        let Some(agent) = &self.connection.agent.name else { return Ok(false) };
        Ok(self.store.record(keys::agent_tombstone(agent, agent_id))?.is_some())
    }

    /// Answers, once the agent has the session open and the history is out.
    pub(super) fn try_finish_opening(&mut self, session_id: &str) {
        let Some(open) = self.connection.sessions.get_mut(session_id) else { return };
        if open.attach.as_ref().is_some_and(|attach| !attach.is_done()) {
            return;
        }
        let failed = open.attach.as_mut().and_then(|attach| match &mut attach.outcome {
            Some(Err(error)) => Some(error.clone()),
            _ => None,
        });
        if let Some(error) = failed {
            self.abandon_opening(session_id, &error);
            return;
        }
        let Some(replaying) = open.replaying.as_ref() else { return };
        if replaying.is_unfinished() {
            // New to the layer or not: what is left to show is shown by `pull`, which comes back here.
            if !self.connection.replaying.iter().any(|replaying| replaying == session_id) {
                self.connection.replaying.push_back(session_id.to_owned());
            }
            return;
        }
        let Some(replaying) = open.replaying.take() else { return };
        let attach = open.attach.take();
        let result = self.opened(session_id, &replaying, attach);
        self.finish(&replaying.request, result);
        if self.connection.sessions.contains_key(session_id) {
            self.release_held(session_id);
        }
    }

    /// The answer, and the record of how the session was opened.
    fn opened(&mut self, session_id: &str, replaying: &Replaying, attach: Option<Attach>) -> Result<String, RpcError> {
        let reason = attach.as_ref().and_then(Attach::reason).map(str::to_owned);
        let adopts = attach.as_ref().is_some_and(|attach| attach.adopts);
        let attached = attach.and_then(|attach| attach.outcome).and_then(Result::ok);
        let Some(open) = self.connection.sessions.get_mut(session_id) else {
            return Err(RpcError::session_not_found(session_id));
        };
        let mut mark = json!({ "attached": attached.as_ref().map_or("live", |attached| attached.step.name()) });
        if let Some(attached) = &attached {
            if attached.mode_refused {
                open.state.mode = None;
            }
            if attached.step == Step::New && replaying.has_past() {
                open.rehydrate = self.settings.rehydrate;
                mark["rehydrate"] = open.rehydrate.into();
                if !open.rehydrate {
                    mark["notice"] = "the agent starts afresh and does not know this history".into();
                }
            }
            if let Some(reason) = reason {
                mark["reason"] = reason.into();
            }
        }
        if let Some(cursor) = replaying.cursor() {
            mark["cursor"] = cursor.into();
        }
        let answer = attached.as_ref().map_or("{}", |attached| attached.answer.as_str());
        let result = opened_result(answer, &open.state, &mark);
        let agent_id = open.agent_id.clone();
        self.keep_open(session_id);
        self.mark_now(session_id);
        if let Some(attached) = &attached {
            self.note_attached(session_id, replaying, attached, &agent_id, adopts)?;
        }
        self.write_session(session_id, false)?;
        Ok(result)
    }

    /// Stores what changed by opening: the agent's new id, or a history that is now here.
    fn note_attached(
        &mut self,
        session_id: &str,
        replaying: &Replaying,
        attached: &Attached,
        agent_id: &str,
        adopts: bool,
    ) -> Result<(), RpcError> {
        let agent = self.connection.agent.name.clone();
        let unknown = replaying.is_unknown.then(|| replaying.session.clone());
        self.store.change(session_id).commit(|before, _, writes| {
            let Some(session) = before.or(unknown.as_ref()) else { return Ok(None) };
            let mut changed = session.clone();
            if adopts && attached.step == Step::Load {
                changed.origin = Origin::Layer;
            }
            changed.give_to(agent.as_deref().unwrap_or_default(), agent_id, u64::MAX);
            let same = before.is_some() && changed.origin == session.origin && changed.agent == session.agent;
            if same && changed.agents == session.agents {
                return Ok(None);
            }
            if let (Some(agent), true) = (&agent, changed.agents != session.agents || before.is_none()) {
                let key = keys::agent_session(agent, agent_id);
                writes.push(Write::Put { key, value: session_id.to_owned() });
            }
            Ok(Some(Some(changed)))
        })?;
        Ok(())
    }

    /// The session could not be opened: the request fails, what waited for it is handled without it.
    pub(super) fn abandon_opening(&mut self, session_id: &str, error: &RpcError) {
        let Some(open) = self.connection.sessions.get_mut(session_id) else { return };
        let held = std::mem::take(&mut open.held);
        let replaying = open.replaying.take();
        let was_attached = open.attach.is_none();
        if let Some(replaying) = replaying {
            let error = if replaying.is_unknown && error.code != -32000 {
                open.recorder.discard();
                RpcError::session_not_found(session_id)
            } else {
                error.clone()
            };
            self.finish(&replaying.request, Err(error));
            if replaying.is_unknown {
                let cut = Write::CutLog { log: session_id.to_owned(), from: 1 };
                let drop = Write::DropText { owner: search::Owner::Log(session_id).name(), from: 0 };
                if let Err(error) = self.store.commit(&[], vec![cut, drop], crate::storage::Durability::Relaxed) {
                    self.recording_failed(&error);
                }
            }
        }
        self.connection.replaying.retain(|replaying| replaying != session_id);
        if !was_attached {
            self.remove_open(session_id);
        }
        self.handle_held(held);
    }
}

/// `_meta["acp-sessions"].replay` of a load: `{"last": N}` or `{"after": CURSOR}`.
fn start_wanted(params: &Params<'_>) -> Result<Start, RpcError> {
    const FIELD: &str = "_meta.acp-sessions.replay";
    let Some(replay) = params.own_meta("replay") else { return Ok(Start::Beginning) };
    if let Some(last) = replay.get("last") {
        let last = last.as_u64().ok_or_else(|| RpcError::invalid_params(FIELD, "takes a number for `last`"))?;
        return Ok(Start::Last(last));
    }
    if let Some(after) = replay.get("after") {
        let place = after.as_str().and_then(Position::from_cursor);
        let (_, position) =
            place.ok_or_else(|| RpcError::invalid_params(FIELD, "takes a cursor it gave for `after`"))?;
        return Ok(Start::At(position));
    }
    Err(RpcError::invalid_params(FIELD, "takes `last` or `after`"))
}

/// The answer to load, resume and fork: the agent's, with the modes and options that are in force.
pub(super) fn opened_result(answer: &str, state: &State, mark: &serde_json::Value) -> String {
    let mut result = Object::parse_or_empty(answer);
    result.remove("sessionId");
    let modes = state.modes.as_deref().map(RawValue::get).and_then(Object::parse).map(|mut modes| {
        if let Some(mode) = &state.mode {
            modes.set("currentModeId", json!(mode).to_string());
        }
        modes.to_json()
    });
    if let Some(modes) = modes {
        result.set("modes", modes);
    }
    if let Some(options) = &state.options {
        result.set("configOptions", options.get());
    }
    let mut meta = Object::parse_or_empty(result.get_some("_meta").unwrap_or("{}"));
    let mark = mark.to_string();
    meta.set("acp-sessions", mark);
    let meta = meta.to_json();
    result.set("_meta", meta);
    result.to_json()
}
