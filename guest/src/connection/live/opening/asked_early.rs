//! What an agent asks its user before the session is open is noted, and taken in when it is.

use super::Opening;
use super::questions::{Answered, Noted, Questions};
use crate::connection::cx::Cx;
use crate::connection::effect::Effect;
use crate::connection::live::{LiveSession, Question};
use crate::environment::Environment;
use crate::rpc::{Id, Outcome};
use crate::storage::Storage;

impl Opening {
    /// Whether its user is to answer something that was asked meanwhile.
    pub(in crate::connection::live) fn awaits_user(&self) -> bool {
        self.questions.is_any_open()
    }

    /// What was asked and answered meanwhile.
    pub(in crate::connection::live) fn take_questions(&mut self) -> Questions {
        std::mem::take(&mut self.questions)
    }
}

impl LiveSession {
    /// The session will not be open: nobody is to answer any more what the agent has asked in it.
    pub(in crate::connection::live) fn take_back_all_questions<S: Storage, E: Environment>(
        &self,
        cx: &mut Cx<'_, S, E>,
    ) {
        let asked = cx.requests.of_agent.matters_in(&self.key);
        if !asked.is_empty() {
            cx.push(Effect::TakeBack(asked));
        }
    }

    /// Notes that permission is asked for in a session that is being opened.
    pub(in crate::connection::live) fn permission_asked_meanwhile(&mut self, question: Option<Question>, params: &str) {
        if let Some(opening) = self.opening_mut() {
            opening.questions.note(Noted::Permission { question, params: params.to_owned() });
        }
    }

    /// Notes that the user is asked for something else.
    pub(in crate::connection::live) fn elicitation_asked_meanwhile(&mut self, question: Question) {
        if let Some(opening) = self.opening_mut() {
            opening.questions.note(Noted::Elicitation(question));
        }
    }

    /// Notes how a question for permission was answered.
    pub(in crate::connection::live) fn permission_answered_meanwhile(
        &mut self,
        (request, outcome): (&Id, Outcome<'_>),
        tool_call: Option<&str>,
        client: Option<&str>,
    ) {
        let Some(opening) = self.opening_mut() else { return };
        let (is_error, outcome) = match outcome {
            Outcome::Result(result) => (false, result),
            Outcome::Error(error) => (true, error),
        };
        opening.questions.note_answer(Answered {
            request: request.clone(),
            is_error,
            outcome: outcome.to_owned(),
            tool_call: tool_call.map(str::to_owned),
            client: client.map(str::to_owned),
        });
    }

    /// Something else that the user was asked for is not waited for any more.
    pub(in crate::connection::live) fn elicitation_over_meanwhile(&mut self, request: &Id) {
        if let Some(opening) = self.opening_mut() {
            opening.questions.forget_elicitation(request);
        }
    }

    /// The session is open: what was asked and answered meanwhile counts as asked and answered now.
    pub(in crate::connection::live) fn take_in_questions<S: Storage, E: Environment>(
        &mut self,
        questions: Questions,
        cx: &mut Cx<'_, S, E>,
    ) {
        if questions.is_empty() {
            return;
        }
        for noted in questions.into_noted() {
            match noted {
                Noted::Permission { question, params } => {
                    let request = question.as_ref().map(|question| question.request.clone());
                    self.permission_asked(question, &params, cx);
                    self.mark_asked_early(request.as_deref());
                }
                Noted::Elicitation(question) => self.elicitation_asked(question, cx),
                Noted::Answered(Answered { request, is_error, outcome, tool_call, client }) => {
                    let outcome = if is_error { Outcome::Error(&outcome) } else { Outcome::Result(&outcome) };
                    self.permission_answered((&request, outcome), tool_call.as_deref(), client.as_deref(), cx);
                }
            }
        }
        // Lists say at once whether anything is waited for yet.
        self.write_if_due(cx, false);
    }
}
