//! Lines in and out: one JSON-RPC message a line, over any pipe.

pub mod inbox;
pub mod lines;
pub mod outbox;
pub mod reader;
pub mod writer;

pub use self::inbox::{Event, Inbox, Source};
pub use self::outbox::Outbox;
