//! What a window knows of others on its session, so as to stay in step with them.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::reconcile;
use crate::sessions::windows::window_of;
use crate::storage::{Result, Storage};
use crate::store::{Segment, Title};
use crate::transcript::{Elsewhere, LaidOut, own_words};

/// What this window knows of others on its session.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct InStep {
    /// What the tags of its turns begin with, if it has had any. A fresh instance goes on with that of a lost one.
    pub(super) window: Option<String>,
    /// By which ids its agent has said something; the last is mostly the only one.
    pub(super) spoke_as: Vec<Arc<str>>,
    pub(super) elsewhere: Elsewhere,
    /// How the transcript was laid out when this was last looked at.
    laid_out: LaidOut,
    /// It could not be read, and is left alone until it is looked again.
    pub(super) is_put_off: bool,
    /// It has changed while it was not open, and was not looked at.
    pub(super) is_unseen: bool,
    /// What the client knows of the title.
    pub(super) named: Named,
    /// How often what is to be kept of it has changed.
    changes: u32,
}

/// The title that a user has set, as far as the client knows it.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Named {
    /// A lost instance may have told it.
    #[default]
    Unknown,
    /// As far as it knows, no user has.
    Not,
    As(String),
}

impl Named {
    /// What somebody knows who knows the title.
    pub(super) fn of(title: &Title) -> Self {
        match title {
            Title::Set(title) => Self::As(title.clone()),
            Title::None | Title::Auto(_) | Title::Agent(_) | Title::Cleared => Self::Not,
        }
    }

    /// Whether it is known to be this one, which a user has set.
    pub(super) fn has(&self, title: &Title) -> bool {
        matches!((self, title), (Self::As(known), Title::Set(title)) if known == title)
    }

    /// Whether this is one that a user has set since.
    pub(super) fn lacks(&self, title: &Title) -> bool {
        match (self, title) {
            (Self::Not, Title::Set(_)) => true,
            (Self::As(known), Title::Set(title)) => known != title,
            _ => false,
        }
    }
}

/// What the host keeps of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::connection) struct KeptInStep {
    /// What the tags of its turns begin with, where that does not come from the connection whose open mark it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    window: Option<String>,
    /// By which ids its agent has said something, but for the present one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    spoke_as: Vec<String>,
    /// What was said in other windows and is to be shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    elsewhere: Option<Elsewhere>,
    /// How the transcript is laid out, where it is not all of the session's own log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    laid_out: Option<LaidOut>,
}

impl InStep {
    /// Changes with whatever is to be kept.
    pub(super) fn stamp(&self) -> (bool, usize, u32) {
        (self.window.is_some(), self.spoke_as.len(), self.changes)
    }

    /// Its agent, which has it open by this id, says something.
    pub(super) fn speaks_as(&mut self, agent_id: &Arc<str>) {
        if self.spoke_as.last() != Some(agent_id) {
            self.spoke_as.retain(|id| id != agent_id);
            self.spoke_as.push(agent_id.clone());
        }
    }

    /// What the host keeps of it beside its open mark, which is this connection's, and the agent's id, where the writer knows
    /// its log up to the entry `seen`.
    pub(super) fn kept(&self, mark: &str, agent_id: &str, seen: Option<u32>) -> KeptInStep {
        let window = self.window.clone().filter(|window| *window != window_of(mark));
        let is_ahead = seen.is_none_or(|seen| seen < self.elsewhere.looked());
        let is_kept =
            !self.elsewhere.is_idle() || self.elsewhere.is_ahead_of_log() || (is_ahead && self.elsewhere.looked() > 0);
        let spoke_as = self.spoke_as.iter().filter(|id| ***id != *agent_id).map(ToString::to_string).collect();
        let laid_out = Some(&self.laid_out).filter(|laid_out| !laid_out.is_plain()).cloned();
        KeptInStep { window, spoke_as, elsewhere: is_kept.then(|| self.elsewhere.clone()), laid_out }
    }

    /// An instance was lost; what it had given to be kept, the connection whose open mark it was, and the agent's id.
    pub(super) fn take_up(&mut self, kept: KeptInStep, mark: Option<&str>, agent_id: &str) {
        let KeptInStep { window, spoke_as, elsewhere, laid_out } = kept;
        self.window = window.or_else(|| mark.map(window_of));
        // What the lost instance was told last may be written without its having given that to be kept.
        let ids = spoke_as.into_iter().chain([agent_id.to_owned()]).filter(|id| !id.is_empty());
        self.spoke_as = ids.map(Arc::from).collect();
        self.elsewhere = elsewhere.unwrap_or_default();
        self.laid_out = laid_out.unwrap_or_default();
    }

    /// Its client was shown this part of another log, and its agent has said it.
    pub(super) fn note_part(&mut self, part: Segment) {
        self.laid_out.note_part(part);
        self.changes = self.changes.wrapping_add(1);
    }

    /// How the transcript is laid out, as far as is known.
    pub(super) fn laid_out(&self) -> &LaidOut {
        &self.laid_out
    }

    /// The transcript is laid out so now. Returns how it was before.
    pub(super) fn lay_out(&mut self, laid_out: LaidOut) -> LaidOut {
        if self.laid_out != laid_out {
            self.changes = self.changes.wrapping_add(1);
        }
        std::mem::replace(&mut self.laid_out, laid_out)
    }

    /// What others have taken over into the session of this id since its transcript was laid out like this is to be shown; of
    /// what has come in the place of something that may have been, only what says nothing of it.
    pub(super) fn show_taken_over<S: Storage>(&mut self, before: &LaidOut, own: &str, storage: &S) -> Result<()> {
        let aside = self.laid_out.taken_out_since(before);
        let mut new: Vec<Segment> = self.laid_out.new_since(before, own).cloned().collect();
        if !aside.is_empty() && !new.is_empty() {
            new = reconcile::said_anew(storage, &new, &aside, own_words::strip)?;
        }
        for part in new {
            self.change().note_taken_over(part);
        }
        Ok(())
    }

    /// To change what is to be shown.
    pub(super) fn change(&mut self) -> &mut Elsewhere {
        self.changes = self.changes.wrapping_add(1);
        &mut self.elsewhere
    }
}
