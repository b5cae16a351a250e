//! Whose the agent's ids are.

/// Whose an id of the agent's is.
#[derive(Debug, Clone)]
pub(super) enum Owner {
    /// A session of ours.
    Session(String),
    /// One that the agent was known to under another name only.
    UnderOtherName {
        /// Its id here.
        id: String,
        /// Under which.
        name: String,
    },
    /// One that was deleted here.
    Deleted,
    Nobody,
}
