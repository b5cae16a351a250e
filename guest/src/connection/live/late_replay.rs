//! An agent that tells what it has of a conversation behind its answer to opening it, or to forking it: the transcript has that.
//!
//! It begins with what the user said first, soon after the answer, and says again what the transcript has in its order. No more
//! is taken for it: what the agent says by itself must not be lost.

use super::session_update::Update;
use crate::connection::cx::Cx;
use crate::environment::Environment;
use crate::storage::{Result, Storage};
use crate::transcript::own_words::strip;
use crate::transcript::{Retold, UpdateKind};

/// How long after its answer an agent may begin with it, in milliseconds.
const SOON: i64 = 10_000;

/// What is known of such a replay.
#[derive(Debug, Default)]
pub(super) enum LateReplay {
    /// There is none, or no more of it.
    #[default]
    Over,
    /// One may begin: the agent has told nothing before its answer, which came then.
    MayBegin { since: i64 },
    /// The agent is at it.
    GoesOn(Box<Retold>),
}

impl LateReplay {
    /// Whether this is what the agent had as it opened the session of this id, which is nothing new.
    pub(super) fn goes_on_with<S: Storage, E: Environment>(
        &mut self,
        update: &Update<'_>,
        id: &str,
        cx: &Cx<'_, S, E>,
    ) -> Result<bool> {
        let storage = cx.store.storage();
        let text = if update.kind == UpdateKind::UserChunk { update.text() } else { None };
        // An account of the layer's before the user's words, which is nobody's.
        let is_account = text.as_ref().is_some_and(|text| !text.trim().is_empty() && strip(text).trim().is_empty());
        match self {
            Self::Over => Ok(false),
            Self::MayBegin { since } if !(*since..*since + SOON).contains(&cx.now()) => {
                *self = Self::Over;
                Ok(false)
            }
            _ if is_account => Ok(true),
            Self::MayBegin { .. } if text.is_none() => Ok(false),
            Self::MayBegin { .. } => {
                *self = Self::Over;
                let Some(session) = cx.store.session(id)? else { return Ok(false) };
                let mut retold = Retold::of(storage, &session, &cx.agent.name)?;
                let begins = retold.repeats(storage, update.update)?;
                if begins {
                    *self = Self::GoesOn(Box::new(retold));
                }
                Ok(begins)
            }
            Self::GoesOn(retold) => {
                let goes_on = retold.repeats(storage, update.update)?;
                if !goes_on && text.is_some() {
                    // What the user says there the transcript does not have.
                    *self = Self::Over;
                }
                Ok(goes_on)
            }
        }
    }
}
