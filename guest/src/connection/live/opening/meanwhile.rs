//! What an agent says between turns while it loads a session that it has open, which is no part of the history that it tells.
//!
//! What it says before it tells anything of its user's is that, unless the conversation has begun so: histories are told from their
//! beginning. So is what it says behind the end of one that says what the transcript has, and the end of a tool call that was
//! still running.

use super::behind_answer::NOTICE;
use super::{Comparing, Opening, Target};
use crate::connection::cx::Cx;
use crate::connection::effect::Effect;
use crate::connection::live::{LiveSession, Phase, Update};
use crate::connection::step::Step;
use crate::environment::Environment;
use crate::rpc::Object;
use crate::storage::{Result, Storage};
use crate::store::Session;
use crate::transcript::{Entry, OpenCalls, Repeats, Replay, Retold, Start, Unprompted, UpdateKind, own_words};

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
    retold: Retold,
    /// What it has said before it told any of it.
    said: Unprompted,
    stage: Stage,
    /// The tool calls that are running, once that mattered.
    running: Option<OpenCalls>,
}

/// How far it has told it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// It has told nothing that its user has said.
    Before,
    /// It tells what the transcript has.
    Retold,
    /// It tells something of its user's that the transcript has not, at least not there.
    Other,
}

/// What an update is that comes while it tells that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    History,
    /// The first of its user's words, with which the conversation has not begun: what came before belongs to such a history.
    HistoryFromElsewhere,
    SaidBetweenTurns,
    /// The same, and it may be in the history that it tells as well.
    Both,
}

impl Telling {
    fn of<S: Storage>(storage: &S, session: &Session, agent: &str) -> Result<Self> {
        Ok(Self {
            greeting: Unprompted::before_all(storage, session, agent)?,
            retold: Retold::of(storage, session, agent)?,
            said: Unprompted::default(),
            stage: Stage::Before,
            running: None,
        })
    }

    fn next<S: Storage>(&mut self, update: &Update<'_>, session: &Session, storage: &S) -> Result<What> {
        if update.kind == UpdateKind::UserChunk {
            return self.next_of_user(update, storage);
        }
        let is_end = self.ends_call(update, session, storage)?;
        if self.stage == Stage::Before {
            if self.greeting.repeats(update.update) {
                return Ok(What::History);
            }
            self.said.add(update.update);
            return Ok(What::SaidBetweenTurns);
        }
        if is_end {
            return Ok(What::Both);
        }
        if self.stage == Stage::Other {
            return Ok(What::History);
        }
        let is_behind = self.retold.is_spoken() && matches!(update.name.as_str(), "agent_message_chunk" | "tool_call");
        let is_retold = self.retold.repeats(storage, update.update, false)? != Repeats::No;
        let is_new = is_behind && !is_retold && !self.said.repeats(update.update);
        Ok(if is_new { What::SaidBetweenTurns } else { What::History })
    }

    fn next_of_user<S: Storage>(&mut self, update: &Update<'_>, storage: &S) -> Result<What> {
        // An account of the layer's stands before a prompt.
        let is_account = update.text().is_some_and(|text| own_words::strip(&text).trim().is_empty());
        if self.stage == Stage::Other || is_account {
            return Ok(What::History);
        }
        let is_retold = self.retold.repeats(storage, update.update, false)? != Repeats::No;
        let stage = if is_retold { Stage::Retold } else { Stage::Other };
        let is_from_elsewhere = std::mem::replace(&mut self.stage, stage) == Stage::Before && !is_retold;
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

/// The tool calls of a conversation that have begun and not ended.
fn running_calls<S: Storage>(session: &Session, storage: &S) -> Result<OpenCalls> {
    let mut running = OpenCalls::default();
    Replay::open(storage, session, Start::Beginning)?.each(storage, |_, text| {
        let updates = Entry::parse(text).map(|entry| entry.updates()).unwrap_or_default();
        updates.iter().for_each(|update| running.feed(update));
    })?;
    Ok(running)
}

impl Opening {
    /// Whether the agent, which has the session open, is telling its history.
    fn is_telling_while_open(&self) -> bool {
        self.was_open() && !self.is_detached() && self.is_here() && matches!(self.current, Some((_, Step::Load)))
    }

    /// Takes note of an update that comes while the agent loads the session; says whether it is no part of the history. It waits
    /// until the session is open again.
    pub(super) fn says_meanwhile<S: Storage, E: Environment>(
        &mut self,
        update: &Update<'_>,
        cx: &mut Cx<'_, S, E>,
    ) -> bool {
        if update.name == NOTICE || !self.is_telling_while_open() {
            return false;
        }
        let what = self.what_comes(update, cx).unwrap_or_else(|error| {
            cx.push(Effect::Warn(format!("what is said now could not be told from a replay: {error}")));
            self.meanwhile = Meanwhile::Unknown;
            What::History
        });
        match what {
            What::History => false,
            What::HistoryFromElsewhere => {
                self.was_history(cx);
                false
            }
            What::SaidBetweenTurns | What::Both => {
                self.behind_answer.push(update.line);
                what == What::SaidBetweenTurns
            }
        }
    }

    fn what_comes<S: Storage, E: Environment>(&mut self, update: &Update<'_>, cx: &Cx<'_, S, E>) -> Result<What> {
        let (session, storage) = (self.target.session(), cx.store.storage());
        if matches!(self.meanwhile, Meanwhile::Unasked) {
            self.meanwhile = Meanwhile::Known(Box::new(Telling::of(storage, session, &cx.agent.name)?));
        }
        match &mut self.meanwhile {
            Meanwhile::Known(telling) => telling.next(update, session, storage),
            Meanwhile::Unasked | Meanwhile::Unknown => Ok(What::History),
        }
    }

    /// What it has said so far is told as the beginning of a history, such as a summary of what was said before that.
    fn was_history<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) {
        let lines = self.behind_answer.take_updates();
        let Some(staging) = &mut self.staging else { return };
        for line in lines {
            let message = Object::parse_or_empty(&line);
            let params = message.get_object("params");
            let Some(update) = Update::read(&line, &params) else { continue };
            if let Err(error) = staging.record(&update, cx) {
                cx.push(Effect::NotRecorded(error.to_string()));
                return;
            }
        }
    }
}

impl LiveSession {
    /// What the agent has said meanwhile is in the log before that is compared with what it has told: it may be in that as well.
    /// Returns what shows it to the client.
    pub(super) fn keep_said_meanwhile<S: Storage, E: Environment>(
        &mut self,
        cx: &mut Cx<'_, S, E>,
    ) -> (Vec<Effect>, Result<()>) {
        let Some(opening) = self.opening_mut() else { return (Vec::new(), Ok(())) };
        let is_compared = opening.staging.is_some() && opening.comparing == Comparing::NowIfEver;
        let is_open = opening.was_open() && !opening.is_detached() && matches!(opening.target, Target::Known(_));
        if !is_compared || !is_open {
            return (Vec::new(), Ok(()));
        }
        let lines = opening.behind_answer.take_updates();
        if lines.is_empty() {
            return (Vec::new(), Ok(()));
        }
        let before = cx.effects.len();
        let opening = std::mem::replace(&mut self.phase, Phase::Open { turns: Vec::new(), busy: None });
        self.say_after_all(&lines, cx);
        self.end_held(cx);
        let written = self.write(cx, true);
        self.phase = opening;
        let is_shown = |effect: &Effect| matches!(effect, Effect::ToClients(_));
        let (shown, rest): (Vec<Effect>, Vec<Effect>) = cx.effects.split_off(before).into_iter().partition(is_shown);
        cx.effects.extend(rest);
        (shown, written)
    }
}
