//! An agent that tells what it has of a conversation behind its answer to opening it, or to forking it: the transcript has that.
//!
//! It begins with what the user said first, soon after the answer, and says again what the transcript has in its order. No more
//! is taken for it: what the agent says by itself must not be lost. What may be either waits for what comes next.

use serde::{Deserialize, Serialize};

use super::account_filter::AccountFilter;
use super::session_update::Update;
use crate::connection::cx::Cx;
use crate::connection::requests::is_soon_behind;
use crate::environment::Environment;
use crate::rpc;
use crate::storage::{Result, Storage};
use crate::transcript::own_words::Parted;
use crate::transcript::{Repeats, Retold, UpdateKind, Whereabouts};

/// How much waits for what comes next, in bytes.
const MOST_HELD: usize = 1024 * 1024;

/// What is known of such a replay.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct LateReplay {
    stage: ReplayStage,
    /// Takes the layer's own words out of what the agent tells as its user's.
    account_filter: AccountFilter,
    /// What the agent has told of which it is not known yet whether it belongs to one: these lines.
    #[serde(skip)]
    held: Vec<String>,
    /// Up to which entry of its own log the session was there as it was opened, if that is known: what has come since the agent
    /// says for the first time.
    end: Option<u32>,
    habit: Habit,
}

/// Whether it shows that the agent tells all that it has of a conversation behind its answer to a load.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Habit {
    /// It does not, or that was taken note of.
    #[default]
    Unseen,
    /// It may yet: the agent has answered a load, and said nothing since.
    Possible {
        is_prompted: bool,
    },
    Seen,
}

#[derive(Debug, Default, Serialize, Deserialize)]
enum ReplayStage {
    /// There is none, or no more of it.
    #[default]
    Over,
    /// One may begin: the agent has told nothing of what its user said before its answer, which came then. Or it may go on from
    /// where it was when an instance was lost.
    MayBegin { since: i64, from: usize },
    /// What the agent tells is one, or may be the beginning of one.
    #[serde(skip)]
    Followed {
        retold: Box<Retold>,
        /// When it told the last of it, in which it may pause for as long; before it has begun, when it could.
        last: i64,
    },
}

/// What an update is of which it is asked whether it belongs to such a replay.
#[derive(Debug)]
pub(super) enum Late {
    /// It does, so it is nothing new.
    Told,
    /// It may; what comes next decides.
    Perhaps,
    /// It does not, and neither do these lines before it.
    New(Vec<String>),
}

impl LateReplay {
    /// One may begin from now on. `is_of_load`: behind the answer to a load.
    pub(super) fn awaited(is_of_load: bool, now: i64) -> Self {
        let habit = if is_of_load { Habit::Possible { is_prompted: false } } else { Habit::Unseen };
        Self { stage: ReplayStage::MayBegin { since: now, from: 0 }, habit, ..Self::default() }
    }

    /// It goes on, or may begin, though the instance was lost that followed it.
    pub(super) fn taken_up(place: Whereabouts, now: i64) -> Self {
        let Whereabouts { passed, end } = place;
        Self { stage: ReplayStage::MayBegin { since: now, from: passed }, end, ..Self::default() }
    }

    /// Where it is, for the host to keep; `None` where there is none to come.
    pub(super) fn place(&self) -> Option<Whereabouts> {
        let passed = match &self.stage {
            ReplayStage::Over => return None,
            ReplayStage::MayBegin { from, .. } => *from,
            ReplayStage::Followed { retold, .. } => retold.passed(),
        };
        Some(Whereabouts { passed, end: self.end })
    }

    /// Whether there is none, nor will there be.
    pub(super) fn is_over(&self) -> bool {
        matches!(self.stage, ReplayStage::Over)
    }

    /// Whether the agent tells nothing of one, and nothing of it waits: at most one may begin.
    pub(super) fn is_at_rest(&self) -> bool {
        !matches!(self.stage, ReplayStage::Followed { .. }) && !self.holds() && !self.account_filter.holds()
    }

    /// Whether the agent may be in the midst of one.
    pub(super) fn may_go_on(&self, now: i64) -> bool {
        match self.stage {
            ReplayStage::Over => false,
            ReplayStage::MayBegin { since, from } => from > 0 && is_soon_behind(since, now),
            ReplayStage::Followed { last, .. } => is_soon_behind(last, now),
        }
    }

    /// Whether what was said last shows that the agent tells all that it has of a conversation behind its answer to a load; once.
    pub(super) fn takes_habit(&mut self) -> bool {
        let is_seen = self.habit == Habit::Seen;
        if is_seen {
            self.habit = Habit::Unseen;
        }
        is_seen
    }

    /// Whether something waits of which it is not known whether it belongs to one.
    pub(super) fn holds(&self) -> bool {
        !self.held.is_empty()
    }

    /// What may be shown of a message of the user's that is at its end when this comes, as an `update` member: it was held back
    /// because it might have been the layer's own words.
    pub(super) fn end_of_message(&mut self, next: &Update<'_>) -> Option<String> {
        if self.account_filter.ends_with(next) { self.account_filter.finish() } else { None }
    }

    /// What may be shown of this text of the user's, which the agent tells next.
    pub(super) fn without_own_words(&mut self, update: &Update<'_>, text: &str) -> String {
        let Parted { before, behind } = self.account_filter.feed(update, text);
        before + &behind.unwrap_or_default()
    }

    /// Whether this is what the agent had as it opened the session, whose transcript is that of this id. `is_echo`: it says as
    /// well what the agent was told by its user since.
    pub(super) fn next<S: Storage, E: Environment>(
        &mut self,
        update: &Update<'_>,
        id: &str,
        is_echo: bool,
        cx: &Cx<'_, S, E>,
    ) -> Result<Late> {
        let (storage, now) = (cx.store.storage(), cx.now());
        let is_users = update.kind == UpdateKind::UserChunk;
        if let ReplayStage::MayBegin { since, from: passed } = self.stage
            && is_soon_behind(since, now)
        {
            if !is_users && passed == 0 {
                self.habit = Habit::Unseen;
                return Ok(Late::New(Vec::new()));
            }
            self.stage = ReplayStage::Over;
            let Some(session) = cx.store.session(id)? else { return Ok(Late::New(Vec::new())) };
            let retold =
                Box::new(Retold::from(storage, &session, &cx.agent.name, Whereabouts { passed, end: self.end })?);
            // What it tells otherwise than it was said is not known again, and all behind it neither.
            if self.habit == (Habit::Possible { is_prompted: false }) && retold.is_begun_by(update.update) {
                self.habit = Habit::Seen;
            }
            self.stage = ReplayStage::Followed { retold, last: since };
        }
        let ReplayStage::Followed { retold, last } = &mut self.stage else { return Ok(Late::New(self.stop())) };
        if !is_soon_behind(*last, now) {
            return Ok(Late::New(self.stop()));
        }
        let repeats = retold.repeats(storage, update.update, is_echo)?;
        if repeats != Repeats::No && retold.has_begun() {
            *last = now;
        }
        match repeats {
            Repeats::Yes => {
                self.held.clear();
                if is_users && matches!(self.habit, Habit::Possible { .. }) {
                    self.habit = Habit::Seen;
                }
                if retold.is_over() && !self.account_filter.holds() {
                    self.stage = ReplayStage::Over;
                }
                Ok(Late::Told)
            }
            Repeats::Perhaps if self.held.iter().map(String::len).sum::<usize>() + update.line.len() <= MOST_HELD => {
                self.held.push(update.line.to_owned());
                Ok(Late::Perhaps)
            }
            // What the user says there the transcript does not have.
            Repeats::No if is_users || !retold.has_begun() => Ok(Late::New(self.stop())),
            Repeats::Perhaps | Repeats::No => Ok(Late::New(std::mem::take(&mut self.held))),
        }
    }

    /// The user says something now.
    pub(super) fn prompted(&mut self) {
        if let Habit::Possible { is_prompted } = &mut self.habit {
            *is_prompted = true;
        }
        if let ReplayStage::Followed { retold, .. } = &mut self.stage {
            retold.prompted();
        }
    }

    /// The agent has answered all that its user said. What of its answer was not known for that is given.
    pub(super) fn answered(&mut self) -> Vec<String> {
        if let ReplayStage::Followed { retold, .. } = &mut self.stage {
            retold.answered();
        }
        self.take_held()
    }

    /// Something has come that belongs to no replay: what waits belongs to none either, and is given.
    pub(super) fn interrupted(&mut self) -> Vec<String> {
        if let ReplayStage::Followed { retold, .. } = &mut self.stage {
            retold.interrupted();
        }
        self.take_held()
    }

    fn take_held(&mut self) -> Vec<String> {
        let rest = self.account_filter.finish().map(|update| format!("{{\"update\":{update}}}"));
        self.held.extend(rest.map(|params| rpc::notification("session/update", &params)));
        std::mem::take(&mut self.held)
    }

    /// Whether there is something of which it is not known yet whether it belongs to one, though there was time to tell more.
    pub(super) fn is_overdue(&self, now: i64) -> bool {
        match self.stage {
            ReplayStage::Over => false,
            ReplayStage::MayBegin { since: last, .. } | ReplayStage::Followed { last, .. } => {
                (self.holds() || self.account_filter.holds()) && !is_soon_behind(last, now)
            }
        }
    }

    /// The session is open, and its own log is known up to this entry. It may begin from now on, if it may at all and has not begun.
    pub(super) fn opened(&mut self, end: Option<u32>, now: i64) {
        if let ReplayStage::MayBegin { since, .. } = &mut self.stage {
            (*since, self.end) = (now, end);
        }
    }

    /// There is no more of it. What of it was no such thing after all is given.
    pub(super) fn stop(&mut self) -> Vec<String> {
        let held = self.take_held();
        *self = Self { habit: self.habit, ..Self::default() };
        held
    }
}
