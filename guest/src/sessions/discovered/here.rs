//! How the connection that takes a row in stands to its session.

/// What a connection has to do with a session of the agent's that is in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Here {
    /// It has the session open.
    Open,
    /// The agent has made the session for it in vain. Unless somebody else has it, it is nobody's.
    InVain,
    /// Nothing.
    Nothing,
}
