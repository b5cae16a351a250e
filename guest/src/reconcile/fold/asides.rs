//! What an agent says by itself, between turns.
//!
//! It is a part of its own last turn, whatever others have said in between. Which one that is the log need not know: a
//! prompt may never have reached the agent, or have been taken back in its own account. There the replay tells.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use super::attached::AttachedPrompts;
use super::brought::Brought;
use super::compactions::Compactions;
use crate::reconcile::turn::sum::Sum;
use crate::reconcile::turn::{Half, MOST_JOINED, Turn};

/// How many turns are gone back for the one that the replay has with what was said by itself.
const LOOKED_BACK: usize = 200;

/// Turns of which some, by their places, are what the agent said by itself, what of their prompts has something attached, or is as a
/// summary is, and where what was said before was compacted.
#[derive(Debug)]
pub(in crate::reconcile) struct Apart {
    pub(in crate::reconcile) turns: Vec<Turn>,
    pub(in crate::reconcile) asides: Vec<usize>,
    pub(in crate::reconcile) attached: Arc<AttachedPrompts>,
    pub(in crate::reconcile) brought: Brought,
    pub(in crate::reconcile) compactions: Compactions,
}

/// What is to be known of a replay because the agent said something by itself.
#[derive(Debug, Clone, Default)]
pub struct Asides {
    /// What it said by itself.
    pub(in crate::reconcile) said: Vec<Half>,
    /// What was said before that in the turn that it is a part of, as the log has it: by the user, and by the agent.
    pub(in crate::reconcile) behind: Vec<(Sum, Sum)>,
}

impl Asides {
    /// The prompts that nobody had answered before, from the last.
    pub(in crate::reconcile) fn prompts(&self) -> impl Iterator<Item = Half> {
        let behind = self.behind.iter().rev();
        behind.filter(|(user, agent)| !user.is_empty() && agent.is_empty()).map(|(user, _)| Half::Prompt(*user))
    }
}

impl Apart {
    /// Each a part of the agent's last turn before, as the log has it.
    pub(in crate::reconcile) fn joined(self) -> Vec<Turn> {
        self.joined_as(&[])
    }

    /// The turns joined so, to look at, and what they are made of.
    pub(in crate::reconcile) fn as_joined(&self) -> (Cow<'_, [Turn]>, Asides) {
        if self.asides.is_empty() {
            return (Cow::Borrowed(&self.turns), Asides::default());
        }
        let said = self.asides.iter().filter_map(|at| self.turns[*at].half()).collect();
        let mut asides = Asides { said, behind: Vec::new() };
        let apart = Self {
            turns: self.turns.clone(),
            asides: self.asides.clone(),
            attached: Arc::default(),
            brought: Brought::default(),
            compactions: Compactions::default(),
        };
        (Cow::Owned(apart.join(&[], &mut asides.behind)), asides)
    }

    /// Each a part of the turn that it is with in the replay, if one of the agent's turns before is there with it; by itself
    /// where the replay has that turn without it.
    pub(in crate::reconcile) fn joined_as(self, replay: &[Turn]) -> Vec<Turn> {
        self.join(replay, &mut Vec::new())
    }

    fn join(self, replay: &[Turn], behind: &mut Vec<(Sum, Sum)>) -> Vec<Turn> {
        if self.asides.is_empty() {
            return self.turns;
        }
        let told = ReplayedTurns { turns: replay, all: replay.iter().map(Turn::said).collect() };
        let mut turns: Vec<Option<Turn>> = self.turns.into_iter().map(Some).collect();
        for at in self.asides {
            let Some(aside) = turns[at].take() else { continue };
            let its = turn_before(&turns[..at], &aside, &told);
            match its.and_then(|(before, behind)| Some((turns[before].as_mut()?, behind))) {
                Some((before, BehindWhat::WhatIsKnown)) => {
                    behind.push(before.said());
                    before.go_on(&aside);
                    before.has_aside = true;
                }
                Some((before, BehindWhat::WhatWasLost)) => before.lie_with(&aside),
                None => turns[at] = Some(aside),
            }
        }
        turns.into_iter().flatten().collect()
    }
}

/// What an agent replays; nothing, where it is not known.
struct ReplayedTurns<'a> {
    turns: &'a [Turn],
    all: BTreeSet<(Sum, Sum)>,
}

/// What of a turn something was said behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BehindWhat {
    /// What the log has of its answer.
    WhatIsKnown,
    /// More of its answer, which the log has not.
    WhatWasLost,
}

/// Which of these turns it is a part of.
fn turn_before(turns: &[Option<Turn>], aside: &Turn, told: &ReplayedTurns<'_>) -> Option<(usize, BehindWhat)> {
    let all = turns.iter().enumerate().rev().filter_map(|(at, turn)| Some((at, turn.as_ref()?)));
    let mut its = all.filter(|(_, turn)| turn.took_part != Some(false) && !turn.refused);
    let (last, turn) = its.next().filter(|(_, turn)| turn.took_part == Some(true))?;
    let is_told_with_it = |at: usize, turn: &Turn| {
        let answer = turn.agent.sum().followed_by(aside.agent.sum());
        prompts_up_to(turns, at, turn.user).any(|prompt| told.all.contains(&(prompt, answer)))
    };
    if told.turns.is_empty() || is_told_with_it(last, turn) {
        return Some((last, BehindWhat::WhatIsKnown));
    }
    let without = |turn: &Turn| told.all.contains(&turn.said());
    let earlier: Vec<(usize, &Turn)> =
        its.take(LOOKED_BACK).filter(|(_, turn)| turn.took_part == Some(true) && !without(turn)).collect();
    if let Some((at, _)) = earlier.iter().find(|(at, turn)| is_told_with_it(*at, turn)) {
        return Some((*at, BehindWhat::WhatIsKnown));
    }
    let goes_on = |theirs: &Turn| theirs.holds(aside) && theirs.agent.begins_with(turn.agent.sum());
    if told.turns.iter().any(|theirs| theirs.user == turn.user && goes_on(theirs)) {
        // To an agent with one transcript, what it said at the same time in other windows stands in it as well.
        let is_at_once = |other: &Turn| turn.at.start() < other.ended_at() && other.at.start() < turn.ended_at();
        let has_others = earlier.iter().any(|(_, other)| is_at_once(other));
        return Some((last, if has_others { BehindWhat::WhatIsKnown } else { BehindWhat::WhatWasLost }));
    }
    let mut ends = told.turns.iter().filter(|theirs| theirs.user != turn.user && theirs.holds(aside));
    let is_told_otherwise = !without(turn) && told.turns.iter().any(|theirs| theirs.user == turn.user);
    if is_told_otherwise || ends.clone().next().is_none() {
        // Another program of the agent's may keep the session by itself.
        return (!without(turn)).then_some((last, BehindWhat::WhatIsKnown));
    }
    // The last prompt has not reached the agent, and of its answer to the one before a part was lost on its way. Or it was
    // said behind something that the log has not.
    let is_its_end = |turn: &Turn, theirs: &Turn| {
        !turn.is_finished() && theirs.user == turn.user && theirs.agent.begins_with(turn.agent.sum())
    };
    let its = ends.find_map(|theirs| earlier.iter().find(|(_, turn)| is_its_end(turn, theirs)));
    // Of a command its agent need not keep the prompt: it has gone on with that, as Codex does until a goal is reached.
    let goes_on_with_command = turn.is_command && turn.is_finished() && !without(turn);
    its.map(|(at, _)| (*at, BehindWhat::WhatWasLost))
        .or(goes_on_with_command.then_some((last, BehindWhat::WhatIsKnown)))
}

/// This prompt of the turn in this place; and together with those before it that nobody answered, which agents put together.
fn prompts_up_to(turns: &[Option<Turn>], at: usize, prompt: Sum) -> impl Iterator<Item = Sum> {
    let before = turns[..at].iter().rev().flatten().filter(|turn| turn.took_part != Some(false));
    let unanswered = before.take_while(|turn| !turn.user.is_empty() && turn.agent.sum().is_empty()).take(MOST_JOINED);
    let joined = unanswered.scan(prompt, |joined, turn| {
        *joined = turn.user.followed_by(*joined);
        Some(*joined)
    });
    std::iter::once(prompt).chain(joined)
}
