//! `session/update` from the agent: recorded as history or remembered as state, and passed on.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::Handled;
use super::attach::Step;
use super::awaiting::Awaiting;
use super::client::with_session_id;
use super::open_session::OpenSession;
use crate::engine::Engine;
use crate::environment::Environment;
use crate::rpc::Object;
use crate::sessions::{create, info};
use crate::storage::{Durability, Storage};
use crate::store::{Session, State};
use crate::transcript::{Kind, UpdateKind};

/// How many updates may wait for the answer that names their session.
const MOST_EARLY: usize = 1000;

#[derive(Deserialize)]
struct Discriminator<'a> {
    #[serde(borrow, rename = "sessionUpdate")]
    kind: std::borrow::Cow<'a, str>,
}

impl<S: Storage, E: Environment> Engine<S, E> {
    pub(super) fn session_update(&mut self, line: &str, params: Option<&str>) -> Handled {
        let Some(params) = params.and_then(Object::parse) else { return Handled::Pass };
        let (Some(agent_id), Some(update)) = (params.get_string("sessionId"), params.get("update")) else {
            return Handled::Pass;
        };
        let Some(id) = self.connection.by_agent.get(&agent_id).cloned() else {
            return self.update_of_unknown(line, &agent_id);
        };
        let Ok(Discriminator { kind: name }) = serde_json::from_str::<Discriminator<'_>>(update) else {
            return with_session_id(line, &params, &id);
        };
        let kind = UpdateKind::of(&name);
        if kind == UpdateKind::UserChunk && self.repeats_what_it_was_told(&id, update) {
            return Handled::Done;
        }
        let Some(open) = self.connection.sessions.get(&id) else { return Handled::Done };
        let is_hidden = match (&open.attach, &open.replaying) {
            // What an agent says while it opens an old session is a replay of what is in the log already.
            (Some(attach), _) if kind.is_history() && !attach.adopts => return Handled::Done,
            // It comes in its turn: history from the log, state at its end.
            (_, Some(replaying)) => replaying.shows_history(),
            _ => false,
        };
        self.record_update(&id, kind, &name, update, &params);
        if is_hidden { Handled::Done } else { with_session_id(line, &params, &id) }
    }

    /// Whether an agent repeats the account of an earlier conversation that preceded the prompt.
    fn repeats_what_it_was_told(&mut self, id: &str, update: &str) -> bool {
        let update = Object::parse_or_empty(update);
        let (Some(content), Some(open)) = (update.get("content"), self.connection.sessions.get_mut(id)) else {
            return false;
        };
        open.turns.iter_mut().any(|turn| turn.told.repeats(content))
    }

    /// An update for a session that is not open: closed, not named yet, or the agent's own business.
    fn update_of_unknown(&mut self, line: &str, agent_id: &str) -> Handled {
        if self.connection.gone.contains(agent_id) {
            return Handled::Done;
        }
        if self.is_naming() && self.connection.early.len() < MOST_EARLY {
            self.connection.early.push_back(line.to_owned());
            return Handled::Done;
        }
        Handled::Pass
    }

    /// Whether the agent is making a session whose id is not known here yet.
    fn is_naming(&self) -> bool {
        self.connection.awaiting.values().any(|awaiting| {
            matches!(awaiting, Awaiting::New { .. } | Awaiting::Attach { step: Step::New | Step::Fork, .. })
        })
    }

    /// Handles the updates that came before their session had a name, once all have.
    pub(super) fn release_early(&mut self) {
        if self.connection.early.is_empty() || self.is_naming() {
            return;
        }
        for line in std::mem::take(&mut self.connection.early) {
            self.agent_line(line);
        }
    }

    fn record_update(&mut self, id: &str, kind: UpdateKind, name: &str, update: &str, params: &Object<'_>) {
        let now = self.now();
        let message_id = format!("\"msg_{:016x}\"", self.environment.random());
        let Some(open) = self.connection.sessions.get_mut(id).filter(|open| !open.deleted) else { return };
        let mut rest = params.clone();
        rest.remove("sessionId");
        match kind {
            UpdateKind::UserChunk if is_echo(open, update) => {}
            UpdateKind::UserChunk | UpdateKind::Chunk => open.recorder.push_chunk(now, update, &rest, || message_id),
            UpdateKind::Event => open.recorder.push(Kind::Update, now, &rest.to_json()),
            UpdateKind::Subagent => {
                open.recorder.push(Kind::Update, now, &rest.to_json());
                self.subagent_announced(id, update);
            }
            UpdateKind::Mode => {
                open.state.mode = Object::parse_or_empty(update).get_string("currentModeId").or(open.state.mode.take());
                open.state_dirty = true;
            }
            UpdateKind::Options => {
                if let Some(options) = Object::parse_or_empty(update).get_some("configOptions") {
                    open.state.options = raw(options);
                    open.state_dirty = true;
                }
            }
            UpdateKind::State => {
                if let Some(update) = raw(update) {
                    open.state.updates.insert(name.to_owned(), update);
                    open.state_dirty = true;
                }
            }
            UpdateKind::Info => {
                let merged = self.store.change(id).commit(|before, _, _| {
                    let Some(mut session) = before.cloned() else { return Ok(None) };
                    Ok(info::merge(&mut session, update, now).then_some(Some(session)))
                });
                if let Err(error) = merged {
                    self.recording_failed(&error);
                }
            }
        }
    }

    /// The agent started a session of its own on behalf of this one (unstable: `subagent_update`).
    fn subagent_announced(&mut self, parent: &str, update: &str) {
        let update = Object::parse_or_empty(update);
        let Some(agent_id) = update.get_string("sessionId") else { return };
        if self.connection.by_agent.contains_key(&agent_id) {
            return;
        }
        let cwd = match update.get_string("cwd") {
            Some(cwd) => Ok(cwd),
            None => self.store.session(parent).map(|session| session.map(|session| session.cwd).unwrap_or_default()),
        };
        let created = cwd.and_then(|cwd| {
            let mut session = Session::new(agent_id.clone(), cwd, self.now());
            session.parent = Some(parent.to_owned());
            session.give_to(&self.connection.agent.name.clone().unwrap_or_default(), &agent_id, u64::MAX);
            if let Some(title) = update.get_string("title") {
                session.title = crate::store::Title::Set(title);
            }
            create::create(&self.store, &self.environment, &session, Durability::Relaxed)
        });
        match created {
            // The client is told by the agent's id, so it has to be free; else the child is passed on unrecorded.
            Ok(session) if session.id == agent_id => {
                let id = session.id.clone();
                self.insert_open(&id, OpenSession::new(&session, agent_id, State::default()));
            }
            Ok(session) => {
                if let Err(error) = crate::sessions::delete::delete(&self.store, &session.id, self.now()) {
                    self.recording_failed(&error);
                }
            }
            Err(error) => self.recording_failed(&error),
        }
    }
}

/// Whether the agent only repeats the prompt.
fn is_echo(open: &mut OpenSession, update: &str) -> bool {
    let update = Object::parse_or_empty(update);
    let Some(content) = update.get("content") else { return false };
    open.turns.iter_mut().any(|turn| turn.echo.repeats(content))
}

fn raw(json: &str) -> Option<Box<RawValue>> {
    RawValue::from_string(json.to_owned()).ok()
}
