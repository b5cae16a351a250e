//! Keeping out what an agent tells of a conversation behind its answer to opening it.

use super::late_replay::Late;
use super::session_update::Update;
use super::{LiveSession, Phase};
use crate::connection::cx::Cx;
use crate::connection::effect::Effect;
use crate::connection::handled::Handled;
use crate::environment::Environment;
use crate::rpc::{self, Object};
use crate::storage::{Storage, if_possible};
use crate::transcript::UpdateKind;

impl LiveSession {
    /// Whether the agent tells by this what it had as it opened the session, which is nothing new, or may do so. An account of the
    /// layer's that it tells with that is nobody's words.
    pub(super) fn is_told_late<S: Storage, E: Environment>(
        &mut self,
        update: &Update<'_>,
        cx: &mut Cx<'_, S, E>,
    ) -> bool {
        if self.late_replay.is_over() || !self.may_tell_late() {
            return false;
        }
        if let Some(rest) = self.late_replay.end_of_message(update) {
            self.tell_late(&with_update(update, &rest), cx);
        }
        let text = if update.kind == UpdateKind::UserChunk { update.text() } else { None };
        let Some(text) = text.filter(|text| !text.is_empty()) else { return self.is_known_late(update, cx) };
        let shown = self.late_replay.without_own_words(update, &text);
        if shown == text {
            return self.is_known_late(update, cx);
        }
        if !shown.is_empty() {
            self.tell_late(&with_update(update, &update.with_text(&shown)), cx);
        }
        true
    }

    /// Whether it has answered that it has the session open, and is not asked for that again.
    fn may_tell_late(&self) -> bool {
        match &self.phase {
            Phase::Opening(opening) => opening.is_behind_answer(),
            Phase::Open { .. } | Phase::Closing(_) => true,
            Phase::Deleted { .. } | Phase::Gone => false,
        }
    }

    /// The agent tells this line, in which there is no account of the layer's.
    fn tell_late<S: Storage, E: Environment>(&mut self, line: &str, cx: &mut Cx<'_, S, E>) {
        let message = Object::parse_or_empty(line);
        let params = message.get_object("params");
        if Update::read(line, &params).is_some_and(|update| !self.is_known_late(&update, cx)) {
            self.say_after_all(&[line.to_owned()], cx);
        }
    }

    /// Whether the agent tells by this update, in which there is no account, what it had as it opened the session.
    fn is_known_late<S: Storage, E: Environment>(&mut self, update: &Update<'_>, cx: &mut Cx<'_, S, E>) -> bool {
        let is_echo = update.kind == UpdateKind::UserChunk && self.is_echo(update);
        let id = match &self.phase {
            Phase::Opening(opening) => &opening.target.session().id,
            _ => self.key.id().unwrap_or_default(),
        };
        let known = self.late_replay.next(update, id, is_echo, cx);
        if self.late_replay.takes_habit() {
            note_habit(cx);
        }
        match known {
            Ok(Late::Told | Late::Perhaps) => true,
            Ok(Late::New(before)) => {
                self.say_after_all(&before, cx);
                false
            }
            Err(error) => {
                cx.push(Effect::Warn(format!("a late replay could not be told from what is said now: {error}")));
                self.end_late_replay(cx);
                false
            }
        }
    }

    /// What may have been part of such a replay, and was not, is what the agent says now.
    pub(super) fn end_late_replay<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) {
        let held = self.late_replay.stop();
        self.say_after_all(&held, cx);
    }

    /// Ends such a replay where nothing has come for so long that nothing more will.
    pub(in crate::connection) fn late_replay_overdue<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) {
        if self.late_replay.is_overdue(cx.now()) {
            self.end_late_replay(cx);
        }
    }

    /// A turn is about to end: what may have been part of such a replay is part of the turn. The replay may go on behind it.
    pub(super) fn late_replay_answered<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) {
        let is_last = self.turns_mut().is_some_and(|turns| turns.len() <= 1);
        let held = if is_last { self.late_replay.answered() } else { self.late_replay.interrupted() };
        self.say_after_all(&held, cx);
    }

    /// The agent asks its user something, as it does in no replay: what it has said before comes first.
    pub(super) fn say_held_of_late_replay<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) {
        let held = self.late_replay.interrupted();
        self.say_after_all(&held, cx);
    }

    /// The agent has said these lines, which were held back.
    pub(super) fn say_after_all<S: Storage, E: Environment>(&mut self, lines: &[String], cx: &mut Cx<'_, S, E>) {
        for line in lines {
            let message = Object::parse_or_empty(line);
            let params = message.get_object("params");
            let Some(update) = Update::read(line, &params) else { continue };
            match self.take_in(&update, cx) {
                Handled::Pass => cx.push(Effect::ToClients(line.clone())),
                Handled::PassAs(line) => cx.push(Effect::ToClients(line)),
                Handled::Done | Handled::Wait(_) => {}
            }
        }
    }

    /// Whether it repeats the prompt that the agent is at.
    fn is_echo(&mut self, update: &Update<'_>) -> bool {
        let content = Object::parse_or_empty(update.update).get("content").map(str::to_owned).unwrap_or_default();
        self.turns_mut().into_iter().flatten().any(|turn| turn.echo.clone().repeats(&content))
    }
}

/// The agent tells all that it has of a conversation behind its answer to a load: from now on its answer is held back.
fn note_habit<S: Storage, E: Environment>(cx: &mut Cx<'_, S, E>) {
    if let Err(error) = if_possible(cx.store.note_told_behind(&cx.agent.name)) {
        cx.push(Effect::Warn(format!("how the agent tells histories could not be noted: {error}")));
    }
}

/// The notification, with another `update`.
fn with_update(update: &Update<'_>, with: &str) -> String {
    let mut params = update.params.clone();
    params.set("update", with.to_owned());
    rpc::notification("session/update", &params.to_json())
}
