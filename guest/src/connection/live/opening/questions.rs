//! What an agent asks its user in a session that it is being made to open: goose does as it goes on with a turn whose window was
//! closed before its answer. Its user is asked at once, and the transcript has it when the session is open.

use super::Opening;
use crate::connection::cx::Cx;
use crate::connection::live::question::MOST_QUESTIONS;
use crate::connection::live::{LiveSession, Question};
use crate::environment::Environment;
use crate::rpc::{Id, Outcome};
use crate::storage::Storage;

/// A question, or what became of one.
#[derive(Debug)]
enum Noted {
    /// Permission was asked for, with these params; the question where it is remembered until it is answered.
    Permission {
        question: Option<Question>,
        params: String,
    },
    Elicitation(Question),
    Answered(Answered),
}

/// The answer to a question for permission.
#[derive(Debug)]
struct Answered {
    request: Id,
    is_error: bool,
    /// The result, or the error.
    outcome: String,
    tool_call: Option<String>,
    client: Option<String>,
}

/// What was asked and answered meanwhile, in its order.
#[derive(Debug, Default)]
pub(in crate::connection::live) struct Questions(Vec<Noted>);

impl Questions {
    fn note(&mut self, noted: Noted) {
        if self.0.len() < MOST_QUESTIONS {
            self.0.push(noted);
        }
    }

    /// An answer to what is not noted is not either.
    fn note_answer(&mut self, answered: Answered) {
        let is_of = |noted: &Noted| match noted {
            Noted::Permission { question: Some(question), .. } => question.request == answered.request.as_json(),
            _ => false,
        };
        if self.0.iter().any(is_of) {
            // Each question has one at most.
            self.0.push(Noted::Answered(answered));
        }
    }

    fn forget_elicitation(&mut self, request: &Id) {
        let is_it =
            |noted: &Noted| matches!(noted, Noted::Elicitation(question) if question.request == request.as_json());
        self.0.retain(|noted| !is_it(noted));
    }
}

impl Opening {
    /// What was asked and answered meanwhile.
    pub(in crate::connection::live) fn take_questions(&mut self) -> Questions {
        std::mem::take(&mut self.questions)
    }
}

impl LiveSession {
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
        if questions.0.is_empty() {
            return;
        }
        for noted in questions.0 {
            match noted {
                Noted::Permission { question, params } => self.permission_asked(question, &params, cx),
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
