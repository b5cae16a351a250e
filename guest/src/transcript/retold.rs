//! Telling a replay that comes late, in the midst of a turn, from what is said in the turn.
//!
//! Both bear the same session's id. A replay says again what the transcript has: the words of a user's first, then what
//! followed them, and so on. That is followed from the beginning, and no more is taken for the replay than says the same:
//! what is said in a turn must not be lost.

mod exchanges;
mod said;
mod taken_over;
mod unprompted;

use std::collections::VecDeque;

use exchanges::{Exchange, Exchanges};
use said::Said;
pub use taken_over::TakenOver;
pub use unprompted::Unprompted;

use serde::{Deserialize, Serialize};

use crate::storage::{Result, Storage};
use crate::store::Session;

/// So much said again, in bytes without white space, is no chance. Pieces that are shorter, and not the rest of what was said,
/// count where they come right behind others: such are said in turns, and replays come in messages.
const SHORT: usize = 8;
/// So much of an old answer, said again behind a new prompt, is no answer to that which happens to begin so.
const LONG: usize = 256;
/// So much is none where the old answer ends with it.
const LONG_TO_ITS_END: usize = 64;

/// How far an agent has said again what a transcript has.
#[derive(Debug)]
pub struct Retold {
    exchanges: Exchanges,
    /// The exchange that is being said again, or was last, and those behind it that are needed: always the next one as well.
    window: VecDeque<Exchange>,
    /// Which of them is being said again, as far as is known.
    at: usize,
    /// How many exchanges of the transcript were left behind.
    passed: usize,
    /// Something was said again that is no chance.
    has_begun: bool,
    doubt: Doubt,
    /// What was said again since something else was.
    run: Run,
    /// Some of the first exchange in the window may have been said again, of which nothing is known any more.
    is_torn: bool,
}

/// From where on a transcript may be said again, and up to where.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Whereabouts {
    /// How many exchanges were left behind; of the last of them some was said again.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub passed: usize,
    /// The last entry of the session's own log that may be; none: where it ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<u32>,
}

/// What an update is to a transcript that may be said again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeats {
    /// It says again what comes next, and so did those of which that was not sure.
    Yes,
    /// So it does, but too little to be sure that this is not the beginning of something else.
    Perhaps,
    /// It says something else, and so did those of which that was not sure.
    No,
}

/// What else could be said just so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Doubt {
    /// Nothing that is longer than a word.
    None,
    /// The answer to what the user has said since.
    Prompted,
    /// What the user has said since, which an agent repeats, and the answer to it.
    Echo {
        /// The exchange in the window that begins with that.
        of: usize,
    },
}

/// Things that were said again, one right behind the other.
#[derive(Debug, Clone, Copy, Default)]
struct Run {
    goes_on: bool,
    /// How much of it is text, in bytes without white space.
    length: usize,
    /// It is no chance.
    is_sure: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl Retold {
    /// Follows what the session's transcript holds now of what this agent took part in.
    pub fn of<S: Storage>(storage: &S, session: &Session, agent: &str) -> Result<Self> {
        Self::from(storage, session, agent, Whereabouts::default())
    }

    /// Follows, from a place on, what the session's transcript held at another time of what this agent took part in.
    pub fn from<S: Storage>(storage: &S, session: &Session, agent: &str, place: Whereabouts) -> Result<Self> {
        let Whereabouts { passed, end } = place;
        let mut exchanges = Exchanges::of(storage, session, agent, end)?;
        let mut window = VecDeque::from([Exchange::default(), exchanges.first(storage)?]);
        for _ in 0..passed {
            window.pop_front();
            window.push_back(exchanges.next(storage)?);
        }
        let (has_begun, is_torn) = (passed > 0, passed > 0);
        let (doubt, run) = (Doubt::None, Run::default());
        Ok(Self { exchanges, window, at: 0, passed, has_begun, doubt, run, is_torn })
    }

    /// Whether this `update` is words of the user's that begin with all that the user said first. Of something new that is hardly said
    /// before any of it was said again.
    pub fn is_begun_by(&self, update: &str) -> bool {
        let first = self.window.back().map(Exchange::prompt).filter(|first| !first.is_empty() && self.passed == 0);
        matches!((first, Said::read(update)), (Some(first), Said::User(said)) if said.starts_with(first))
    }

    /// Whether any of it was said again.
    pub fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// How many exchanges were left behind: see [`Whereabouts::passed`].
    pub fn passed(&self) -> usize {
        self.passed
    }

    /// Whether all of it was said again.
    pub fn is_over(&self) -> bool {
        self.window.iter().all(Exchange::is_told)
    }

    /// Whether it was said again to its end, as far as the two have spoken: what there is of tool calls and thoughts may be left out.
    pub fn is_spoken(&self) -> bool {
        self.window.iter().all(Exchange::is_spoken)
    }

    /// Whether it ends, as far as it is known, in the midst of a turn that the agent may go on with.
    pub fn is_under_way(&self) -> bool {
        self.exchanges.is_under_way()
    }

    /// The user says something now, which the agent may answer.
    pub fn prompted(&mut self) {
        self.doubt_that(Doubt::Prompted);
    }

    /// The agent has answered all that its user said.
    pub fn answered(&mut self) {
        self.interrupted();
        self.doubt_that(Doubt::None);
    }

    /// Something has come that belongs to no replay, and neither does that of which it was not sure.
    pub fn interrupted(&mut self) {
        self.take_back();
    }

    fn doubt_that(&mut self, doubt: Doubt) {
        self.doubt = doubt;
        (self.run.length, self.run.is_sure) = (0, false);
    }

    /// Whether this `update` says again what comes next in the transcript. `is_echo`: it says as well what the agent was told by
    /// its user since.
    pub fn repeats<S: Storage>(&mut self, storage: &S, update: &str, is_echo: bool) -> Result<Repeats> {
        let said = Said::read(update);
        if !self.passes(&said, storage)? {
            // What has come of a tool call since is new, and interrupts nothing.
            if !(self.run.is_sure && matches!(said, Said::Call { .. })) {
                self.take_back();
            }
            return Ok(Repeats::No);
        }
        self.run.goes_on = true;
        self.run.length += said.length();
        // A replay that has begun goes on before the agent is at anything else.
        if said.is_users() && is_echo && !self.has_begun && !matches!(self.doubt, Doubt::Echo { .. }) {
            self.doubt_that(Doubt::Echo { of: self.at });
        }
        if !self.is_sure(&said, is_echo) {
            return Ok(Repeats::Perhaps);
        }
        if said.is_users() {
            self.doubt = Doubt::None;
        }
        self.settle();
        Ok(Repeats::Yes)
    }

    /// Takes it from what is left of the transcript; says whether it is there, where it may be.
    fn passes<S: Storage>(&mut self, said: &Said, storage: &S) -> Result<bool> {
        if said.is_users() {
            return self.passes_prompt(said, storage);
        }
        let may_be_torn = self.is_torn && self.at == 0;
        let Run { goes_on, .. } = self.run;
        let exchange = &mut self.window[self.at];
        let may_answer = match self.doubt {
            Doubt::None => self.has_begun,
            // From its beginning on it may be the answer to what the user has said.
            Doubt::Prompted => exchange.agent.is_begun(),
            Doubt::Echo { .. } => true,
        };
        Ok(may_answer
            && match said {
                Said::Agent(text) if text.is_empty() => goes_on,
                Said::Agent(text) => {
                    exchange.agent.pass(text)
                        || may_be_torn && text.len() >= SHORT && exchange.agent.pass_with_all_before(text)
                }
                Said::Thought(text) if text.is_empty() => goes_on,
                // Some agents leave out what they thought before.
                Said::Thought(text) => {
                    exchange.thoughts.pass(text) || text.len() >= SHORT && exchange.thoughts.pass_with_all_before(text)
                }
                // An agent may have more to say of a call that it tells as a whole.
                Said::Call { id, told, is_whole, .. } => {
                    exchange.calls.get(id).is_some_and(|known| known.has(told) || *is_whole && goes_on)
                }
                Said::Other(print) => exchange.others.pass(*print),
                Said::User(_) | Said::ForAgent(_) | Said::Attached(_) => false,
            })
    }

    /// Takes what the user says in the exchange that is being said again, or in the next, from what is left of the
    /// transcript; says whether it is there.
    fn passes_prompt<S: Storage>(&mut self, said: &Said, storage: &S) -> Result<bool> {
        let (goes_on, may_be_torn) = (self.run.goes_on, self.is_torn && self.at == 0);
        let passes = |exchange: &mut Exchange| match said {
            Said::User(text) if text.is_empty() => goes_on,
            Said::User(text) | Said::ForAgent(text) => {
                exchange.user.pass(text)
                    || may_be_torn && text.len() >= SHORT && exchange.user.pass_with_all_before(text)
            }
            Said::Attached(print) => exchange.attached.pass(*print),
            _ => false,
        };
        if passes(&mut self.window[self.at]) {
            return Ok(true);
        }
        // What is needed behind it is read before anything counts as said again: that may fail, and what comes then goes on here.
        if self.window.len() == self.at + 2 {
            self.window.push_back(self.exchanges.next(storage)?);
        }
        if !passes(&mut self.window[self.at + 1]) {
            return Ok(match said {
                // Agents tell images and files in ways of their own, or with what they stand for.
                Said::Attached(_) => self.has_begun && goes_on,
                // What they have read of these belongs to what the user says next, or has said.
                Said::ForAgent(_) => true,
                _ => false,
            });
        }
        self.at += 1;
        Ok(true)
    }

    /// Whether what was said again up to this is no chance.
    fn is_sure(&self, said: &Said, is_echo: bool) -> bool {
        if matches!(said, Said::ForAgent(_)) {
            return self.run.is_sure;
        }
        let exchange = &self.window[self.at];
        let is_long = |length| self.run.is_sure || self.run.length >= length;
        if said.is_users() {
            return match self.doubt {
                Doubt::Echo { of } => self.at > of && !is_echo,
                // White space says nothing of what it belongs to.
                Doubt::Prompted if self.at == 0 && self.run.length == 0 => false,
                Doubt::None | Doubt::Prompted => is_long(SHORT) || exchange.user.left().is_empty(),
            };
        }
        let is_at_end = match said {
            Said::Thought(_) => exchange.thoughts.left().is_empty(),
            _ => exchange.agent.left().is_empty(),
        };
        match self.doubt {
            Doubt::None if matches!(said, Said::Call { .. } | Said::Other(_)) => true,
            Doubt::None => is_long(SHORT) || is_at_end,
            Doubt::Prompted => is_long(LONG) || is_at_end && is_long(LONG_TO_ITS_END),
            Doubt::Echo { .. } => false,
        }
    }

    /// What was said again is no chance.
    fn settle(&mut self) {
        (self.has_begun, self.run.is_sure) = (true, true);
        self.is_torn &= self.at == 0;
        self.passed += self.at;
        self.window.drain(..std::mem::take(&mut self.at));
        self.window[0].settle();
    }

    /// What was said again of which that was not sure was something else.
    fn take_back(&mut self) {
        self.run = Run::default();
        self.at = 0;
        self.window.iter_mut().for_each(Exchange::take_back);
    }
}
