//! A session that is open on a connection, or being opened or closed: everything about it, and nothing else.
//!
//! Its phase holds what only that phase has, and whoever waits for the end of a phase waits in the session itself, so
//! that no phase can end and forget them.

mod abandoned_replay;
mod account_filter;
mod activity;
mod agents_copy;
mod at_rest;
mod awaited;
mod busy;
mod catching_up;
mod close;
mod closing;
mod displaced;
mod elicitation;
mod failing;
mod fork_of_unknown;
mod in_step;
mod keep_out_late_replay;
mod keep_prompts;
mod laid_out;
mod late_replay;
mod lost;
mod memo;
mod named;
mod note_overheard;
mod open_elsewhere;
mod opened;
mod opened_otherwise;
mod opened_with;
mod opening;
mod overheard;
mod own_turn;
mod permission;
mod planned;
mod prompt;
mod put_back;
mod question;
mod quote;
mod session_update;
mod settings;
mod show;
mod spending;
mod staging;
mod state;
mod state_to_write;
mod subagent_states;
mod taken_over;
mod target;
mod turn_end;
mod turns_heard;
mod unheard;
mod update;
mod usage;
mod waiting_prompts;
mod write;

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub(super) use lost::{given_to_keep, given_where};
pub(super) use memo::Memo;
pub(super) use opening::{OpenRequest, Wanted};
pub(super) use question::Question;
pub(super) use session_update::Update;
pub(super) use settings::Setting;
pub(super) use show::Piece;
pub(super) use target::{Parent, Target};
pub(super) use waiting_prompts::WaitingPrompt;

use super::client_request::ClientRequest;
use super::cx::Cx;
use super::effect::{Effect, Waiting};
use super::key::Key;
use super::load::Share;
use super::told::Untold;
use super::turn::Turn;

use crate::environment::Environment;
use crate::storage::Storage;
use crate::store::{Session, State};
use crate::transcript::{LaidOut, OpenCalls, Recorder, Retold, SubagentStates, ToldCalls, Whereabouts, own_words};
use activity::Activity;
use agents_copy::AgentsCopy;
use awaited::Awaited;
use busy::Busy;
use closing::Closing;
use failing::Failing;
use in_step::InStep;
use late_replay::LateReplay;
use opened_with::OpenedWith;
use opening::Opening;
use overheard::Overheard;
use own_turn::OwnTurn;
use quote::Quote;
use spending::Spending;
use state_to_write::StoredAs;
use waiting_prompts::WaitingPrompts;

/// A session on a connection.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct LiveSession {
    #[serde(skip, default = "Key::nobodys")]
    key: Key,
    /// The id its agent has it open by; empty while the agent has not named it yet, or was started again and has not been
    /// made to open it.
    agent_id: Arc<str>,
    #[serde(skip, default = "Phase::at_rest")]
    phase: Phase,
    /// What waits for the phase to end.
    #[serde(skip)]
    waiting: VecDeque<Waiting>,
    recorder: Recorder,
    /// The store did not take what was last to be written.
    #[serde(skip)]
    failing: Option<Failing>,
    /// What the client was told of the turn that ended last.
    last_turn: LastTurn,
    state: State,
    #[serde(skip)]
    state_dirty: bool,
    /// What has changed of the state since it was last written: windows on one session write each what its own has told.
    #[serde(skip)]
    state_changes: State,
    /// What the whole of it was stored as; none where the store may have something else.
    stored_state: Option<StoredAs>,
    earlier_state: EarlierState,
    /// What the state takes in memory, as it was last stored.
    #[serde(skip)]
    state_share: Option<Share>,
    /// What the record does not show yet.
    #[serde(skip)]
    activity: Activity,
    /// What its agent says that it uses.
    spending: Spending,
    /// What was said and went to the agent neither in its own turns nor in an account; none: nothing.
    untold: Option<Untold>,
    /// What the agent has told as it opened it, while another window might go on with the last of that.
    overheard: Option<Overheard>,
    /// What this window knows of others on the session.
    in_step: InStep,
    /// What is known of the agent's own copy of the conversation.
    copy: AgentsCopy,
    /// All turns in the log that are not its own have ended.
    others_ended: bool,
    /// The agent's questions that its user has not answered.
    #[serde(skip)]
    questions: Vec<Question>,
    awaited: Awaited,
    /// The prompts that wait.
    #[serde(skip)]
    unsent: WaitingPrompts,
    /// The turn that it is at, where its prompt is in the log.
    #[serde(skip)]
    own_turn: Option<OwnTurn>,
    /// Tool calls of the turn under way that have not ended.
    calls: OpenCalls,
    /// Tool calls that were told of.
    told_calls: ToldCalls,
    /// Keeps the layer's own words out of what is shown as the user's.
    echo_filter: own_words::Stream,
    /// Keeps the layer's own words out of what is shown as the agent's.
    quote: Quote,
    /// How far the agent has said the history again for a request that nobody waits for any more.
    #[serde(skip)]
    retold: Option<Box<Retold>>,
    /// What it may say again behind its answer to opening the session.
    late_replay: LateReplay,
    /// The connection whose open mark is in the store.
    marked: Option<String>,
    /// The last entry of the log as the agent opened the session; not known once an instance was lost.
    opened_behind: Option<u32>,
    /// The tags of turns that the agent had heard by then, though not all that stands before them. They are not known either once an
    /// instance was lost.
    turns_had: BTreeSet<String>,
    /// Which of the connection's writes to logs was the last to this one.
    writes: u64,
    /// How many of the arrivals that an instance was lost with are in the log.
    #[serde(skip)]
    recorded: u32,
    /// What has become of what was said in the turns under way.
    said: Completeness,
    /// The agent has begun another session in the place of its own, which it could not open. It takes that place when a
    /// prompt in it has succeeded. How many entries the transcript had when it was begun.
    stands_in_since: Option<u64>,
    stands_in: StandsIn,
    /// What the transcript has of its sub-agents, where the agent has said between turns how they are.
    subagents: Option<Box<SubagentStates>>,
    /// The session on behalf of which its agent started it.
    parent: Option<String>,
    /// What the client has opened it with, but for its id.
    given: Option<Arc<str>>,
    /// Whether the agent has it open with that.
    opened_with: OpenedWith,
    /// In which folder it was opened.
    folder: Folder,
    /// It has been open to its client, not only been on its way to that.
    was_open: bool,
    /// The title that the client was told as it was opened; the agent has said nothing since.
    title_told: Option<String>,
    /// What it has been called after a prompt; the client is told so with the end of the turn.
    name_to_tell: Option<String>,
}

/// Whether the client was told that a turn is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum LastTurn {
    Stored,
    Unstored,
}

/// For how long another session of the agent's stands in for its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) enum StandsIn {
    /// Until a prompt in it has succeeded: it takes that one's place.
    #[default]
    Until,
    /// For now: the agent cannot open its own as long as another of its programs has it.
    ForNow,
}

impl StandsIn {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "it is what serde asks with")]
    fn is_until(&self) -> bool {
        *self == Self::Until
    }
}

/// In which folder a session was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Folder {
    /// That of its record, wherever that has been moved since.
    OfRecord,
    /// One that its record does not have, because the store could not be written.
    Other,
}

/// What the store has of a session's state from before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum EarlierState {
    /// It was taken into account.
    Known,
    /// It could not be read yet: what is known has all come since.
    Unread,
}

/// How far a session is.
#[derive(Debug)]
enum Phase {
    /// The agent is being made to open it, or the client is being shown what an agent it is new to has to tell.
    Opening(Box<Opening>),
    /// It can be talked to.
    Open {
        /// More than one where a client does not wait.
        turns: Vec<Turn>,
        /// What keeps it from what is asked next.
        busy: Option<Busy>,
    },
    /// Its turns end, then the agent lets go.
    Closing(Closing),
    /// Somebody else has deleted it: nothing is recorded any more, but its turns are shown to their ends and get their answers.
    Deleted { turns: Vec<Turn> },
    /// It is over; the router forgets it.
    Gone,
}

/// What the router has to note of a session; see [`LiveSession::stamp`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    phase: std::mem::Discriminant<Phase>,
    untold: Option<Untold>,
    is_kept: bool,
    is_marked: bool,
    writes: u64,
    seen: Option<u32>,
    in_step: (bool, usize, u32),
    stands_in_since: Option<u64>,
    /// What would become of what was said if the instance were lost.
    at_stake: Completeness,
    said: Completeness,
    questions: (usize, usize),
    awaits_user: bool,
    late_replay: Option<Whereabouts>,
    opened_with: std::mem::Discriminant<OpenedWith>,
    sent: usize,
}

/// What has become of what was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Completeness {
    /// All of it is in the log, or will be.
    Whole,
    /// Part of it could not be kept.
    Missing,
}

impl Completeness {
    fn missing_if(is_missing: bool) -> Self {
        if is_missing { Self::Missing } else { Self::Whole }
    }
}

impl LiveSession {
    fn new(key: Key, agent_id: String, state: State, phase: Phase) -> Self {
        let recorder = Recorder::new(key.id().unwrap_or_default());
        Self {
            key,
            agent_id: agent_id.into(),
            phase,
            waiting: VecDeque::new(),
            recorder,
            failing: None,
            last_turn: LastTurn::Stored,
            stored_state: Some(StoredAs::of(&state.to_text())),
            state,
            state_dirty: false,
            state_changes: State::default(),
            earlier_state: EarlierState::Known,
            state_share: None,
            activity: Activity::default(),
            spending: Spending::default(),
            untold: None,
            overheard: None,
            in_step: InStep::default(),
            copy: AgentsCopy::Known { at: None },
            others_ended: false,
            questions: Vec::new(),
            awaited: Awaited::default(),
            unsent: WaitingPrompts::default(),
            own_turn: None,
            calls: OpenCalls::default(),
            told_calls: ToldCalls::default(),
            echo_filter: own_words::Stream::default(),
            quote: Quote::default(),
            retold: None,
            late_replay: LateReplay::default(),
            marked: None,
            opened_behind: None,
            turns_had: BTreeSet::new(),
            writes: 0,
            recorded: 0,
            said: Completeness::Whole,
            stands_in_since: None,
            stands_in: StandsIn::Until,
            subagents: None,
            parent: None,
            given: None,
            opened_with: OpenedWith::Given,
            folder: Folder::OfRecord,
            was_open: false,
            title_told: None,
            name_to_tell: None,
        }
    }

    /// A session that the agent has just made. `untold`: what it has not heard.
    pub(super) fn open(id: String, agent_id: String, state: State, untold: Option<Untold>) -> Self {
        let phase = Phase::Open { turns: Vec::new(), busy: None };
        let mut session = Self::new(Key::Session(id), agent_id, state, phase);
        session.untold = untold;
        session.was_open = true;
        session
    }

    /// A session that the agent was found to have open; its state is read when it is needed.
    pub(super) fn open_unread(id: String, agent_id: String, untold: Option<Untold>) -> Self {
        let mut session = Self::open(id, agent_id, State::default(), untold);
        session.earlier_state = EarlierState::Unread;
        session
    }

    /// A session that its agent has started on behalf of another; it is over when that one is.
    pub(super) fn of_subagent(record: &Session, agent_id: String, parent: String) -> Self {
        let mut session = Self::open(record.id.clone(), agent_id, State::default(), None);
        session.in_step.lay_out(LaidOut::of(record));
        session.parent = Some(parent);
        session.spending = Spending::of_subagent();
        session
    }

    /// Whether its agent started it on behalf of this one.
    pub(super) fn is_of(&self, parent: &Key) -> bool {
        self.parent().is_some_and(|id| parent.id() == Some(id))
    }

    /// The session on behalf of which its agent started it.
    pub(super) fn parent(&self) -> Option<&str> {
        self.parent.as_deref()
    }

    /// Whether it is over after it was open: those that its agent started on its behalf are over too.
    pub(super) fn ends_subagents(&self) -> bool {
        self.is_gone() && self.was_open
    }

    /// Its open mark is in the store already, for this connection.
    pub(super) fn set_marked(&mut self, connection: String) {
        self.marked = Some(connection);
    }

    /// What it is told now comes with the arrival that is being handled.
    pub(super) fn arrives<S: Storage, E: Environment>(&mut self, cx: &Cx<'_, S, E>) {
        self.recorder.at(cx.before + u64::from(cx.arrivals));
    }

    pub(super) fn key(&self) -> &Key {
        &self.key
    }

    pub(super) fn agent_id(&self) -> &Arc<str> {
        &self.agent_id
    }

    pub(super) fn is_gone(&self) -> bool {
        matches!(self.phase, Phase::Gone)
    }

    pub(super) fn is_open(&self) -> bool {
        matches!(self.phase, Phase::Open { .. })
    }

    pub(super) fn is_opening(&self) -> bool {
        matches!(self.phase, Phase::Opening(_)) || matches!(self.phase, Phase::Open { busy: Some(_), .. })
    }

    /// Whether its agent is at work on a prompt.
    pub(super) fn is_in_turn(&self) -> bool {
        matches!(&self.phase, Phase::Open { turns, .. } if !turns.is_empty())
    }

    pub(super) fn is_closing(&self) -> bool {
        matches!(self.phase, Phase::Closing(_))
    }

    pub(super) fn is_deleted(&self) -> bool {
        matches!(self.phase, Phase::Deleted { .. })
    }

    /// The same also where it is being closed since.
    fn is_deleted_elsewhere(&self) -> bool {
        self.is_deleted() || matches!(&self.phase, Phase::Closing(closing) if closing.deleted)
    }

    /// Changes whenever something does that the router has to note, besides ids.
    pub(super) fn stamp(&self) -> Stamp {
        Stamp {
            phase: std::mem::discriminant(&self.phase),
            untold: self.untold_for_sure(),
            is_kept: self.is_kept(),
            is_marked: self.marked.is_some(),
            writes: self.writes,
            seen: self.recorder.seen(),
            in_step: self.in_step.stamp(),
            stands_in_since: self.stands_in_since,
            at_stake: Completeness::missing_if(self.is_unwritten()),
            said: self.said,
            questions: self.questions_stamp(),
            late_replay: self.late_replay.place(),
            awaits_user: self.awaits_user(),
            opened_with: std::mem::discriminant(&self.opened_with),
            sent: self.unsent.begun.len(),
        }
    }

    /// Whether something waits to be written.
    pub(super) fn is_dirty(&self) -> bool {
        let is_beside = self.state_dirty || self.activity.touched.is_some() || self.is_awaited_unwritten();
        self.recorder.is_dirty() || is_beside || self.unsent.is_any_begun()
    }

    /// Whether the store did not take what was last to be written.
    pub(super) fn is_failing(&self) -> bool {
        self.failing.is_some()
    }

    /// Whether something that was said waits to be written that the store did not take.
    pub(super) fn is_unsaved(&self) -> bool {
        self.is_failing() && self.recorder.is_dirty()
    }

    /// Whether something waits to be written and may be tried.
    pub(super) fn is_due(&self, now: i64) -> bool {
        self.is_dirty() && self.failing.as_ref().is_none_or(|failing| failing.is_due(now))
    }

    /// Whether so much waits to be written that it should not wait for the time.
    pub(super) fn is_full(&self) -> bool {
        self.recorder.is_full()
    }

    /// Whether what a client sent waits here.
    pub(super) fn is_waited_for(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Whether something waits for its phase to end that opens it then.
    pub(super) fn is_opened_next(&self) -> bool {
        self.waiting.iter().any(Waiting::opens)
    }

    /// Keeps a line until the phase ends; then it is handled as if it came now.
    pub(super) fn wait(&mut self, waiting: Waiting) {
        self.waiting.push_back(waiting);
    }

    /// Takes a waiting request back, if it waits here.
    pub(super) fn withdraw(&mut self, request: &ClientRequest) -> Option<Waiting> {
        Waiting::take(&mut self.waiting, request)
    }

    /// Whether its agent may have more than the history by now: it was not looked at for a while, or not at all.
    pub(super) fn is_uncompared(&self, now: i64) -> bool {
        let is_its_own = !self.agent_id.is_empty() && self.stands_in_since.is_none();
        self.copy != AgentsCopy::NotReplayedWhileOpen && !self.copy.is_recent(now) && is_its_own
    }

    fn release<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) {
        if !self.waiting.is_empty() {
            cx.push(Effect::Release(std::mem::take(&mut self.waiting)));
        }
    }

    /// The turns under way, whatever the phase.
    fn turns_mut(&mut self) -> Option<&mut Vec<Turn>> {
        match &mut self.phase {
            Phase::Open { turns, .. } | Phase::Closing(Closing { turns, .. }) | Phase::Deleted { turns } => Some(turns),
            Phase::Opening(_) | Phase::Gone => None,
        }
    }

    /// Whether no turn is under way, in whichever phase.
    fn is_without_turn(&mut self) -> bool {
        self.turns_mut().is_none_or(|turns| turns.is_empty())
    }
}
