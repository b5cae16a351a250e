//! A session that was found under another of its agent's names.

/// One of the agent's sessions: as who it is known under each of the two; see [`crate::transcript::speaker`].
pub(super) struct Renamed {
    /// The id here.
    pub(super) id: String,
    /// Under the name that it was found under.
    pub(super) was: String,
    /// Under the one that the agent has now.
    pub(super) is: String,
}
