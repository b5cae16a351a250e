//! Keeping out what an agent tells of a conversation behind its answer to opening it.

use super::LiveSession;
use super::late_replay::LateReplay;
use super::session_update::Update;
use crate::connection::cx::Cx;
use crate::connection::effect::Effect;
use crate::environment::Environment;
use crate::rpc::Object;
use crate::storage::Storage;
use crate::transcript::UpdateKind;

impl LiveSession {
    /// Whether the agent tells by this what it had as it opened the session, which is nothing new.
    pub(super) fn is_told_late<S: Storage, E: Environment>(
        &mut self,
        update: &Update<'_>,
        cx: &mut Cx<'_, S, E>,
    ) -> bool {
        if matches!(self.late_replay, LateReplay::Over) || self.turns_mut().is_none() {
            return false;
        }
        if update.kind == UpdateKind::UserChunk && self.is_echo(update) {
            // It is at the prompt by now.
            self.late_replay = LateReplay::Over;
            return false;
        }
        let id = self.key.id().unwrap_or_default();
        self.late_replay.goes_on_with(update, id, cx).unwrap_or_else(|error| {
            cx.push(Effect::Warn(format!("a late replay could not be told from what is said now: {error}")));
            self.late_replay = LateReplay::Over;
            false
        })
    }

    /// Whether it repeats the prompt that the agent is at.
    fn is_echo(&mut self, update: &Update<'_>) -> bool {
        let content = Object::parse_or_empty(update.update).get("content").map(str::to_owned).unwrap_or_default();
        self.turns_mut().into_iter().flatten().any(|turn| turn.echo.clone().repeats(&content))
    }
}
