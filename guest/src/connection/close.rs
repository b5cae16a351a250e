//! `session/close`, `session/delete` and `session/archive`: what is running is cancelled, the agent lets go, and
//! only then the session is put away.

use serde_json::json;

use super::Handling;
use super::agent::DONE;
use super::awaiting::Awaiting;
use super::params::Params;
use super::prompt::CANCELLED;
use crate::engine::Engine;
use crate::environment::Environment;
use crate::rpc::{self, Code, Id, RpcError};
use crate::sessions::{archive, delete};
use crate::storage::Storage;
use crate::transcript::Kind;

/// What follows once the session is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Then {
    Nothing,
    Delete,
    Archive,
}

/// A session on its way to being closed.
#[derive(Debug)]
pub(super) struct Closing {
    requests: Vec<(Id, Then)>,
    /// The agent was asked to close it.
    asked: bool,
    /// When the agent's part is given up.
    until: i64,
}

impl Closing {
    /// Whether this request waits for it.
    pub(super) fn has(&self, request: &Id) -> bool {
        self.requests.iter().any(|(id, _)| id == request)
    }
}

impl<S: Storage, E: Environment> Engine<S, E> {
    pub(super) fn close(&mut self, id: &Id, params: &Params<'_>) -> Handling {
        let session = params.session_id()?;
        self.close_then(id, &session, Then::Nothing)
    }

    pub(super) fn delete(&mut self, id: &Id, params: &Params<'_>) -> Handling {
        let session = params.session_id()?;
        self.close_then(id, &session, Then::Delete)
    }

    pub(super) fn archive(&mut self, id: &Id, params: &Params<'_>) -> Handling {
        let session = params.session_id()?;
        self.close_then(id, &session, Then::Archive)
    }

    fn close_then(&mut self, id: &Id, session: &str, then: Then) -> Handling {
        self.expect_answer(id, Awaiting::Own)?;
        let until = self.now() + i64::from(self.settings.agent_timeout_ms);
        let Some(open) = self.connection.sessions.get_mut(session) else {
            let result = self.put_away(session, then);
            self.finish(id, result);
            return DONE;
        };
        if let Some(closing) = &mut open.closing {
            closing.requests.push((id.clone(), then));
            return DONE;
        }
        open.closing = Some(Closing { requests: vec![(id.clone(), then)], asked: false, until });
        let cancel = !open.turns.is_empty();
        for turn in &mut open.turns {
            turn.cancelled = true;
        }
        let agent_id = json!({ "sessionId": open.agent_id }).to_string();
        if open.is_busy_opening() {
            // Whoever waits for it to open learns that it will not; a session that was open before stays so.
            let error = RpcError::new(Code::RequestCancelled, "Request cancelled: the session was closed meanwhile");
            self.abandon_opening(session, &error);
            if !self.connection.sessions.contains_key(session) {
                let result = self.put_away(session, then);
                self.finish(id, result);
                return DONE;
            }
        }
        if cancel {
            self.send_agent(rpc::notification("session/cancel", &agent_id));
        }
        self.advance_closing(session);
        DONE
    }

    /// Goes on with closing as far as it can: first the turns end, then the agent closes, then the rest is ours.
    pub(super) fn advance_closing(&mut self, session: &str) {
        let can_close = self.connection.agent.close;
        let Some(open) = self.connection.sessions.get_mut(session) else { return };
        let Some(closing) = open.closing.as_mut() else { return };
        if !open.turns.is_empty() {
            return;
        }
        if can_close && !closing.asked {
            closing.asked = true;
            let params = json!({ "sessionId": open.agent_id }).to_string();
            self.ask_agent("session/close", &params, Awaiting::Close { session: session.to_owned() });
            return;
        }
        if !closing.asked || !can_close {
            self.finish_closing(session);
        }
    }

    pub(super) fn close_answered(&mut self, session: &str) -> Handling {
        self.finish_closing(session);
        DONE
    }

    fn finish_closing(&mut self, session: &str) {
        let written = self.write_session(session, true);
        let Some(open) = self.remove_open(session) else { return };
        for (id, then) in open.closing.map(|closing| closing.requests).unwrap_or_default() {
            let result = match &written {
                Err(error) if then == Then::Nothing => Err(error.clone()),
                _ => self.put_away(session, then),
            };
            self.finish(&id, result);
        }
    }

    /// What closing does to the store; the session is open no more, or never was.
    fn put_away(&mut self, session: &str, then: Then) -> Result<String, RpcError> {
        match then {
            Then::Nothing => {
                if self.store.session(session)?.is_none() {
                    return Err(RpcError::session_not_found(session));
                }
            }
            Then::Archive => {
                if !archive::set_archived(&self.store, session, true)? {
                    return Err(RpcError::session_not_found(session));
                }
            }
            Then::Delete => {
                let deleted = delete::delete(&self.store, session, self.now())?;
                let agent = &self.connection.agent;
                if let Some(deleted) = deleted.first()
                    && agent.delete
                    && (deleted.agent.is_none() || deleted.agent == agent.name)
                    && let Some(agent_id) = deleted.id_at(agent.name.as_deref().unwrap_or_default())
                {
                    let params = json!({ "sessionId": agent_id }).to_string();
                    self.ask_agent("session/delete", &params, Awaiting::Ignored);
                }
            }
        }
        Ok("{}".to_owned())
    }

    /// Ends the wait for an agent that does not let go.
    pub(super) fn closing_overdue(&mut self, now: i64) {
        let overdue = |closing: &Closing| closing.until <= now;
        let sessions = self.connection.sessions.iter();
        let overdue = sessions.filter(|(_, open)| open.closing.as_ref().is_some_and(overdue));
        for id in overdue.map(|(id, _)| id.clone()).collect::<Vec<_>>() {
            let Some(open) = self.connection.sessions.get_mut(&id) else { continue };
            for turn in std::mem::take(&mut open.turns) {
                if let Some(open) = self.connection.sessions.get_mut(&id) {
                    open.recorder.push(Kind::TurnEnd, now, CANCELLED);
                }
                self.finish(&turn.request, Ok(CANCELLED.to_owned()));
            }
            self.finish_closing(&id);
        }
    }
}
