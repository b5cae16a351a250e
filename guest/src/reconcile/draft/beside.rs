//! What an agent does not tell because it was had beside what it tells, in another window: nobody went back behind it, and it is kept.

use std::borrow::Cow;

use super::{Draft, KnownToAgent};
use crate::reconcile::compare::telling::is_any_told;
use crate::reconcile::turn::{Outcome, Turn};

impl Draft {
    /// Whether a turn is one of a window that had been opened before that other one's turn had come to its end: its program need not
    /// have read that.
    pub(super) fn is_elsewhere(&self, turn: &Turn, told: &Turn) -> bool {
        let is_before = |first: &u64| *first < told.ended_at();
        told.window != 0 && turn.window != told.window && self.windows.get(&turn.window).is_some_and(is_before)
    }

    /// Whether it has heard all of a turn of which it tells nothing, or the beginning alone: it was prompted behind it, with an
    /// account of it if it was had in another window. What it was prompted without the layer says nothing of that.
    pub(super) fn heard_behind(&self, turn: &Turn) -> bool {
        turn.at.end() < self.told_from && turn.at.end() <= self.heard_before
    }

    /// Keeps what the agent leaves out of its replay, or had in another window.
    pub(super) fn keep_left_out(&mut self, turns: Vec<&Turn>) {
        let (heard, beside): (Vec<&Turn>, Vec<&Turn>) = turns.into_iter().partition(|turn| self.heard_behind(turn));
        self.keep(heard, KnownToAgent::Yes);
        self.keep(beside, KnownToAgent::No);
    }

    /// Keeps what others said, and what the agent had in another window and does not tell before the `next` turn.
    pub(super) fn keep_untold<'a>(
        &mut self,
        turns: impl IntoIterator<Item = &'a Turn>,
        replay: &[Turn],
        next: Option<&Turn>,
    ) {
        for turn in turns {
            if self.is_unread(turn, replay, next) {
                self.keep_left_out(vec![turn]);
            } else {
                self.keep_others([turn]);
            }
        }
    }

    /// Whether it is a whole turn of another window of which nothing is told, and which the program that went on with the `next` turn
    /// need not have read: whatever is told otherwise of what stands beside it, nobody went back behind it.
    pub(super) fn is_unread(&self, turn: &Turn, replay: &[Turn], next: Option<&Turn>) -> bool {
        let is_elsewhere = next.is_some_and(|next| self.is_elsewhere(next, turn));
        is_elsewhere && self.has_heard(turn) && turn.is_finished() && !is_any_told(turn, replay)
    }

    /// Keeps turns of other windows that were open before the last turn that is told had come to its end, those that are beside it, and
    /// of which nothing is told: nobody went back behind them, they stand on other branches of the agent's. So it is where there are no
    /// others that it tells nothing of. What is left.
    pub(super) fn without_beside<'t>(
        &mut self,
        told: Option<&Turn>,
        log: &'t [Turn],
        replay: &[Turn],
        is_beside: impl Fn(&Self, &Turn, &Turn) -> bool,
    ) -> Cow<'t, [Turn]> {
        let untold: Vec<bool> = log.iter().map(|turn| self.has_heard(turn) && !self.may_not_be_kept(turn)).collect();
        let is_untold_beside =
            |turn: &Turn| told.is_some_and(|told| is_beside(self, turn, told)) && !is_any_told(turn, replay);
        let mut all = log.iter().zip(&untold).filter(|(_, is_untold)| **is_untold).map(|(turn, _)| turn).peekable();
        if all.peek().is_none() || !all.all(is_untold_beside) {
            return Cow::Borrowed(log);
        }
        let (beside, rest): (Vec<_>, Vec<_>) = log.iter().zip(untold).partition(|(_, is_untold)| *is_untold);
        self.keep_left_out(beside.into_iter().map(|(turn, _)| turn).collect());
        Cow::Owned(rest.into_iter().map(|(turn, _)| turn.clone()).collect())
    }

    /// Whether the agent's session need not have it, though it was prompted there: it was cut off, and the agent said nothing, or
    /// is not known to have heard it.
    pub(super) fn may_not_be_kept(&self, turn: &Turn) -> bool {
        turn.outcome == Outcome::Nothing || !turn.is_finished() && turn.at.start() > self.heard_before
    }
}

/// Whether a turn was begun before that other one, in another window, had come to its end.
pub(super) fn is_at_once(turn: &Turn, told: &Turn) -> bool {
    turn.is_begun_before_end_of(told) && turn.one_with != told.one_with
}
