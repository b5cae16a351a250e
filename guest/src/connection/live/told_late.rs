//! Keeping out what an agent tells of a conversation behind its answer to opening it.

use super::late_replay::{Late, LateReplay};
use super::session_update::Update;
use super::{LiveSession, Phase};
use crate::connection::cx::Cx;
use crate::connection::effect::Effect;
use crate::connection::handled::Handled;
use crate::environment::Environment;
use crate::rpc::Object;
use crate::storage::Storage;
use crate::transcript::UpdateKind;

impl LiveSession {
    /// Whether the agent tells by this what it had as it opened the session, which is nothing new, or may do so.
    pub(super) fn is_told_late<S: Storage, E: Environment>(
        &mut self,
        update: &Update<'_>,
        cx: &mut Cx<'_, S, E>,
    ) -> bool {
        if matches!(self.late_replay, LateReplay::Over) {
            return false;
        }
        let id = match &self.phase {
            Phase::Opening(opening) if opening.is_behind_answer() => Some(opening.target.session().id.clone()),
            Phase::Open { .. } | Phase::Closing(_) => self.key.id().map(str::to_owned),
            Phase::Opening(_) | Phase::Deleted { .. } | Phase::Gone => None,
        };
        let Some(id) = id else { return false };
        if update.kind == UpdateKind::UserChunk && self.is_echo(update) {
            // It is at the prompt by now.
            self.end_late_replay(cx);
            return false;
        }
        match self.late_replay.next(update, &id, cx) {
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

    /// What may have been the beginning of such a replay, and was not, is what the agent says now.
    pub(super) fn end_late_replay<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) {
        let held = self.late_replay.stop();
        self.say_after_all(&held, cx);
    }

    /// The same where nothing has come for so long that nothing more will.
    pub(in crate::connection) fn late_replay_overdue<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) {
        if self.late_replay.is_overdue(cx.now()) {
            self.end_late_replay(cx);
        }
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
