//! Saying what an agent has said of a session before that was open, or keeping it where it does not open.

use super::behind_answer::OVERFLOWED;
use super::questions::Questions;
use super::{Opening, Target};
use crate::connection::cx::Cx;
use crate::connection::effect::Effect;
use crate::connection::held::Held;
use crate::connection::live::{LiveSession, Phase};
use crate::environment::Environment;
use crate::rpc::Id;
use crate::storage::Storage;

impl Opening {
    /// All that waits, and is not in the transcript; nothing does then.
    pub(in crate::connection::live) fn take_held<S: Storage, E: Environment>(
        &mut self,
        cx: &mut Cx<'_, S, E>,
    ) -> Vec<Held> {
        if let Target::Known(session) = &self.target
            && let Err(error) = self.behind_answer.forget_known(cx.store.storage(), session)
        {
            cx.push(Effect::Warn(format!("what an agent has said may have been said before: {error}")));
        }
        self.behind_answer.take()
    }
}

impl LiveSession {
    /// Whether a question of the agent's waits behind what it has said before: who is asked has seen that then.
    pub(in crate::connection) fn holds_question(&mut self, id: &Id, line: &str) -> bool {
        let opening = self.opening_mut().filter(|opening| opening.is_behind_answer());
        opening.is_some_and(|opening| opening.behind_answer.push_question(id, line))
    }

    /// Whether the question waits that the agent takes back by this line: so does the line then.
    pub(in crate::connection) fn holds_withdrawal(&mut self, of: &Id, line: &str) -> bool {
        self.opening_mut().is_some_and(|opening| opening.behind_answer.push_withdrawal(of, line))
    }

    /// The agent has ended: nobody is asked any more what still waits, and it waits for no answer.
    pub(in crate::connection::live) fn forget_held_questions(&mut self) {
        if let Some(opening) = self.opening_mut() {
            opening.behind_answer.forget_questions();
            opening.questions = Questions::default();
        }
    }

    /// The session is open: what has waited for that is said. Questions are the router's, and so is what was said behind them.
    pub(in crate::connection::live) fn say_held<S: Storage, E: Environment>(
        &mut self,
        held: Vec<Held>,
        cx: &mut Cx<'_, S, E>,
    ) {
        let mut held = held.into_iter();
        while let Some(next) = held.next() {
            if matches!(next, Held::Question(..) | Held::Withdrawal(_)) {
                let rest = std::iter::once(next).chain(held).collect();
                return cx.push(Effect::Held { of: self.key.clone(), rest });
            }
            self.say_one_held(next, cx);
        }
    }

    /// Says one thing that has waited for the session to be open, and is no question.
    pub(in crate::connection) fn say_one_held<S: Storage, E: Environment>(
        &mut self,
        held: Held,
        cx: &mut Cx<'_, S, E>,
    ) {
        match held {
            Held::Update(line) | Held::Behind(line) | Held::Notice(line) => self.say_after_all(&[line], cx),
            Held::Overflow => self.note_loss(cx.now(), OVERFLOWED),
            Held::Question(..) | Held::Withdrawal(_) => {}
        }
    }

    /// The session will not be open. What the agent has said since it had it open was said all the same, where the transcript is
    /// here: nobody is shown it. Its questions the router answers.
    pub(super) fn keep_held<S: Storage, E: Environment>(&mut self, opening: &mut Opening, cx: &mut Cx<'_, S, E>) {
        let is_question = |held: &Held| matches!(held, Held::Question(..));
        let (questions, said): (Vec<Held>, Vec<Held>) = opening.take_held(cx).into_iter().partition(is_question);
        if !questions.is_empty() {
            cx.push(Effect::Held { of: self.key.clone(), rest: questions });
        }
        if said.is_empty() || opening.attached.is_none() || !matches!(opening.target, Target::Known(_)) {
            return;
        }
        self.phase = Phase::Open { turns: Vec::new(), busy: None };
        // What it has cost before it was open is counted when it is.
        let spending = std::mem::take(&mut self.spending);
        let before = cx.effects.len();
        for held in said {
            self.say_one_held(held, cx);
        }
        self.end_held(cx);
        // A failure is reported.
        let _ = self.write(cx, true);
        let follows = cx.effects.split_off(before);
        let is_for_somebody = |effect: &Effect| !matches!(effect, Effect::ToClients(_) | Effect::Subagent { .. });
        cx.effects.extend(follows.into_iter().filter(is_for_somebody));
        self.spending = spending;
        self.phase = Phase::Gone;
    }
}
