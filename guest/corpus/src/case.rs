//! What a case is made of, in the words of `wit/world.wit`. Its JSON is what serde makes of these types.

use acp_sessions_guest::exchange;
use acp_sessions_guest::sessions::panel::ListCriteria;
use acp_sessions_guest::storage::Write;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::content::Content as Stored;

/// A script of calls, and what comes of each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Case {
    /// What it shows, for people.
    pub about: String,
    /// The storage answers `unsupported` to whatever has to do with texts but commits.
    #[serde(default, skip_serializing_if = "is_false")]
    pub without_text_search: bool,
    /// What the storage holds before the first step.
    #[serde(default, skip_serializing_if = "Stored::is_empty")]
    pub start: Stored,
    /// What is done, in order.
    pub steps: Vec<Step>,
    /// What the storage holds after the last step.
    pub end: Stored,
}

/// One call of an engine, or a commit of somebody else's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Step {
    /// Which instance is called. None: any that has no connection, or nobody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<u32>,
    /// What time it is from now on, in milliseconds since 1970. None: as before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now: Option<i64>,
    /// What is called.
    pub call: Call,
    /// What goes wrong in the storage meanwhile.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<Fault>,
    /// What the call returns. None: nothing, or never, because the instance is lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub returns: Option<Value>,
    /// What `pull` returns when it is called after that, with room for anything, as often as there are values here. Nothing
    /// goes wrong meanwhile.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pulls: Vec<Value>,
}

/// A call of the storage that goes wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Fault {
    /// Which function.
    pub function: String,
    /// Which call of it within the step, from 1 on.
    pub nth: u32,
    /// In what way.
    pub flaw: Flaw,
}

/// The way in which a call of the storage goes wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Flaw {
    /// It does nothing and returns this error.
    Error(Value),
    /// It does nothing, and the instance is lost.
    LostBefore,
    /// It does what it should, and the instance is lost.
    LostAfter,
}

/// A function of `connection` or `sessions`, or a `commit` by somebody else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", rename_all_fields = "kebab-case", deny_unknown_fields)]
#[allow(missing_docs)] // Their words are those of the WIT.
pub enum Call {
    Connect(Connect),
    Receive {
        arrivals: Vec<Arrival>,
        #[serde(default = "any_room", skip_serializing_if = "is_any_room")]
        client_room: u32,
    },
    Pull {
        #[serde(default = "any_room", skip_serializing_if = "is_any_room")]
        client_room: u32,
    },
    Idle,
    PeerClosed {
        peer: Peer,
    },
    AgentRestarted {
        how: String,
    },
    ListSessions {
        criteria: ListCriteria,
        limit: u32,
        cursor: Option<String>,
    },
    ChangesSince {
        criteria: ListCriteria,
        position: Option<String>,
    },
    GetSession {
        session_id: String,
    },
    ReadTranscript {
        session_id: String,
        after: Option<String>,
        limit: u32,
    },
    ReadSetAside {
        session_id: String,
        after: Option<String>,
        limit: u32,
    },
    ListUsage {
        limit: u32,
        cursor: Option<String>,
    },
    ReadTurnUsage {
        session_id: String,
        after: Option<String>,
        limit: u32,
    },
    ReadPermissions {
        session_id: String,
        after: Option<String>,
        limit: u32,
    },
    RenameSession {
        session_id: String,
        title: String,
    },
    ArchiveSession {
        session_id: String,
        archived: bool,
    },
    DeleteSession {
        session_id: String,
    },
    FinishDeletes,
    PruneSessions {
        idle_since: String,
        cwd: Option<String>,
        limit: u32,
        cursor: Option<String>,
        dry_run: bool,
    },
    MoveSessions {
        old_cwd: String,
        new_cwd: String,
        limit: u32,
        cursor: Option<String>,
        dry_run: bool,
    },
    FoldersOf {
        first_commit: String,
    },
    CheckStore {
        mending: String,
        cursor: Option<String>,
        limit: u32,
    },
    Commit {
        writes: Vec<WriteBy>,
    },
}

/// How an instance comes to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Connect {
    /// By name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<(String, String)>,
    /// The instance whose memos it is given, all that stand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<u32>,
    /// The memos it is given, where they are not those of one instance.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<(String, String)>,
    /// The arrivals that another was lost with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<Arrival>,
}

/// A side of the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum Peer {
    Client,
    Agent,
}

/// Something that arrives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Arrival {
    /// From whom.
    pub peer: Peer,
    /// What.
    pub content: Content,
}

/// What arrives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum Content {
    Line(String),
    TooLong(String),
    NotText(String),
    NotBearable(String),
}

/// A write of somebody else's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[allow(missing_docs)]
pub enum WriteBy {
    Put { key: String, value: String },
    Remove(String),
    Append { log: String, seq: u32, value: String },
    Amend { log: String, seq: u32, value: String },
    Restore { log: String, seq: u32, value: String },
    CutLog { log: String, start: u32 },
    IndexText { owner: String, part: u32, tokens: String },
    DropText { owner: String, start: u32 },
}

impl Call {
    /// Whether it is one of the typed interface.
    pub(crate) fn is_typed(&self) -> bool {
        match self {
            Self::Connect(_)
            | Self::Receive { .. }
            | Self::Pull { .. }
            | Self::Idle
            | Self::PeerClosed { .. }
            | Self::AgentRestarted { .. }
            | Self::Commit { .. } => false,
            Self::ListSessions { .. }
            | Self::ChangesSince { .. }
            | Self::GetSession { .. }
            | Self::ReadTranscript { .. }
            | Self::ReadSetAside { .. }
            | Self::ListUsage { .. }
            | Self::ReadTurnUsage { .. }
            | Self::ReadPermissions { .. }
            | Self::RenameSession { .. }
            | Self::ArchiveSession { .. }
            | Self::DeleteSession { .. }
            | Self::FinishDeletes
            | Self::PruneSessions { .. }
            | Self::MoveSessions { .. }
            | Self::FoldersOf { .. }
            | Self::CheckStore { .. } => true,
        }
    }
}

impl Step {
    /// A call, of which nothing is known yet.
    pub(crate) fn new(instance: Option<u32>, call: Call) -> Self {
        Self { instance, now: None, call, faults: Vec::new(), returns: None, pulls: Vec::new() }
    }

    /// Whether the instance is not lost in it.
    pub fn has_returned(&self) -> bool {
        !self.faults.iter().any(|fault| matches!(fault.flaw, Flaw::LostBefore | Flaw::LostAfter))
    }

    /// Whether it is a call of `pull` that can stand behind another as part of the same step.
    pub(crate) fn is_plain_pull(&self) -> bool {
        let is_plain = self.now.is_none() && self.faults.is_empty() && self.returns.is_some();
        is_plain && self.call == Call::Pull { client_room: ANY_ROOM }
    }
}

/// Room for whatever comes.
pub(crate) const ANY_ROOM: u32 = u32::MAX;

fn any_room() -> u32 {
    ANY_ROOM
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde asks so.
fn is_any_room(room: &u32) -> bool {
    *room == ANY_ROOM
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde asks so.
fn is_false(value: &bool) -> bool {
    !value
}

impl From<WriteBy> for Write {
    fn from(write: WriteBy) -> Self {
        match write {
            WriteBy::Put { key, value } => Self::Put { key, value },
            WriteBy::Remove(key) => Self::Remove { key },
            WriteBy::Append { log, seq, value } => Self::Append { log, seq, value },
            WriteBy::Amend { log, seq, value } => Self::Amend { log, seq, value },
            WriteBy::Restore { log, seq, value } => Self::Restore { log, seq, value },
            WriteBy::CutLog { log, start } => Self::CutLog { log, start },
            WriteBy::IndexText { owner, part, tokens } => Self::IndexText { owner, part, tokens },
            WriteBy::DropText { owner, start } => Self::DropText { owner, start },
        }
    }
}

impl From<exchange::Peer> for Peer {
    fn from(peer: exchange::Peer) -> Self {
        match peer {
            exchange::Peer::Client => Self::Client,
            exchange::Peer::Agent => Self::Agent,
        }
    }
}

impl From<Peer> for exchange::Peer {
    fn from(peer: Peer) -> Self {
        match peer {
            Peer::Client => Self::Client,
            Peer::Agent => Self::Agent,
        }
    }
}

impl From<exchange::Arrival> for Arrival {
    fn from(arrival: exchange::Arrival) -> Self {
        let content = match arrival.content {
            exchange::Content::Line(text) => Content::Line(text),
            exchange::Content::TooLong(text) => Content::TooLong(text),
            exchange::Content::NotText(text) => Content::NotText(text),
            exchange::Content::NotBearable(text) => Content::NotBearable(text),
        };
        Self { peer: arrival.peer.into(), content }
    }
}

impl From<Arrival> for exchange::Arrival {
    fn from(arrival: Arrival) -> Self {
        let content = match arrival.content {
            Content::Line(text) => exchange::Content::Line(text),
            Content::TooLong(text) => exchange::Content::TooLong(text),
            Content::NotText(text) => exchange::Content::NotText(text),
            Content::NotBearable(text) => exchange::Content::NotBearable(text),
        };
        Self { peer: arrival.peer.into(), content }
    }
}
