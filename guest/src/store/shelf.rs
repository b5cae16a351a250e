//! Which part of the list a session stands in.

/// The parts of the list that are shown or left out as a whole. Each has an index of its own, so that leaving
/// one out costs nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shelf {
    /// Archived sessions.
    pub archived: bool,
    /// Sessions that another session's agent started.
    pub subagent: bool,
}

impl Shelf {
    /// Every shelf.
    pub const ALL: [Self; 4] = [
        Self { archived: false, subagent: false },
        Self { archived: true, subagent: false },
        Self { archived: false, subagent: true },
        Self { archived: true, subagent: true },
    ];

    /// Its letter in keys.
    pub fn letter(self) -> char {
        match (self.archived, self.subagent) {
            (false, false) => 'm',
            (true, false) => 'a',
            (false, true) => 's',
            (true, true) => 'z',
        }
    }
}
