//! A plan in the making: what is kept of a transcript, what is put in and what is set aside, one turn after the other.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::align::TELLING;
use super::plan::{Disputed, Heard, Piece, Plan, length};
use super::recut::{alike, alike_at_end};
use super::turn::{Outcome, Turn, Uncopied, said_together};

/// How many turns that were cut off one behind the other are looked at that an agent has left out between what it tells.
const MOST_CUT_OFF: usize = 64;

/// Whether the agent knows of what is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    Yes,
    No,
}

/// How an agent replays what a user said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Prompts {
    AsSaid,
    /// With what a resource or a command stands for, or with something in front.
    Rewritten,
    LeftOut,
}

/// A plan in the making.
#[derive(Debug)]
pub(super) struct Draft {
    plan: Plan,
    heard_before: u64,
    /// What stands up to there the agent was told at most.
    since: u64,
    moved_on: bool,
    /// Where the last turn that it took part in, and tells, was begun. What had come to its end by then it has heard.
    told_from: u64,
    /// The agent is not believed in what is disputed.
    yields: bool,
    prompts: Prompts,
    /// Where the first turn of each window was begun.
    windows: BTreeMap<u16, u64>,
    /// What is kept since something was put in. Turns that were spoken at once lie between each other, and stay as they
    /// lie unless something comes between them.
    kept: Vec<Kept>,
    position: u64,
}

/// Some entries that are kept.
#[derive(Debug)]
struct Kept {
    range: RangeInclusive<u64>,
    /// The agent does not know of them.
    is_missed: bool,
}

impl Draft {
    pub(super) fn new(heard: Heard, moved_on: bool, replay: &[Turn]) -> Self {
        let plan = Plan { tells: true, ..Plan::default() };
        let is_left_out = replay.iter().all(|turn| turn.user.is_empty());
        let prompts = if is_left_out { Prompts::LeftOut } else { Prompts::AsSaid };
        let (heard_before, since) = (heard.until, heard.since);
        let (told_from, yields, windows, kept) = (u64::MAX, false, BTreeMap::new(), Vec::new());
        Self { plan, heard_before, since, moved_on, told_from, yields, prompts, windows, kept, position: 0 }
    }

    /// What is disputed stays as it is in the transcript.
    pub(super) fn yielding(self) -> Self {
        Self { yields: true, ..self }
    }

    pub(super) fn yields(&self) -> bool {
        self.yields
    }

    pub(super) fn finish(mut self) -> Plan {
        self.settle();
        self.plan.aside.sort_unstable_by_key(|range| *range.start());
        self.plan.aside.dedup_by(|range, before| {
            let joins = before.end() + 1 == *range.start();
            if joins {
                *before = *before.start()..=*range.end();
            }
            joins
        });
        self.plan
    }

    /// These turns are the same in both.
    pub(super) fn compare<'a>(&mut self, mut pairs: impl Iterator<Item = (&'a Turn, &'a Turn)>) {
        if pairs.any(|(ours, theirs)| !theirs.user.is_empty() && ours.user != theirs.user) {
            self.prompts = Prompts::Rewritten;
        }
    }

    /// These turns of the log are told, in this order.
    pub(super) fn tells<'a>(&mut self, log: impl DoubleEndedIterator<Item = &'a Turn>) {
        let last = log.rev().find(|turn| turn.took_part == Some(true) && !turn.user.is_empty());
        self.told_from = last.map_or(u64::MAX, Turn::begun_at);
    }

    /// All turns of the log.
    pub(super) fn note_windows(&mut self, log: &[Turn]) {
        for turn in log.iter().filter(|turn| turn.window != 0) {
            let first = self.windows.entry(turn.window).or_insert(u64::MAX);
            *first = turn.begun_at().min(*first);
        }
    }

    /// Whether a turn is one of a window that had been opened before that other one's turn had come to its end: its program need not
    /// have read that.
    fn is_elsewhere(&self, turn: &Turn, told: &Turn) -> bool {
        let is_before = |first: &u64| *first < told.ended_at();
        told.window != 0 && turn.window != told.window && self.windows.get(&turn.window).is_some_and(is_before)
    }

    /// Whether it has heard all of a turn of which it tells nothing, or the beginning alone: it was prompted behind it, with an
    /// account of it if it was had in another window. What it was prompted without the layer says nothing of that.
    fn heard_behind(&self, turn: &Turn) -> bool {
        turn.at.end() < self.told_from && turn.at.end() <= self.heard_before
    }

    /// What comes before an answer that is replayed, without the prompt to it where none is replayed.
    pub(super) fn without_prompt<'a>(&self, log: &'a [Turn]) -> (&'a [Turn], &'a [Turn]) {
        let prompt = match self.prompts {
            // What went to another agent is no prompt to this one's answer.
            Prompts::LeftOut => log.iter().rev().take_while(|turn| is_prompt_to_it(turn)).count(),
            Prompts::AsSaid | Prompts::Rewritten => 0,
        };
        log.split_at(log.len() - prompt)
    }

    /// The same turn in both.
    pub(super) fn pair(&mut self, ours: &Turn, theirs: &Turn) {
        if theirs.agent.sum().length() > ours.agent.sum().length() {
            self.set_aside(&[ours]);
            self.insert([theirs]);
        } else if ours.uncopied != Uncopied::Nothing && theirs.agent.sum().length() < ours.agent.sum().length() {
            // It has copied no more of it, and may have been told the rest.
            self.keep_others([ours]);
        } else if ours.is_told_in_part(theirs) && !self.heard_behind(ours) {
            self.keep_lost(ours);
        } else {
            self.keep_same(std::slice::from_ref(ours), std::slice::from_ref(theirs));
        }
    }

    /// The agent has this turn of its own at its end, and has lost what it had answered last, up to all of it. Behind its prompt it
    /// is to be told all.
    pub(super) fn keep_lost(&mut self, turn: &Turn) {
        let prompt = turn.at.start();
        for run in turn.at.runs() {
            let (start, end) = run.into_inner();
            let parts = [(start..=end.min(prompt), false), (start.max(prompt + 1)..=end, true)];
            let kept = parts.map(|(range, is_missed)| Kept { range, is_missed });
            self.kept.extend(kept.into_iter().filter(|kept| !kept.range.is_empty()));
        }
    }

    /// What is kept because it says the same as a replay. An agent that replays answers without their prompts need not know
    /// of a prompt that went to another one and has found its way before one of them.
    pub(super) fn keep_same(&mut self, log: &[Turn], replay: &[Turn]) {
        let has_prompts = replay.iter().any(|turn| !turn.user.is_empty());
        for turn in log {
            let is_others = turn.took_part == Some(false) && !turn.user.is_empty();
            let is_new_to_it = is_others && !has_prompts && turn.at.start() > self.heard_before;
            self.keep([turn], if is_new_to_it { Told::No } else { Told::Yes });
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
        self.keep(known, Told::Yes);
        self.keep_others(unknown);
        rest
    }

    /// What lies between turns that are the same, behind the one that is `told`, or before the first, and before the `next` of the log.
    pub(super) fn between(&mut self, told: Option<&Turn>, next: Option<&Turn>, log: &[Turn], replay: &[Turn]) {
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

    /// Keeps what the agent leaves out of its replay, or had in another window.
    fn keep_left_out(&mut self, turns: Vec<&Turn>) {
        let (heard, beside): (Vec<&Turn>, Vec<&Turn>) = turns.into_iter().partition(|turn| self.heard_behind(turn));
        self.keep(heard, Told::Yes);
        self.keep(beside, Told::No);
    }

    /// Keeps what others said, and what the agent had in another window and does not tell before the `next` turn.
    fn keep_untold<'a>(&mut self, turns: impl IntoIterator<Item = &'a Turn>, replay: &[Turn], next: Option<&Turn>) {
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
    fn is_unread(&self, turn: &Turn, replay: &[Turn], next: Option<&Turn>) -> bool {
        let is_elsewhere = next.is_some_and(|next| self.is_elsewhere(next, turn));
        is_elsewhere && self.has_heard(turn) && turn.is_finished() && !is_any_told(turn, replay)
    }

    /// What lies behind the last turn that is the same.
    pub(super) fn at_end(&mut self, told: Option<&Turn>, log: &[Turn], replay: &[Turn]) {
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
            self.keep(missing, Told::No);
            self.keep_others(unknown);
        } else {
            self.both(log, replay, false, None);
        }
    }

    /// Keeps turns of other windows that were open before the last turn that is told had come to its end, those that are beside it, and
    /// of which nothing is told: nobody went back behind them, they stand on other branches of the agent's. So it is where there are no
    /// others that it tells nothing of. What is left.
    fn without_beside<'t>(
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
    fn may_not_be_kept(&self, turn: &Turn) -> bool {
        turn.outcome == Outcome::Nothing || !turn.is_finished() && turn.at.start() > self.heard_before
    }

    /// Keeps these turns as they are if what the replay has in their place contradicts them, and that is not to be believed. What it
    /// has behind the last prompt of theirs contradicts nothing.
    fn stays(&mut self, log: &[Turn], replay: &[Turn], compare: impl FnOnce(&mut Self)) -> bool {
        if !self.yields {
            return false;
        }
        let mut alone = Self::new(Heard { since: self.since, until: self.heard_before }, self.moved_on, &[]);
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

    /// Keeps what the agent took part in, and tells, and what others said in between.
    pub(super) fn keep_took_part(&mut self, log: &[Turn]) {
        let (known, unknown): (Vec<&Turn>, Vec<&Turn>) = log.iter().partition(|turn| self.has_part_in(turn));
        self.keep(known, Told::Yes);
        self.keep_others(unknown);
    }

    /// From where on both say the same of what the agent took part in, up to the end, though they cut it into other turns.
    pub(super) fn end_alike(&self, log: &[Turn], replay: &[Turn]) -> Option<(usize, usize)> {
        let places: Vec<usize> = (0..log.len()).filter(|at| self.has_part_in(&log[*at])).collect();
        let known: Vec<&Turn> = places.iter().map(|at| &log[*at]).collect();
        alike_at_end(&known, replay).map(|(first, other)| (places[first], other))
    }

    /// Whether the one is a replay of the other, as far as it says anything.
    pub(super) fn is_same(&self, log: &[Turn], replay: &[Turn], is_enclosed: bool) -> bool {
        let (ours, theirs) = (said_together(log), said_together(replay));
        let has_prompt = ours.0 == theirs.0 && !theirs.0.is_empty();
        let has_answer = ours.1 == theirs.1 && !theirs.1.is_empty();
        let is_telling = theirs.1.length() >= TELLING;
        ours == theirs
            || has_prompt && theirs.1.is_empty()
            || has_answer && is_enclosed && (is_telling || self.prompts == Prompts::Rewritten)
            || has_answer && theirs.0.is_empty() && (is_telling || self.prompts == Prompts::LeftOut)
    }

    /// What the agent took part in of these turns, and what is others' or has not reached it.
    fn by_knowledge<'a>(&self, turns: &'a [Turn]) -> (Vec<&'a Turn>, Vec<&'a Turn>) {
        turns.iter().partition(|turn| self.has_heard(turn))
    }

    fn has_heard(&self, turn: &Turn) -> bool {
        self.has_part_in(turn) && !turn.refused
    }

    fn has_part_in(&self, turn: &Turn) -> bool {
        let in_time = turn.at.start() > self.since && turn.at.start() <= self.heard_before;
        turn.took_part.unwrap_or(in_time)
    }

    /// Keeps what others said; the agent may have been told of it, or of its beginning while it was being said.
    fn keep_others<'a>(&mut self, turns: impl IntoIterator<Item = &'a Turn>) {
        for turn in turns {
            let heard = self.heard_before;
            let halves = turn.at.runs().flat_map(|run| {
                let (start, end) = run.into_inner();
                let told = Kept { range: start..=end.min(heard), is_missed: false };
                [told, Kept { range: start.max(heard.saturating_add(1))..=end, is_missed: !is_nothing(turn) }]
            });
            self.kept.extend(halves.filter(|kept| !kept.range.is_empty()));
        }
    }

    pub(super) fn keep<'a>(&mut self, turns: impl IntoIterator<Item = &'a Turn>, told: Told) {
        for turn in turns {
            let is_missed = told == Told::No && !is_nothing(turn);
            self.kept.extend(turn.at.runs().map(|range| Kept { range, is_missed }));
        }
    }

    pub(super) fn insert<'a>(&mut self, turns: impl IntoIterator<Item = &'a Turn>) {
        for turn in turns {
            self.settle();
            for run in turn.at.runs().filter(|run| !run.is_empty()) {
                self.place(Piece::Insert(run), false);
            }
        }
    }

    /// Sets aside what the agent does not tell, or tells otherwise.
    fn give_up(&mut self, turns: &[&Turn]) {
        if !turns.is_empty() {
            self.plan.disputed = Disputed::SetAside;
        }
        self.set_aside(turns);
    }

    pub(super) fn set_aside(&mut self, turns: &[&Turn]) {
        self.plan.aside.extend(turns.iter().flat_map(|turn| turn.at.runs()));
    }

    /// Something is put in behind what is kept so far.
    fn settle(&mut self) {
        self.kept.sort_unstable_by_key(|kept| *kept.range.start());
        for Kept { range, is_missed } in std::mem::take(&mut self.kept) {
            self.place(Piece::Keep(range), is_missed);
        }
    }

    fn place(&mut self, piece: Piece, is_missed: bool) {
        if let Piece::Keep(range) = &piece
            && is_missed
        {
            self.plan.unheard.get_or_insert(*range.start());
        }
        let has_missed = self.plan.unheard.is_some();
        self.position += length(piece.range());
        match &piece {
            _ if !has_missed => self.plan.heard = self.position,
            Piece::Keep(range) if !is_missed => self.plan.heard_behind.push(range.clone()),
            Piece::Keep(_) | Piece::Insert(_) => {}
        }
        match (self.plan.pieces.last_mut(), piece) {
            (Some(Piece::Keep(before)), Piece::Keep(range)) | (Some(Piece::Insert(before)), Piece::Insert(range))
                if before.end() + 1 == *range.start() =>
            {
                *before = *before.start()..=*range.end();
            }
            (_, piece) => self.plan.pieces.push(piece),
        }
    }
}

/// Whether a turn was begun before that other one, in another window, had come to its end.
fn is_at_once(turn: &Turn, told: &Turn) -> bool {
    turn.is_begun_before_end_of(told) && turn.one_with != told.one_with
}

/// What stands before the first thing a user said and says nothing need not be told.
fn is_nothing(turn: &Turn) -> bool {
    turn.at.start() == 1 && turn.is_silent()
}

/// Whether this agent may have answered what a user says in this turn.
fn is_prompt_to_it(turn: &Turn) -> bool {
    turn.agent.sum().is_empty() && turn.took_part != Some(false)
}

/// Whether a turn of a replay has this turn of a log, or half a turn, and more. What went to another agent is that one's.
pub(super) fn is_held(turn: &Turn, replay: &[Turn]) -> bool {
    turn.took_part != Some(false) && replay.iter().any(|theirs| theirs.holds(turn))
}

/// Whether a replay has its prompt, or its answer, or may have them with something else.
fn is_any_told(turn: &Turn, replay: &[Turn]) -> bool {
    let answer = turn.agent.sum();
    let tells = |theirs: &Turn| {
        let is_prompt = theirs.is_begun_by(turn) || turn.is_begun_by(theirs) || theirs.holds(turn);
        is_prompt || !answer.is_empty() && theirs.agent.sum() == answer
    };
    replay.iter().any(tells)
}

/// Which turn of the replay has it, or tells otherwise what came of its prompt.
fn told_by(turn: &Turn, replay: &[Turn]) -> Option<usize> {
    let tells = |theirs: &Turn| theirs.holds(turn) || turn.is_begun_by(theirs);
    (turn.took_part != Some(false)).then(|| replay.iter().position(tells)).flatten()
}
