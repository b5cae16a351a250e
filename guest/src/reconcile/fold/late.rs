//! Turns that were written late: a window that cannot write to the store for a while keeps what is said in it, and writes it
//! behind what other windows wrote meanwhile.

use std::collections::VecDeque;

use crate::reconcile::turn::places::Places;

/// How many turns before one are looked at, the last ones.
const MOST: usize = 64;

/// When the last turns of prompts that were sent through the layer came to their end.
#[derive(Debug, Default)]
pub(super) struct Ends(VecDeque<End>);

#[derive(Debug)]
struct End {
    /// The number of the last entry.
    at: u64,
    /// When it was made, in milliseconds since 1970.
    time: i64,
}

impl Ends {
    /// Where a turn at these places, which was begun at this time, would begin, had it been written at once: that is before the end
    /// of what ended later.
    pub(super) fn begun_at(&self, places: &Places, began: i64) -> u64 {
        let ended_later = self.0.iter().filter(|end| end.time > began && end.at < places.start());
        ended_later.map(|end| end.at).min().map_or(places.start(), |end| end - 1)
    }

    /// A turn at these places came to its end at this time.
    pub(super) fn note(&mut self, places: &Places, time: i64) {
        if self.0.len() == MOST {
            self.0.pop_front();
        }
        self.0.push_back(End { at: places.end(), time });
    }
}
