//! What is done to sessions, one operation a file. All of it works on the store alone; which connection asks, and
//! what goes to the agent, is [`crate::connection`]'s.

pub mod archive;
pub mod rename;
pub mod list;
pub mod retention;
pub mod create;
pub mod walk;
pub mod filter;
pub mod cursor;
pub mod delete;
pub mod fork;
pub mod info;
pub mod open_marks;
pub mod title;
