//! Turns that an agent cuts otherwise than the log: it joins prompts that nobody answered, or tells apart those for whose
//! answers a client did not wait.

use crate::reconcile::turn::Turn;
use crate::reconcile::turn::sum::Sum;

/// What was said in some turns, by the user and by the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct SaidByBoth {
    user: Sum,
    agent: Sum,
}

impl SaidByBoth {
    fn and(self, turn: &Turn) -> Self {
        Self { user: self.user.followed_by(turn.user), agent: self.agent.followed_by(turn.agent.sum()) }
    }

    fn behind(self, turn: &Turn) -> Self {
        Self { user: turn.user.followed_by(self.user), agent: turn.agent.sum().followed_by(self.agent) }
    }

    fn length(self) -> u64 {
        self.user.length() + self.agent.length()
    }
}

/// How many turns of each, from the first on, say the same where they are put together: as many as there are.
pub(in crate::reconcile) fn alike(log: &[&Turn], replay: &[Turn]) -> Option<(usize, usize)> {
    let (mut ours, mut theirs) = (SaidByBoth::default(), SaidByBoth::default());
    let (mut at, mut other) = (0, 0);
    let mut found = None;
    loop {
        // Where they are alike, both are as long.
        if ours.length() <= theirs.length() {
            let Some(turn) = log.get(at) else { return found };
            (ours, at) = (ours.and(turn), at + 1);
        } else {
            let Some(turn) = replay.get(other) else { return found };
            (theirs, other) = (theirs.and(turn), other + 1);
        }
        if ours == theirs && ours.length() > 0 {
            found = Some((at, other));
        }
    }
}

/// From which turn of each on they say the same where they are put together, up to the last: the first such turns.
pub(in crate::reconcile) fn alike_at_end(log: &[&Turn], replay: &[Turn]) -> Option<(usize, usize)> {
    let (mut ours, mut theirs) = (SaidByBoth::default(), SaidByBoth::default());
    let (mut at, mut other) = (log.len(), replay.len());
    let mut found = None;
    loop {
        if ours.length() <= theirs.length() {
            let Some(before) = at.checked_sub(1) else { return found };
            (ours, at) = (ours.behind(log[before]), before);
        } else {
            let Some(before) = other.checked_sub(1) else { return found };
            (theirs, other) = (theirs.behind(&replay[before]), before);
        }
        if ours == theirs && ours.length() > 0 {
            found = Some((at, other));
        }
    }
}
