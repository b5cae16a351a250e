//! What an agent says of a session when it has answered that it has it open, and the client does not have it yet: the rest of the
//! history is still on its way, or what was set is still being put back.

use std::collections::BTreeSet;

use super::adopting::NOTICE;
use super::{Opening, Target};
use crate::connection::cx::Cx;
use crate::connection::effect::Effect;
use crate::connection::held::Held;
use crate::connection::live::{LiveSession, Phase};
use crate::environment::Environment;
use crate::rpc::{Id, Object};
use crate::storage::{Storage, StorageError};
use crate::store::Session;
use crate::transcript::{Entry, Replay, Start};

/// How much of it waits, in bytes.
const MOST: usize = 16 * 1024 * 1024;

/// Why something is missing in the log of a session.
pub(super) const OVERFLOWED: &str = "the agent has said more than 16 MiB in a session before that was open";

/// What waits, in the order in which it was said.
#[derive(Debug, Default)]
pub(super) struct BehindAnswer {
    held: Vec<Held>,
    length: usize,
}

impl BehindAnswer {
    /// Says whether this is the first that does not find room. Nothing does behind it.
    pub(super) fn push(&mut self, line: &str) -> bool {
        if self.is_full() {
            return false;
        }
        let has_room = self.has_room_for(line);
        let held = if has_room { Held::Update(line.to_owned()) } else { Held::Overflow };
        self.length += line.len();
        self.held.push(held);
        !has_room
    }

    /// The same of what the transcript may have.
    pub(super) fn push_notice(&mut self, line: &str) {
        if self.has_room_for(line) {
            self.length += line.len();
            self.held.push(Held::Notice(line.to_owned()));
        }
    }

    fn is_full(&self) -> bool {
        matches!(self.held.last(), Some(Held::Overflow))
    }

    fn has_room_for(&self, line: &str) -> bool {
        !self.is_full() && self.length + line.len() <= MOST
    }

    fn has(&self, question: &Id) -> bool {
        self.held.iter().any(|held| matches!(held, Held::Question(id, _) if id == question))
    }

    /// What of it the transcript of this session has is nothing new.
    fn forget_known<S: Storage>(&mut self, storage: &S, session: &Session) -> Result<(), StorageError> {
        if !self.held.iter().any(|held| matches!(held, Held::Notice(_))) {
            return Ok(());
        }
        let mut known = BTreeSet::new();
        Replay::open(storage, session, Start::Beginning)?.each(storage, |_, text| {
            let entry = Entry::parse(text).filter(|entry| entry.update_name().as_deref() == Some(NOTICE));
            known.extend(entry.and_then(|entry| update_of(entry.json)));
        })?;
        let is_known = |line: &str| {
            let params = Object::parse_or_empty(line).get("params").and_then(update_of);
            params.is_some_and(|update| known.contains(&update))
        };
        self.held.retain(|held| !matches!(held, Held::Notice(line) if is_known(line)));
        Ok(())
    }

    /// The agent has ended: it waits for no answer.
    fn forget_questions(&mut self) {
        self.held.retain(|held| !matches!(held, Held::Question(..) | Held::Withdrawal(_)));
    }
}

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
        std::mem::take(&mut self.behind_answer).held
    }
}

/// The `update` member of a notification's params.
fn update_of(params: &str) -> Option<String> {
    Object::parse(params)?.get("update").map(str::to_owned)
}

impl LiveSession {
    /// Whether a question of the agent's waits behind what it has said before: who is asked has seen that then.
    pub(in crate::connection) fn holds_question(&mut self, id: &Id, line: &str) -> bool {
        let Some(opening) = self.opening_mut().filter(|opening| opening.is_behind_answer()) else { return false };
        let waiting = &mut opening.behind_answer;
        if waiting.held.is_empty() || !waiting.has_room_for(line) {
            return false;
        }
        waiting.length += line.len();
        waiting.held.push(Held::Question(id.clone(), line.to_owned()));
        true
    }

    /// Whether the question waits that the agent takes back by this line: so does the line then.
    pub(in crate::connection) fn holds_withdrawal(&mut self, of: &Id, line: &str) -> bool {
        let waiting = self.opening_mut().map(|opening| &mut opening.behind_answer).filter(|waiting| waiting.has(of));
        waiting.map(|waiting| waiting.held.push(Held::Withdrawal(line.to_owned()))).is_some()
    }

    /// The agent has ended: nobody is asked any more what still waits.
    pub(in crate::connection::live) fn forget_held_questions(&mut self) {
        if let Some(opening) = self.opening_mut() {
            opening.behind_answer.forget_questions();
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

    /// The same of one that is no question.
    pub(in crate::connection) fn say_one_held<S: Storage, E: Environment>(
        &mut self,
        held: Held,
        cx: &mut Cx<'_, S, E>,
    ) {
        match held {
            Held::Update(line) | Held::Notice(line) => self.say_after_all(&[line], cx),
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
