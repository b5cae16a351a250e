//! A session that its agent keeps as well has two truths: our log, and what the agent replays on `session/load`.
//!
//! The replay is recorded apart, in memory or in a log of its own, the *staging log* ([`Replayed`]). Both are folded into
//! turns ([`turns`]), the turns are matched ([`align()`]), and what of the replay is new, and where it belongs, is the
//! [`Plan`], which [`crate::sessions::adopt`] carries out. Nothing in here writes.

mod align;
mod anew;
mod asides;
mod attached;
mod brought;
mod commands;
mod compactions;
mod cut_short;
mod draft;
mod event;
mod few;
mod fold;
mod grain;
mod heard;
mod images;
mod in_part;
mod joining;
mod joint;
mod judge;
mod late;
mod marks;
mod messages;
mod mingled;
mod on_the_whole;
mod open_turn;
mod own_prompts;
mod parts;
mod pieces;
mod places;
mod plan;
mod queued;
mod recut;
mod replayed;
mod review;
mod sum;
mod summary;
mod tail;
mod text;
mod together;
mod told;
mod told_apart;
mod turn;
pub mod turns;
mod typed;
mod wanted;

pub use align::align;
pub use anew::said_anew;
pub use asides::Asides;
pub use brought::Brought;
pub use commands::{are_untold_from_command, is_command};
pub use fold::Fold;
pub use grain::Grain;
pub use judge::{Evidence, judge, plan};
pub use own_prompts::with_own_prompts;
pub use places::Places;
pub use plan::{Disputed, Heard, Piece, Plan};
pub use replayed::Replayed;
pub use sum::Sum;
pub use text::Text;
pub use told::{Tells, told, without_other_branches};
pub use turn::{Half, Strip, Turn};
