//! What an agent says of a session when it has answered that it has it open, and the client does not have it yet.

use crate::rpc::Id;

/// Something that waits for the session to be open.
#[derive(Debug)]
pub(super) enum Held {
    /// The line of an update.
    Update(String),
    /// The line of an update that came behind the end of what the agent has told of the history, which has it not.
    Behind(String),
    /// The line of an update that stood in what the agent has told of the history: the transcript may have it.
    Notice(String),
    /// The line of a request to the user, by its id.
    Question(Id, String),
    /// The line by which the agent takes such a request back.
    Withdrawal(String),
    /// What came from here on did not find room.
    Overflow,
}

impl Held {
    /// The line, where it is that of an update.
    pub(super) fn as_update(&self) -> Option<&str> {
        match self {
            Self::Update(line) | Self::Behind(line) => Some(line),
            Self::Notice(_) | Self::Question(..) | Self::Withdrawal(_) | Self::Overflow => None,
        }
    }
}
