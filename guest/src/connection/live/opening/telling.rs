//! How far an agent tells a history while it loads a session that it has open, and what else it says.

use crate::connection::live::session_update::Update;
use crate::rpc::Object;
use crate::storage::{Result, Storage};
use crate::store::Session;
use crate::transcript::{Entry, OpenCalls, Repeats, Replay, Retold, Start, Unprompted, UpdateKind, own_words};

/// How many updates are looked through for calls that are running: all of a long conversation would hold up the load, and what
/// looks for calls that were cut off looks no further back.
const LOOK_BACK: u64 = 4000;

/// How far the agent has told the history, as far as that matters to what it says beside it.
#[derive(Debug, Default)]
pub(super) enum Meanwhile {
    /// It has told nothing yet.
    #[default]
    Unasked,
    Known(Box<Telling>),
    /// That cannot be read: all that it says is taken for the history.
    Unknown,
}

/// What is known of the history that it tells.
#[derive(Debug)]
pub(super) struct Telling {
    greeting: Unprompted,
    /// What it had said when it was asked for the history, while it was asked for the session in another way.
    said_before: Unprompted,
    retold: Retold,
    /// What it has said before it told any of it.
    said: Unprompted,
    stage: ToldSoFar,
    /// Something has come behind the end of what the transcript has.
    is_behind: bool,
    /// The tool calls that are running, once that mattered.
    running: Option<OpenCalls>,
}

/// How far it has told it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ToldSoFar {
    /// It has told nothing that its user has said.
    Before,
    /// It tells what the transcript has.
    Retold,
    /// It tells something of its user's that the transcript has not, at least not there.
    Other,
}

/// What an update is that comes while it tells that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    History,
    /// The first of its user's words, with which the conversation has not begun: what came before belongs to such a history.
    HistoryFromElsewhere,
    /// Something of its user's that comes behind what was taken for said between turns: that belongs to the history.
    HistoryGoesOn,
    SaidBetweenTurns,
    /// Something that comes behind a history that says what the transcript has: more of that, or said between turns.
    Behind,
    /// The same as what is said between turns, and it may be in the history that it tells as well.
    Both,
}

impl Telling {
    pub(super) fn of<S: Storage>(storage: &S, session: &Session, agent: &str) -> Result<Self> {
        Ok(Self {
            greeting: Unprompted::before_all(storage, session, agent)?,
            retold: Retold::of(storage, session, agent)?,
            said_before: Unprompted::default(),
            said: Unprompted::default(),
            stage: ToldSoFar::Before,
            is_behind: false,
            running: None,
        })
    }

    /// It has said this `update` before it was asked for the history.
    pub(super) fn note_said_before(&mut self, update: &str) {
        self.said_before.add(update);
    }

    pub(super) fn next<S: Storage>(&mut self, update: &Update<'_>, session: &Session, storage: &S) -> Result<What> {
        if update.kind == UpdateKind::UserChunk {
            return self.next_of_user(update, storage);
        }
        let is_end = self.ends_call(update, session, storage)?;
        if self.stage == ToldSoFar::Before {
            if self.greeting.repeats(update.update) || self.said_before.repeats(update.update) {
                return Ok(What::History);
            }
            self.said.add(update.update);
            return Ok(What::SaidBetweenTurns);
        }
        if is_end {
            return Ok(What::Both);
        }
        if self.stage == ToldSoFar::Other {
            return Ok(What::History);
        }
        let is_said = matches!(update.name.as_str(), "agent_message_chunk" | "tool_call");
        // What comes to a turn whose window is gone, or was stopped, is the rest of it.
        let begins = is_said && self.retold.is_spoken() && !self.retold.is_under_way();
        let is_behind = self.is_behind || begins;
        let is_retold = self.retold.repeats(storage, update.update, false)? != Repeats::No;
        let is_told = is_retold || self.said_before.repeats(update.update) || self.said.repeats(update.update);
        if is_told || !is_behind {
            return Ok(What::History);
        }
        self.is_behind = true;
        Ok(What::Behind)
    }

    /// Whether the history that it has told may have what it has said in this place, counted from 0 over all that is no more than
    /// behind its end. What came before it is in it up to the last of that which was told again; the ends of tool calls may be.
    pub(super) fn may_have(&self, place: usize) -> bool {
        let before = self.said_before.count();
        let again = match self.said.again() {
            0 => self.said_before.again(),
            again => before + again,
        };
        place < again || place >= before + self.said.count()
    }

    /// Whether it has told nothing of its user's, and words of its own: these may be what its history was made to.
    pub(super) fn is_its_own_alone(&self) -> bool {
        self.stage == ToldSoFar::Before && self.said.has_words()
    }

    fn next_of_user<S: Storage>(&mut self, update: &Update<'_>, storage: &S) -> Result<What> {
        // An account of the layer's stands before a prompt, and what the agent tells its model alone anywhere.
        let is_account = update.text().is_some_and(|text| own_words::strip(&text).trim().is_empty());
        if self.stage == ToldSoFar::Other || is_account || update.is_hidden() {
            return Ok(What::History);
        }
        let is_retold = self.retold.repeats(storage, update.update, false)? != Repeats::No;
        let stage = if is_retold { ToldSoFar::Retold } else { ToldSoFar::Other };
        let is_from_elsewhere = std::mem::replace(&mut self.stage, stage) == ToldSoFar::Before && !is_retold;
        if std::mem::take(&mut self.is_behind) {
            return Ok(What::HistoryGoesOn);
        }
        Ok(if is_from_elsewhere { What::HistoryFromElsewhere } else { What::History })
    }

    /// Whether it ends a tool call of the conversation that was still running.
    fn ends_call<S: Storage>(&mut self, update: &Update<'_>, session: &Session, storage: &S) -> Result<bool> {
        if update.name != "tool_call_update" {
            return Ok(false);
        }
        if self.running.is_none() {
            self.running = Some(running_calls(session, storage)?);
        }
        let Some(running) = &mut self.running else { return Ok(false) };
        let id = Object::parse_or_empty(update.update).get_string("toolCallId");
        let is_running = |running: &OpenCalls| id.as_ref().is_some_and(|id| running.ids().contains(id));
        let was_running = is_running(running);
        running.feed(update.update);
        Ok(was_running && !is_running(running))
    }
}

/// The tool calls of a conversation that have begun, as far as is looked back, and not ended.
fn running_calls<S: Storage>(session: &Session, storage: &S) -> Result<OpenCalls> {
    let mut running = OpenCalls::default();
    Replay::open(storage, session, Start::Last(LOOK_BACK))?.each(storage, |_, text| {
        let updates = Entry::parse(text).map(|entry| entry.updates()).unwrap_or_default();
        for update in &updates {
            running.feed(update);
        }
    })?;
    Ok(running)
}
