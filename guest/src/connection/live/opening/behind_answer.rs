//! What an agent says of a session when it has answered that it has it open, and the client does not have it yet: the rest of the
//! history is still on its way, or what was set is still being put back.

use std::collections::BTreeSet;

use crate::connection::held::Held;
use crate::rpc::{Id, Object};
use crate::storage::{Storage, StorageError};
use crate::store::Session;
use crate::transcript::{Entry, Replay, Start};

/// What an agent tells its user beside the conversation (unstable).
pub(super) const NOTICE: &str = "notice";

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
        self.push_as(Held::Update, line)
    }

    /// Holds what comes behind the end of the history that the agent tells, and so is no part of that. Says whether
    /// this is the first that does not find room.
    pub(super) fn push_behind(&mut self, line: &str) -> bool {
        self.push_as(Held::Behind, line)
    }

    fn push_as(&mut self, kind: impl FnOnce(String) -> Held, line: &str) -> bool {
        if self.is_full() {
            return false;
        }
        let has_room = self.has_room_for(line);
        let held = if has_room { kind(line.to_owned()) } else { Held::Overflow };
        self.length += line.len();
        self.held.push(held);
        !has_room
    }

    /// Holds a notice, which the transcript may have.
    pub(super) fn push_notice(&mut self, line: &str) {
        if self.has_room_for(line) {
            self.length += line.len();
            self.held.push(Held::Notice(line.to_owned()));
        }
    }

    /// A question of the agent's waits behind what it has said before: says whether it does. Where nothing waits, it need not.
    pub(super) fn push_question(&mut self, id: &Id, line: &str) -> bool {
        let waits = !self.held.is_empty() && self.has_room_for(line);
        if waits {
            self.length += line.len();
            self.held.push(Held::Question(id.clone(), line.to_owned()));
        }
        waits
    }

    /// The agent takes a question back by this line, which waits where that does; says whether it does.
    pub(super) fn push_withdrawal(&mut self, of: &Id, line: &str) -> bool {
        let waits = self.has(of);
        if waits {
            self.held.push(Held::Withdrawal(line.to_owned()));
        }
        waits
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
    pub(super) fn forget_known<S: Storage>(&mut self, storage: &S, session: &Session) -> Result<(), StorageError> {
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
    pub(super) fn forget_questions(&mut self) {
        self.held.retain(|held| !matches!(held, Held::Question(..) | Held::Withdrawal(_)));
    }

    /// What of it are updates, each as a line.
    pub(super) fn updates(&self) -> impl Iterator<Item = &str> {
        self.held.iter().filter_map(Held::as_update)
    }

    /// The agent tells the history once more: what came behind that before may be in it by now.
    pub(super) fn count_behind_as_updates(&mut self) {
        for held in &mut self.held {
            if let Held::Behind(line) = held {
                *held = Held::Update(std::mem::take(line));
            }
        }
    }

    /// The lines of what the agent has said and that may be in the history that it tells; they wait no longer.
    pub(super) fn take_updates(&mut self) -> Vec<String> {
        self.take_lines(|held| matches!(held, Held::Update(_)))
    }

    /// The lines of those of them in the places for which this holds, counted from 0; they wait no longer.
    pub(super) fn take_updates_at(&mut self, is_it: impl Fn(usize) -> bool) -> Vec<String> {
        let mut places = 0..;
        self.take_lines(|held| matches!(held, Held::Update(_)) && places.next().is_some_and(&is_it))
    }

    /// The lines of what came behind the end of the history; they wait no longer.
    pub(super) fn take_behind(&mut self) -> Vec<String> {
        self.take_lines(|held| matches!(held, Held::Behind(_)))
    }

    fn take_lines(&mut self, mut is_taken: impl FnMut(&Held) -> bool) -> Vec<String> {
        let (taken, left): (Vec<Held>, Vec<Held>) =
            std::mem::take(&mut self.held).into_iter().partition(|held| is_taken(held));
        self.held = left;
        let lines: Vec<String> = taken.iter().filter_map(Held::as_update).map(str::to_owned).collect();
        self.length -= lines.iter().map(String::len).sum::<usize>();
        lines
    }

    /// All that waits; nothing does then.
    pub(super) fn take(&mut self) -> Vec<Held> {
        std::mem::take(self).held
    }
}

/// The `update` member of a notification's params.
fn update_of(params: &str) -> Option<String> {
    Object::parse(params)?.get("update").map(str::to_owned)
}
