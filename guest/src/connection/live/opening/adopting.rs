//! Taking over what the agent tells of a session while it opens it.

use super::behind_answer::{NOTICE, OVERFLOWED};
use super::mixed::Mixed;
use super::{Comparing, Opening, Others, Target, Wanted};
use crate::connection::cx::Cx;
use crate::connection::effect::Effect;
use crate::connection::live::staging::{Comparison, NotAdopted, Recorded, Staging, TakenOver};
use crate::connection::live::{LiveSession, Phase, Update};
use crate::connection::showing::Showing;
use crate::connection::step::Step;
use crate::environment::Environment;
use crate::rpc::{Code, RpcError};
use crate::sessions::mend;
use crate::storage::{Storage, StorageError};
use crate::transcript::{Start, UpdateKind};

/// Why a history that only its agent has is not taken over.
const DROPPED: &str = "Internal error: while the agent told the history of this session, another process took this one for \
                       gone, and dropped what had been told: load it again";

impl Opening {
    /// What it says to its user while it opens the session waits until that is open. Among what it tells of the history it may be
    /// a part of that, which the transcript has by then; where the history is shown as it is told it is shown.
    fn notice_told(&mut self, update: &Update<'_>) {
        let is_compared = self.staging.is_some() && matches!(self.current, Some((_, Step::Load)));
        if is_compared && !self.shows_telling {
            self.behind_answer.push_notice(update.line);
        } else if !is_compared && !self.has_told && self.staging.is_none() {
            self.behind_answer.push(update.line);
        }
    }

    /// What it says before it has resumed a session is new: it waits until that is open. One that begins with what its user has said
    /// replays the history, which is here; so it may behind its answer to an earlier request (`may_be_late`).
    fn hold_if_between_turns(&mut self, update: &Update<'_>, may_be_late: bool) {
        let is_new = self.is_otherwise() || !may_be_late;
        if is_new && self.is_resumed() && !self.has_told && update.name != NOTICE {
            self.behind_answer.push(update.line);
        }
    }

    fn is_resumed(&self) -> bool {
        matches!(self.current, Some((_, Step::Resume)))
    }

    /// It tells what its user has said. Where it replays the history of a session that was not open, so is what it told before that.
    fn note_users_words(&mut self) {
        if !self.has_told && self.is_resumed() && !self.is_otherwise() {
            self.behind_answer.take_updates();
        }
        self.has_told = true;
    }

    /// Whether it goes on without what the agent tells, which the store does not take: there is a history here, and that is shown.
    fn goes_on_unstaged(&self, error: &StorageError) -> bool {
        error.is_not_to_write() && self.is_here() && !self.shows_telling
    }

    /// What the agent has told is a part of the history, as far as it is new.
    fn adopt(&mut self, adopted: TakenOver) {
        self.heard = adopted.heard;
        self.turns_told = adopted.turns_told;
        self.target = Target::Known(adopted.session);
        if adopted.is_put_off {
            self.comparing = Comparing::PutOff;
        }
        if let Some(attached) = &mut self.attached {
            attached.adopted = !adopted.is_put_off;
        }
    }

    /// Of a fork of what is not known here, nothing is here but what is told of it as it is made.
    fn expect_telling<S: Storage, E: Environment>(&mut self, update: &Update<'_>, cx: &mut Cx<'_, S, E>) {
        if self.staging.is_some() || !matches!(self.target, Target::ForkOfUnknown(_)) {
            return;
        }
        let agent_id = update.params.get_string("sessionId").unwrap_or_default();
        match Staging::begin(self.target.session(), &agent_id, cx) {
            Ok(staging) => self.staging = Some(staging),
            Err(error) => cx.push(Effect::NotRecorded(error.to_string())),
        }
    }
}

impl LiveSession {
    /// History that the agent tells while it opens the session; what of it the client is to see now, if anything.
    pub(in crate::connection::live) fn told<S: Storage, E: Environment>(
        &mut self,
        update: &Update<'_>,
        cx: &mut Cx<'_, S, E>,
    ) -> Option<Recorded> {
        if self.waits_for_opened(update, cx) {
            return None;
        }
        let is_told_in_vain = cx.requests.is_told_in_vain(&self.agent_id);
        let is_for_earlier = is_told_in_vain || cx.requests.is_told_behind_answer_in_vain(&self.agent_id, cx.now());
        // Where it tells that behind its answer to an earlier request, it may do so for this one as well.
        let is_told_late = is_for_earlier || !self.late_replay.is_over();
        let is_in_earlier = is_for_earlier || self.late_replay.may_go_on(cx.now());
        let opening = self.opening_mut()?;
        if update.kind == UpdateKind::UserChunk && !is_told_late {
            opening.note_users_words();
        }
        opening.expect_telling(update, cx);
        if update.name == NOTICE && !is_told_in_vain {
            opening.notice_told(update);
        }
        if !is_in_earlier && opening.says_meanwhile(update, cx) {
            return None;
        }
        if update.is_of_settings() && matches!(opening.current, Some((_, Step::Load | Step::Resume))) {
            if opening.shows_telling {
                return Some(Recorded { before: Vec::new(), update: Some(update.update.to_owned()) });
            }
            opening.behind_answer.push(update.line);
            return None;
        }
        // What it says while it goes on by other ways, or begins a fork of what is known, is in the log already.
        let (Some(staging), Some((_, Step::Load | Step::Fork))) = (&mut opening.staging, &opening.current) else {
            opening.hold_if_between_turns(update, is_told_late);
            return None;
        };
        match staging.record(update, cx) {
            Ok(recorded) => opening.shows_telling.then_some(recorded),
            Err(error) => {
                self.not_staged(error, cx);
                None
            }
        }
    }

    /// Whether this is said behind the answer: it waits then until the session is open.
    fn waits_for_opened<S: Storage, E: Environment>(&mut self, update: &Update<'_>, cx: &mut Cx<'_, S, E>) -> bool {
        if cx.requests.is_told_in_vain(&self.agent_id) {
            return false;
        }
        let Some(opening) = self.opening_mut().filter(|opening| opening.is_behind_answer()) else { return false };
        if opening.says_mode_is_back(update) {
            return true;
        }
        if opening.behind_answer.push_behind(update.line) {
            cx.push(Effect::NotRecorded(OVERFLOWED.to_owned()));
        }
        true
    }

    /// What the agent has told so far was the answer to a request that nobody waits for any more.
    pub(super) fn tell_anew<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) {
        let Some(opening) = self.opening_mut() else { return };
        let Some(staging) = opening.staging.take() else { return };
        match staging.begin_again(opening.target.session(), cx) {
            Ok(staging) => opening.staging = Some(staging),
            Err(error) => self.not_staged(error, cx),
        }
    }

    /// What the agent tells cannot be kept.
    fn not_staged<S: Storage, E: Environment>(&mut self, error: StorageError, cx: &mut Cx<'_, S, E>) {
        let Some(opening) = self.opening_mut() else { return };
        if opening.goes_on_unstaged(&error) {
            // The log is what there is.
            opening.comparing = Comparing::PutOff;
        } else if opening.comparing != Comparing::Overheard {
            return self.fail(error.into(), cx);
        }
        // It is told more than it needs.
        if let Some(staging) = opening.staging.take() {
            staging.discard(cx);
        }
    }

    /// The agent has told all it has of a session that another window is at work in: it need not be told that again, but what
    /// it had not when it was asked. The client is shown what is in the log.
    fn overhear<S: Storage, E: Environment>(&mut self, staging: Staging, cx: &mut Cx<'_, S, E>) {
        let agent_id = self.agent_id.clone();
        let Some(opening) = self.opening_mut() else { return };
        match staging.overhear(opening.target.session(), opening.heard, &agent_id, cx) {
            Ok(Some((overheard, turns))) => {
                opening.heard = overheard.heard;
                opening.turns_told = turns;
                opening.overheard = Some(overheard);
            }
            Ok(None) => {}
            // It is told more than it needs.
            Err(error) => cx.push(Effect::NotRecorded(error.to_string())),
        }
    }

    /// The agent has told all it has: what is new of it becomes part of the history, and the history can be shown. What it has said
    /// beside it the client is shown, unless that is a part of the history by then.
    pub(super) fn take_over<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) -> Result<(), RpcError> {
        let (shown, kept) = self.keep_said_meanwhile(cx);
        let taken_over = kept.map_err(RpcError::from).and_then(|()| self.take_over_history(cx));
        let is_in_history = self.opening().is_some_and(|opening| opening.wanted.is_conversation());
        if taken_over.is_err() || !is_in_history {
            cx.effects.extend(shown);
        }
        taken_over
    }

    fn take_over_history<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) -> Result<(), RpcError> {
        let key = self.key.clone();
        let agent_id = self.agent_id.clone();
        let Phase::Opening(opening) = &mut self.phase else { return Ok(()) };
        if opening.target.is_fork() {
            // What was told of one is taken over as it is stored.
            return Ok(());
        }
        // As long as an earlier load is not answered either, what was told may be all of it twice.
        let is_told_twice = cx.requests.is_told_in_vain(&agent_id);
        let is_cut = opening.staging.as_mut().map_or(Ok(false), |told| told.is_cut(cx))?;
        let is_here = opening.is_here();
        if let Some(staging) = opening.staging.take_if(|_| is_cut && !is_here) {
            staging.discard(cx);
            return Err(RpcError::new(Code::InternalError, DROPPED));
        }
        if opening.staging.as_ref().is_some_and(|told| is_cut || is_told_twice || told.lacks_beginning()) {
            opening.found_mixed(!is_told_twice || cx.requests.is_worth_waiting(&agent_id));
            if let Some(staging) = opening.staging.take_if(|_| is_here) {
                staging.discard(cx);
            }
            if opening.mixed == Mixed::Found {
                return Ok(());
            }
        }
        if let Some(staging) = opening.staging.take_if(|_| opening.comparing == Comparing::Overheard) {
            self.overhear(staging, cx);
        }
        let Phase::Opening(opening) = &mut self.phase else { return Ok(()) };
        // What another window has not written yet of its turn would be in the history twice when it has. What the record says by
        // now was heard is what that window's program has heard.
        if let (Some(id), Some(_)) = (key.id(), &opening.staging)
            && let Some(session) = mend::under_way_elsewhere(cx.store, id, cx.connection, cx.now())?
            && let Some(staging) = opening.staging.take()
        {
            opening.heard = opening.heard_in(&session);
            opening.target = Target::Known(session);
            opening.comparing = Comparing::PutOff;
            self.overhear(staging, cx);
        }
        let Phase::Opening(opening) = &mut self.phase else { return Ok(()) };
        if let Some(staging) = opening.staging.take() {
            let may_wait = opening.others == Others::Unawaited && !opening.shows_telling;
            match staging.adopt(&opening.target, opening.heard, &agent_id, may_wait, cx) {
                Ok(Comparison::Made(adopted)) => {
                    if let (true, Some(id), Some(rest)) = (opening.shows_telling, key.id(), &adopted.rest) {
                        cx.notify(id, rest);
                    }
                    opening.adopt(*adopted);
                }
                Ok(Comparison::TooEarly(staging)) => {
                    opening.staging = Some(*staging);
                    opening.others = Others::AwaitedSince(cx.now());
                    return Ok(());
                }
                // What is left of it is removed by whoever finds it. The log is what there is.
                Err(NotAdopted::Storage(error)) if opening.goes_on_unstaged(&error) => {
                    opening.comparing = Comparing::PutOff;
                }
                Err(error) => return Err(error.into()),
            }
        }
        if opening.showing.is_some() || opening.shows_telling {
            return Ok(());
        }
        if let (Wanted::History { part, start, .. }, Target::Known(session)) = (&opening.wanted, &opening.target) {
            // A place in a history that has been put in order meanwhile means another one by now.
            let start = if opening.wanted.check_layout(session).is_ok() { start.clone() } else { Start::Beginning };
            opening.showing = Some(Showing::open(cx.store, session, *part, start, cx.asked)?);
            cx.push(Effect::Show(key));
        }
        Ok(())
    }
}
