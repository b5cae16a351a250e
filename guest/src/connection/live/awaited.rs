//! Who knows that the user is waited for.

use serde::{Deserialize, Serialize};

/// What is known of the user's being waited for, in a session or on behalf of it.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(super) struct Awaited {
    /// One of the sub-agents of the session waits for the user, or one of theirs.
    pub(super) by_subagents: bool,
    /// Other windows cannot know yet that something is waited for of which the log has nothing, or that it is so no more.
    pub(super) is_unwritten: bool,
    /// The session's parent was told that it waits.
    pub(super) parent_knows: bool,
}
