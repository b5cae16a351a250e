//! A session that its agent keeps as well has two truths: our log, and what the agent replays on `session/load`.
//!
//! The replay is recorded apart, in memory or in a log of its own, the *staging log* ([`Replayed`]). Both are folded into
//! turns ([`turns`]), the turns are matched ([`align()`]), and what of the replay is new, and where it belongs, is the
//! [`Plan`], which [`crate::sessions::adopt`] carries out. Nothing in here writes.

mod anew;
mod compare;
mod draft;
mod fold;
mod judge;
mod own_prompts;
mod plan;
mod replayed;
mod told;
mod turn;
pub mod turns;

pub use anew::said_anew;
pub use compare::align::align;
pub use compare::commands::{are_untold_from_command, is_command};
pub use fold::Fold;
pub use fold::asides::Asides;
pub use fold::brought::Brought;
pub use fold::grain::Grain;
pub use judge::{Evidence, judge, plan};
pub use own_prompts::with_own_prompts;
pub use plan::{Disputed, HeardRange, Piece, Plan};
pub use replayed::Replayed;
pub use told::{Tells, left_with, told, without_other_branches};
pub use turn::places::Places;
pub use turn::sum::Sum;
pub use turn::text::Text;
pub use turn::{Half, Strip, Turn};
