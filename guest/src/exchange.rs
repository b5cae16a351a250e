//! What an engine and its host give each other: arrivals in, outputs out.

/// One side of the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Peer {
    /// The editor.
    Client,
    /// The agent behind.
    Agent,
}

/// What arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// One line without its line end.
    Line(String),
    /// A line over the host's limit, which it did not keep: the first few kilobytes and, behind a line feed, the last
    /// kilobyte of the rest.
    TooLong(String),
    /// A line that is not UTF-8, with U+FFFD in the place of whatever is none; of one that would be over the limit so, what
    /// there is of one that is too long.
    NotText(String),
    /// A line at which instances were lost again and again: what there is of one that is too long.
    NotBearable(String),
}

/// Something that arrived, and from where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arrival {
    /// The sender.
    pub peer: Peer,
    /// What it sent.
    pub content: Content,
}

/// Something for the host to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// Send this line to the client.
    ToClient(String),
    /// Send this line to the agent.
    ToAgent(String),
    /// Keep this for as long as the connection lasts; without a value, forget it.
    Keep {
        /// The memo's key.
        key: String,
        /// The memo.
        value: Option<String>,
    },
    /// Log this.
    Warn(String),
}

/// Why an engine does not start.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// A setting that is unknown or has a bad value.
    #[error("{0}")]
    BadSetting(String),
    /// The store failed.
    #[error(transparent)]
    Storage(#[from] crate::storage::StorageError),
}
