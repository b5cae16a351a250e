//! What follows from something that happened to a session, for the router to carry out.

use std::collections::VecDeque;

use super::client_request::ClientRequest;
use super::held::Held;
use super::key::Key;
use super::load::Share;
use super::method::Method;
use super::params::Rest;
use super::requests::{Matter, Outgoing, OwnId};
use crate::rpc::{Id, Object, RpcError};

/// A line that waits, and the request in it, if it is one.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) line: String,
    pub(super) request: Option<ClientRequest>,
    /// What the request asks for.
    pub(super) method: Option<Method>,
    pub(super) _share: Share,
}

impl Waiting {
    /// Takes a request back from those that wait, if it is one of them.
    pub(super) fn take(all: &mut VecDeque<Self>, request: &ClientRequest) -> Option<Self> {
        let at = all.iter().position(|waiting| waiting.request.as_ref() == Some(request))?;
        all.remove(at)
    }

    /// Takes the prompts from those that wait.
    pub(super) fn take_prompts(all: &mut VecDeque<Self>) -> VecDeque<Self> {
        let (prompts, others) = std::mem::take(all).into_iter().partition(Self::is_prompt);
        *all = others;
        prompts
    }

    /// Whether it is a prompt, which a cancelled session ends before the agent sees it.
    pub(super) fn is_prompt(&self) -> bool {
        self.method == Some(Method::Prompt)
    }

    /// Whether it opens the session that it names.
    pub(super) fn opens(&self) -> bool {
        self.method.is_some_and(Method::opens)
    }

    /// Whether it closes the session that it names.
    pub(super) fn closes(&self) -> bool {
        self.method.is_some_and(Method::closes)
    }

    /// The session that it names, if it does.
    pub(super) fn session(&self) -> Option<String> {
        let line = Object::parse(&self.line)?;
        Object::parse(line.get("params")?)?.get_string("sessionId")
    }
}

/// Something for the router to do.
#[derive(Debug)]
pub(super) enum Effect {
    /// Ask the agent something on the engine's own account.
    Ask { id: OwnId, what: Outgoing, method: &'static str, params: String },
    /// Nobody waits for this any more: tell the agent, and clean up behind a late answer.
    Abandon(OwnId),
    /// The agent was silent for too long about the session that it knows by this id: what it was asked for in vain is not
    /// waited for.
    GiveUp(String),
    /// Send this line to the agent.
    ToAgent(String),
    /// Send this line to every client that has the session open.
    ToClients(String),
    /// Send these lines to the client that made the request.
    ToClientOf(ClientRequest, Vec<String>),
    /// Answer a request that the engine has kept open.
    Finish(ClientRequest, Result<String, RpcError>),
    /// Handle these lines as if they came now.
    Release(VecDeque<Waiting>),
    /// What the agent has said in this session and asked its user, from the first question on, while it was not open to the
    /// client. Where it is not open now either, the questions are answered for the client.
    Held { of: Key, rest: Vec<Held> },
    /// Serve the session's history when there is room.
    Show(Key),
    /// A session was opened in this directory.
    OpenedIn(String),
    /// The agent has given the id of this session to another one.
    Displaced(Key),
    /// This session is over, and with it those that its agent started on its behalf.
    Over(Key),
    /// No prompt is open any more in this session, which is being closed and was started on behalf of another.
    PromptsAnswered(Key),
    /// Nobody is to answer any more what the agent has asked its user by these requests, by the ids that the client knows them by.
    TakeBack(Vec<(Id, Matter)>),
    /// The agent has started a session of its own on behalf of this one (unstable: `subagent_update`).
    Subagent { parent: String, update: String },
    /// Log this.
    Warn(String),
    /// Recording failed; the host is told once.
    NotRecorded(String),
    /// What is said in this session could not be written: the host and the client are told once.
    NotSaved { session: Key, reason: String },
    /// These sessions are deleted; those of sub-agents may still be open.
    Deleted(Vec<String>),
    /// These deletes are to be asked of the agent: its ids.
    DeleteAtAgent { ids: Vec<String>, rest: Rest },
    /// The agent is to put its copy of this session away too.
    ArchiveAtAgent { session: String, rest: Rest },
    /// The agent is asked to let go of a session that it was made to open in vain.
    LetGo { agent_id: String, made: bool },
}
