//! The agents behind the engine: a command of any kind, the small built-in one, or none where a conductor has it.

mod builtin;
mod chained;
mod command;
mod process_group;
mod rpc;

use std::os::fd::BorrowedFd;
use std::time::Duration;

pub use self::builtin::Builtin;
pub use self::chained::Chained;
pub use self::command::{Command, SpawnError};

/// An agent as the runner ends it. Closing its input asks it to end when it has done what it was sent; where that does
/// not help, there is more.
pub trait Agent: Send {
    /// A descriptor that hangs up when the agent has ended; none where its output ends with it in any case.
    fn exit(&self) -> Option<BorrowedFd<'_>>;

    /// Asks it to end now.
    fn terminate(&self);

    /// Ends it, and all it has started.
    fn kill(&self);

    /// How it ended, in words, waiting for that a while; none if it still runs.
    fn ended(&self, wait: Duration) -> Option<String>;
}
