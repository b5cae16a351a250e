//! A naive model of session lists (a `Vec`, a sort, a filter), random stores and requests, and the properties that
//! must hold between the two.
//!
//! The suite does not know what it tests: a [`Lister`] is the engine as a library, the built component, or anything
//! else that answers `session/list`.

mod change;
mod check;
mod lister;
mod model;
mod native;
mod question;
mod refusal;
mod session;
pub mod strategy;
mod suite;
mod under_change;
mod vocabulary;

pub use change::{Change, Intent};
pub use check::{row_is_right, whole_list};
pub use lister::{Lister, Refusal};
pub use model::Model;
pub use native::Native;
pub use question::{Agents, Archived, Bound, Question, Term};
pub use refusal::{cursors_are_tied, wrong_fields_are_named};
pub use session::{Session, Text, write};
pub use suite::{Scale, run};
pub use under_change::paged_under_change;
pub use vocabulary::{AGENTS, DIRECTORIES, WORDS, Word, are_worktrees, worktrees_of};
