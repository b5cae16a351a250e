//! Engines that do what they should not, run as a user would run them, with `--component`: what they use up is bounded, the
//! request at which they fail gets an error, and a new instance carries on.

mod commands;
mod connection;
mod kept;
mod shapes;
