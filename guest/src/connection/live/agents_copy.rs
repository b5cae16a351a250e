//! The agent's own copy of a conversation.

/// How long after something was last said through the layer a turn may begin, in milliseconds, so that nothing can have been
/// said without it in between: somebody would have to open the session elsewhere and have an answer there.
const AT_ONCE: i64 = 10_000;

/// What is known of an agent's own copy of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AgentsCopy {
    /// It had nothing that the log has not: so the time of its last activity, once that is the time of the next turn through the
    /// layer, says that nothing else was said. When that was so last; none: it was begun here.
    Known { at: Option<i64> },
    /// It was so, as far as its turns through the layer go. Something may have been said between them, which that time says
    /// nothing of.
    Gone,
    /// It was not looked at: something may have been said in it before, which that time says nothing of.
    Unseen,
    /// The same, because somebody else was at work in the session when it was opened: the next load looks at it.
    PutOff,
    /// It was not looked at, and its agent does not tell it while it has it open.
    Untold,
}

impl AgentsCopy {
    /// What is known of it behind a turn that began and ended then.
    pub(super) fn behind_turn(self, began: i64, ended: i64) -> Self {
        match self {
            Self::Known { .. } if self.is_known(began) => Self::Known { at: Some(ended) },
            Self::Known { .. } => Self::Gone,
            Self::Gone | Self::Unseen | Self::PutOff | Self::Untold => self,
        }
    }

    /// Whether it has nothing at this time that the log has not.
    pub(super) fn is_known(self, now: i64) -> bool {
        match self {
            Self::Known { at } => at.is_none_or(|at| (at..=at + AT_ONCE).contains(&now)),
            Self::Gone | Self::Unseen | Self::PutOff | Self::Untold => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_that_follows_at_once_leaves_it_known() {
        let begun = AgentsCopy::Known { at: None };
        let first = begun.behind_turn(50_000, 60_000);
        assert_eq!(first, AgentsCopy::Known { at: Some(60_000) });
        assert_eq!(first.behind_turn(70_000, 99_000), AgentsCopy::Known { at: Some(99_000) });
        for began in [70_001, 59_999] {
            let later = first.behind_turn(began, began + 1);
            assert_eq!((later, later.is_known(began + 1)), (AgentsCopy::Gone, false), "{began}");
        }
    }
}
