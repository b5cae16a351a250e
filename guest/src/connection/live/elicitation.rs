//! What the agent has its user fill in, or where it sends it (`elicitation/create`): the user is waited for, and nothing of it
//! is history.

use super::{LiveSession, Question};
use crate::connection::cx::Cx;
use crate::environment::Environment;
use crate::rpc::Id;
use crate::storage::Storage;

impl LiveSession {
    /// The agent asks its user. Lists say at once that that one is waited for.
    pub(in crate::connection) fn elicitation_asked<S: Storage, E: Environment>(
        &mut self,
        question: Question,
        cx: &mut Cx<'_, S, E>,
    ) {
        self.say_held_of_late_replay(cx);
        self.alive(cx.running());
        if !self.is_open() {
            self.elicitation_asked_meanwhile(question);
            return self.say_state(cx);
        }
        self.remember_question(question);
        self.awaited.is_unwritten = true;
        self.write_if_due(cx, false);
    }

    /// The client has answered this request, or the agent waits for the answer no more.
    pub(in crate::connection) fn elicitation_over<S: Storage, E: Environment>(
        &mut self,
        request: &Id,
        cx: &mut Cx<'_, S, E>,
    ) {
        self.alive(cx.running());
        self.elicitation_over_meanwhile(request);
        self.look_at_state(cx);
        let before = self.questions.len();
        self.questions.retain(|question| question.request != request.as_json());
        if self.questions.len() < before {
            self.awaited.is_unwritten = true;
            self.write_if_due(cx, false);
        }
    }
}
