//! The turns of a conversation.

use serde_json::json;

use super::memo::MISSING;
use super::{LastTurn, LiveSession, Phase, Said};
use crate::connection::answer::{CANCELLED, marked, result_of};
use crate::connection::client_request::ClientRequest;
use crate::connection::cx::Cx;
use crate::connection::effect::Effect;
use crate::connection::handled::Handled;
use crate::connection::params::Params;
use crate::connection::requests::{TurnMemo, Unstored};
use crate::connection::told::Untold;
use crate::connection::turn::Turn;
use crate::environment::Environment;
use crate::rpc::{self, Outcome, RpcError};
use crate::sessions::title;
use crate::storage::Storage;
use crate::transcript::{Echo, Ended, Entry, Kind, digest, digest_for};

/// The longest prompt, in bytes, that the host is given to keep where the store did not take it.
const LONGEST_KEPT: usize = 1024 * 1024;
/// How many content blocks a prompt may have: its history shows an update for each.
const MOST_BLOCKS: usize = 10_000;
/// Why nothing is stored of a session that somebody else has deleted.
const DELETED: &str = "the session was deleted elsewhere; nothing that is said in it is kept";

impl LiveSession {
    /// A prompt: recorded, and passed on, behind what the agent has not heard.
    pub(in crate::connection) fn prompt<S: Storage, E: Environment>(
        &mut self,
        line: &str,
        request: &ClientRequest,
        params: &Params<'_>,
        cx: &mut Cx<'_, S, E>,
    ) -> Result<Handled, RpcError> {
        let prompt = params.array("prompt")?.to_owned();
        match rpc::count_objects(&prompt) {
            None => return Err(RpcError::invalid_params("prompt", "must be an array of content blocks")),
            Some(blocks) if blocks > MOST_BLOCKS => {
                let message = format!("must not have more than {MOST_BLOCKS} content blocks");
                return Err(RpcError::invalid_params("prompt", message));
            }
            Some(_) => {}
        }
        self.look_for_others(cx);
        // Where it cannot be read, the prompt goes on all the same.
        let account = self.account(cx).unwrap_or_default();
        let now = cx.now();
        let message_id = cx.message_id();
        let agent_id = self.agent_id.clone();
        let tag = cx.turn_tag();
        let Phase::Open { turns, .. } = &mut self.phase else {
            let id = self.key.id().unwrap_or_default();
            let is_deleted = self.is_deleted();
            return Err(if is_deleted { RpcError::session_deleted(id) } else { RpcError::session_not_open(id) });
        };
        // What the agent says while it is at several prompts may be about any of them: they are one turn to readers.
        let tag = turns.first().map_or(tag, |first| first.tag.clone());
        self.recorder.set_turn(Some(tag.clone()));
        let with = json!([cx.agent.name, &*agent_id]);
        let entry = format!("{{\"prompt\":{prompt},\"messageId\":{message_id},\"with\":{with}}}");
        self.recorder.push(Kind::Prompt, now, &entry);
        turns.push(Turn {
            request: request.clone(),
            tag: tag.clone(),
            began: Some(now),
            cancelled: false,
            echo: Echo::of_prompt(&prompt),
            account: account.as_ref().map(|(from, _)| *from),
            title: title::from_prompt(&prompt),
            unstored: None,
            place: None,
        });
        if account.is_some() {
            self.untold = None;
        }
        self.activity.prompts += 1;
        self.activity.touched = Some(now);
        // Before the agent has it, so that nobody takes for something new what it says of it. Where it cannot be
        // written, the conversation goes on all the same.
        if self.write_if_due(cx, false) {
            let place = self.recorder.end();
            if let Some(turn) = self.turns_mut().and_then(|turns| turns.last_mut()) {
                turn.place = place;
            }
        } else {
            let entry = Some(Entry::tagged(Kind::Prompt, now, Some(&tag), &entry));
            let entry = entry.filter(|entry| entry.len() <= LONGEST_KEPT);
            let behind = self.writes;
            let turn = self.turns_mut().and_then(|turns| turns.last_mut());
            if let (Some(turn), Some(entry)) = (turn, entry) {
                turn.unstored = Some(Unstored { entry, behind });
            }
        }
        let Some((_, account)) = account else { return Ok(Handled::named(line, params.object(), &agent_id)) };
        let separator = if prompt[1..].trim_start().starts_with(']') { "" } else { "," };
        let mut params = params.object().clone();
        params.set("sessionId", json!(&*agent_id).to_string());
        params.set("prompt", format!("[{account}{separator}{}", &prompt[1..]));
        Ok(Handled::PassAs(rpc::request(request.id(), "session/prompt", &params.to_json())))
    }

    /// What the host keeps of the turn of this prompt.
    pub(in crate::connection) fn turn_memo(&self, request: &ClientRequest) -> Option<TurnMemo> {
        let Phase::Open { turns, .. } = &self.phase else { return None };
        turns.iter().find(|turn| turn.request == *request).map(Turn::memo)
    }

    /// Whether the agent has heard all that was said: neither is there something left to tell, nor on its way to it.
    fn has_heard_all(&mut self) -> bool {
        self.untold.is_none() && self.turns_mut().is_none_or(|turns| turns.iter().all(|turn| turn.account.is_none()))
    }

    /// Another window may have the conversation go on with an agent of its own, which this one does not hear of.
    fn look_for_others<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) {
        // Where it cannot be written, the prompt goes on all the same.
        self.write_if_due(cx, true);
        self.note_others(cx);
    }

    /// Notes what others have written since this was last looked for: the agent has not heard it.
    fn note_others<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) {
        match self.recorder.take_overtaken(cx.store) {
            Ok(None) => {}
            Ok(Some(behind)) => {
                self.others_ended = false;
                self.untold = Some(Untold::Entry(behind).and(self.untold));
            }
            Err(error) => cx.push(Effect::NotRecorded(error.to_string())),
        }
    }

    /// An account of what was said and this agent was not told, and from where on that is.
    fn account<S: Storage, E: Environment>(
        &mut self,
        cx: &mut Cx<'_, S, E>,
    ) -> Result<Option<(Untold, String)>, RpcError> {
        let Some(from) = self.untold.filter(|_| cx.settings.rehydrate) else { return Ok(None) };
        let Some(session) = self.key.id().map(|id| cx.store.session(id)).transpose()?.flatten() else {
            return Ok(None);
        };
        let storage = cx.store.storage();
        let account = match from {
            Untold::Entry(behind) => {
                let heard = session.length_up_to(behind);
                digest_for(storage, &session, heard, Some((&cx.agent.name, &self.agent_id)))?
            }
            Untold::Heard => digest(storage, &session, session.heard_by(&cx.agent.name, &self.agent_id))?,
        };
        if account.is_none() {
            self.untold = None;
        }
        Ok(account.map(|account| (from, account)))
    }

    /// The agent has answered a prompt.
    pub(in crate::connection) fn prompt_answered<S: Storage, E: Environment>(
        &mut self,
        line: &str,
        request: &ClientRequest,
        outcome: Outcome<'_>,
        cx: &mut Cx<'_, S, E>,
    ) -> Handled {
        let handled = self.turn_ended(line, request, outcome, cx);
        if !self.is_closing() {
            return handled;
        }
        // Whoever closes the session is answered behind what that cancels.
        let line = match handled {
            Handled::Pass => line.to_owned(),
            Handled::PassAs(line) => line,
            Handled::Done | Handled::Wait(_) => return handled,
        };
        cx.push(Effect::ToClientOf(request.clone(), line));
        self.advance_closing(cx);
        Handled::Done
    }

    fn turn_ended<S: Storage, E: Environment>(
        &mut self,
        line: &str,
        request: &ClientRequest,
        outcome: Outcome<'_>,
        cx: &mut Cx<'_, S, E>,
    ) -> Handled {
        let Some(turns) = self.turns_mut() else { return Handled::Pass };
        let turn = turns.iter().position(|turn| turn.request == *request).map(|at| turns.remove(at));
        let turn = turn.unwrap_or_else(|| Turn::taken_up(request.clone(), cx.turn_tag(), None, None));
        let has_succeeded = matches!(outcome, Outcome::Result(_));
        if matches!(outcome, Outcome::Error(error) if Ended::with_error(error) == Ended::Refused) {
            // What another window has had told since does not make the agent know of this.
            self.activity.refused = turn.place.into_iter().chain(self.activity.refused).min();
        }
        // One that the client has cancelled ends so, whatever the agent says; it need not have heard of it.
        let (entry, outcome, replaced) = match outcome {
            Outcome::Error(error) if turn.cancelled => {
                let entry = format!("{{\"stopReason\":\"cancelled\",\"error\":{error}}}");
                (entry, Outcome::Result(CANCELLED), !line.contains(CANCELLED))
            }
            Outcome::Error(error) => (format!("{{\"error\":{error}}}"), outcome, false),
            Outcome::Result(result) => {
                (result.to_owned(), outcome, turn.cancelled && result == CANCELLED && !line.contains(CANCELLED))
            }
        };
        if let Some(from) = turn.account.filter(|_| !has_succeeded) {
            self.untold = Some(from.and(self.untold));
        }
        self.note_others(cx);
        if has_succeeded {
            self.activity.last_turn = Some((turn.began.unwrap_or(cx.now()), cx.now()));
        }
        self.activity.heard |= has_succeeded && self.has_heard_all();
        self.activity.succeeded |= has_succeeded;
        let is_cut_off = turn.cancelled || !has_succeeded;
        self.end_turn(&turn, &entry, is_cut_off, cx.now());
        if let Some(reason) = self.write_end(cx) {
            // The conversation goes on; the client learns that this turn may be missing from its history.
            let Ok(result) = result_of(&outcome) else { return Handled::Pass };
            let mark = json!({ "stored": false, "reason": reason });
            self.last_turn = LastTurn::Unstored;
            return Handled::PassAs(rpc::response(request.id(), &marked(result, &mark)));
        }
        if std::mem::replace(&mut self.last_turn, LastTurn::Stored) == LastTurn::Unstored
            && let Ok(result) = result_of(&outcome)
        {
            let mark = json!({ "storedAgain": true });
            return Handled::PassAs(rpc::response(request.id(), &marked(result, &mark)));
        }
        if replaced {
            return Handled::PassAs(rpc::response(request.id(), CANCELLED));
        }
        Handled::Pass
    }

    /// Writes what was said up to the end of a turn; why not all of it is kept, if so.
    pub(super) fn write_end<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) -> Option<String> {
        let lost = match self.write(cx, true) {
            Err(error) => Some(RpcError::from(error).message),
            Ok(()) if self.is_deleted() => Some(DELETED.to_owned()),
            Ok(()) => (self.said == Said::Missing).then(|| MISSING.to_owned()),
        };
        self.forget_missing_without_turn();
        lost
    }

    /// Records the end of a turn. Where the agent is at another prompt as well, both are one turn to readers, and it goes on.
    fn end_turn(&mut self, turn: &Turn, entry: &str, is_cut_off: bool, now: i64) {
        let goes_on = self.turns_mut().is_some_and(|turns| turns.iter().any(|other| other.tag == turn.tag));
        if !goes_on {
            self.recorder.set_turn(Some(turn.tag.clone()));
            let open = std::mem::take(&mut self.calls);
            if is_cut_off {
                for update in open.failed() {
                    self.recorder.push(Kind::Update, now, &format!("{{\"update\":{update}}}"));
                }
            }
            self.recorder.push(Kind::TurnEnd, now, entry);
            let next = self.turns_mut().and_then(|turns| turns.first().map(|turn| turn.tag.clone()));
            self.recorder.set_turn(next);
        }
        self.activity.touched = Some(now);
        if turn.title.is_some() {
            self.activity.title.clone_from(&turn.title);
        }
    }

    /// Records that a turn has ended though the agent has not said so.
    pub(super) fn end_turn_with(&mut self, turn: &Turn, entry: &str, now: i64) {
        self.end_turn(turn, entry, true, now);
    }

    /// Ends every turn that cannot go on.
    fn end_turns(&mut self, why: &str, now: i64) {
        let entry = json!({ "error": { "message": why } }).to_string();
        while let Some(turn) = self.turns_mut().and_then(|turns| (!turns.is_empty()).then(|| turns.remove(0))) {
            self.end_turn_with(&turn, &entry, now);
        }
    }

    /// The client has cancelled: its turns end so, and prompts that still wait do without the agent ever seeing them.
    pub(in crate::connection) fn cancel<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) {
        for turn in self.turns_mut().into_iter().flatten() {
            turn.cancelled = true;
        }
        let (prompts, others): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.waiting).into_iter().partition(|waiting| waiting.is_prompt);
        self.waiting = others.into();
        for request in prompts.into_iter().filter_map(|prompt| prompt.request) {
            cx.finish(&request, Ok(CANCELLED.to_owned()));
        }
    }

    /// One side of the connection has ended: what was said is written.
    pub(in crate::connection) fn disconnect<S: Storage, E: Environment>(
        &mut self,
        why: &str,
        error: &RpcError,
        cx: &mut Cx<'_, S, E>,
    ) {
        self.cancel_closing(cx);
        self.end_turns(why, cx.now());
        match &self.phase {
            Phase::Opening(_) => self.fail(error.clone(), cx),
            Phase::Closing(_) => self.closed(cx),
            Phase::Open { .. } | Phase::Deleted { .. } | Phase::Gone => {}
        }
        // A failure has been reported.
        let _ = self.write(cx, true);
    }

    /// The connection is over: it is open here no more.
    pub(in crate::connection) fn leave<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) {
        self.phase = Phase::Gone;
        self.unmark_unless_open(cx);
    }
}
