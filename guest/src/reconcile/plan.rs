//! What becomes of a transcript: what of a replay is new, where it belongs, and what it contradicts.

use std::ops::RangeInclusive;

/// What the agent has heard of a transcript, in entries from its beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeardRange {
    /// Up to there it was told at most.
    pub since: u64,
    /// Up to there it has heard.
    pub until: u64,
}

impl From<u64> for HeardRange {
    fn from(until: u64) -> Self {
        Self { since: 0, until }
    }
}

/// What becomes of what a transcript has and its replay does not tell, or tells otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Disputed {
    /// There is nothing of that kind.
    #[default]
    Nothing,
    /// It is set aside: the agent is believed.
    SetAside,
    /// It stays as it is, and of what the replay has in its place nothing is put in.
    Stays,
}

/// A part of the conversation as it is to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// These entries of the transcript stay.
    Keep(RangeInclusive<u64>),
    /// These entries of the staging log come here.
    Insert(RangeInclusive<u64>),
}

/// What becomes of a transcript. Entries of the transcript are numbered from 1 over all its segments.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plan {
    /// Whether the replay says anything. Where it does not, nothing changes.
    pub tells: bool,
    /// The conversation, in order.
    pub pieces: Vec<Piece>,
    /// The entries of the transcript that are taken out of the conversation.
    pub aside: Vec<RangeInclusive<u64>>,
    /// What becomes of what the two do not agree in.
    pub disputed: Disputed,
    /// The position in the new layout up to which the agent has heard everything.
    pub heard: u64,
    /// The first entry of the transcript that it has not heard, if there is one.
    pub unheard: Option<u64>,
    /// What it has heard of the transcript behind that.
    pub heard_behind: Vec<RangeInclusive<u64>>,
}

impl Plan {
    /// Whether the conversation stays as it is.
    pub fn keeps_all(&self) -> bool {
        self.aside.is_empty() && self.pieces.iter().all(|piece| matches!(piece, Piece::Keep(_)))
    }

    /// The entries of the replay that become a part of the conversation.
    pub fn inserted(&self) -> impl Iterator<Item = &RangeInclusive<u64>> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Keep(_) => None,
            Piece::Insert(range) => Some(range),
        })
    }

    /// How many entries of the transcript it is for.
    pub fn planned(&self) -> u64 {
        let kept = self.pieces.iter().filter_map(|piece| match piece {
            Piece::Keep(range) => Some(range),
            Piece::Insert(_) => None,
        });
        kept.chain(&self.aside).map(length).sum()
    }

    /// How many entries the new layout has.
    pub fn length(&self) -> u64 {
        self.pieces.iter().map(|piece| length(piece.range())).sum()
    }

    /// Where another agent stands in the new layout that had heard this many entries: behind the last of them that is
    /// followed only by what it had heard. It has not heard what is new.
    pub fn carried(&self, heard: u64) -> u64 {
        let mut position = 0;
        for piece in &self.pieces {
            match piece {
                Piece::Insert(_) => return position,
                Piece::Keep(range) if heard < *range.end() => {
                    return position + (heard + 1).saturating_sub(*range.start());
                }
                Piece::Keep(range) => position += length(range),
            }
        }
        // What it heard beyond was said after the transcript was read.
        if heard == u64::MAX { heard } else { position + heard.saturating_sub(self.planned()) }
    }

    /// How much of the new layout stands before this entry of the transcript, if it is kept.
    pub(super) fn kept_before(&self, entry: u64) -> Option<u64> {
        self.moved((entry - 1, entry)).map(|(before, _)| before)
    }

    /// Where a stretch of the transcript, behind the first of two places and up to the second, stands in the new layout, as far as
    /// it is kept.
    pub fn moved(&self, (behind, until): (u64, u64)) -> Option<(u64, u64)> {
        let (mut position, mut moved) = (0, None);
        for piece in &self.pieces {
            if let Piece::Keep(range) = piece {
                let (first, last) = (*range.start().max(&(behind + 1)), *range.end().min(&until));
                if first <= last {
                    let place = |entry: u64| position + entry + 1 - range.start();
                    let from = moved.map_or(place(first) - 1, |(from, _)| from);
                    moved = Some((from, place(last)));
                }
            }
            position += length(piece.range());
        }
        moved
    }
}

impl Piece {
    /// Its entries.
    pub fn range(&self) -> &RangeInclusive<u64> {
        match self {
            Self::Keep(range) | Self::Insert(range) => range,
        }
    }
}

pub(super) fn length(range: &RangeInclusive<u64>) -> u64 {
    (range.end() + 1).saturating_sub(*range.start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stretch_moves_with_what_is_kept_of_it() {
        let pieces = vec![Piece::Keep(1..=2), Piece::Insert(1..=3), Piece::Keep(5..=8)];
        let plan = Plan { tells: true, pieces, aside: vec![3..=4], disputed: Disputed::SetAside, ..Plan::default() };
        assert_eq!(plan.moved((2, 6)), Some((5, 7)));
        assert_eq!(plan.moved((1, 6)), Some((1, 7)), "with what has come into it");
        assert_eq!(plan.moved((0, 2)), Some((0, 2)));
        assert_eq!(plan.moved((2, 4)), None, "all of it is set aside");
        assert_eq!(plan.moved((9, 12)), None);
    }
}
