//! A session that is open is to be open with something else: a client that loads or resumes it once more may want other MCP servers,
//! further directories or another `_meta`.

use serde_json::json;

use super::opened_with::{DIRECTORIES, OpenedWith, are_for_the_same, directories};
use super::{LiveSession, Phase, given_where};
use crate::connection::cx::Cx;
use crate::environment::Environment;
use crate::rpc::{Object, is_same};
use crate::storage::{Result, Storage, if_possible};
use crate::store::{Decision, Session, directory};

impl LiveSession {
    /// These params to open it again with, but for its id: it stays in its directory as long as it is open, and further ones that
    /// were moved since are where they are now.
    pub(in crate::connection) fn to_open_again(&self, params: &str, session: &Session) -> String {
        let given = Object::parse_or_empty(self.given.as_deref().unwrap_or("{}"));
        let elsewhere = if self.follows_record() { None } else { given.get_string("cwd") };
        let own = elsewhere.as_ref().unwrap_or(&session.cwd);
        let mut rest = Object::parse_or_empty(params);
        if rest.get_string("cwd").is_some_and(|cwd| directory::is_other(own, &cwd)) {
            rest.set("cwd", json!(own).to_string());
        }
        let listed = |params: &Object<'_>| params.get_some(DIRECTORIES).unwrap_or("[]").to_owned();
        let are_those = self.follows_record() && is_same(&listed(&given), &listed(&rest));
        let rest = rest.to_json();
        if are_those { given_where(session, &rest) } else { rest }
    }

    /// Whether these params are for something else than it was opened with; not, where that is not known.
    pub(in crate::connection) fn is_wanted_otherwise(&self, params: &str) -> bool {
        let is_other = |given: &str| !are_for_the_same(given, params);
        self.given.as_deref().is_some_and(is_other) || self.opened_with == OpenedWith::Other
    }

    /// Whether its agent can be asked to open it with something else: it must not be at work on a prompt, which would be lost, and
    /// must be at the session by the id that it is to be asked by.
    pub(in crate::connection) fn may_be_opened_otherwise(&self) -> bool {
        let is_free = matches!(&self.phase, Phase::Open { turns, busy: None } if turns.is_empty());
        is_free && !self.agent_id.is_empty() && self.stands_in_since.is_none()
    }

    /// Whether its agent is to be asked that before the session is used.
    pub(in crate::connection) fn owes_opening(&self) -> bool {
        self.opened_with == OpenedWith::Other && self.may_be_opened_otherwise() && self.given.is_some()
    }

    /// Its client wants it open with this, which the agent cannot be asked now.
    pub(in crate::connection) fn open_later_with<S: Storage, E: Environment>(
        &mut self,
        params: &str,
        cx: &mut Cx<'_, S, E>,
    ) -> Result<()> {
        let can = cx.agent.reopens();
        self.keep_for_later(params, if can { OpenedWith::Other } else { OpenedWith::Before(None) }, cx)
    }

    /// Notes what its client has given, and which directories it has then.
    pub(super) fn keep_for_later<S: Storage, E: Environment>(
        &mut self,
        params: &str,
        opened_with: OpenedWith,
        cx: &mut Cx<'_, S, E>,
    ) -> Result<()> {
        self.set_given(Some(params));
        self.opened_with = opened_with;
        let wanted = directories(params);
        let Some(id) = self.key.id() else { return Ok(()) };
        let changed = cx.store.change(id).commit(|before, _, _| {
            let Some(before) = before.filter(|before| before.directories != wanted) else { return Ok(Decision::Keep) };
            let mut changed = before.clone();
            changed.directories.clone_from(&wanted);
            changed.note_opened_with(&wanted, &before.directories);
            Ok(Decision::put(changed))
        });
        if_possible(changed).map(drop)
    }

    /// Why it is not open with what its client has given, where it is not.
    pub(super) fn why_not_as_given(&self) -> Option<&str> {
        match &self.opened_with {
            OpenedWith::Given => None,
            // Another one of the agent's stands in for it until a turn has succeeded.
            OpenedWith::Other if self.stands_in_since.is_some() => Some("the agent opens it so after its next turn"),
            OpenedWith::Other => Some("the agent opens it so when it is next used"),
            OpenedWith::Before(reason) => reason.as_deref(),
        }
    }

    /// What can be said of that for sure while its agent may be opening it with something else.
    pub(super) fn opened_with_for_sure(&self) -> OpenedWith {
        match &self.phase {
            Phase::Opening(opening) if opening.is_otherwise() => OpenedWith::Other,
            _ => self.opened_with.clone(),
        }
    }
}
