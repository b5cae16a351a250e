//! How finely a conversation is taken apart.

use crate::reconcile::turn::Turn;

/// What a conversation is taken apart into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Grain {
    /// What a user said and what came of it.
    #[default]
    Turns,
    /// What a user said, and each of the agent's messages with what it did before.
    Answers,
    /// As [`Grain::Turns`], and each message of the user is one.
    Prompts,
}

impl Grain {
    /// For a replay of these turns: without what the user said, or without what the agent said, its messages follow each
    /// other with nothing between them.
    pub fn of(replay: &[Turn]) -> Self {
        let has_user = replay.iter().any(|turn| !turn.user.is_empty());
        let has_agent = replay.iter().any(|turn| !turn.agent.sum().is_empty());
        match (has_user, has_agent) {
            (false, true) => Self::Answers,
            (true, false) => Self::Prompts,
            _ => Self::Turns,
        }
    }
}
