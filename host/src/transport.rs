//! Lines in and out: one JSON-RPC message a line, over any pipe, socket or terminal. Nothing here waits but
//! [`readiness::wait`], and no other thread is needed.

pub mod input;
pub mod lines;
pub mod output;
pub mod readiness;
mod unwaiting;

pub use self::input::Input;
pub use self::output::Output;

/// One side of a connection.
#[derive(Debug)]
pub struct Side {
    /// What comes from it.
    pub from: Input,
    /// What goes to it.
    pub to: Output,
}
