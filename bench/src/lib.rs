//! What `cargo xtask bench list` needs besides the program itself: stores of any size, made by the engine's own code,
//! and the floor that its lists are compared with.

pub mod fill;
pub mod floor;
mod many;

pub use many::{
    AGENT, COMMON_WORD, FREQUENT_WORDS, HALVES, RARE_SESSIONS, RARE_WORD, SCARCE_APART, SCARCE_SESSIONS, SCARCE_WORDS,
};
