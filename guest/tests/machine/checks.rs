//! What must hold, one file for each invariant.

mod answers;
mod bounded;
mod deleted;
pub(crate) mod gaps;
mod heard;
mod history;
mod in_step;
mod lists;
mod locked;
mod silent;
mod sound;
mod steady;

use acp_sessions_guest::storage::Bounds;

pub(crate) use answers::answered;
pub(crate) use bounded::{memos, nothing_left};
pub(crate) use deleted::{agents_deleted, deleted};
pub(crate) use heard::heard;
pub(crate) use history::{transcripts, window};
pub(crate) use in_step::{in_step, shown_once};
pub(crate) use lists::{archived, early, found, listed, titles};
pub(crate) use locked::locked;
pub(crate) use silent::replaced;
pub(crate) use sound::sound;
pub(crate) use steady::{Lengths, steady};

/// All that a case comes to, at once.
const ALL: Bounds = Bounds { limit: 10_000, max_bytes: 1 << 30 };
