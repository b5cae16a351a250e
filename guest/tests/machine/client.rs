//! A client: what it asked, and what it believes.

mod ask;
mod hear;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::talk::Mark;

/// What a request was for.
#[derive(Debug, Clone)]
pub(crate) enum Asked {
    Initialize,
    /// With how many sessions were known.
    New(usize),
    /// With the window of what was seen meanwhile.
    Load(usize),
    Resume(String),
    /// With what the parent had to have, and how many sessions were known.
    Fork(String, Vec<(usize, Vec<Mark>)>, usize),
    Prompt(usize),
    Close(String),
    Delete(String),
    Title(String, String),
    Status(String),
    List,
    /// The machine itself wants to see the answer.
    Shown,
    Other,
}

/// What a client sees from the request for a session to its answer.
#[derive(Debug, Clone)]
pub(crate) struct Window {
    pub(crate) session: String,
    /// What has to be seen.
    pub(crate) required: Vec<(usize, Vec<Mark>)>,
    pub(crate) since: u64,
    /// When it was granted.
    pub(crate) until: Option<u64>,
    pub(crate) seen: Vec<Mark>,
    /// The whole history was asked for.
    pub(crate) whole: bool,
    /// Something else goes on with the session, so that things may be seen twice.
    pub(crate) blurred: bool,
    pub(crate) done: bool,
    /// How the layer says that the agent has opened it.
    pub(crate) attached: Option<String>,
    /// The code of the error that it was answered with.
    pub(crate) refused: Option<i64>,
}

/// What a client has heard of a session since it opened it.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    pub(crate) since: u64,
    pub(crate) marks: BTreeSet<Mark>,
}

/// A client.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct Client {
    next: u32,
    /// What waits for an answer, by id; more than one only where an id was used twice.
    pub(crate) asked: BTreeMap<String, Vec<Asked>>,
    /// How many answers without an id are owed.
    pub(crate) nameless: i32,
    /// Sessions that it believes open.
    pub(crate) open: BTreeSet<String>,
    pub(crate) windows: Vec<Window>,
    pub(crate) heard: BTreeMap<String, Heard>,
    /// The agent's requests that it has not answered.
    pub(crate) requests: Vec<Value>,
    /// The answer to what the machine itself wanted to see last.
    pub(crate) shown: Option<Value>,
    /// All of them, by id.
    passed: BTreeSet<String>,
    /// The connection has ended.
    pub(crate) is_over: bool,
    /// It has closed its end: what could not be written any more is told to nobody.
    pub(crate) has_left: bool,
    /// What it deleted.
    deleted: BTreeSet<String>,
    pub(crate) is_initialized: bool,
    /// What was sent before that is still being answered in its order.
    pub(crate) is_queued: bool,
    /// What its agent lists stays there.
    pub(crate) trusts_lists: bool,
}

impl Client {
    /// How many requests wait for an answer.
    pub(crate) fn waits(&self) -> usize {
        self.asked.values().map(Vec::len).sum()
    }

    /// The sessions that it waits for to be opened, or forked.
    pub(crate) fn opens(&self) -> impl Iterator<Item = &str> {
        self.asked.values().flatten().filter_map(|asked| match asked {
            Asked::Load(window) => Some(self.windows[*window].session.as_str()),
            Asked::Resume(id) | Asked::Fork(id, ..) => Some(id),
            _ => None,
        })
    }

    /// Whether a request that changes what is open is under way for this session, or may be.
    fn is_blurred(&self, session: &str) -> bool {
        let touches = |asked: &Asked| match asked {
            Asked::Initialize => true,
            Asked::Load(window) => self.windows[*window].session == session,
            Asked::Resume(id) | Asked::Close(id) | Asked::Delete(id) => id == session,
            _ => false,
        };
        !self.is_initialized || self.is_queued || self.asked.values().flatten().any(touches)
    }
}
