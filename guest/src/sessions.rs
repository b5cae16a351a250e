//! What is done to sessions, one operation a file. All of it works on the store alone; which connection asks, and
//! what goes to the agent, is [`crate::connection`]'s.

pub mod adopt;
pub mod agreed;
pub mod archive;
pub mod changes;
pub mod checkup;
pub mod create;
pub mod cursor;
pub mod delete;
pub mod discovered;
pub mod filter;
mod fingerprint;
pub mod folders;
pub mod fork;
pub mod info;
pub mod list;
pub mod mend;
pub mod open_marks;
pub mod panel;
pub mod permissions;
pub mod place;
pub mod refused;
pub mod relocate;
pub mod removal;
pub mod rename;
pub mod retention;
pub mod staging;
pub mod states;
pub mod subagent;
pub mod title;
pub mod transcript;
pub mod turn_usage;
pub mod upgrade;
pub mod usage;
pub mod vanish;
pub mod walk;
pub mod windows;
