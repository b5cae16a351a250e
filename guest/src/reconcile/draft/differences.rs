//! What of a transcript and a replay goes with each other, and what becomes of what one of them has and the other has not.

use super::beside::is_at_once;
use super::{Draft, KnownToAgent, Prompts};
use crate::reconcile::compare::align::TELLING;
use crate::reconcile::compare::recut::{alike, alike_at_end};
use crate::reconcile::compare::telling::{is_any_told, is_held, told_by};
use crate::reconcile::plan::{Disputed, HeardRange};
use crate::reconcile::turn::{Turn, Uncopied, said_together};

/// How many turns that were cut off one behind the other are looked at that an agent has left out between what it tells.
const MOST_CUT_OFF: usize = 64;

impl Draft {
    /// These turns are the same in both.
    pub(in crate::reconcile) fn compare<'a>(&mut self, mut pairs: impl Iterator<Item = (&'a Turn, &'a Turn)>) {
        if pairs.any(|(ours, theirs)| !theirs.user.is_empty() && ours.user != theirs.user) {
            self.prompts = Prompts::Rewritten;
        }
    }

    /// What comes before an answer that is replayed, without the prompt to it where none is replayed.
    pub(in crate::reconcile) fn without_prompt<'a>(&self, log: &'a [Turn]) -> (&'a [Turn], &'a [Turn]) {
        let prompt = match self.prompts {
            // What went to another agent is no prompt to this one's answer.
            Prompts::LeftOut => log.iter().rev().take_while(|turn| is_prompt_to_it(turn)).count(),
            Prompts::AsSaid | Prompts::Rewritten => 0,
        };
        log.split_at(log.len() - prompt)
    }

    /// The same turn in both.
    pub(in crate::reconcile) fn pair(&mut self, ours: &Turn, theirs: &Turn) {
        if theirs.agent.sum().length() > ours.agent.sum().length() {
            self.set_aside(&[ours]);
            self.insert([theirs]);
        } else if ours.uncopied != Uncopied::Nothing && theirs.agent.sum().length() < ours.agent.sum().length() {
            // It has copied no more of it, and may have been told the rest.
            self.keep_others([ours]);
        } else if (ours.is_told_in_part(theirs) || ours.is_told_by_prompt(theirs)) && !self.heard_behind(ours) {
            self.keep_lost(ours);
        } else {
            self.keep_same(std::slice::from_ref(ours), std::slice::from_ref(theirs));
        }
    }

    /// Keeps what both say alike from here on, though they cut it into other turns. What is left of both.
    fn keep_alike<'t>(&mut self, log: &'t [Turn], replay: &'t [Turn]) -> (&'t [Turn], &'t [Turn]) {
        let by_part = |turn: &Turn| self.has_part_in(turn);
        let by_hearing = |turn: &Turn| self.has_heard(turn);
        let ways: [&dyn Fn(&Turn) -> bool; 2] = [&by_part, &by_hearing];
        let found = ways.into_iter().find_map(|is_known| {
            let places: Vec<usize> = (0..log.len()).filter(|at| is_known(&log[*at])).collect();
            let known: Vec<&Turn> = places.iter().map(|at| &log[*at]).collect();
            let (ours, theirs) = alike(&known, replay)?;
            let (same, rest) = log.split_at(places[ours - 1] + 1);
            let (known, unknown): (Vec<&Turn>, Vec<&Turn>) = same.iter().partition(|turn| is_known(turn));
            Some((known, unknown, (rest, &replay[theirs..])))
        });
        let Some((known, unknown, rest)) = found else { return (log, replay) };
        self.keep(known, KnownToAgent::Yes);
        self.keep_others(unknown);
        rest
    }

    /// What lies between turns that are the same, behind the one that is `told`, or before the first, and before the `next` of the log.
    pub(in crate::reconcile) fn between(
        &mut self,
        told: Option<&Turn>,
        next: Option<&Turn>,
        log: &[Turn],
        replay: &[Turn],
    ) {
        if self.stays(log, replay, |draft| draft.between(told, next, log, replay)) {
            return;
        }
        let (all, (log, replay)) = (log, self.keep_alike(log, replay));
        let alike = &all[..all.len() - log.len()];
        let behind = told.is_some() || !alike.is_empty();
        let told = alike.iter().rfind(|turn| self.has_part_in(turn)).or(told);
        let is_beside =
            |draft: &Self, turn: &Turn, told: &Turn| !is_at_once(turn, told) && draft.is_elsewhere(turn, told);
        let log = &*self.without_beside(told, log, replay, is_beside);
        let (known, unknown) = self.by_knowledge(log);
        if replay.iter().all(Turn::is_silent) {
            self.insert(replay);
            // It went on from there, so it did not lose what it had heard: it leaves it out of its replay, or had it in another
            // window. What was cut off need not be in its session.
            let (left_out, cut_off): (Vec<&Turn>, Vec<&Turn>) = known.iter().partition(|turn| turn.is_finished());
            self.keep_left_out(left_out);
            self.keep_others(cut_off);
            self.keep_others(unknown);
        } else {
            let is_enclosed = behind && log.iter().all(|turn| self.has_part_in(turn));
            self.both(log, replay, is_enclosed, next);
        }
    }

    /// What lies behind the last turn that is the same.
    pub(in crate::reconcile) fn at_end(&mut self, told: Option<&Turn>, log: &[Turn], replay: &[Turn]) {
        if self.stays(log, replay, |draft| draft.at_end(told, log, replay)) {
            return;
        }
        let (all, (log, replay)) = (log, self.keep_alike(log, replay));
        let alike = &all[..all.len() - log.len()];
        let told = alike.iter().rfind(|turn| self.has_part_in(turn)).or(told);
        let is_beside =
            |draft: &Self, turn: &Turn, told: &Turn| is_at_once(turn, told) || draft.is_elsewhere(turn, told);
        let log = &*self.without_beside(told, log, replay, is_beside);
        let (known, unknown) = self.by_knowledge(log);
        if replay.iter().all(Turn::is_silent) {
            self.insert(replay);
            let is_lost = |turn: &Turn| self.moved_on && !self.may_not_be_kept(turn);
            // Whoever went back behind what had come to its end did so with what was cut off behind that, and had got an answer.
            let whole = known.iter().find(|turn| is_lost(turn) && turn.is_finished()).map(|turn| turn.at.end());
            let goes_with_it = |turn: &Turn| whole.is_some_and(|end| turn.at.start() > end) && turn.half().is_none();
            let (missing, lost): (Vec<&Turn>, Vec<&Turn>) =
                known.iter().partition(|turn| !is_lost(turn) && !goes_with_it(turn));
            self.give_up(&lost);
            self.keep(missing, KnownToAgent::No);
            self.keep_others(unknown);
        } else {
            self.both(log, replay, false, None);
        }
    }

    /// Keeps these turns as they are if what the replay has in their place contradicts them, and that is not to be believed. What it
    /// has behind the last prompt of theirs contradicts nothing.
    fn stays(&mut self, log: &[Turn], replay: &[Turn], compare: impl FnOnce(&mut Self)) -> bool {
        if !self.yields {
            return false;
        }
        let mut alone = Self::new(HeardRange { since: self.since, until: self.heard_before }, self.moved_on, &[]);
        (alone.prompts, alone.told_from, alone.windows) = (self.prompts, self.told_from, self.windows.clone());
        compare(&mut alone);
        if alone.plan.disputed == Disputed::Nothing {
            return false;
        }
        self.plan.disputed = Disputed::Stays;
        self.keep_took_part(log);
        let last = log.iter().rfind(|turn| self.has_part_in(turn) && !turn.user.is_empty());
        if let Some(last) = last.and_then(|last| replay.iter().rposition(|theirs| theirs.user == last.user)) {
            self.insert(&replay[last + 1..]);
        }
        true
    }

    /// Each has what the other has not, before the `next` turn that is the same, if there is one. `is_enclosed`: it went on from there in
    /// both, and had heard it.
    fn both(&mut self, log: &[Turn], replay: &[Turn], is_enclosed: bool, next: Option<&Turn>) {
        if self.is_same(log, replay, is_enclosed) {
            return self.keep_same(log, replay);
        }
        if let Some((first, other)) = self.end_alike(log, replay) {
            let (before, same) = log.split_at(first);
            match &replay[..other] {
                rest if rest.iter().all(Turn::is_silent) => self.untold(before, rest, same),
                rest => self.both(before, rest, is_enclosed, next),
            }
            return self.keep_took_part(same);
        }
        if let Some((before, cut_off)) = self.behind_alike(log, replay, is_enclosed) {
            self.both(before, replay, is_enclosed, next);
            return self.keep_others(cut_off);
        }
        let (asked, _) = said_together(log.iter().filter(|turn| self.has_part_in(turn)));
        // It may tell what it has refused all the same.
        let tells_all = !asked.is_empty() && asked == said_together(replay).0;
        let is_told = |turn: &Turn| if tells_all { self.has_part_in(turn) } else { self.has_heard(turn) };
        // What it has put together with something else is in its account as well.
        let is_known = |turn: &Turn| is_told(turn) && !self.is_unread(turn, replay, next) || is_held(turn, replay);
        // What it took no part in before comes first in its own account of it, too, where it was told of it.
        let lead = log.iter().take_while(|turn| !is_known(turn)).count();
        if lead > 0 && lead < log.len() {
            let (lead, rest) = log.split_at(lead);
            self.keep_untold(lead, replay, next);
            return self.both(rest, replay, is_enclosed, next);
        }
        // It was prompted behind what was cut off, which so nobody went back behind.
        let was_cut_off = |turn: &Turn| turn.window != 0 && !turn.is_finished();
        let is_told_prompt = |turn: &&Turn| !turn.user.is_empty() && told_by(turn, replay).is_some();
        let last_told = log.iter().any(was_cut_off).then(|| log.iter().rfind(is_told_prompt)).flatten();
        let told = last_told.map_or(0, |last| last.at.start());
        // An agent that tells prompts as they were said need not have kept one that it does not tell, where that came to no end, but
        // whoever went back behind what had come to its end did so with what had got an answer behind that. Commands it tells otherwise.
        let is_as_said = self.prompts == Prompts::AsSaid && replay.iter().any(Turn::has_both);
        let is_wordless_told = replay.iter().any(Turn::is_silent);
        let whole = log.iter().find(|turn| is_known(turn) && turn.is_finished() && !turn.is_silent());
        let whole = whole.map_or(u64::MAX, |whole| whole.at.end());
        let is_not_kept = |turn: &Turn| {
            let goes_with_whole = turn.at.start() > whole && turn.half().is_none();
            let is_told = turn.user.is_empty() && is_wordless_told || is_any_told(turn, replay);
            is_as_said && !turn.is_command && !is_told && !goes_with_whole
        };
        // Many agents keep no commands: nobody need have gone back behind those that were had last.
        let are_commands_alone = log.iter().all(|turn| turn.is_command || !is_known(turn));
        let is_left_out = |turn: &Turn| {
            let may_be = was_cut_off(turn) && (turn.ended_at() < told || is_not_kept(turn))
                || turn.window != 0 && are_commands_alone && !is_any_told(turn, replay);
            may_be && told_by(turn, replay).is_none()
        };
        let (known, unknown): (Vec<&Turn>, Vec<&Turn>) =
            log.iter().partition(|turn| is_known(turn) && !is_left_out(turn));
        if known.is_empty() {
            self.keep_untold(unknown, replay, next);
            self.insert(replay);
        } else {
            self.give_up(&known);
            // What it tells in other turns than ours, or otherwise, it tells behind what others said before, and what it
            // tells before that stands before.
            let (mut others, mut inserted, mut told) = (unknown, 0, 0);
            for turn in log {
                if others.is_empty() {
                    break;
                }
                let Some(first) = told_by(turn, &replay[told..]).map(|first| told + first) else { continue };
                told = first + 1;
                let (before, behind): (Vec<&Turn>, Vec<&Turn>) =
                    others.into_iter().partition(|other| other.at.start() < turn.at.start());
                if !before.is_empty() {
                    self.insert(&replay[inserted..first]);
                    self.keep_untold(before, replay, next);
                    inserted = first;
                }
                others = behind;
            }
            self.insert(&replay[inserted..]);
            self.keep_untold(others, replay, next);
        }
    }

    /// The turns before those that were cut off last, and these, where without them both say the same at their end: what was cut off
    /// need not be in the agent's session.
    fn behind_alike<'t>(
        &self,
        log: &'t [Turn],
        replay: &[Turn],
        is_enclosed: bool,
    ) -> Option<(&'t [Turn], &'t [Turn])> {
        let is_cut_off = |turn: &&Turn| !turn.is_finished() && told_by(turn, replay).is_none();
        let cut_off = log.iter().rev().take_while(is_cut_off).count().min(MOST_CUT_OFF);
        let is_alike =
            |before: &[Turn]| self.is_same(before, replay, is_enclosed) || self.end_alike(before, replay).is_some();
        (1..=cut_off).map(|last| log.split_at(log.len() - last)).find(|(before, _)| is_alike(before))
    }

    /// What the agent no longer tells before these turns, which it tells otherwise. What was cut off need not be in its session, and what
    /// was had in another window before they were begun it may have in another branch.
    fn untold(&mut self, log: &[Turn], replay: &[Turn], before: &[Turn]) {
        self.insert(replay);
        let window = before.iter().find(|turn| self.has_part_in(turn)).map_or(0, |turn| turn.window);
        let is_elsewhere = |turn: &Turn| window != 0 && turn.window != 0 && turn.window != window;
        let is_left = |turn: &Turn| self.has_heard(turn) && turn.is_finished();
        let (left, others): (Vec<&Turn>, Vec<&Turn>) = log.iter().partition(|turn| is_left(turn));
        let (elsewhere, lost): (Vec<&Turn>, Vec<&Turn>) = left.into_iter().partition(|turn| is_elsewhere(turn));
        self.give_up(&lost);
        self.keep_left_out(elsewhere);
        self.keep_others(others);
    }

    /// From where on both say the same of what the agent took part in, up to the end, though they cut it into other turns.
    pub(in crate::reconcile) fn end_alike(&self, log: &[Turn], replay: &[Turn]) -> Option<(usize, usize)> {
        let places: Vec<usize> = (0..log.len()).filter(|at| self.has_part_in(&log[*at])).collect();
        let known: Vec<&Turn> = places.iter().map(|at| &log[*at]).collect();
        alike_at_end(&known, replay).map(|(first, other)| (places[first], other))
    }

    /// Whether the one is a replay of the other, as far as it says anything.
    pub(in crate::reconcile) fn is_same(&self, log: &[Turn], replay: &[Turn], is_enclosed: bool) -> bool {
        let (ours, theirs) = (said_together(log), said_together(replay));
        let has_prompt = ours.0 == theirs.0 && !theirs.0.is_empty();
        let has_answer = ours.1 == theirs.1 && !theirs.1.is_empty();
        let is_telling = theirs.1.length() >= TELLING;
        ours == theirs
            || has_prompt && theirs.1.is_empty()
            || has_answer && is_enclosed && (is_telling || self.prompts == Prompts::Rewritten)
            || has_answer && theirs.0.is_empty() && (is_telling || self.prompts == Prompts::LeftOut)
    }
}

/// Whether this agent may have answered what a user says in this turn.
fn is_prompt_to_it(turn: &Turn) -> bool {
    turn.agent.sum().is_empty() && turn.took_part != Some(false)
}
