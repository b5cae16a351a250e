//! What an agent asks its user in a session that it is being made to open: goose does as it goes on with a turn whose window was
//! closed before its answer. Its user is asked at once, and the transcript has it when the session is open.

use crate::connection::live::question::{MOST_QUESTIONS, Question};
use crate::rpc::Id;

/// A question, or what became of one.
#[derive(Debug)]
pub(super) enum Noted {
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
pub(super) struct Answered {
    pub(super) request: Id,
    pub(super) is_error: bool,
    /// The result, or the error.
    pub(super) outcome: String,
    pub(super) tool_call: Option<String>,
    pub(super) client: Option<String>,
}

/// What was asked and answered meanwhile, in its order.
#[derive(Debug, Default)]
pub(in crate::connection::live) struct Questions(Vec<Noted>);

impl Questions {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn into_noted(self) -> Vec<Noted> {
        self.0
    }

    /// Whether its user is to answer any of it yet.
    pub(super) fn is_any_open(&self) -> bool {
        let is_answered = |request: &str| {
            let mut answers = self.0.iter().filter_map(|noted| match noted {
                Noted::Answered(answered) => Some(answered.request.as_json()),
                Noted::Permission { .. } | Noted::Elicitation(_) => None,
            });
            answers.any(|answered| answered == request)
        };
        self.0.iter().any(|noted| match noted {
            Noted::Permission { question: Some(question), .. } => !is_answered(&question.request),
            Noted::Elicitation(_) => true,
            Noted::Permission { question: None, .. } | Noted::Answered(_) => false,
        })
    }

    pub(super) fn note(&mut self, noted: Noted) {
        if self.0.len() < MOST_QUESTIONS {
            self.0.push(noted);
        }
    }

    /// An answer to what is not noted is not either.
    pub(super) fn note_answer(&mut self, answered: Answered) {
        let is_of = |noted: &Noted| match noted {
            Noted::Permission { question: Some(question), .. } => question.request == answered.request.as_json(),
            _ => false,
        };
        if self.0.iter().any(is_of) {
            // Each question has one at most.
            self.0.push(Noted::Answered(answered));
        }
    }

    pub(super) fn forget_elicitation(&mut self, request: &Id) {
        let is_it =
            |noted: &Noted| matches!(noted, Noted::Elicitation(question) if question.request == request.as_json());
        self.0.retain(|noted| !is_it(noted));
    }
}
