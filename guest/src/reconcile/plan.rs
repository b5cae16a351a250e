//! What of a replay is new, where it belongs, and what it contradicts.

use std::ops::RangeInclusive;

use super::align::align;
use super::text::Sum;
use super::turns::Turn;

/// A part of the conversation as it is to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// These entries of the transcript stay.
    Keep(RangeInclusive<u64>),
    /// These entries of the staging log come here.
    Insert(RangeInclusive<u64>),
}

/// What becomes of a transcript. Entries of the transcript are numbered from 1 over all its segments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// Whether the replay says anything. Where it does not, nothing changes.
    pub tells: bool,
    /// The conversation, in order.
    pub pieces: Vec<Piece>,
    /// The entries of the transcript that are taken out of the conversation.
    pub aside: Vec<RangeInclusive<u64>>,
    /// The position in the new layout up to which the agent has heard everything.
    pub heard: u64,
}

impl Plan {
    /// Whether the conversation stays as it is.
    pub fn keeps_all(&self) -> bool {
        self.aside.is_empty() && self.pieces.iter().all(|piece| matches!(piece, Piece::Keep(_)))
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
}

impl Piece {
    /// Its entries.
    pub fn range(&self) -> &RangeInclusive<u64> {
        match self {
            Self::Keep(range) | Self::Insert(range) => range,
        }
    }
}

fn length(range: &RangeInclusive<u64>) -> u64 {
    (range.end() + 1).saturating_sub(*range.start())
}

/// Compares a transcript, of which the agent has heard this many entries, with what it replays. `moved_on`: the agent's
/// own list says that the session has changed since the two last agreed.
pub fn plan(log: &[Turn], heard: u64, replay: &[Turn], moved_on: bool) -> Plan {
    let mut draft = Draft::new(heard, moved_on);
    if replay.iter().all(Turn::is_silent) {
        draft.keep(log, Told::Yes);
        return Plan { tells: false, heard, ..draft.plan };
    }
    let (mut log_rest, mut replay_rest) = (0, 0);
    for (at, other) in align(log, replay) {
        draft.between(&log[log_rest..at], &replay[replay_rest..other]);
        draft.pair(&log[at], &replay[other]);
        (log_rest, replay_rest) = (at + 1, other + 1);
    }
    draft.at_end(&log[log_rest..], &replay[replay_rest..]);
    draft.plan
}

/// What is known of the two besides what they say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Evidence {
    /// The agent's own list says that the session has changed since the two last agreed.
    pub moved_on: bool,
    /// The transcript held all of the conversation at that time; else its beginning is with the agent only.
    pub whole: bool,
}

/// The same where the two may have nothing in common. An agent that tells something else altogether, though nobody has
/// heard of a change, is not believed: some replay a summary, or only what they said last. And what only the agent has
/// of a session comes before what was said through the layer.
pub fn judge(log: &[Turn], heard: u64, replay: &[Turn], evidence: Evidence) -> Plan {
    let is_related = log.iter().all(Turn::is_silent) || !align(log, replay).is_empty();
    if is_related || evidence.moved_on {
        return plan(log, heard, replay, evidence.moved_on);
    }
    if evidence.whole {
        return plan(log, heard, &[], false);
    }
    let mut draft = Draft::new(0, false);
    draft.insert(replay);
    draft.keep(log, Told::No);
    draft.plan
}

/// Whether the agent knows of what is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    Yes,
    No,
}

/// A plan in the making.
#[derive(Debug)]
struct Draft {
    plan: Plan,
    heard_before: u64,
    moved_on: bool,
    /// The agent does not know of something that is kept further up.
    has_missed: bool,
    position: u64,
}

impl Draft {
    fn new(heard_before: u64, moved_on: bool) -> Self {
        let plan = Plan { tells: true, pieces: Vec::new(), aside: Vec::new(), heard: 0 };
        Self { plan, heard_before, moved_on, has_missed: false, position: 0 }
    }

    /// The same turn in both.
    fn pair(&mut self, ours: &Turn, theirs: &Turn) {
        if theirs.agent.sum().length() > ours.agent.sum().length() {
            self.set_aside(std::slice::from_ref(ours));
            self.insert(std::slice::from_ref(theirs));
        } else {
            self.keep(std::slice::from_ref(ours), Told::Yes);
        }
    }

    /// What lies between turns that are the same, or before the first.
    fn between(&mut self, log: &[Turn], replay: &[Turn]) {
        let (known, unknown) = self.by_knowledge(log);
        if replay.iter().all(Turn::is_silent) {
            self.insert(replay);
            // It went on from there, so it did not lose what it had heard: it leaves it out of its replay.
            self.keep(known, Told::Yes);
            self.keep(unknown, Told::No);
        } else {
            self.both(log, replay);
        }
    }

    /// What lies behind the last turn that is the same.
    fn at_end(&mut self, log: &[Turn], replay: &[Turn]) {
        let (known, unknown) = self.by_knowledge(log);
        if replay.iter().all(Turn::is_silent) {
            self.insert(replay);
            if self.moved_on {
                self.set_aside(known);
            } else {
                self.keep(known, Told::No);
            }
            self.keep(unknown, Told::No);
        } else {
            self.both(log, replay);
        }
    }

    /// Each has what the other has not.
    fn both(&mut self, log: &[Turn], replay: &[Turn]) {
        if joined(log) == joined(replay) {
            return self.keep(log, Told::Yes);
        }
        let (known, unknown) = self.by_knowledge(log);
        if known.is_empty() {
            self.keep(unknown, Told::No);
            self.insert(replay);
        } else {
            self.set_aside(known);
            self.insert(replay);
            self.keep(unknown, Told::No);
        }
    }

    /// What the agent had heard of these turns, and what came from others since.
    fn by_knowledge<'a>(&self, turns: &'a [Turn]) -> (&'a [Turn], &'a [Turn]) {
        turns.split_at(turns.partition_point(|turn| *turn.at.start() <= self.heard_before))
    }

    fn keep(&mut self, turns: &[Turn], told: Told) {
        for turn in turns {
            // What stands before the first thing a user said and says nothing need not be told.
            let is_nothing = *turn.at.start() == 1 && turn.is_silent();
            self.has_missed |= told == Told::No && !is_nothing;
            match self.plan.pieces.last_mut() {
                Some(Piece::Keep(range)) if range.end() + 1 == *turn.at.start() => {
                    *range = *range.start()..=*turn.at.end();
                }
                _ => self.plan.pieces.push(Piece::Keep(turn.at.clone())),
            }
            self.advance(turn);
        }
    }

    fn insert(&mut self, turns: &[Turn]) {
        for turn in turns {
            match self.plan.pieces.last_mut() {
                Some(Piece::Insert(range)) if range.end() + 1 == *turn.at.start() => {
                    *range = *range.start()..=*turn.at.end();
                }
                _ => self.plan.pieces.push(Piece::Insert(turn.at.clone())),
            }
            self.advance(turn);
        }
    }

    fn set_aside(&mut self, turns: &[Turn]) {
        for turn in turns {
            match self.plan.aside.last_mut() {
                Some(range) if range.end() + 1 == *turn.at.start() => *range = *range.start()..=*turn.at.end(),
                _ => self.plan.aside.push(turn.at.clone()),
            }
        }
    }

    fn advance(&mut self, turn: &Turn) {
        self.position += turn.length();
        if !self.has_missed {
            self.plan.heard = self.position;
        }
    }
}

/// What is said in these turns, by the user and by the agent: agents join what was said in several, or take it apart.
fn joined(turns: &[Turn]) -> (Sum, Sum) {
    turns.iter().fold((Sum::default(), Sum::default()), |(user, agent), turn| {
        (user.followed_by(turn.user), agent.followed_by(turn.agent.sum()))
    })
}
