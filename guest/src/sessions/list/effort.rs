//! How far a search goes to fill a page.

/// How a search goes about it: numbers of sessions.
///
/// A word that hardly anybody holds is found at once, and one that most hold among the first that are tried. Only between
/// the two does it pay to look who holds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effort {
    /// How many may hold a word that is looked up before anything is tried.
    pub rare: usize,
    /// How many on the list are tried before a word is looked up that more hold.
    pub glanced: usize,
    /// How many are tried where one of those matches.
    pub tried_first: usize,
    /// Where these tell that the page will be full after so many, no word is looked up.
    pub near: usize,
    /// How many may hold a word that is looked up then.
    pub few: usize,
    /// How many of those who hold one word are tried before the next word is looked up.
    pub sampled: usize,
    /// How many are tried for one page. What no look into the index tells takes long to find, and nobody else is served
    /// meanwhile: the page ends there, with fewer rows than asked for and a cursor that goes on.
    pub most_tried: usize,
    /// How many are tried before a page ends that has no row at all: clients may take such a page for the end.
    pub most_in_vain: usize,
}

impl Default for Effort {
    fn default() -> Self {
        Self {
            rare: 63,
            glanced: 16,
            tried_first: 64,
            near: 1000,
            few: 2000,
            sampled: 24,
            most_tried: 5000,
            most_in_vain: 20_000,
        }
    }
}
