//! A plan in the making: what is kept of a transcript, what is put in and what is set aside, one turn after the other.

mod beside;
mod differences;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::plan::{Disputed, HeardRange, Piece, Plan, length};
use super::turn::Turn;

/// Whether the agent knows of what is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KnownToAgent {
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
    kept: Vec<KeptRange>,
    position: u64,
}

/// Some entries that are kept.
#[derive(Debug)]
struct KeptRange {
    range: RangeInclusive<u64>,
    /// The agent does not know of them.
    is_missed: bool,
}

impl Draft {
    pub(super) fn new(heard: HeardRange, moved_on: bool, replay: &[Turn]) -> Self {
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

    /// These turns of the log are told, in this order.
    pub(super) fn tells<'a>(&mut self, log: &[Turn], told: impl DoubleEndedIterator<Item = &'a Turn>) {
        let last = told.rev().find(|turn| turn.took_part == Some(true));
        self.told_from = last.map_or(u64::MAX, |last| last.asked_at(log));
    }

    /// All turns of the log.
    pub(super) fn note_windows(&mut self, log: &[Turn]) {
        for turn in log.iter().filter(|turn| turn.window != 0) {
            let first = self.windows.entry(turn.window).or_insert(u64::MAX);
            *first = turn.begun_at().min(*first);
        }
    }

    /// The agent has this turn of its own at its end, and has lost what it had answered last, up to all of it. Behind its prompt it
    /// is to be told all.
    pub(super) fn keep_lost(&mut self, turn: &Turn) {
        let prompt = turn.at.start();
        for run in turn.at.runs() {
            let (start, end) = run.into_inner();
            let parts = [(start..=end.min(prompt), false), (start.max(prompt + 1)..=end, true)];
            let kept = parts.map(|(range, is_missed)| KeptRange { range, is_missed });
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
            self.keep([turn], if is_new_to_it { KnownToAgent::No } else { KnownToAgent::Yes });
        }
    }

    /// Keeps what the agent took part in, and tells, and what others said in between.
    pub(super) fn keep_took_part(&mut self, log: &[Turn]) {
        let (known, unknown): (Vec<&Turn>, Vec<&Turn>) = log.iter().partition(|turn| self.has_part_in(turn));
        self.keep(known, KnownToAgent::Yes);
        self.keep_others(unknown);
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
                let told = KeptRange { range: start..=end.min(heard), is_missed: false };
                [told, KeptRange { range: start.max(heard.saturating_add(1))..=end, is_missed: !is_nothing(turn) }]
            });
            self.kept.extend(halves.filter(|kept| !kept.range.is_empty()));
        }
    }

    pub(super) fn keep<'a>(&mut self, turns: impl IntoIterator<Item = &'a Turn>, told: KnownToAgent) {
        for turn in turns {
            let is_missed = told == KnownToAgent::No && !is_nothing(turn);
            self.kept.extend(turn.at.runs().map(|range| KeptRange { range, is_missed }));
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
        for KeptRange { range, is_missed } in std::mem::take(&mut self.kept) {
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

/// What stands before the first thing a user said and says nothing need not be told.
fn is_nothing(turn: &Turn) -> bool {
    turn.at.start() == 1 && turn.is_silent()
}
