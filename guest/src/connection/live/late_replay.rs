//! An agent that tells what it has of a conversation behind its answer to opening it, or to forking it: the transcript has that.
//!
//! It begins with what the user said first, soon after the answer, and says again what the transcript has in its order. No more
//! is taken for it: what the agent says by itself must not be lost.

use super::session_update::Update;
use crate::connection::cx::Cx;
use crate::environment::Environment;
use crate::storage::{Result, Storage};
use crate::transcript::own_words::strip;
use crate::transcript::{Repeats, Retold, UpdateKind};

/// How long after its answer an agent may begin with it, and how long it may pause in it, in milliseconds.
const SOON: i64 = 10_000;
/// How many bytes of an old answer, said again behind a new prompt, are no answer to that which happens to begin so.
const LONG: usize = 256;
/// How many are none where the old answer ends with them.
const LONG_TO_ITS_END: usize = 64;

/// What is known of such a replay.
#[derive(Debug, Default)]
pub(super) enum LateReplay {
    /// There is none, or no more of it.
    #[default]
    Over,
    /// One may begin: the agent has told nothing of what its user said before its answer, which came then.
    MayBegin { since: i64 },
    /// What the agent has told since then may be the beginning of one: these lines.
    Begins { since: i64, retold: Box<Retold>, held: Vec<String> },
    /// The agent is at it.
    GoesOn {
        retold: Box<Retold>,
        /// When it told the last of it.
        last: i64,
        /// The user has said something since. The agent may be at that; it goes on with its replay where it tells what the user
        /// said next, or the rest of an answer that it was telling.
        is_prompted: bool,
        /// How much of that answer it has told since, in bytes, and the lines of it while that is too little to be sure.
        rest: usize,
        held: Vec<String>,
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
    /// Whether this is what the agent had as it opened the session, whose transcript is that of this id.
    pub(super) fn next<S: Storage, E: Environment>(
        &mut self,
        update: &Update<'_>,
        id: &str,
        cx: &Cx<'_, S, E>,
    ) -> Result<Late> {
        let (storage, now) = (cx.store.storage(), cx.now());
        let is_users = update.kind == UpdateKind::UserChunk;
        let text = if is_users { update.text() } else { None };
        // An account of the layer's before the user's words, which is nobody's.
        let is_account = text.as_ref().is_some_and(|text| !text.trim().is_empty() && strip(text).trim().is_empty());
        let is_soon = |since: i64| (since..since + SOON).contains(&now);
        match self {
            Self::Over => Ok(Late::New(Vec::new())),
            Self::MayBegin { since } | Self::Begins { since, .. } if !is_soon(*since) => Ok(Late::New(self.stop())),
            Self::GoesOn { last, .. } if !is_soon(*last) => Ok(Late::New(self.stop())),
            _ if is_account => Ok(Late::Told),
            Self::MayBegin { .. } if !is_users => Ok(Late::New(Vec::new())),
            Self::MayBegin { since } => {
                let since = *since;
                *self = Self::Over;
                let Some(session) = cx.store.session(id)? else { return Ok(Late::New(Vec::new())) };
                let retold = Box::new(Retold::of(storage, &session, &cx.agent.name)?);
                *self = Self::Begins { since, retold, held: Vec::new() };
                self.begin_with(update, cx)
            }
            Self::Begins { .. } => self.begin_with(update, cx),
            Self::GoesOn { is_prompted: true, .. } if !is_users => self.go_on_behind_prompt(update, cx),
            Self::GoesOn { retold, last, is_prompted, held, .. } => {
                let repeats = retold.repeats(storage, update.update)? == Repeats::Yes;
                if repeats {
                    (*last, *is_prompted) = (now, false);
                    held.clear();
                }
                let before = std::mem::take(held);
                // What the user says there the transcript does not have; or it has no more.
                if retold.is_over() || !repeats && is_users {
                    *self = Self::Over;
                }
                Ok(if repeats { Late::Told } else { Late::New(before) })
            }
        }
    }

    /// The rest of an answer that the agent was telling as its user said something else, unless it is too short to be sure that it
    /// is no answer to that.
    fn go_on_behind_prompt<S: Storage, E: Environment>(
        &mut self,
        update: &Update<'_>,
        cx: &Cx<'_, S, E>,
    ) -> Result<Late> {
        let Self::GoesOn { retold, last, rest, held, .. } = self else { return Ok(Late::New(Vec::new())) };
        if !retold.is_in_answer() || retold.repeats(cx.store.storage(), update.update)? != Repeats::Yes {
            retold.leave_off();
            return Ok(Late::New(std::mem::take(held)));
        }
        *last = cx.now();
        *rest += update.text().unwrap_or_default().len();
        if *rest >= LONG || !retold.is_in_answer() && *rest >= LONG_TO_ITS_END {
            held.clear();
            return Ok(Late::Told);
        }
        if !retold.is_in_answer() {
            return Ok(Late::New(std::mem::take(held)));
        }
        held.push(update.line.to_owned());
        Ok(Late::Perhaps)
    }

    fn begin_with<S: Storage, E: Environment>(&mut self, update: &Update<'_>, cx: &Cx<'_, S, E>) -> Result<Late> {
        let Self::Begins { retold, held, .. } = self else { return Ok(Late::New(Vec::new())) };
        match retold.repeats(cx.store.storage(), update.update)? {
            Repeats::No => Ok(Late::New(self.stop())),
            Repeats::Perhaps => {
                held.push(update.line.to_owned());
                Ok(Late::Perhaps)
            }
            Repeats::Yes => {
                if let Self::Begins { retold, .. } = std::mem::take(self) {
                    *self = Self::GoesOn { retold, last: cx.now(), is_prompted: false, rest: 0, held: Vec::new() };
                }
                Ok(Late::Told)
            }
        }
    }

    /// The user says something now.
    pub(super) fn prompted(&mut self) {
        if let Self::GoesOn { is_prompted, rest, .. } = self {
            (*is_prompted, *rest) = (true, 0);
        }
    }

    /// Whether there is something of which it is not known yet whether it belongs to one, though there was time to tell more.
    pub(super) fn is_overdue(&self, now: i64) -> bool {
        match self {
            Self::Begins { since, .. } => !(*since..*since + SOON).contains(&now),
            Self::GoesOn { last, held, .. } => !held.is_empty() && !(*last..*last + SOON).contains(&now),
            Self::Over | Self::MayBegin { .. } => false,
        }
    }

    /// It may begin from now on, if it may at all and has not begun.
    pub(super) fn begins_at(&mut self, now: i64) {
        if let Self::MayBegin { since } = self {
            *since = now;
        }
    }

    /// There is no more of it. What of it was no such thing after all.
    pub(super) fn stop(&mut self) -> Vec<String> {
        match std::mem::take(self) {
            Self::Begins { held, .. } | Self::GoesOn { held, .. } => held,
            Self::Over | Self::MayBegin { .. } => Vec::new(),
        }
    }
}
