//! The end of turns: with the agent's answer, or because one side has gone.

use serde_json::json;

use super::memo::MISSING;
use super::{Completeness, LastTurn, LiveSession, Phase};
use crate::connection::answer::{CANCELLED, END_TURN, marked, not_stored, not_stored_error, result_of};
use crate::connection::client_request::ClientRequest;
use crate::connection::cx::Cx;
use crate::connection::effect::Effect;
use crate::connection::handled::Handled;
use crate::connection::requests::TurnMemo;
use crate::connection::turn::Turn;
use crate::environment::Environment;
use crate::rpc::{self, Outcome, RpcError};
use crate::storage::Storage;
use crate::transcript::{Ended, Kind, OpenCalls};

/// Why nothing is stored of a session that somebody else has deleted.
pub(super) const DELETED_ELSEWHERE: &str = "the session was deleted elsewhere; nothing that is said in it is kept";

impl LiveSession {
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
            if let Outcome::Error(error) = outcome {
                self.refused_by_agent(error, cx);
            }
            // It comes behind the answer.
            self.catch_up(cx);
            return handled;
        }
        // Whoever closes the session is answered behind what that cancels.
        let line = match handled {
            Handled::Pass => line.to_owned(),
            Handled::PassAs(line) => line,
            Handled::Done | Handled::Wait(_) => return handled,
        };
        cx.push(Effect::ToClientOf(request.clone(), vec![line]));
        // An agent may end only the prompt that it is at, and take up the next.
        if !self.is_without_turn() {
            self.cancel_at_agent(cx);
        }
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
        self.late_replay_answered(cx);
        self.end_held(cx);
        let Some(turns) = self.turns_mut() else { return Handled::Pass };
        let turn = turns.iter().position(|turn| turn.request == *request).map(|at| turns.remove(at));
        let turn = turn.unwrap_or_else(|| {
            let memo = TurnMemo { tag: self.turn_tag(cx), ..TurnMemo::default() };
            Turn::taken_up(request.clone(), memo, None)
        });
        let has_succeeded = matches!(outcome, Outcome::Result(_));
        let is_refused = matches!(outcome, Outcome::Error(error) if Ended::with_error(error) == Ended::Refused);
        if is_refused && !turn.is_heard {
            // What another window has had told since does not make the agent know of this.
            self.activity.refused = turn.place.into_iter().chain(self.activity.refused).min();
        }
        // One that the client has cancelled ends so, whatever the agent says; it need not have heard of it.
        let (entry, outcome, replaced) = match outcome {
            Outcome::Error(error) if turn.cancelled => {
                let entry = format!("{{\"stopReason\":\"cancelled\",\"error\":{error}}}");
                (entry, Outcome::Result(CANCELLED), !line.contains(CANCELLED))
            }
            // To readers the prompts are one turn, which is in the agent's session.
            Outcome::Error(_) if is_refused && turn.is_heard => (END_TURN.to_owned(), outcome, false),
            Outcome::Error(error) => (format!("{{\"error\":{error}}}"), outcome, false),
            Outcome::Result(result) => {
                self.spending.answered(result);
                (result.to_owned(), outcome, turn.cancelled && result == CANCELLED && !line.contains(CANCELLED))
            }
        };
        // Agents may take a prompt that was cancelled out of their histories, and what they were told with it: they are told twice
        // rather than never.
        let is_kept = has_succeeded && Ended::with_reason(&entry) != Ended::Cancelled;
        if let Some(from) = turn.account.filter(|_| !is_kept) {
            self.untold = Some(from.and(self.untold));
        }
        if has_succeeded {
            self.hears_others_of(&turn);
            let (began, ended) = (turn.began.unwrap_or(cx.now()), cx.now());
            self.copy = self.copy.behind_turn(ended);
            self.activity.last_turn = Some((began, ended));
        }
        self.activity.heard = self.heard().filter(|_| has_succeeded).or(self.activity.heard);
        self.activity.succeeded |= has_succeeded;
        let is_cut_off = turn.cancelled || !has_succeeded;
        self.look_back_at_cost(cx);
        self.end_turn(&turn, &entry, is_cut_off, cx.now());
        if let Some(reason) = self.write_end(cx) {
            // The conversation goes on; the client learns that this turn may be missing from its history.
            self.last_turn = LastTurn::Unstored;
            return Handled::PassAs(match outcome {
                Outcome::Result(result) => rpc::response(request.id(), &not_stored(result, &reason)),
                Outcome::Error(error) => rpc::splice(line, error, &not_stored_error(error, &reason)),
            });
        }
        // An error has no place for that.
        if let Ok(result) = result_of(&outcome)
            && std::mem::replace(&mut self.last_turn, LastTurn::Stored) == LastTurn::Unstored
        {
            let mark = json!({ "storedAgain": true }).to_string();
            return Handled::PassAs(rpc::response(request.id(), &marked(result, &mark)));
        }
        if replaced {
            return Handled::PassAs(rpc::response(request.id(), CANCELLED));
        }
        Handled::Pass
    }

    /// The agent has answered one of several prompts that are one turn: what it says to the others of having no such session
    /// is not so.
    fn hears_others_of(&mut self, turn: &Turn) {
        let others = self.turns_mut().into_iter().flatten();
        others.filter(|other| other.tag == turn.tag).for_each(|other| other.is_heard = true);
    }

    /// Writes what was said up to the end of a turn; why not all of it is kept, if so.
    pub(super) fn write_end<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) -> Option<String> {
        let lost = match self.write(cx, true) {
            Err(error) => Some(RpcError::from(error).message),
            Ok(()) if self.is_deleted_elsewhere() => Some(DELETED_ELSEWHERE.to_owned()),
            Ok(()) => (self.said == Completeness::Missing).then(|| MISSING.to_owned()),
        };
        self.forget_missing_without_turn();
        // The write has found what others have written meanwhile.
        let behind = self.recorder.take_found();
        self.note_overtaken(behind);
        lost
    }

    /// Records the end of a turn. Where the agent is at another prompt as well, both are one turn to readers, and it goes on.
    fn end_turn(&mut self, turn: &Turn, entry: &str, is_cut_off: bool, now: i64) {
        let goes_on = self.turns_mut().is_some_and(|turns| turns.iter().any(|other| other.tag == turn.tag));
        let is_first = self.turns_mut().is_some_and(|turns| turns.iter().all(|other| other.order > turn.order));
        let is_cancelled = Ended::with_reason(entry) == Ended::Cancelled;
        if !goes_on {
            self.recorder.set_turn(Some(turn.tag.clone()));
            let open = std::mem::take(&mut self.calls);
            self.questions_without_turn(!is_cut_off && !is_cancelled);
            let ends = if is_cut_off { self.fail_calls(&open) } else { self.told_calls.end_with_turn(!is_cancelled) };
            self.told_calls.another_turn();
            self.record_ends(ends, now);
            let entry = self.spending.end_turn(entry);
            self.recorder.push(Kind::TurnEnd, now, &entry);
            self.activity.turn_ended = Some((now, self.state.current_model()));
            let next = self.turns_mut().and_then(|turns| turns.first().map(|turn| turn.tag.clone()));
            self.recorder.set_turn(next);
        } else if is_cut_off && !is_cancelled && is_first {
            // The agent is at the next prompt, and ends nothing any more that it had begun for this one.
            self.recorder.set_turn(Some(turn.tag.clone()));
            let open = std::mem::take(&mut self.calls);
            let ends = self.fail_calls(&open);
            self.record_ends(ends, now);
        }
        self.activity.touched = Some(now);
        self.activity.title = self.title_of_first(turn.title.clone(), turn.order);
    }

    /// These updates say how calls have ended.
    fn record_ends(&mut self, ends: Vec<String>, now: i64) {
        for update in ends {
            self.recorder.push(Kind::Update, now, &format!("{{\"update\":{update}}}"));
        }
    }

    /// These calls have failed, as their turn was cut off. The updates that say so.
    fn fail_calls(&mut self, open: &OpenCalls) -> Vec<String> {
        let ends = open.failed();
        for update in &ends {
            self.told_calls.told(update);
        }
        ends
    }

    /// What the session is to be called, should it need a title, after a prompt of this title and order: as the first that was
    /// said in it, which may not have ended yet.
    pub(super) fn title_of_first(&mut self, title: Option<String>, order: u32) -> Option<String> {
        let unwritten = self.activity.title.clone();
        let mut earlier = self.turns_mut().into_iter().flatten().filter(|turn| turn.order < order);
        unwritten.or_else(|| earlier.find_map(|turn| turn.title.clone())).or(title)
    }

    /// Calls the session after the first prompt while the last one that came is under way: a process that is killed does not
    /// see it end.
    pub(super) fn call_after_first(&mut self) {
        let last = self.turns_mut().and_then(|turns| turns.last()).map(|turn| (turn.title.clone(), turn.order));
        if let Some((title, order)) = last {
            self.activity.title = self.title_of_first(title, order);
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

    /// One side of the connection has ended: what was said is written.
    pub(in crate::connection) fn disconnect<S: Storage, E: Environment>(
        &mut self,
        why: &str,
        error: &RpcError,
        cx: &mut Cx<'_, S, E>,
    ) {
        self.cancel_closing(cx);
        self.forget_questions(cx);
        self.end_late_replay(cx);
        self.end_held(cx);
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
