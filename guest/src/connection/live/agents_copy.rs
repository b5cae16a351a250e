//! The agent's own copy of a conversation.

/// What is known of an agent's own copy of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AgentsCopy {
    /// It had nothing that the log has not when the session was opened: so the time of its last activity, once that is
    /// the time of a turn through the layer, says that nothing else was said.
    Known,
    /// It was not looked at: something may have been said in it before, which that time says nothing of.
    Unseen,
    /// The same, because somebody else was at work in the session when it was opened: the next load looks at it.
    PutOff,
}
