//! Sessions that a layer behind this one over the same store has open for the client.

use std::collections::{BTreeMap, VecDeque};

use crate::connection::client_request::ClientRequest;
use crate::connection::effect::Waiting;
use crate::connection::key::Key;

/// How many sessions are remembered.
const MOST: usize = 20_000;

/// The sessions that the client has open in the layer behind, by their ids.
#[derive(Debug, Default)]
pub(super) struct Relayed(BTreeMap<String, RelayedSession>);

#[derive(Debug)]
struct RelayedSession {
    /// What it was opened with, but for its id.
    given: String,
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

impl Relayed {
    /// The client has opened it with this. Returns whether that is remembered.
    pub(super) fn opened(&mut self, session: String, given: String) -> bool {
        // What waits for it to be resumed goes on when it is.
        self.waiting_mut(&session).is_none() && self.insert(session, given, Phase::Open)
    }

    /// What a lost instance knew of: whether the layer behind has it open is not known.
    pub(super) fn take_up(&mut self, session: String, given: String) {
        self.insert(session, given, Phase::Lost);
    }

    fn insert(&mut self, session: String, given: String, phase: Phase) -> bool {
        let has_room = self.0.len() < MOST || self.0.contains_key(&session);
        if has_room {
            self.0.insert(session, RelayedSession { given, phase });
        }
        has_room
    }

    /// Somebody needs it. With what it is to be resumed, if it is.
    pub(super) fn begin_to_resume(&mut self, session: &str) -> Option<&str> {
        let session = self.0.get_mut(session)?;
        if !matches!(session.phase, Phase::Lost) {
            return None;
        }
        session.phase = Phase::Resuming(VecDeque::new());
        Some(&session.given)
    }

    /// Whether the layer behind is just asked to resume it.
    pub(super) fn is_resuming(&self, session: &str) -> bool {
        matches!(self.0.get(session).map(|session| &session.phase), Some(Phase::Resuming(_)))
    }

    /// It was resumed, or was not; what has waited for that.
    pub(super) fn resumed(&mut self, session: &str, is_open: bool) -> VecDeque<Waiting> {
        let waiting = self.waiting_mut(session).map(std::mem::take);
        if let (Some(_), Some(session)) = (&waiting, self.0.get_mut(session)) {
            session.phase = if is_open { Phase::Open } else { Phase::Lost };
        }
        waiting.unwrap_or_default()
    }

    /// Whether the client has opened it.
    pub(super) fn contains(&self, session: &str) -> bool {
        self.0.contains_key(session)
    }

    /// It is open no more. Returns whether it was.
    pub(super) fn remove(&mut self, session: &str) -> bool {
        self.0.remove(session).is_some()
    }

    /// The layer behind has ended; what waits for sessions of its.
    pub(super) fn lose(&mut self) -> Vec<Waiting> {
        let all = self.0.values_mut();
        let waiting = all.filter_map(|session| match std::mem::replace(&mut session.phase, Phase::Lost) {
            Phase::Resuming(waiting) => Some(waiting),
            Phase::Open | Phase::Lost => None,
        });
        waiting.flatten().collect()
    }

    fn waiting_mut(&mut self, session: &str) -> Option<&mut VecDeque<Waiting>> {
        match self.0.get_mut(session).map(|session| &mut session.phase) {
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
        self.0.values().any(|session| matches!(&session.phase, Phase::Resuming(waiting) if !waiting.is_empty()))
    }

    /// Takes a waiting request back; says whether it waited here.
    pub(super) fn withdraw(&mut self, request: &ClientRequest) -> bool {
        self.0.values_mut().any(|session| {
            let Phase::Resuming(waiting) = &mut session.phase else { return false };
            let before = waiting.len();
            waiting.retain(|line| line.request.as_ref() != Some(request));
            waiting.len() < before
        })
    }

    /// Takes back the prompts that wait for this session.
    pub(super) fn withdraw_prompts(&mut self, session: &str) -> Vec<ClientRequest> {
        let Some(waiting) = self.waiting_mut(session) else { return Vec::new() };
        let (prompts, others) = std::mem::take(waiting).into_iter().partition(Waiting::is_prompt);
        *waiting = others;
        let prompts: VecDeque<Waiting> = prompts;
        prompts.into_iter().filter_map(|prompt| prompt.request).collect()
    }
}
