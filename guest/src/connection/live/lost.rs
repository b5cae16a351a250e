//! The agent has ended and was started again, or has lost the session while it goes on: it has the session open no more, and is
//! made to open it when it is next used.

use std::sync::Arc;

use serde_json::json;
use serde_json::value::RawValue;

use super::opening::{Attached, Opening};
use super::{Busy, Folder, LiveSession, OpenRequest, Phase, Target};
use crate::connection::answer::{CANCELLED, agent_restarted, not_stored};
use crate::connection::client_request::ClientRequest;
use crate::connection::cx::Cx;
use crate::connection::effect::Effect;
use crate::environment::Environment;
use crate::rpc::{Object, RpcError};
use crate::storage::Storage;
use crate::store::{Session, State, directory};
use crate::transcript::Ended;

/// The longest params, in bytes, that are remembered of what a session was opened with. They may hold what must not be
/// stored, and stay in memory.
const LONGEST_GIVEN: usize = 256 * 1024;

/// The params of a request that opens a session, if they are not too long to be remembered.
pub(in crate::connection) fn given_to_keep(params: &str) -> Option<&str> {
    (params.len() <= LONGEST_GIVEN).then_some(params)
}

/// These params with the folders that the session's record has: since it was opened with them, it may have been moved.
pub(in crate::connection) fn given_where(session: &Session, params: &str) -> String {
    let mut given = Object::parse_or_empty(params);
    if given.get_string("cwd").is_some_and(|cwd| directory::is_other(&session.cwd, &cwd)) {
        given.set("cwd", json!(session.cwd).to_string());
    }
    let directories: Vec<String> = given
        .get_some("additionalDirectories")
        .and_then(|directories| serde_json::from_str(directories).ok())
        .unwrap_or_default();
    // A move keeps their number, unless it has brought some together; where there are others altogether, the client's are those
    // that it wants.
    let have_moved = session.agents.values().any(|known| known.overtaken.has_moved_from(&directories));
    let is_as_many = directories.len() == session.directories.len();
    let mut pairs = directories.iter().zip(&session.directories);
    if have_moved || is_as_many && pairs.any(|(given, moved)| directory::is_other(moved, given)) {
        given.set("additionalDirectories", json!(session.directories).to_string());
    }
    given.to_json()
}

impl LiveSession {
    /// The client has opened it with these params, but for its id.
    pub(in crate::connection) fn set_given(&mut self, params: Option<&str>) {
        self.given = params.and_then(given_to_keep).map(Arc::from);
    }

    /// What the client has opened it with.
    pub(in crate::connection) fn given(&self) -> Option<&Arc<str>> {
        self.given.as_ref()
    }

    /// Whether it is where its record says, wherever that has been moved since it was opened.
    pub(in crate::connection) fn follows_record(&self) -> bool {
        self.folder == Folder::OfRecord
    }

    /// It was opened so; its record may be where it was before, where the store could not be written.
    pub(super) fn note_where(&mut self, opening: &Opening, session: &Session) {
        let mut wanted = session.clone();
        opening.put_in_place(&mut wanted);
        let is_same = (&wanted.cwd, &wanted.directories) == (&session.cwd, &session.directories);
        self.folder = if is_same { Folder::OfRecord } else { Folder::Other };
    }

    /// Whether it is open, and its agent, which was started again, does not have it open yet.
    pub(in crate::connection) fn is_detached(&self) -> bool {
        self.is_open() && self.agent_id.is_empty()
    }

    /// The agent has ended, in the way that `how` tells people, and was started again. What it was at in this session has
    /// failed; what was said up to then is written.
    pub(in crate::connection) fn agent_lost<S: Storage, E: Environment>(&mut self, how: &str, cx: &mut Cx<'_, S, E>) {
        self.retold = None;
        self.end_late_replay(cx);
        self.forget_questions(cx);
        self.end_held(cx);
        match &self.phase {
            Phase::Opening(_) => self.fail(agent_restarted(how), cx),
            Phase::Closing(_) => {
                self.cancel_closing(cx);
                self.closed(cx);
                // It is open after all where what was said could not be written.
                if !self.is_open() {
                    return;
                }
            }
            Phase::Open { .. } | Phase::Deleted { .. } | Phase::Gone => {}
        }
        self.end_lost_turns(how, cx);
        self.detach(cx);
        let is_unsaved = self.is_unsaved();
        if let Phase::Open { busy, .. } = &mut self.phase
            && self.given.is_none()
            && !is_unsaved
        {
            // It cannot be opened again as it was: the client may load it.
            if let Some(request) = busy.take().as_ref().and_then(Busy::request) {
                cx.finish(request, Err(agent_restarted(how)));
            }
            self.release(cx);
            self.leave(cx);
        }
    }

    /// The agent has refused something with this error (JSON). Where it says that it does not have this session, which is open here
    /// and at nothing, it has lost it (the program in which Claude Code's adapter has it open has ended), and would say so again.
    pub(super) fn refused_by_agent<S: Storage, E: Environment>(&mut self, error: &str, cx: &mut Cx<'_, S, E>) {
        let is_idle = matches!(&self.phase, Phase::Open { turns, busy: None } if turns.is_empty());
        if is_idle && self.given.is_some() && is_of_session(error, &self.agent_id) {
            self.retold = None;
            self.take_back_all_questions(cx);
            self.forget_questions(cx);
            self.detach(cx);
        }
    }

    /// The agent has it open no more, and what it said of it is over.
    pub(super) fn detach<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) {
        self.spending.agent_ended();
        // Nobody tells anything any more that would have to be waited for.
        self.go_on_untold(cx);
        if let Some(Err(error)) = self.key.id().map(|id| self.note_let_go(id, cx)) {
            cx.push(Effect::NotRecorded(error.to_string()));
        }
        self.agent_id = "".into();
        self.stands_in_since = None;
    }

    fn end_lost_turns<S: Storage, E: Environment>(&mut self, how: &str, cx: &mut Cx<'_, S, E>) {
        let ended = self.end_turns_of_agent(&format!("the agent has ended ({how})"), cx);
        let not_kept = self.write_end(cx);
        for (request, is_cancelled) in ended {
            let result = match (&not_kept, is_cancelled) {
                (None, true) => Ok(CANCELLED.to_owned()),
                (Some(reason), true) => Ok(not_stored(CANCELLED, reason)),
                (None, false) => Err(agent_restarted(how)),
                (Some(reason), false) => Err(unstored(how, reason)),
            };
            cx.finish(&request, result);
        }
    }

    /// The requests of the turns that have ended so, and whether each had been cancelled.
    fn end_turns_of_agent<S: Storage, E: Environment>(
        &mut self,
        why: &str,
        cx: &mut Cx<'_, S, E>,
    ) -> Vec<(ClientRequest, bool)> {
        let error = json!({ "error": { "message": why } }).to_string();
        // Nobody else tells the client that they do not run any more.
        for update in self.calls.clone().failed() {
            self.notify(&update, cx);
        }
        let mut ended = Vec::new();
        while let Some(turn) = self.turns_mut().and_then(|turns| (!turns.is_empty()).then(|| turns.remove(0))) {
            if let Some(from) = turn.account {
                self.untold = Some(from.and(self.untold));
            }
            self.end_turn_with(&turn, if turn.cancelled { CANCELLED } else { &error }, cx.now());
            ended.push((turn.request, turn.cancelled));
        }
        ended
    }

    /// Has the agent open it again, as the client has it open; for a request, or because something waits for that.
    pub(in crate::connection) fn attach<S: Storage, E: Environment>(
        &mut self,
        session: Session,
        asked: OpenRequest,
        cx: &mut Cx<'_, S, E>,
    ) -> Result<(), RpcError> {
        self.read_state(cx);
        // The one that was started again may be another agent.
        self.state = std::mem::take(&mut self.state).with_agent(&cx.agent.name);
        let before = super::opening::Before::Detached { is_written: !self.recorder.is_dirty() };
        let opening = Opening::planned(&self.key, Target::Known(session), asked, &self.state, before, cx)?;
        self.agent_id = opening.asks_as().unwrap_or_default().into();
        self.phase = Phase::Opening(Box::new(opening));
        self.set_out(cx);
        Ok(())
    }

    /// The client learns what is not as it was before the agent ended, though it was to be put back.
    pub(super) fn tell_what_changed<S: Storage, E: Environment>(
        &self,
        before: &State,
        attached: &Attached,
        cx: &mut Cx<'_, S, E>,
    ) {
        let options = |state: &State| state.options.as_deref().map(RawValue::get).map(str::to_owned);
        if let Some(now) = options(&self.state).filter(|now| options(before).as_ref() != Some(now)) {
            let shown = cx.asked.options(&now);
            self.notify(&format!("{{\"sessionUpdate\":\"config_option_update\",\"configOptions\":{shown}}}"), cx);
        }
        let is_put_back = before.mode.is_some() && !attached.not_put_back.mode;
        if let Some(mode) =
            current_mode(&self.state).filter(|now| !is_put_back && current_mode(before).as_ref() != Some(now))
        {
            self.notify(&json!({ "sessionUpdate": "current_mode_update", "currentModeId": mode }).to_string(), cx);
        }
    }
}

/// Whether an error (JSON) says that there is no session by this id of the agent's. Agents say of files as well that there is none.
fn is_of_session(error: &str, agent_id: &str) -> bool {
    let says = || Object::parse_or_empty(error).get_string("message").unwrap_or_default();
    let is_it = |word: &str| word.trim_matches(['\'', '"', '`', '(', ')', '.', ',', ';', ':']) == agent_id;
    let names_it = || error.contains(&json!(agent_id).to_string()) || says().split_whitespace().any(is_it);
    Ended::with_error(error) == Ended::Refused && (names_it() || says().to_lowercase().contains("session"))
}

/// The mode that is in force.
fn current_mode(state: &State) -> Option<String> {
    state.mode.clone().or_else(|| Object::parse(state.modes.as_deref()?.get())?.get_string("currentModeId"))
}

/// How a prompt is answered that the agent was at when it ended, where not all that was said could be stored.
fn unstored(how: &str, reason: &str) -> RpcError {
    let reason = reason.trim_start_matches("Internal error: ");
    let message = format!(
        "Internal error: the agent has ended ({how}) and was started again; its sessions can be gone on with, though not all \
         that was said up to then is stored: {reason}"
    );
    RpcError { message, ..agent_restarted(how) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mode_in_force_is_known_whatever_is_said_beside() {
        for modes in [r#"{"currentModeId":"a"}"#, r#"{"availableModes":[{"_meta":1e400}],"currentModeId":"a"}"#] {
            let modes = RawValue::from_string(modes.to_owned()).ok();
            let mut state = State { modes, ..State::default() };
            assert_eq!(current_mode(&state).as_deref(), Some("a"));
            state.mode = Some("b".to_owned());
            assert_eq!(current_mode(&state).as_deref(), Some("b"));
        }
        assert_eq!(current_mode(&State::default()), None);
    }
}
