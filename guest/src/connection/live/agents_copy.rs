//! The agent's own copy of a conversation.

use serde::{Deserialize, Serialize};

/// How long after it was looked at, or a turn through the layer has ended, it need not be looked at for a load, in milliseconds: to
/// say something outside somebody has to open the session there and have an answer.
const RECENT_FOR_MS: i64 = 10_000;

/// What is known of an agent's own copy of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum AgentsCopy {
    /// It had nothing that the log has not: so the time of its last activity, once that is the time of the next turn through the
    /// layer, says that nothing else was said. When that was so last; none: it was begun here.
    Known { at: Option<i64> },
    /// It was so, as far as its turns through the layer go. Something may have been said between them, which that time says
    /// nothing of. When the last of them ended, or its list told so.
    KnownUpToTurns { at: i64 },
    /// It was not looked at: something may have been said in it before, which that time says nothing of.
    Unseen,
    /// It was not looked at, because somebody else was at work in the session when it was opened: the next load looks
    /// at it.
    PutOff,
    /// It was not looked at, and its agent does not tell it while it has it open.
    NotReplayedWhileOpen,
}

impl AgentsCopy {
    /// What is known of it behind a turn that has ended now. Only before the first one in a session that was begun here nothing
    /// can have been said outside.
    pub(super) fn behind_turn(self, now: i64) -> Self {
        match self {
            Self::Known { at: None } => Self::Known { at: Some(now) },
            Self::Known { .. } | Self::KnownUpToTurns { .. } => Self::KnownUpToTurns { at: now },
            Self::Unseen | Self::PutOff | Self::NotReplayedWhileOpen => self,
        }
    }

    /// Whether it need not be looked at for a load at this time.
    pub(super) fn is_recent(self, now: i64) -> bool {
        match self {
            Self::Known { at: None } => true,
            Self::Known { at: Some(at) } | Self::KnownUpToTurns { at } => (at..=at + RECENT_FOR_MS).contains(&now),
            Self::Unseen | Self::PutOff | Self::NotReplayedWhileOpen => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_agents_copy_is_known_behind_a_first_turn_and_recent_for_a_moment() {
        let begun = AgentsCopy::Known { at: None };
        let first = begun.behind_turn(60_000);
        assert_eq!(first, AgentsCopy::Known { at: Some(60_000) });
        assert!(begun.is_recent(99_000));
        assert_eq!([59_999, 60_000, 70_000, 70_001].map(|now| first.is_recent(now)), [false, true, true, false]);
        assert_eq!(first.behind_turn(61_000), AgentsCopy::KnownUpToTurns { at: 61_000 });
    }
}
