//! An agent may tell a history for two requests at once: what it tells for the one cannot be told from what it tells for the
//! other.

/// Whether what was told is mixed with what was told for an earlier request, that nobody waits for any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mixed {
    /// As far as is known it is not.
    No,
    /// It is: the agent is asked once more when it has answered the earlier request.
    Found,
    /// The agent was asked once more, or is not worth asking. If it is mixed again it is not compared.
    Settled,
}
