//! A session that its agent keeps as well: what the agent replays against what the log holds.

mod adopting;
mod attachments;
mod case;
mod cases;
mod commands;
mod cut_short;
mod folding;
mod large;
mod lossy;
mod property;
mod queues;
mod scene;
mod searching;
mod windows;
