//! What an agent says by itself, between turns.
//!
//! It is a part of its own last turn, whatever others have said in between. Which one that is the log need not know: a
//! prompt may never have reached the agent, or have been taken back in its own account. There the replay tells.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::sum::Sum;
use super::turn::Turn;

/// How many turns are gone back for the one that the replay has with what was said by itself.
const LOOKED_BACK: usize = 200;

/// Turns of which some, by their places, are what the agent said by itself.
#[derive(Debug)]
pub(super) struct Apart {
    pub(super) turns: Vec<Turn>,
    pub(super) asides: Vec<usize>,
}

impl Apart {
    /// Each a part of the agent's last turn before, as the log has it.
    pub(super) fn joined(self) -> Vec<Turn> {
        self.joined_by(&BTreeSet::new())
    }

    /// The same, to look at.
    pub(super) fn as_joined(&self) -> Cow<'_, [Turn]> {
        if self.asides.is_empty() {
            return Cow::Borrowed(&self.turns);
        }
        Cow::Owned(Self { turns: self.turns.clone(), asides: self.asides.clone() }.joined())
    }

    /// Each a part of the turn that it is with in the replay, if one of the agent's turns before is there with it.
    pub(super) fn joined_as(self, replay: &[Turn]) -> Vec<Turn> {
        if self.asides.is_empty() {
            return self.turns;
        }
        self.joined_by(&replay.iter().map(|turn| (turn.user, turn.agent.sum())).collect())
    }

    fn joined_by(self, replay: &BTreeSet<(Sum, Sum)>) -> Vec<Turn> {
        let mut turns: Vec<Option<Turn>> = self.turns.into_iter().map(Some).collect();
        for at in self.asides {
            let Some(aside) = turns[at].take() else { continue };
            match turn_before(&turns[..at], &aside, replay).and_then(|before| turns[before].as_mut()) {
                Some(before) => before.go_on(&aside),
                None => turns[at] = Some(aside),
            }
        }
        turns.into_iter().flatten().collect()
    }
}

/// Which of these turns it is a part of.
fn turn_before(turns: &[Option<Turn>], aside: &Turn, replay: &BTreeSet<(Sum, Sum)>) -> Option<usize> {
    let all = turns.iter().enumerate().rev().filter_map(|(at, turn)| Some((at, turn.as_ref()?)));
    let mut its = all.filter(|(_, turn)| turn.took_part != Some(false));
    let (last, turn) = its.next().filter(|(_, turn)| turn.took_part == Some(true))?;
    let with_it = |turn: &Turn| (turn.user, turn.agent.sum().followed_by(aside.agent.sum()));
    if replay.is_empty() || replay.contains(&with_it(turn)) {
        return Some(last);
    }
    let without = |turn: &Turn| replay.contains(&(turn.user, turn.agent.sum()));
    let mut earlier = its.take(LOOKED_BACK).filter(|(_, turn)| turn.took_part == Some(true) && !without(turn));
    Some(earlier.find(|(_, turn)| replay.contains(&with_it(turn))).map_or(last, |(at, _)| at))
}
