//! How the turns of a transcript and of a replay are compared: which are the same, and which several are compared as one.

pub(super) mod align;
mod all_said;
pub(super) mod beside;
pub(super) mod commands;
mod cut_short;
pub(super) mod in_part;
mod joining;
pub(super) mod joint;
pub(super) mod mingled;
pub(super) mod on_the_whole;
mod queued;
pub(super) mod read_before;
pub(super) mod recut;
pub(super) mod summary;
pub(super) mod telling;
mod together;
pub(super) mod told_apart;
