//! What a session is doing now (draft: session list extensions, `state`).

/// What a session is doing. Of several connections that have it open the greatest counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum ActivityState {
    /// It is open, and nothing is under way in it.
    #[default]
    Idle,
    /// Its agent is at work on a prompt.
    Running,
    /// Its agent waits for its user.
    RequiresAction,
}

impl ActivityState {
    const ALL: [Self; 3] = [Self::Idle, Self::Running, Self::RequiresAction];

    /// What the protocol calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Running => "running",
            Self::RequiresAction => "requires_action",
        }
    }

    /// The state that the protocol calls so.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }

    /// What an open mark calls it.
    pub fn letter(self) -> &'static str {
        match self {
            Self::Idle => "i",
            Self::Running => "r",
            Self::RequiresAction => "a",
        }
    }

    /// The state that an open mark calls so.
    pub fn of_letter(letter: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.letter() == letter)
    }
}
