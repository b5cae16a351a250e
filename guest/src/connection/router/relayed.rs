//! Sessions that a layer behind this one over the same store has open for the client.

use std::collections::{BTreeMap, VecDeque};

use crate::connection::client_request::ClientRequest;
use crate::connection::effect::Waiting;
use crate::connection::key::Key;

/// How many sessions are remembered.
const MOST: usize = 20_000;
/// How many of them are resumed before anybody asks for them: the ones that were opened or used last.
const MOST_DUE: usize = 256;

/// The sessions that the client has open in the layer behind.
#[derive(Debug, Default)]
pub(super) struct Relayed {
    /// By their ids.
    by_id: BTreeMap<String, RelayedSession>,
    /// How often one was opened or used.
    uses: u64,
    /// Those that are to be resumed before anybody asks for them, in their order.
    due: VecDeque<String>,
}

#[derive(Debug)]
struct RelayedSession {
    /// What it was opened with, but for its id.
    given: String,
    /// Which of all uses was the last of it.
    used: u64,
    phase: Phase,
}

#[derive(Debug)]
enum Phase {
    Open,
    /// The layer behind was started again.
    Lost,
    /// That one is asked to resume it; what the client sends for it waits.
    Resuming(VecDeque<Waiting>),
}

impl Phase {
    /// What waits for it to be resumed.
    fn waiting(self) -> VecDeque<Waiting> {
        match self {
            Self::Resuming(waiting) => waiting,
            Self::Open | Self::Lost => VecDeque::new(),
        }
    }
}

impl Relayed {
    /// The client has opened it with this. Returns whether that is remembered.
    pub(super) fn opened(&mut self, session: String, given: String) -> bool {
        // What waits for it to be resumed goes on when it is.
        let is_resuming = self.is_resuming(&session);
        match self.by_id.get_mut(&session).filter(|_| is_resuming) {
            Some(session) => {
                session.given = given;
                true
            }
            None => self.insert(session, given, Phase::Open),
        }
    }

    /// What a lost instance knew of: whether the layer behind has it open is not known.
    pub(super) fn take_up(&mut self, session: String, given: String) {
        self.insert(session, given, Phase::Lost);
    }

    fn insert(&mut self, session: String, given: String, phase: Phase) -> bool {
        let has_room = self.by_id.len() < MOST || self.by_id.contains_key(&session);
        if has_room {
            self.uses += 1;
            self.by_id.insert(session, RelayedSession { given, used: self.uses, phase });
        }
        has_room
    }

    /// The client uses it.
    pub(super) fn used(&mut self, session: &str) {
        if let Some(session) = self.by_id.get_mut(session) {
            self.uses += 1;
            session.used = self.uses;
        }
    }

    /// The layer behind was started again, and can be asked: the sessions that the client has used last are to be resumed.
    pub(super) fn make_due(&mut self) {
        let lost = self.by_id.iter().filter(|(_, session)| matches!(session.phase, Phase::Lost));
        let mut lost: Vec<(u64, &String)> = lost.map(|(id, session)| (session.used, id)).collect();
        lost.sort_unstable_by(|one, other| other.cmp(one));
        self.due = lost.into_iter().take(MOST_DUE).map(|(_, id)| id.clone()).collect();
    }

    /// The next that is to be resumed though nobody has asked for it.
    pub(super) fn next_due(&mut self) -> Option<String> {
        let is_lost = |id: &String| matches!(self.by_id.get(id).map(|session| &session.phase), Some(Phase::Lost));
        let passed = self.due.iter().take_while(|id| !is_lost(id)).count();
        self.due.drain(..passed);
        self.due.pop_front()
    }

    /// The client itself has this session opened or closed, whatever comes of it.
    pub(super) fn leave_out(&mut self, session: &str) {
        self.due.retain(|due| due != session);
    }

    /// It is to be resumed now. With what it is to be resumed, if it is.
    pub(super) fn begin_to_resume(&mut self, session: &str) -> Option<&str> {
        let session = self.by_id.get_mut(session)?;
        if !matches!(session.phase, Phase::Lost) {
            return None;
        }
        session.phase = Phase::Resuming(VecDeque::new());
        Some(&session.given)
    }

    /// Whether the layer behind is just asked to resume it.
    pub(super) fn is_resuming(&self, session: &str) -> bool {
        matches!(self.by_id.get(session).map(|session| &session.phase), Some(Phase::Resuming(_)))
    }

    /// It was resumed, or was not; what has waited for that.
    pub(super) fn resumed(&mut self, session: &str, is_open: bool) -> VecDeque<Waiting> {
        let waiting = self.waiting_mut(session).map(std::mem::take);
        if let (Some(_), Some(session)) = (&waiting, self.by_id.get_mut(session)) {
            session.phase = if is_open { Phase::Open } else { Phase::Lost };
        }
        waiting.unwrap_or_default()
    }

    /// It is open no more. Returns what has waited for it; none if it was not open.
    pub(super) fn remove(&mut self, session: &str) -> Option<VecDeque<Waiting>> {
        let session = self.by_id.remove(session)?;
        Some(session.phase.waiting())
    }

    /// The layer behind has ended; what waits for sessions of its.
    pub(super) fn lose(&mut self) -> Vec<Waiting> {
        self.due.clear();
        let all = self.by_id.values_mut();
        all.flat_map(|session| std::mem::replace(&mut session.phase, Phase::Lost).waiting()).collect()
    }

    fn waiting_mut(&mut self, session: &str) -> Option<&mut VecDeque<Waiting>> {
        match self.by_id.get_mut(session).map(|session| &mut session.phase) {
            Some(Phase::Resuming(waiting)) => Some(waiting),
            _ => None,
        }
    }

    /// Keeps a line until the session is resumed.
    pub(super) fn wait(&mut self, key: &Key, line: Waiting) {
        if let Some(waiting) = key.id().and_then(|id| self.waiting_mut(id)) {
            waiting.push_back(line);
        }
    }

    /// Whether something waits for a session to be resumed.
    pub(super) fn is_waited_for(&self) -> bool {
        self.by_id.values().any(|session| matches!(&session.phase, Phase::Resuming(waiting) if !waiting.is_empty()))
    }

    /// Takes a waiting request back; says whether it waited here.
    pub(super) fn withdraw(&mut self, request: &ClientRequest) -> bool {
        self.by_id.values_mut().any(|session| {
            let Phase::Resuming(waiting) = &mut session.phase else { return false };
            Waiting::take(waiting, request).is_some()
        })
    }

    /// Takes back the prompts that wait for this session.
    pub(super) fn withdraw_prompts(&mut self, session: &str) -> Vec<ClientRequest> {
        let Some(waiting) = self.waiting_mut(session) else { return Vec::new() };
        Waiting::take_prompts(waiting).into_iter().filter_map(|prompt| prompt.request).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_sessions_are_due_as_are_allowed_and_were_used_last() {
        let mut relayed = Relayed::default();
        let ids: Vec<String> = (0..MOST_DUE + 3).map(|nth| nth.to_string()).collect();
        for id in &ids {
            relayed.opened(id.clone(), "{}".to_owned());
        }
        relayed.make_due();
        assert_eq!(relayed.next_due(), None, "they are open");
        relayed.lose();
        relayed.used("1");
        relayed.used("gone");
        relayed.make_due();
        relayed.leave_out("4");
        relayed.begin_to_resume("5");
        relayed.opened("6".to_owned(), "{}".to_owned());
        relayed.remove("7");
        let due: Vec<String> = std::iter::from_fn(|| relayed.next_due()).collect();
        let expected: Vec<String> = ids[8..].iter().rev().cloned().collect();
        assert_eq!((due[0].as_str(), &due[1..]), ("1", &expected[..]));
        // Those are left that were used before them.
        relayed.lose();
        assert_eq!(relayed.next_due(), None, "it has ended again");
    }
}
