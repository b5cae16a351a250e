//! Telling a replay that comes late, in the midst of a turn, from what is said in the turn.
//!
//! Both bear the same session's id. A replay says again what the transcript has: the words of a user's first, then what
//! followed them, and so on. That is followed from the beginning, and no more is taken for the replay than says the same:
//! what is said in a turn must not be lost.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::echo::dense;
use super::entry::{Entry, Kind, speaker};
use super::own_words::strip;
use super::replay::{Replay, Start};
use crate::rpc::{self, Object};
use crate::storage::{Result, Storage};
use crate::store::{Known, Session};

/// How much is read of the transcript at a time, in bytes.
const READ: u32 = 64 * 1024;
/// Pieces that are shorter, in bytes, and not the rest of what was said, count only where they come right behind others:
/// such are said in turns, and replays come in messages.
const SHORT: usize = 8;

/// How far an agent has said again what a transcript has.
#[derive(Debug)]
pub struct Retold {
    exchanges: Exchanges,
    has_begun: bool,
    /// The last that was told was part of it.
    goes_on: bool,
    /// How much was told of what the user said first, in bytes: little of it may be the beginning of something else.
    told: usize,
    /// Something was told of what the agent answered in the exchange that is being said again, and it has not left off since.
    is_in_answer: bool,
    /// The exchange that is being said again.
    now: Exchange,
    /// The one behind it.
    next: Exchange,
}

/// What an update is to a transcript that may be said again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeats {
    /// It says again what comes next.
    Yes,
    /// So it does, but too little to be sure that this is not the beginning of something else.
    Perhaps,
    /// It says something else.
    No,
}

/// The exchanges of a transcript in which an agent took part, in order.
#[derive(Debug)]
struct Exchanges {
    replay: Replay,
    agent: String,
    /// The ids of the agent's own sessions whose conversation it tells.
    taken: Vec<String>,
    /// What is read belongs to a turn of another agent, which this one does not tell.
    is_others: bool,
    /// What was read and belongs to the exchanges that come next.
    ahead: VecDeque<Said>,
    is_read: bool,
}

/// What a user said, and what followed, without white space: what of it was not said again yet.
#[derive(Debug, Default)]
struct Exchange {
    user: String,
    /// What the user said that is no text.
    attached: Vec<Print>,
    agent: String,
    thoughts: String,
    /// What was told of each tool call, by its id.
    calls: BTreeMap<String, BTreeSet<Print>>,
    /// What else was told.
    others: Vec<Print>,
}

/// What stands for a piece of JSON, and the name of what it is of: see [`rpc::print_of`].
type Print = u64;

/// What an update says, without white space.
#[derive(Debug)]
enum Said {
    User(String),
    /// Something else than text.
    Attached(Print),
    Agent(String),
    Thought(String),
    /// Something of a tool call, and whether that is all there is to say of it.
    Call(String, Vec<Print>, bool),
    Other(Print),
}

impl Said {
    fn read(update: &str) -> Self {
        let object = Object::parse_or_empty(update);
        let kind = object.get_string("sessionUpdate").unwrap_or_default();
        let content = object.get("content");
        let parts = object.get_object("content");
        let text = parts.get_text("text").filter(|_| parts.get_string("type").as_deref() == Some("text"));
        match (kind.as_str(), text) {
            ("user_message_chunk", Some(text)) => Self::User(dense(&strip(&text))),
            ("user_message_chunk", None) => Self::Attached(print(&kind, content.unwrap_or_default())),
            ("agent_message_chunk", Some(text)) => Self::Agent(dense(&text)),
            ("agent_thought_chunk", Some(text)) => Self::Thought(dense(&text)),
            ("tool_call" | "tool_call_update", _) if let Some(id) = object.get_string("toolCallId") => {
                Self::Call(id, told_of_call(&object), kind == "tool_call")
            }
            _ => Self::Other(print(&kind, content.unwrap_or(update))),
        }
    }
}

/// What an update tells of its tool call: each member, and of those that are lists each part, which agents tell one by one or all at
/// once.
fn told_of_call(update: &Object<'_>) -> Vec<Print> {
    let names = ["sessionUpdate", "toolCallId", "_meta"];
    let told = update.iter().filter(|(name, _)| !names.contains(&&**name));
    told.flat_map(|(name, value)| match rpc::elements(value) {
        Some(parts) => parts.into_iter().map(|part| print(name, part)).collect(),
        None => vec![print(name, value)],
    })
    .collect()
}

fn print(name: &str, json: &str) -> Print {
    let mut hasher = DefaultHasher::new();
    (name, rpc::print_of(json)).hash(&mut hasher);
    hasher.finish()
}

impl Exchange {
    /// Whether something that is said next by the user belongs to the next exchange.
    fn is_answered(&self) -> bool {
        !(self.agent.is_empty() && self.thoughts.is_empty() && self.calls.is_empty())
    }

    /// Whether the user has said nothing in it, or all of that was said again.
    fn is_without_prompt(&self) -> bool {
        self.user.is_empty() && self.attached.is_empty()
    }

    fn is_empty(&self) -> bool {
        self.is_without_prompt() && !self.is_answered() && self.others.is_empty()
    }

    fn add(&mut self, said: Said) {
        match said {
            Said::User(text) => self.user.push_str(&text),
            Said::Attached(print) => self.attached.push(print),
            Said::Agent(text) => self.agent.push_str(&text),
            Said::Thought(text) => self.thoughts.push_str(&text),
            Said::Call(id, told, _) => self.calls.entry(id).or_default().extend(told),
            Said::Other(print) => self.others.push(print),
        }
    }
}

impl Retold {
    /// Follows what the session's transcript holds now of what this agent took part in.
    pub fn of<S: Storage>(storage: &S, session: &Session, agent: &str) -> Result<Self> {
        let mut exchanges = Exchanges::of(storage, session, agent)?;
        let mut next = exchanges.next(storage)?;
        if next.is_without_prompt() {
            // What stands before the first thing a user said cannot be told from what the agent says now.
            next = exchanges.next(storage)?;
        }
        let (now, told) = (Exchange::default(), 0);
        Ok(Self { exchanges, has_begun: false, goes_on: false, told, is_in_answer: false, now, next })
    }

    /// Whether any of it was said again.
    pub fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// Whether all of it was said again.
    pub fn is_over(&self) -> bool {
        self.now.is_empty() && self.next.is_empty()
    }

    /// Whether the agent is in the midst of an answer that it says again: some of it was told, and some is left.
    pub fn is_in_answer(&self) -> bool {
        self.is_in_answer && !self.now.agent.is_empty()
    }

    /// The agent has said something else.
    pub fn leave_off(&mut self) {
        (self.goes_on, self.is_in_answer) = (false, false);
    }

    /// Whether this `update` says again what comes next in the transcript.
    pub fn repeats<S: Storage>(&mut self, storage: &S, update: &str) -> Result<Repeats> {
        let said = Said::read(update);
        let repeats = match &said {
            Said::User(_) | Said::Attached(_) => self.repeats_prompt(storage, &said)?,
            _ if !self.has_begun => false,
            Said::Agent(text) => {
                let is_next = pass_over(&mut self.now.agent, text, self.goes_on);
                self.is_in_answer |= is_next;
                is_next
            }
            // Some agents leave out what they thought before.
            Said::Thought(text) => {
                pass_over(&mut self.now.thoughts, text, self.goes_on)
                    || pass_over_with_all_before(&mut self.now.thoughts, text)
            }
            Said::Call(id, told, is_whole) => {
                let Some(known) = self.now.calls.get(id) else { return Ok(Repeats::No) };
                let is_known = told.iter().all(|print| known.contains(print));
                if !(is_known || *is_whole && self.goes_on) {
                    // What has come of it since is new, and interrupts nothing.
                    return Ok(Repeats::No);
                }
                true
            }
            Said::Other(print) => take(&mut self.now.others, *print),
        };
        self.goes_on = repeats;
        if !repeats {
            return Ok(Repeats::No);
        }
        self.has_begun |= self.told >= SHORT || self.now.user.is_empty();
        Ok(if self.has_begun { Repeats::Yes } else { Repeats::Perhaps })
    }

    fn repeats_prompt<S: Storage>(&mut self, storage: &S, said: &Said) -> Result<bool> {
        let (goes_on, may_be_short) = (self.goes_on, self.goes_on || !self.has_begun);
        let passes = |exchange: &mut Exchange| match said {
            Said::User(text) if text.is_empty() => goes_on,
            Said::User(text) => pass_over(&mut exchange.user, text, may_be_short),
            Said::Attached(print) => take(&mut exchange.attached, *print),
            _ => false,
        };
        if !passes(&mut self.now) {
            if !passes(&mut self.next) {
                // Agents tell images and files in ways of their own, or with what they stand for.
                return Ok(matches!(said, Said::Attached(_)) && self.has_begun && goes_on);
            }
            self.is_in_answer = false;
            self.now = std::mem::take(&mut self.next);
            self.next = self.exchanges.next(storage)?;
        }
        if let Said::User(text) = said {
            self.told += text.len();
        }
        Ok(true)
    }
}

impl Exchanges {
    fn of<S: Storage>(storage: &S, session: &Session, agent: &str) -> Result<Self> {
        let taken = session.agents.get(agent).into_iter().flat_map(Known::taken).map(str::to_owned);
        Ok(Self {
            replay: Replay::open(storage, session, Start::Beginning)?,
            agent: agent.to_owned(),
            taken: taken.collect(),
            is_others: false,
            ahead: VecDeque::new(),
            is_read: false,
        })
    }

    /// Whether another agent took part in this entry, which follows what was read, and this one did not.
    fn is_of_others(&mut self, entry: &Entry<'_>) -> bool {
        if let Some(said_by) = entry.speaker {
            return self.taken.iter().all(|id| speaker(&self.agent, id) != said_by);
        }
        if entry.kind == Kind::Prompt {
            self.is_others = entry.with().is_some_and(|(agent, id)| agent != self.agent || !self.taken.contains(&id));
        }
        self.is_others
    }

    /// The next exchange of the transcript; an empty one at its end.
    fn next<S: Storage>(&mut self, storage: &S) -> Result<Exchange> {
        let mut exchange = Exchange::default();
        loop {
            while let Some(said) = self.ahead.pop_front() {
                if matches!(said, Said::User(_) | Said::Attached(_)) && exchange.is_answered() {
                    self.ahead.push_front(said);
                    return Ok(exchange);
                }
                exchange.add(said);
            }
            if self.is_read {
                return Ok(exchange);
            }
            match self.replay.next_texts(storage, READ)? {
                Some(entries) => {
                    for entry in entries.iter().filter_map(|text| Entry::parse(text)) {
                        if !self.is_of_others(&entry) {
                            self.ahead.extend(entry.updates().iter().map(|update| Said::read(update)));
                        }
                    }
                }
                None => self.is_read = true,
            }
        }
    }
}

/// Takes what comes next from the beginning of what is left; says whether it does. White space between what `goes_on` belongs to that.
fn pass_over(left: &mut String, said: &str, goes_on: bool) -> bool {
    let is_told = said.len() >= SHORT || said == left || goes_on;
    let is_next = is_told && left.starts_with(said) && (!said.is_empty() || goes_on);
    if is_next {
        left.drain(..said.len());
    }
    is_next
}

/// The same, wherever it comes in what is left.
fn pass_over_with_all_before(left: &mut String, said: &str) -> bool {
    let at = left.find(said).filter(|_| said.len() >= SHORT);
    if let Some(at) = at {
        left.drain(..at + said.len());
    }
    at.is_some()
}

/// Takes one of these from what is left; says whether it is there.
fn take(left: &mut Vec<Print>, print: Print) -> bool {
    let at = left.iter().position(|other| *other == print);
    at.map(|at| left.remove(at)).is_some()
}
