//! Telling a replay that comes late, in the midst of a turn, from what is said in the turn.
//!
//! Both bear the same session's id. A replay says again what the transcript has: the words of a user's first, then what
//! followed them, and so on. That is followed from the beginning, and no more is taken for the replay than says the same:
//! what is said in a turn must not be lost.

use std::collections::{BTreeSet, VecDeque};

use super::echo::dense;
use super::entry::{Entry, Kind, speaker};
use super::own_words::strip;
use super::replay::{Replay, Start};
use crate::rpc::Object;
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
    /// The exchange that is being said again.
    now: Exchange,
    /// The one behind it.
    next: Exchange,
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
    agent: String,
    thoughts: String,
    calls: BTreeSet<String>,
}

/// What an update says, without white space.
#[derive(Debug)]
enum Said {
    User(String),
    /// Something else than text.
    Attached,
    Agent(String),
    Thought(String),
    /// Something of a tool call.
    Call(String),
    Other,
}

impl Said {
    fn read(update: &str) -> Self {
        let update = Object::parse_or_empty(update);
        let content = update.get_object("content");
        let is_text = content.get_string("type").as_deref() == Some("text");
        let text = || content.get_string("text").filter(|_| is_text);
        match update.get_string("sessionUpdate").unwrap_or_default().as_str() {
            "user_message_chunk" => text().map_or(Self::Attached, |text| Self::User(dense(&strip(&text)))),
            "agent_message_chunk" => text().map_or(Self::Other, |text| Self::Agent(dense(&text))),
            "agent_thought_chunk" => text().map_or(Self::Other, |text| Self::Thought(dense(&text))),
            "tool_call" | "tool_call_update" => update.get_string("toolCallId").map_or(Self::Other, Self::Call),
            _ => Self::Other,
        }
    }
}

impl Exchange {
    /// Whether something that is said next by the user belongs to the next exchange.
    fn is_answered(&self) -> bool {
        !(self.agent.is_empty() && self.thoughts.is_empty() && self.calls.is_empty())
    }

    fn add(&mut self, said: Said) {
        match said {
            Said::User(text) => self.user.push_str(&text),
            Said::Agent(text) => self.agent.push_str(&text),
            Said::Thought(text) => self.thoughts.push_str(&text),
            Said::Call(id) => {
                self.calls.insert(id);
            }
            Said::Attached | Said::Other => {}
        }
    }
}

impl Retold {
    /// Follows what the session's transcript holds now of what this agent took part in.
    pub fn of<S: Storage>(storage: &S, session: &Session, agent: &str) -> Result<Self> {
        let mut exchanges = Exchanges::of(storage, session, agent)?;
        let mut next = exchanges.next(storage)?;
        if next.user.is_empty() {
            // What stands before the first thing a user said cannot be told from what the agent says now.
            next = exchanges.next(storage)?;
        }
        Ok(Self { exchanges, has_begun: false, goes_on: false, now: Exchange::default(), next })
    }

    /// Whether any of it was said again.
    pub fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// Whether this `update` says again what comes next in the transcript.
    pub fn repeats<S: Storage>(&mut self, storage: &S, update: &str) -> Result<bool> {
        let said = Said::read(update);
        let repeats = match &said {
            Said::User(text) => {
                if !self.is_next(&self.now.user, text) && self.is_next(&self.next.user, text) {
                    self.now = std::mem::take(&mut self.next);
                    self.next = self.exchanges.next(storage)?;
                }
                let is_next = self.is_next(&self.now.user, text);
                pass_over(&mut self.now.user, text, is_next)
            }
            Said::Agent(text) => {
                let is_next = self.has_begun && self.is_next(&self.now.agent, text);
                pass_over(&mut self.now.agent, text, is_next)
            }
            Said::Thought(text) => self.has_begun && text.len() >= SHORT && self.now.thoughts.contains(text),
            Said::Call(id) => self.has_begun && self.now.calls.contains(id),
            Said::Attached => self.has_begun,
            Said::Other => false,
        };
        self.has_begun |= repeats;
        self.goes_on = repeats;
        Ok(repeats)
    }

    /// Whether this is what comes next of what is left.
    fn is_next(&self, left: &str, said: &str) -> bool {
        let is_told = said.len() >= SHORT || said == left || self.goes_on;
        is_told && !said.is_empty() && left.starts_with(said)
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
                if matches!(said, Said::User(_) | Said::Attached) && exchange.is_answered() {
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

/// Takes what comes next from the beginning of what is left; says whether it does.
fn pass_over(left: &mut String, said: &str, is_next: bool) -> bool {
    if is_next {
        left.drain(..said.len());
    }
    is_next
}
