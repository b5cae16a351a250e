//! A session that its agent keeps as well: what the agent replays against what the log holds.

mod adopting;
mod cases;
mod folding;
mod large;
mod property;
mod scene;
mod windows;
