//! The exchanges of a transcript, each of them what a user said and what followed, and how much of one was said again.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::said::{Print, Said, Status};
use crate::storage::{Result, Storage};
use crate::store::{Known, Segment, Session};
use crate::transcript::entry::{Entry, Kind, speakers};
use crate::transcript::mend::is_end_of_turn;
use crate::transcript::replay::{Replay, Start};

/// How much is read of the transcript at a time, in bytes.
const READ: u32 = 64 * 1024;

/// The exchanges of a transcript in which an agent took part, in order.
#[derive(Debug)]
pub(super) struct Exchanges {
    replay: Replay,
    /// None: all of it counts, whoever took part.
    agent: Option<Agent>,
    /// What is read belongs to a turn of another agent, which this one does not tell.
    is_others: bool,
    /// The tag of the last turn that was read, while no end of it was: it may be gone on with.
    under_way: Option<String>,
    /// What was read of the exchange that comes next, whose end may still have to be read.
    begun: Exchange,
    /// What was read and belongs to the exchanges that come next.
    ahead: VecDeque<Said>,
    is_read: bool,
}

/// Which agent took part in them.
#[derive(Debug)]
struct Agent {
    name: String,
    /// What it knows of the session: which of its own sessions' conversation it tells.
    known: Option<Known>,
    /// As who it has spoken in those.
    speaks_as: Vec<String>,
}

impl Exchanges {
    /// Up to the entry `end` of the session's own log, or to where that ends.
    pub(super) fn of<S: Storage>(storage: &S, session: &Session, agent: &str, end: Option<u32>) -> Result<Self> {
        let known = session.agents.get(agent).cloned();
        let speaks_as = known.as_ref().map(|known| speakers(agent, known)).unwrap_or_default();
        let replay = match end {
            Some(end) => Replay::up_to(session, end),
            None => Replay::open(storage, session, Start::Beginning)?,
        };
        let agent = Agent { name: agent.to_owned(), known, speaks_as };
        Ok(Self { agent: Some(agent), ..Self::read_from(replay) })
    }

    /// All those of a part of a log.
    pub(super) fn of_part(part: &Segment) -> Self {
        Self::read_from(Replay::of_parts(std::slice::from_ref(part)))
    }

    fn read_from(replay: Replay) -> Self {
        Self {
            replay,
            agent: None,
            is_others: false,
            under_way: None,
            begun: Exchange::default(),
            ahead: VecDeque::new(),
            is_read: false,
        }
    }

    /// The first in which a user said something. What stands before that cannot be told from what the agent says now.
    pub(super) fn first<S: Storage>(&mut self, storage: &S) -> Result<Exchange> {
        let first = self.next(storage)?;
        if first.is_without_prompt() { self.next(storage) } else { Ok(first) }
    }

    /// The next exchange of the transcript; an empty one at its end.
    pub(super) fn next<S: Storage>(&mut self, storage: &S) -> Result<Exchange> {
        loop {
            while let Some(said) = self.ahead.pop_front() {
                if said.is_users() && self.begun.is_answered() {
                    self.ahead.push_front(said);
                    return Ok(std::mem::take(&mut self.begun));
                }
                self.begun.add(said);
            }
            if self.is_read {
                return Ok(std::mem::take(&mut self.begun));
            }
            match self.replay.next_texts(storage, READ)? {
                Some(entries) => {
                    for entry in entries.iter().filter_map(|text| Entry::parse(text)) {
                        if !self.is_of_others(&entry) {
                            let is_prompt = entry.kind == Kind::Prompt;
                            self.follow_turn(&entry);
                            self.ahead.extend(entry.updates().iter().map(|update| match Said::read(update) {
                                // Of what a client has said in its prompt, it is not known whether its agent heeds that.
                                Said::ForAgent(text) if is_prompt => Said::User(text),
                                said => said,
                            }));
                        }
                    }
                }
                None => self.is_read = true,
            }
        }
    }

    /// Whether the transcript ends, as far as it was read, in the midst of a turn: one that has not come to its end, or was ended by
    /// others because its window was taken for gone.
    pub(super) fn is_under_way(&self) -> bool {
        self.under_way.is_some()
    }

    fn follow_turn(&mut self, entry: &Entry<'_>) {
        match entry.kind {
            Kind::Prompt => self.under_way = entry.turn.map(str::to_owned),
            Kind::TurnEnd if !is_end_of_turn(entry) => {
                self.under_way.take_if(|tag| entry.turn == Some(tag));
            }
            _ => {}
        }
    }

    /// Whether another agent took part in this entry, which follows what was read, and this one did not.
    fn is_of_others(&mut self, entry: &Entry<'_>) -> bool {
        let Some(agent) = &self.agent else { return false };
        if let Some(said_by) = entry.speaker {
            return agent.speaks_as.iter().all(|own| own != said_by);
        }
        if entry.kind == Kind::Prompt {
            let has_taken =
                |with: (&str, &str)| agent.known.as_ref().is_some_and(|known| known.has_taken(&agent.name, with));
            self.is_others = entry.with().is_some_and(|(agent, id)| !has_taken((&agent, &id)));
        }
        self.is_others
    }
}

/// What a user said, and what followed, without white space, and how far it was said again.
#[derive(Debug, Default)]
pub(super) struct Exchange {
    pub(super) user: Passage,
    /// What the user said that is no text.
    pub(super) attached: Pieces,
    pub(super) agent: Passage,
    pub(super) thoughts: Passage,
    /// The tool calls, by their ids.
    pub(super) calls: BTreeMap<String, Call>,
    /// What else was told.
    pub(super) others: Pieces,
}

impl Exchange {
    pub(super) fn add(&mut self, said: Said) {
        match said {
            Said::User(text) => self.user.text.push_str(&text),
            // An agent may tell something else of what it read.
            Said::ForAgent(_) => {}
            Said::Attached(print) => self.attached.left.push(print),
            Said::Agent(text) => self.agent.text.push_str(&text),
            Said::Thought(text) => self.thoughts.text.push_str(&text),
            Said::Call { id, told, status, .. } => self.calls.entry(id).or_default().add(told, status),
            Said::Other(print) => self.others.left.push(print),
        }
    }

    /// What the user said in words.
    pub(super) fn prompt(&self) -> &str {
        &self.user.text
    }

    /// That one is a part of it.
    pub(super) fn append(&mut self, other: Self) {
        self.user.text.push_str(&other.user.text);
        self.agent.text.push_str(&other.agent.text);
        self.thoughts.text.push_str(&other.thoughts.text);
        for (id, Call { told, status }) in other.calls {
            self.calls.entry(id).or_default().add(told, status);
        }
        self.attached.left.extend(other.attached.left);
        self.others.left.extend(other.others.left);
    }

    /// Whether something that is said next by the user belongs to the next exchange.
    fn is_answered(&self) -> bool {
        !(self.agent.text.is_empty() && self.thoughts.text.is_empty() && self.calls.is_empty())
    }

    pub(super) fn is_without_prompt(&self) -> bool {
        self.user.text.is_empty() && self.attached.left.is_empty()
    }

    /// Whether all of it was said again. What was told of tool calls may be at any time.
    pub(super) fn is_told(&self) -> bool {
        let texts = [&self.user, &self.agent, &self.thoughts];
        let pieces = [&self.attached, &self.others];
        texts.iter().all(|text| text.left().is_empty())
            && pieces.iter().all(|pieces| pieces.left.is_empty())
            && self.calls.is_empty()
    }

    /// Whether all that the user and the agent have said in words was said again.
    pub(super) fn is_spoken(&self) -> bool {
        self.user.left().is_empty() && self.agent.left().is_empty()
    }

    /// What was said again of it is no chance.
    pub(super) fn settle(&mut self) {
        for text in [&mut self.user, &mut self.agent, &mut self.thoughts] {
            text.settle();
        }
        for pieces in [&mut self.attached, &mut self.others] {
            pieces.settle();
        }
    }

    /// What was said again of it since was chance.
    pub(super) fn take_back(&mut self) {
        for text in [&mut self.user, &mut self.agent, &mut self.thoughts] {
            text.take_back();
        }
        for pieces in [&mut self.attached, &mut self.others] {
            pieces.take_back();
        }
    }
}

/// A tool call, as far as it was told.
#[derive(Debug, Default)]
pub(super) struct Call {
    /// What was told of it.
    pub(super) told: BTreeSet<Print>,
    /// How far it had come when that was last told.
    pub(super) status: Option<Status>,
}

impl Call {
    fn add(&mut self, told: impl IntoIterator<Item = Print>, status: Option<Status>) {
        self.told.extend(told);
        self.status = status.or(self.status);
    }

    /// Whether all this was told of it.
    pub(super) fn has(&self, told: &[Print]) -> bool {
        told.iter().all(|print| self.told.contains(print))
    }
}

/// What somebody said in an exchange, and how much of it was said again, in bytes.
#[derive(Debug, Default)]
pub(super) struct Passage {
    text: String,
    told: usize,
    /// How much of that is no chance.
    settled: usize,
}

impl Passage {
    /// What was not said again.
    pub(super) fn left(&self) -> &str {
        &self.text[self.told..]
    }

    /// Whether some of it was said again.
    pub(super) fn is_begun(&self) -> bool {
        self.told > 0
    }

    /// How much of it was said again, in bytes.
    pub(super) fn told(&self) -> usize {
        self.told
    }

    /// How long it is, in bytes.
    pub(super) fn length(&self) -> usize {
        self.text.len()
    }

    /// Takes what comes next from the beginning of what is left; says whether it does.
    pub(super) fn pass(&mut self, said: &str) -> bool {
        let is_next = self.left().starts_with(said);
        if is_next {
            self.told += said.len();
        }
        is_next
    }

    /// Takes what comes next wherever it comes in what is left, with all before it; says whether it does.
    pub(super) fn pass_with_all_before(&mut self, said: &str) -> bool {
        let at = self.left().find(said);
        self.told += at.map_or(0, |at| at + said.len());
        at.is_some()
    }

    fn settle(&mut self) {
        self.settled = self.told;
    }

    fn take_back(&mut self) {
        self.told = self.settled;
    }
}

/// Things that are said again as a whole, in any order.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    left: Vec<Print>,
    /// What was said again, and may have been so by chance.
    told: Vec<Print>,
}

impl Pieces {
    /// Takes one of these from what is left; says whether it is there.
    pub(super) fn pass(&mut self, print: Print) -> bool {
        let at = self.left.iter().position(|other| *other == print);
        self.told.extend(at.map(|at| self.left.remove(at)));
        at.is_some()
    }

    fn settle(&mut self) {
        self.told.clear();
    }

    fn take_back(&mut self) {
        self.left.append(&mut self.told);
    }
}
