//! What an agent says between turns while it loads a session that it has open, which is no part of the history that it tells.
//!
//! What it says before it tells anything of its user's is that, unless the conversation has begun so: histories are told from their
//! beginning. So is the end of a tool call that was still running and, where no other window is at work, what it says behind the
//! end of a history that says what the transcript has. Behind a turn that has not come to its end it is the rest of that: its
//! window may have been stopped while its agent goes on.

use super::behind_answer::NOTICE;
use super::telling::{Meanwhile, Telling, What};
use super::{Comparing, Opening, Target};
use crate::connection::cx::Cx;
use crate::connection::effect::Effect;
use crate::connection::live::{LiveSession, Phase, Update};
use crate::connection::step::Step;
use crate::environment::Environment;
use crate::rpc::Object;
use crate::sessions::{mend, open_marks};
use crate::storage::{Result, Storage};

impl Opening {
    /// Whether the agent, which has the session open, is telling its history.
    fn is_telling_while_open(&self) -> bool {
        self.was_open() && !self.is_detached() && self.is_here() && matches!(self.current, Some((_, Step::Load)))
    }

    /// Takes note of an update that comes while the agent loads the session; says whether it is no part of the history. It waits
    /// until the session is open again.
    pub(super) fn says_meanwhile<S: Storage, E: Environment>(
        &mut self,
        update: &Update<'_>,
        cx: &mut Cx<'_, S, E>,
    ) -> bool {
        if update.name == NOTICE || !self.is_telling_while_open() {
            return false;
        }
        let what = self.what_comes(update, cx).unwrap_or_else(|error| {
            cx.push(Effect::Warn(format!("what is said now could not be told from a replay: {error}")));
            self.meanwhile = Meanwhile::Unknown;
            What::History
        });
        match what {
            What::History => false,
            What::HistoryFromElsewhere => {
                let lines = self.behind_answer.take_updates();
                self.record_as_history(&lines, cx);
                false
            }
            What::HistoryGoesOn => {
                let lines = self.behind_answer.take_behind();
                self.record_as_history(&lines, cx);
                false
            }
            // Where another window is at work it may be of that one's turn, also where that has been silent for long.
            What::Behind if self.may_be_at_work_elsewhere(cx) => false,
            What::Behind => {
                self.behind_answer.push_behind(update.line);
                true
            }
            What::SaidBetweenTurns | What::Both => {
                self.behind_answer.push(update.line);
                what == What::SaidBetweenTurns
            }
        }
    }

    fn may_be_at_work_elsewhere<S: Storage, E: Environment>(&self, cx: &Cx<'_, S, E>) -> bool {
        let id = &self.target.session().id;
        open_marks::may_be_at_work_elsewhere(cx.store, id, cx.connection).unwrap_or(true)
            || mend::is_at_work_elsewhere(cx.store, id, cx.connection, cx.now()).unwrap_or(true)
    }

    fn what_comes<S: Storage, E: Environment>(&mut self, update: &Update<'_>, cx: &Cx<'_, S, E>) -> Result<What> {
        let (session, storage) = (self.target.session(), cx.store.storage());
        if matches!(self.meanwhile, Meanwhile::Unasked) {
            let mut telling = Telling::of(storage, session, &cx.agent.name)?;
            self.behind_answer.count_behind_as_updates();
            for line in self.behind_answer.updates() {
                telling.note_said_before(
                    Object::parse_or_empty(line).get_object("params").get("update").unwrap_or_default(),
                );
            }
            self.meanwhile = Meanwhile::Known(Box::new(telling));
        }
        match &mut self.meanwhile {
            Meanwhile::Known(telling) => telling.next(update, session, storage),
            Meanwhile::Unasked | Meanwhile::Unknown => Ok(What::History),
        }
    }

    /// What it has said by these lines is a part of the history that it tells: a summary of what was said before that, or what
    /// was said in it without a prompt.
    fn record_as_history<S: Storage, E: Environment>(&mut self, lines: &[String], cx: &mut Cx<'_, S, E>) {
        let Some(staging) = &mut self.staging else { return };
        for line in lines {
            let message = Object::parse_or_empty(line);
            let params = message.get_object("params");
            let Some(update) = Update::read(line, &params) else { continue };
            if let Err(error) = staging.record(&update, cx) {
                cx.push(Effect::NotRecorded(error.to_string()));
                return;
            }
        }
    }
}

impl LiveSession {
    /// What the agent has said meanwhile, and told in the history as well, is in the log before that is compared with what it has
    /// told. The rest it cannot be compared with: that is said when the session is open. Returns what shows it to the client.
    pub(super) fn keep_said_meanwhile<S: Storage, E: Environment>(
        &mut self,
        cx: &mut Cx<'_, S, E>,
    ) -> (Vec<Effect>, Result<()>) {
        let Some(opening) = self.opening_mut() else { return (Vec::new(), Ok(())) };
        if matches!(&opening.meanwhile, Meanwhile::Known(telling) if telling.is_its_own_alone()) {
            let lines = opening.behind_answer.take_updates();
            opening.record_as_history(&lines, cx);
        }
        let is_compared = opening.staging.is_some() && opening.comparing == Comparing::NowIfEver;
        let is_open = opening.was_open() && !opening.is_detached() && matches!(opening.target, Target::Known(_));
        if !is_compared || !is_open {
            return (Vec::new(), Ok(()));
        }
        let lines = match &opening.meanwhile {
            Meanwhile::Unasked => Vec::new(),
            Meanwhile::Known(telling) => opening.behind_answer.take_updates_at(|place| telling.may_have(place)),
            Meanwhile::Unknown => opening.behind_answer.take_updates(),
        };
        if lines.is_empty() {
            return (Vec::new(), Ok(()));
        }
        let before = cx.effects.len();
        let opening = std::mem::replace(&mut self.phase, Phase::Open { turns: Vec::new(), busy: None });
        self.say_after_all(&lines, cx);
        self.end_held(cx);
        let written = self.write(cx, true);
        self.phase = opening;
        let is_shown = |effect: &Effect| matches!(effect, Effect::ToClients(_));
        let (shown, rest): (Vec<Effect>, Vec<Effect>) = cx.effects.split_off(before).into_iter().partition(is_shown);
        cx.effects.extend(rest);
        (shown, written)
    }
}
