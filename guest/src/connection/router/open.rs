//! `session/load`, `session/resume` and `session/fork`.

use crate::connection::client_request::ClientRequest;
use crate::connection::handled::{Handled, Handling};
use crate::connection::key::Key;
use crate::connection::live::{LiveSession, OpenRequest, Parent, Target, Wanted};
use crate::connection::params::Params;
use crate::connection::router::Router;
use crate::environment::Environment;
use crate::rpc::{self, Code, Object, RpcError};
use crate::sessions::{mend, place};
use crate::storage::{Storage, StorageError};
use crate::store::{Origin, Session, State, keys};
use crate::transcript::{Part, Start};

/// How many sessions a connection may have open: each takes about 2 KiB.
const MOST_OPEN: usize = 20_000;

impl<S: Storage, E: Environment> Router<S, E> {
    pub(super) fn load(&mut self, request: &ClientRequest, params: &Params<'_>) -> Handling {
        let session = params.session_id()?;
        params.cwd_given()?;
        params.check_mcp_servers(true)?;
        params.additional_directories()?;
        let wanted = history_wanted(&session, params)?;
        self.open_session(request, &session, params, wanted)
    }

    pub(super) fn resume(&mut self, request: &ClientRequest, params: &Params<'_>) -> Handling {
        let session = params.session_id()?;
        params.cwd_given()?;
        params.check_mcp_servers(false)?;
        params.additional_directories()?;
        self.open_session(request, &session, params, Wanted::Nothing)
    }

    fn open_session(&mut self, request: &ClientRequest, id: &str, params: &Params<'_>, wanted: Wanted) -> Handling {
        let key = Key::Session(id.to_owned());
        if self.connection.sessions.get(&key).is_some_and(LiveSession::is_detached) {
            self.attach(&key, Some(request), wanted, |session| params.to_open(Some(&session.cwd)))?;
            return Ok(Handled::Done);
        }
        self.give_back_unsent(id);
        let stored = self.store.session(id)?;
        if let Some(live) = self.connection.sessions.get(&key) {
            let Some(session) = stored.filter(|_| !live.is_deleted()) else {
                return Err(RpcError::session_not_found(id));
            };
            return self.open_live(request, &key, session, params, wanted);
        }
        let target = match stored {
            Some(session) => Target::Known(session),
            None if !self.connection.agent.reopens() => return Err(RpcError::session_not_found(id)),
            None => Target::Unknown(self.unknown_session(id, params)?),
        };
        let rest = params.to_open(Some(&target.session().cwd));
        let asked = OpenRequest { request: Some(request.clone()), rest, wanted };
        self.begin_opening(key, target, asked)?;
        Ok(Handled::Done)
    }

    /// Refuses one more session where very many are open.
    pub(super) fn check_room_for_session(&self) -> Result<(), RpcError> {
        if self.connection.sessions.len() < MOST_OPEN {
            return Ok(());
        }
        let message =
            format!("Internal error: {MOST_OPEN} sessions are open on this connection; close some of them first");
        Err(RpcError::new(Code::InternalError, message))
    }

    fn begin_opening(&mut self, key: Key, target: Target, asked: OpenRequest) -> Result<(), RpcError> {
        self.check_room_for_session()?;
        let state = match &target {
            Target::Unknown(_) | Target::ForkOfUnknown(_) => State::default(),
            Target::Known(session) => self.store.state(&session.id)?,
            Target::Fork(parent) => self.store.state(&parent.session.id)?.without_cost(),
        };
        let state = state.with_agent(&self.connection.agent.name);
        if let Target::Known(session) = &target {
            self.mend(session)?;
        }
        // What came of it before is none of what is asked for now.
        if let Target::Known(session) | Target::Unknown(session) = &target
            && let Some(agent_id) = session.id_at(&self.connection.agent.name).map(str::to_owned)
        {
            self.settle_early(&agent_id);
        }
        // The session is there before what follows from opening it is carried out.
        self.insert_made(|cx| LiveSession::begin(key, target, asked, state, cx))
    }

    /// Ends the turns that nobody is at any more. They stay as they are where nothing can be written.
    pub(super) fn mend(&self, session: &Session) -> Result<(), StorageError> {
        match mend::mend(&self.store, session, &self.connection.name, self.now()) {
            Err(error) if error.is_not_to_write() => Ok(()),
            mended => mended,
        }
    }

    /// A session that the layer has never seen: the agent may have it from before the layer came between.
    fn unknown_session(&self, id: &str, params: &Params<'_>) -> Result<Session, RpcError> {
        let agent = &self.connection.agent;
        // What the agent knows by this id clients know by another, or it was deleted.
        let taken = [keys::agent_session(&agent.name, id), keys::agent_tombstone(&agent.name, id), keys::tombstone(id)];
        let is_taken = self.store.storage().get(&taken)?.iter().any(Option::is_some);
        // It may be what is being made for somebody else; of what the agent made in vain it was asked to let go.
        let is_others = self.connection.by_agent.contains_key(id) || self.connection.disowned.contains(id);
        if is_taken || is_others {
            return Err(RpcError::session_not_found(id));
        }
        let mut session = Session::new(id.to_owned(), params.cwd()?, self.now());
        session.give_to(&agent.name, id, 0);
        session.origin = Origin::Agent;
        Ok(session)
    }

    /// Whether the agent can tell a history that is nowhere else.
    pub(super) fn is_only_with_agent(&self, session: &Session) -> bool {
        let agent = &self.connection.agent;
        session.origin == Origin::Agent && agent.load && session.agents.contains_key(&agent.name)
    }

    pub(super) fn fork(&mut self, request: &ClientRequest, params: &Params<'_>) -> Handling {
        let parent = params.session_id()?;
        let cwd = params.cwd_given()?;
        params.check_mcp_servers(false)?;
        let directories = params.additional_directories()?;
        let key = Key::Session(parent.clone());
        self.with(&key, |session, cx| session.write(cx, true)).unwrap_or(Ok(()))?;
        let Some(session) = self.store.session(&parent)? else { return self.fork_unknown(request, &parent, params) };
        // Once is enough: an agent that told nothing has nothing to tell.
        let is_to_be_fetched = self.is_only_with_agent(&session) && !self.connection.agent.fork;
        if is_to_be_fetched && self.connection.fetched.insert(parent) {
            return self.fetch_history(key, session, params);
        }
        let rest = params.to_open(Some(&session.cwd));
        let asked = OpenRequest { request: Some(request.clone()), rest, wanted: Wanted::Nothing };
        let cwd = cwd.unwrap_or_else(|| session.cwd.clone());
        let count = self.with(&key, |parent, cx| parent.parents_count(&session, cx)).flatten();
        let turns_heard = self.with(&key, |parent, cx| parent.turns_to_fork(&session, cx)).unwrap_or_default();
        let target = Target::Fork(Parent { session, cwd, directories, count, turns_heard });
        self.begin_opening(Key::Fork(request.clone()), target, asked)?;
        Ok(Handled::Done)
    }

    /// What the layer has never seen is forked by the agent, which may have it.
    fn fork_unknown(&mut self, request: &ClientRequest, parent: &str, params: &Params<'_>) -> Handling {
        if !self.connection.agent.fork {
            return Err(RpcError::session_not_found(parent));
        }
        let mut session = self.unknown_session(parent, params)?;
        session.directories = params.additional_directories()?;
        let rest = params.to_open(Some(&session.cwd));
        let asked = OpenRequest { request: Some(request.clone()), rest, wanted: Wanted::Nothing };
        self.begin_opening(Key::Fork(request.clone()), Target::ForkOfUnknown(session), asked)?;
        Ok(Handled::Done)
    }

    /// What is to be forked is first fetched from the agent, which cannot fork it; the fork waits for that.
    fn fetch_history(&mut self, key: Key, session: Session, params: &Params<'_>) -> Handling {
        let rest = params.to_open_as(&session.cwd, &session.directories);
        let opened = match self.connection.sessions.get(&key) {
            None => {
                let asked = OpenRequest { request: None, rest, wanted: Wanted::Nothing };
                self.begin_opening(key.clone(), Target::Known(session), asked)
            }
            Some(live) if live.is_in_turn() => {
                return Err(RpcError::new(
                    Code::InvalidRequest,
                    "Invalid request: only the agent has the history of this session; fork it when its turn has ended",
                ));
            }
            Some(live) if live.is_detached() => self.attach(&key, None, Wanted::Nothing, |_| rest),
            Some(_) => {
                let asked = OpenRequest { request: None, rest, wanted: Wanted::Nothing };
                let opened = self.with(&key, |live, cx| live.open_again(Target::Known(session), asked, cx));
                opened.unwrap_or(Ok(()))
            }
        };
        opened?;
        Ok(Handled::Wait(key))
    }
}

/// `_meta["acp-sessions"].replay` of a load of this session: `{"last": N}` or `{"after": CURSOR}`, or `{"setAside": true}`, with or without
/// `last`, for what was taken out of the conversation.
fn history_wanted(id: &str, params: &Params<'_>) -> Result<Wanted, RpcError> {
    const FIELD: &str = "_meta.acp-sessions.replay";
    let Some(replay) = params.own_meta("replay") else {
        return Ok(Wanted::History { part: Part::Conversation, start: Start::Beginning, layout: None });
    };
    let replay = Object::parse_or_empty(&replay);
    let part = match replay.get("setAside") {
        None => Part::Conversation,
        Some("true") => Part::SetAside,
        Some(_) => return Err(RpcError::invalid_params(FIELD, "takes `true` for `setAside`")),
    };
    if let Some(last) = replay.get("last") {
        let last = rpc::count(last).ok_or_else(|| RpcError::invalid_params(FIELD, "takes a number for `last`"))?;
        return Ok(Wanted::History { part, start: Start::Last(last), layout: None });
    }
    if replay.get("after").is_some() {
        let place = replay.get_string("after").and_then(|cursor| place::from_cursor(&cursor, id, Part::Conversation));
        let (layout, position) = place
            .ok_or_else(|| RpcError::invalid_params(FIELD, "takes a cursor it gave of this session for `after`"))?;
        if part == Part::SetAside {
            return Err(RpcError::invalid_params(FIELD, "takes `after` for the conversation only"));
        }
        return Ok(Wanted::History { part, start: Start::At(position), layout: Some(layout) });
    }
    if part == Part::SetAside {
        return Ok(Wanted::History { part, start: Start::Beginning, layout: None });
    }
    Err(RpcError::invalid_params(FIELD, "takes `last`, `after` or `setAside`"))
}
