//! Having the agent open a session that it may or may not remember.
//!
//! One machine for all of it: a session of the store, one that only the agent knows, a fork. It has a plan of steps,
//! the one under way with the request it waits for, the history for the client, and what the agent tells that may be
//! new. It is carried through as a whole or leaves nothing behind.

mod adopting;
mod ask_again;
mod asked_early;
mod begin;
mod behind_answer;
mod failing;
mod meanwhile;
mod mixed;
mod others;
mod plan;
mod questions;
mod rest;
mod say_held;
mod steps;
mod telling;
mod tells_on;
mod wanted;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::json;

pub(in crate::connection) use wanted::Wanted;

use super::agents_copy::AgentsCopy;
use super::late_replay::LateReplay;
use super::opened_with::directories;
use super::overheard::Overheard;
use super::session_update::Update;
use super::staging::Staging;
use super::target::Target;
use crate::connection::answer::AUTH_REQUIRED;
use crate::connection::client_request::ClientRequest;
use crate::connection::cx::Cx;
use crate::connection::profile::AgentProfile;
use crate::connection::requests::OwnId;
use crate::connection::restore::{NotPutBack, Restored};
use crate::connection::running::RunningAt;
use crate::connection::showing::Showing;
use crate::connection::step::Step;
use crate::environment::Environment;
use crate::rpc::{Code, Object, RpcError};
use crate::storage::Storage;
use crate::store::{Known, Origin, Session, State, directory};
use crate::transcript::{LaidOut, Whereabouts};
use behind_answer::BehindAnswer;
use mixed::Mixed;
use others::Others;
use questions::Questions;
use telling::Meanwhile;
use tells_on::TellsOn;

/// How many `session_info_update`s are remembered of a session that the store does not have yet.
const MOST_INFOS: usize = 16;

/// A request to open a session, as it came.
#[derive(Debug)]
pub(in crate::connection) struct OpenRequest {
    /// Who waits for it; none where the engine itself needs the history.
    pub(in crate::connection) request: Option<ClientRequest>,
    /// The client's params but for the session's id.
    pub(in crate::connection) rest: String,
    pub(in crate::connection) wanted: Wanted,
}

/// A session on its way to being open.
#[derive(Debug)]
pub(super) struct Opening {
    pub(super) target: Target,
    pub(super) request: Option<ClientRequest>,
    rest: String,
    pub(super) wanted: Wanted,
    /// The agent's id of the session, or of the one that is forked.
    asks_as: Option<String>,
    before: Before,
    /// The directory and the further ones that it had when it was asked for.
    found_in: (String, Vec<String>),
    /// The last entry of its own log at that time.
    pub(super) log_ended_at: u32,
    plan: VecDeque<Step>,
    current: Option<(OwnId, Step)>,
    /// The store's revision when the agent was asked to make a session for it, if that could be read.
    made_behind: Option<u64>,
    /// From when to when the agent was opening its own session, in milliseconds since 1970.
    opened_within: Option<(i64, i64)>,
    /// The time that its own list had given then.
    listed_as_asked: Option<i64>,
    /// When the agent last gave a sign of life.
    alive: RunningAt,
    /// Why an earlier step did not do.
    pub(super) reason: Option<RpcError>,
    /// The state that is to be put back.
    put_back: State,
    state_of_parent: StateOfParent,
    /// Requests to put it back that are under way.
    restoring: BTreeMap<OwnId, Restored>,
    /// The agent has not answered an earlier request for the session, that nobody waits for any more. It may tell the
    /// history for that one yet, which could not be told from what it says in a turn.
    awaits_earlier: bool,
    mixed: Mixed,
    others: Others,
    pub(super) attached: Option<Attached>,
    pub(super) showing: Option<Showing>,
    staging: Option<Staging>,
    comparing: Comparing,
    /// The tags of turns that the agent has told, behind what it has not heard.
    pub(super) turns_told: BTreeSet<String>,
    /// What was overheard came to.
    pub(super) overheard: Option<Overheard>,
    /// The agent has told something that the user said before its answer.
    has_told: bool,
    /// Whether it goes on telling behind its answer.
    tells_on: TellsOn,
    /// The agent's answer that does not count yet, because it may be telling the rest.
    answered: Option<Attached>,
    behind_answer: BehindAnswer,
    /// What it has asked its user.
    questions: Questions,
    /// What is said beside the history that the agent tells of a session that it has open.
    meanwhile: Meanwhile,
    /// The agent's telling is shown as it comes, because there is nothing else to show.
    shows_telling: bool,
    /// What the agent has heard of the transcript, in entries.
    pub(super) heard: u64,
    /// What the client is told right after the answer that names its session.
    pub(super) later: Vec<String>,
    /// What the agent calls a session that the store does not have yet, the last few `session_info_update`s.
    infos: VecDeque<String>,
    /// The title that the agent has told the client last meanwhile.
    title_told: Option<String>,
}

/// What becomes of what the agent tells while it opens the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparing {
    /// It is compared with the history, where it need be.
    NowIfEver,
    /// It is not compared, though it may have more: somebody else is at work in the session, or was until a moment ago.
    PutOff,
    /// It is not compared for the same reason, and only shows what the agent knows.
    Overheard,
}

/// Which state of the session that is forked is the fork's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StateOfParent {
    AsAsked,
    /// The client had set something of it when it asked for the fork, and the agent had not agreed to that yet: it may do so before it
    /// forks.
    AsAnswered,
}

impl StateOfParent {
    fn of<S: Storage, E: Environment>(target: &Target, cx: &Cx<'_, S, E>) -> Self {
        match target {
            Target::Fork(parent) if cx.requests.is_being_set(&parent.session.id) => Self::AsAnswered,
            Target::Fork(..) | Target::ForkOfUnknown(_) | Target::Known(_) | Target::Unknown(_) => Self::AsAsked,
        }
    }
}

/// What the session was before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Before {
    /// The agent did not have it open.
    Closed,
    /// It was open and only its history is wanted: a failure leaves it open.
    Open,
    /// It was open and is to be opened with something else: a failure leaves it open.
    OpenOtherwise,
    /// It was open and only its history was wanted, and the client has taken its request back. The agent is telling the history
    /// all the same, which could not be told from what it says in a turn: what is asked next waits until it has.
    OpenForNobody,
    /// It was open to the client, and the agent, which was started again, has it open no more: a failure leaves it so.
    Detached {
        /// All that was said is in the log.
        is_written: bool,
    },
}

/// How the agent opened it.
#[derive(Debug)]
pub(super) struct Attached {
    pub(super) step: Step,
    pub(super) answer: String,
    /// What of the state could not be put back.
    pub(super) not_put_back: NotPutBack,
    /// The history was taken over from the agent, or compared with what it tells.
    pub(super) adopted: bool,
}

impl Opening {
    /// Whether the client had it open.
    pub(super) fn was_open(&self) -> bool {
        self.before != Before::Closed
    }

    /// Whether the agent, which was started again, has it open no more.
    pub(super) fn is_detached(&self) -> bool {
        matches!(self.before, Before::Detached { .. })
    }

    /// The agent's id of the session, or of the one that is forked, if it has one.
    pub(super) fn asks_as(&self) -> Option<&str> {
        self.asks_as.as_deref()
    }

    /// Whether the agent, which has it open, is to open it with something else.
    pub(super) fn is_otherwise(&self) -> bool {
        self.before == Before::OpenOtherwise
    }

    /// Whether the client has it open all the while, though the agent is to open it again.
    pub(super) fn goes_on(&self) -> bool {
        self.is_detached() || self.is_otherwise()
    }

    /// Whether it is open as before where the agent does not open it with something else, though its user is logged in.
    fn is_open_anyway(&self, agent: &AgentProfile) -> bool {
        let has_history = !self.wanted.is_history() || self.target.session().origin == Origin::Layer || !agent.load;
        let needs_login = self.reason.as_ref().is_some_and(|reason| reason.code == AUTH_REQUIRED);
        self.is_otherwise() && has_history && !needs_login
    }

    /// Whether its history can be shown though its agent, which has it open, does not tell it once more.
    fn has_history_anyway(&self) -> bool {
        self.before == Before::Open && self.request.is_some() && self.target.session().origin == Origin::Layer
    }

    /// Whether the transcript is laid out in this record as it was when the agent was asked.
    pub(super) fn is_laid_out_as_asked(&self, session: &Session) -> bool {
        matches!(&self.target, Target::Known(asked) if LaidOut::of(asked).is_of(session))
    }

    /// How many entries the agent has heard of the transcript as this record has it: another window may have laid it out anew.
    pub(super) fn heard_in(&self, session: &Session) -> u64 {
        match &self.target {
            Target::Known(asked) => LaidOut::of(asked).carried(self.heard, session),
            Target::Unknown(_) | Target::Fork(..) | Target::ForkOfUnknown(_) => self.heard,
        }
    }

    /// Whether the store does not have it before it is open.
    pub(super) fn is_new_to_store(&self) -> bool {
        !matches!(self.target, Target::Known(_))
    }

    /// The agent has said this of a session that the store does not have yet.
    pub(super) fn remember_info(&mut self, update: &str) {
        if self.infos.len() == MOST_INFOS {
            self.infos.pop_front();
        }
        self.infos.push_back(update.to_owned());
    }

    /// The client is told this `session_info_update`.
    pub(super) fn info_told(&mut self, update: &str) {
        let info = Object::parse_or_empty(update);
        if info.get("title").is_some() {
            self.title_told = info.get_text("title");
        }
    }

    /// Whether the client was told what the session is called already, by its agent, and nothing else since. A layer behind
    /// this one tells it as this one does.
    pub(super) fn has_told_title(&self, session: &Session) -> bool {
        self.title_told.is_some() && self.title_told.as_deref() == session.title.text()
    }

    /// What the agent may still tell of the conversation, now that it has answered so. One that has begun afresh has nothing to
    /// tell.
    fn late_replay(&self, step: Step, now: i64) -> LateReplay {
        if step == Step::New {
            return LateReplay::default();
        }
        match self.tells_on.held_up_behind() {
            Some(passed) => LateReplay::taken_up(Whereabouts { passed, end: None }, now),
            None if self.has_told => LateReplay::default(),
            None => LateReplay::awaited(step == Step::Load, now),
        }
    }

    /// Whether the agent has answered, and is not telling the history again, nor for an earlier request.
    pub(super) fn is_behind_answer(&self) -> bool {
        self.attached.is_some() && self.current.is_none() && !self.awaits_earlier
    }

    /// Whether Gemini CLI says by this in which mode it is, while it is put back to that: nobody has changed it.
    fn says_mode_is_back(&self, update: &Update<'_>) -> bool {
        let is_put_back = self.restoring.values().any(|restored| matches!(restored, Restored::Mode));
        let mode = self.put_back.mode.as_ref().filter(|_| is_put_back);
        mode.is_some_and(|mode| update.text().is_some_and(|text| text == format!("[MODE_UPDATE] {mode}")))
    }

    /// From when to when the agent was opening its own session, if it was, and which time its own list had given then.
    pub(super) fn opened_within(&self) -> Option<((i64, i64), Option<i64>)> {
        Some((self.opened_within?, self.listed_as_asked))
    }

    /// The store's revision when the agent was asked to make it, if that could be read and it may be listed since.
    pub(super) fn asked_at(&self) -> Option<u64> {
        self.made_behind
    }

    /// What the agent has told of it and nothing was made of.
    pub(super) fn take_told(&mut self) -> Option<Staging> {
        self.staging.take()
    }

    /// What it has said, in its order; once.
    pub(super) fn take_infos(&mut self) -> VecDeque<String> {
        std::mem::take(&mut self.infos)
    }

    /// Whether the agent's list may tell of what this step makes before it is stored, as another session. A fork of a session
    /// that is known takes the place of that by itself.
    fn may_be_listed_before(&self, step: Step) -> bool {
        match self.target {
            Target::Known(_) | Target::Unknown(_) => step == Step::New,
            Target::Fork(..) => false,
            Target::ForkOfUnknown(_) => true,
        }
    }

    /// Whether the agent has it open and all is as it was.
    fn is_attached(&self) -> bool {
        let is_all_told = self.current.is_none() && !self.awaits_earlier && self.mixed != Mixed::Found;
        self.attached.is_some() && self.restoring.is_empty() && is_all_told && !self.others.are_awaited()
    }

    /// What is known of the agent's own copy, now that it has it open.
    pub(super) fn agents_copy<S: Storage, E: Environment>(&self, attached: &Attached, cx: &Cx<'_, S, E>) -> AgentsCopy {
        let known = self.target.session().agents.get(&cx.agent.name);
        if attached.step == Step::New {
            AgentsCopy::Known { at: None }
        } else if attached.adopted {
            AgentsCopy::Known { at: Some(cx.now()) }
        } else if cx.has_recent_list() && known.is_some_and(Known::agrees) {
            // Something may have been said since it was read.
            if cx.follows_list() {
                AgentsCopy::Known { at: Some(cx.now()) }
            } else {
                AgentsCopy::KnownUpToTurns { at: cx.now() }
            }
        } else if self.comparing == Comparing::NowIfEver || attached.step.makes() {
            AgentsCopy::Unseen
        } else {
            AgentsCopy::PutOff
        }
    }

    /// Whether what the agent says now has to wait for its turn in the history.
    pub(super) fn hides_state(&self) -> bool {
        self.target.is_fork() || (self.wanted.is_history() && !self.shows_telling)
    }

    /// The agent's ids of the sessions whose conversation a fork of its own remembers.
    pub(super) fn lineage(&self, agent: &str) -> Vec<String> {
        let known = self.target.session().agents.get(agent);
        known.map(|known| [std::slice::from_ref(&known.id), known.lineage.as_slice()].concat()).unwrap_or_default()
    }

    /// What was in force, and what the client was told last of it.
    pub(super) fn told(&self) -> &State {
        &self.put_back
    }

    /// What is to be in force once it is open.
    pub(super) fn in_force_soon(&mut self) -> &mut State {
        &mut self.put_back
    }

    /// What the agent was asked with, but for the session's id.
    pub(super) fn given(&self) -> &str {
        &self.rest
    }

    /// Has the session where the request says. Where that is where it was when it was asked for, it stays where it has been
    /// moved to since.
    pub(super) fn put_in_place(&self, session: &mut Session) {
        let (cwd, directories) = &self.found_in;
        let wanted = self.directories();
        if wanted != *directories {
            session.directories = wanted;
        }
        if let Some(wanted) = self.cwd().filter(|wanted| directory::is_other(wanted, cwd)) {
            session.move_to(&wanted);
        }
    }

    /// The further directories of the request.
    pub(super) fn directories(&self) -> Vec<String> {
        directories(&self.rest)
    }

    /// The directory of the request.
    fn cwd(&self) -> Option<String> {
        Object::parse_or_empty(&self.rest).get_string("cwd")
    }

    /// The params of a step.
    fn params(&self, step: Step) -> String {
        let mut rest = Object::parse_or_empty(&self.rest);
        if step == Step::New || step == Step::Load {
            // Required there, optional on resume and fork (protocol v1).
            let servers = rest.get("mcpServers").unwrap_or("[]").to_owned();
            rest.set("mcpServers", servers);
        }
        if step == Step::New {
            return rest.to_json();
        }
        let id = json!(self.asks_as.as_deref().unwrap_or_default());
        let rest = rest.to_json();
        let comma = if rest == "{}" { "" } else { "," };
        format!("{{\"sessionId\":{id}{comma}{}", &rest[1..])
    }

    /// The error of an agent that was silent for too long.
    fn silent(method: &str) -> RpcError {
        RpcError::new(
            Code::InternalError,
            format!(
                "Internal error: the agent did not answer `{method}` in time; the session is kept, please try again"
            ),
        )
    }
}
