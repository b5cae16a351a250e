//! Showing a history: of a session that is being opened, or of one that is open, once more.

use serde_json::json;

use super::{Busy, LiveSession, Phase, Wanted};
use crate::connection::answer;
use crate::connection::client_request::ClientRequest;
use crate::connection::cx::Cx;
use crate::connection::effect::Effect;
use crate::connection::showing::{FIRST_PIECE, Showing};
use crate::environment::Environment;
use crate::rpc::{self, RpcError};
use crate::storage::Storage;
use crate::store::Session;

/// What people should know of a history that lacks what the store has not taken.
const UNWRITTEN: &str = "what was said last cannot be stored yet, and is not shown";

/// What a piece of a history came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::connection) enum Piece {
    /// So many bytes were sent, and there is more.
    More(usize),
    /// It is over, or waits for the agent.
    Over,
}

impl LiveSession {
    /// Shows the history of a session that is open already: it is in the log.
    pub(in crate::connection) fn show_again<S: Storage, E: Environment>(
        &mut self,
        request: &ClientRequest,
        wanted: Wanted,
        cx: &mut Cx<'_, S, E>,
    ) -> Result<(), RpcError> {
        if wanted.is_history() {
            self.write_if_possible(cx)?;
        } else {
            // A failure has been reported.
            let _ = self.write(cx, true);
        }
        let id = self.key.id().unwrap_or_default();
        let Some(session) = cx.store.session(id)? else { return Err(RpcError::session_not_found(id)) };
        wanted.check_layout(&session)?;
        self.read_state(cx);
        self.title_told = None;
        let Wanted::History { part, start, .. } = wanted else {
            let mark = live_mark(&session, None, (self.why_not_as_given(), None));
            cx.finish(request, Ok(answer::opened(&answer::as_before(&self.state), &self.state, cx.asked, &mark)));
            self.tell_title(&session, cx);
            return Ok(());
        };
        let opened = Showing::open(cx.store, &session, part, start, cx.asked)?;
        let key = self.key.clone();
        if let Phase::Open { busy, .. } = &mut self.phase {
            *busy = Some(Busy::Showing(request.clone(), Box::new(opened)));
            cx.push(Effect::Show(key));
        }
        Ok(())
    }

    fn showing_mut(&mut self) -> Option<(ClientRequest, &mut Showing)> {
        match &mut self.phase {
            Phase::Opening(opening) => opening.request.clone().zip(opening.showing.as_mut()),
            Phase::Open { busy: Some(Busy::Showing(request, showing)), .. } => Some((request.clone(), &mut **showing)),
            _ => None,
        }
    }

    /// Whether the first of a history is still to be sent.
    pub(in crate::connection) fn is_history_to_begin(&mut self) -> bool {
        self.showing_mut().is_some_and(|(_, showing)| showing.is_to_begin())
    }

    /// Sends the next piece of the history, about as much as there is room for.
    pub(in crate::connection) fn show_some<S: Storage, E: Environment>(
        &mut self,
        room: usize,
        cx: &mut Cx<'_, S, E>,
    ) -> Piece {
        if self.is_catching_up() {
            return self.show_elsewhere(room, cx);
        }
        match self.show_piece(room, cx) {
            Ok(piece) => piece,
            Err(error) => {
                match self.showing_mut().map(|(request, _)| request) {
                    Some(request) if self.is_open() => {
                        cx.finish(&request, Err(error));
                        self.end_showing();
                        self.release(cx);
                    }
                    _ => self.fail(error, cx),
                }
                Piece::Over
            }
        }
    }

    fn show_piece<S: Storage, E: Environment>(
        &mut self,
        room: usize,
        cx: &mut Cx<'_, S, E>,
    ) -> Result<Piece, RpcError> {
        let id = self.key.id().unwrap_or_default().to_owned();
        let Some((request, showing)) = self.showing_mut() else { return Ok(Piece::Over) };
        let is_first = showing.is_to_begin();
        let lines = showing.next(cx.store, &id, if is_first { room.min(FIRST_PIECE) } else { room })?;
        if let Some(lines) = lines {
            let size = lines.iter().map(|line| line.len() + 1).sum();
            cx.push(Effect::ToClientOf(request, lines));
            return Ok(Piece::More(size));
        }
        self.history_ends(cx)
    }

    /// All that was there has been sent: what came meanwhile follows, then the state, then the answer.
    fn history_ends<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) -> Result<Piece, RpcError> {
        self.write_if_possible(cx)?;
        let may_end = self.may_end_history();
        let id = self.key.id().unwrap_or_default().to_owned();
        let session = cx.store.session(&id)?;
        if session.is_none() && self.is_stored() {
            // What was shown may not be all there was.
            return Err(RpcError::session_deleted_meanwhile(&id));
        }
        let Some((_, showing)) = self.showing_mut() else { return Ok(Piece::Over) };
        if showing.extend(cx.store)? {
            return Ok(Piece::More(0));
        }
        if !may_end {
            return Ok(Piece::Over);
        }
        let cursor = showing.cursor();
        self.read_state(cx);
        let Some((request, showing)) = self.showing_mut() else { return Ok(Piece::Over) };
        if showing.take_state_due() {
            let mut updates: Vec<String> = self.state.updates.values().map(|update| update.get().to_owned()).collect();
            if let (None, Some(mode)) = (&self.state.modes, &self.state.mode) {
                updates.push(json!({ "sessionUpdate": "current_mode_update", "currentModeId": mode }).to_string());
            }
            let line = |update: &String| {
                rpc::notification(
                    "session/update",
                    &format_args!("{{\"sessionId\":{},\"update\":{update}}}", json!(id)),
                )
            };
            cx.push(Effect::ToClientOf(request.clone(), updates.iter().map(line).collect()));
        }
        if let Some(session) = session.filter(|_| self.is_open()) {
            let notice = self.is_unsaved().then_some(UNWRITTEN);
            let mark = live_mark(&session, cursor, (self.why_not_as_given(), notice));
            self.tell_title(&session, cx);
            cx.finish(&request, Ok(answer::opened(&answer::as_before(&self.state), &self.state, cx.asked, &mark)));
            let shown = self.showing_mut().and_then(|(_, showing)| Some((showing.shown()?, showing.laid_out())));
            self.end_showing();
            // What stands behind it is for the agent to hear.
            self.note_others(cx);
            if let Some((shown, laid_out)) = shown {
                self.note_shown_as(shown, &laid_out, cx);
            }
            self.release(cx);
        } else {
            self.advance(cx);
        }
        Ok(Piece::Over)
    }

    fn end_showing(&mut self) {
        if let Phase::Open { busy, .. } = &mut self.phase {
            *busy = None;
        }
    }

    /// Whether what the agent says now has to wait for its turn in the history.
    pub(super) fn hides_updates(&self) -> bool {
        matches!(&self.phase, Phase::Open { busy: Some(Busy::Showing(..)), .. })
    }
}

/// What the answer says under `_meta["acp-sessions"]` where the session was open.
fn live_mark(session: &Session, cursor: Option<String>, (reason, notice): (Option<&str>, Option<&str>)) -> String {
    let mut mark = json!({ "attached": "live" });
    if let Some(cursor) = cursor {
        mark["cursor"] = cursor.into();
    }
    if let Some(reason) = reason {
        mark["reason"] = reason.into();
    }
    if let Some(notice) = notice {
        mark["notice"] = notice.into();
    }
    if !session.aside.is_empty() {
        mark["setAside"] = session.set_aside().into();
    }
    mark.to_string()
}
