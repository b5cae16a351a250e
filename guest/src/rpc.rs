//! JSON-RPC 2.0, one message a line: the envelope, ids and errors.
//!
//! Parsing borrows. What passes is never rebuilt: where one value in a line has to change, it is spliced in place, so
//! that every byte around it, unknown fields and all, stays as it was sent.

mod array;
mod depth;
mod error;
mod head;
mod id;
mod line;
mod loose;
mod message;
mod number;
mod object;
mod same;
mod strict;
mod tail;
mod text;

pub use array::elements;
pub use depth::{DEEPEST, is_too_deep};
pub use error::{Code, RpcError};
pub use id::Id;
pub use line::{failure, notification, notification_head, request, response, splice};
pub use loose::{Bad, Malformed, Meant, What};
pub use message::{Message, NotAMessage, Outcome};
pub use number::{count, whole_number};
pub use object::Object;
pub use same::{is_same, print_of};
pub use strict::count_objects;
pub use text::text;
