//! The outermost layer: it holds the sessions, the requests under way and the lines that wait for the connection, and
//! is the only part that knows how many clients there are: one.
//!
//! Each file is one thing that a side may say, or one thing that time brings; all are methods of [`Router`], which owns
//! the store, the clock and what is to be sent.

mod agent;
mod agents_states;
mod agents_subscription;
mod archive;
mod attach;
mod before_named;
mod cancel;
mod chain;
mod client;
mod configure;
mod delete;
mod deliver_held;
mod discover;
mod disowned;
mod effects;
mod ends;
mod folder_notes;
mod follow;
mod follow_worktrees;
mod hand_over;
mod host_calls;
mod in_step;
mod initialize;
mod keep_prompts;
mod kept;
mod layers;
mod list;
mod login;
mod malformed_lines;
mod new;
mod note_folders;
mod note_states;
mod open;
mod open_live;
mod recover;
mod relay;
mod relay_lists;
mod relayed;
mod relayed_lists;
mod requests;
mod restarted;
mod show;
mod stage;
mod status_and_title;
mod storing_notices;
mod subagent;
mod subscribe;
mod subscriptions;
mod tick;
mod times;
mod untold;
mod update;
mod waiting_lists;
mod waiting_prompts;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::asked::AskedFor;
use super::effect::Effect;
use super::generation::Generation;
use super::key::Key;
use super::live::LiveSession;
use super::load::Load;
use super::profile::AgentProfile;
use super::requests::{OwnIds, Requests};
use super::sums::Sums;
use crate::exchange::Output;
use crate::settings::Settings;
use crate::store::Store;
use agents_states::AgentsStates;
use agents_subscription::AgentsSubscription;
use before_named::Early;
use discover::Discovery;
use disowned::Disowned;
use folder_notes::FolderNotes;
use kept::KeptSession;
use relayed::Relayed;
use relayed_lists::RelayedLists;
use stage::Stage;
use subscriptions::Subscriptions;
use times::Times;
use waiting_lists::WaitingLists;
use waiting_prompts::ConnectionsPrompts;

/// All of one connection: what is remembered of it, and what it works with.
#[derive(Debug)]
pub(crate) struct Router<S, E> {
    store: Store<S>,
    environment: E,
    settings: Settings,
    connection: Connection,
    outputs: VecDeque<Output>,
    /// How many bytes of them are for the client.
    answered: usize,
    /// The client takes what it is told, as the host has last said.
    client_has_room: bool,
    /// It is a proxy in a chain that a conductor keeps, and has its agent from there.
    in_chain: bool,
}

/// What the engine remembers of a connection. A cache: what must outlive a lost instance is in the store or in memos.
#[derive(Debug, Serialize, Deserialize)]
struct Connection {
    /// Names this connection in open marks and turns.
    name: String,
    /// The store that the client has, as it has told: it is a layer in front of this one.
    clients_store: Option<String>,
    /// How many of the arrivals that are being handled it has begun to handle, or has handled; none when what follows from
    /// them has been pulled.
    #[serde(skip)]
    arrivals: u32,
    /// How much had arrived before those.
    before: u64,
    /// How often it has written to logs, with the instances before this one.
    writes: u64,
    stage: Stage,
    agent: AgentProfile,
    /// How often the agent was started again.
    generation: Generation,
    /// The params of `initialize`, as the agent has them.
    introduction: String,
    /// What the client has asked for by its capabilities.
    asked: AskedFor,
    /// The agent has refused to do anything before its user logs in, and nobody has since.
    needs_login: bool,
    #[serde(skip)]
    agent_gone: bool,
    /// How it ended when it had not answered `initialize` yet and was started again, the first time.
    ended_early: Option<String>,
    #[serde(skip)]
    sessions: BTreeMap<Key, LiveSession>,
    /// Those of a layer behind over the same store.
    #[serde(skip)]
    relayed: Relayed,
    /// Lists that the client follows there.
    #[serde(skip)]
    relayed_lists: RelayedLists,
    /// Sessions by the agent's ids for them.
    #[serde(skip)]
    by_agent: BTreeMap<Arc<str>, Key>,
    #[serde(skip)]
    requests: Requests,
    /// What the agent has said that sessions cost which were open before.
    sums: Sums,
    /// What of the client's waits.
    #[serde(skip)]
    load: Load,
    /// The states of open sessions that are held in memory.
    #[serde(skip)]
    states: Load,
    ids: OwnIds,
    /// What the host was last given to keep of each session.
    #[serde(skip)]
    memos: BTreeMap<String, KeptSession>,
    early: Early,
    /// The prompts that wait and are kept in the store.
    unsent: ConnectionsPrompts,
    /// The agent's ids of sessions that it made in vain, or that nobody took note of; the last few.
    disowned: Disowned,
    /// Sessions whose histories were fetched from the agent, to be forked.
    fetched: BTreeSet<String>,
    /// Sessions with a history to show, the next to serve first.
    #[serde(skip)]
    showing: VecDeque<Key>,
    /// The session to be marked as open once the first of its history is on its way.
    #[serde(skip)]
    to_mark: Option<Key>,
    discovery: Discovery,
    agents_subscription: AgentsSubscription,
    /// Lists of which the host does not know yet which worktrees they are of.
    #[serde(skip)]
    awaiting_worktrees: WaitingLists,
    agents_states: AgentsStates,
    /// Which lists the client follows.
    #[serde(skip)]
    subscriptions: Subscriptions,
    folders: FolderNotes,
    times: Times,
    /// When this connection's open marks were last vouched for.
    beaten: Option<i64>,
    /// Whether the host was told that recording fails.
    warned: bool,
    /// The session in which the client was told that what is said is not stored.
    #[serde(skip)]
    told_unsaved: Option<Key>,
    #[serde(skip)]
    effects: Vec<Effect>,
}

impl Connection {
    /// The arrivals that were being handled are done with.
    fn end_arrivals(&mut self) {
        self.before += u64::from(std::mem::take(&mut self.arrivals));
    }

    /// `random` names the connection and its requests.
    fn new(random: u64, now: i64) -> Self {
        Self {
            name: format!("{random:016x}"),
            clients_store: None,
            arrivals: 0,
            before: 0,
            writes: 0,
            stage: Stage::default(),
            agent: AgentProfile::default(),
            generation: Generation::default(),
            introduction: String::new(),
            asked: AskedFor::default(),
            needs_login: false,
            agent_gone: false,
            ended_early: None,
            sessions: BTreeMap::new(),
            relayed: Relayed::default(),
            relayed_lists: RelayedLists::default(),
            by_agent: BTreeMap::new(),
            requests: Requests::default(),
            sums: Sums::default(),
            load: Load::default(),
            states: Load::default(),
            ids: OwnIds::new(random),
            memos: BTreeMap::new(),
            early: Early::default(),
            unsent: ConnectionsPrompts::default(),
            disowned: Disowned::default(),
            fetched: BTreeSet::new(),
            showing: VecDeque::new(),
            to_mark: None,
            discovery: Discovery::default(),
            awaiting_worktrees: WaitingLists::default(),
            agents_subscription: AgentsSubscription::default(),
            agents_states: AgentsStates::default(),
            subscriptions: Subscriptions::default(),
            folders: FolderNotes::default(),
            times: Times::new(now),
            beaten: None,
            warned: false,
            told_unsaved: None,
            effects: Vec::new(),
        }
    }
}
