//! `session/unarchive`, and having the agent follow in what is put away (unstable: `session/archive`). What the agent has
//! not followed in shows in its own list, and is asked for again then.

use crate::connection::client_request::ClientRequest;
use crate::connection::handled::{Handled, Handling};
use crate::connection::params::{Params, Rest};
use crate::connection::requests::Outgoing;
use crate::connection::router::Router;
use crate::environment::Environment;
use crate::rpc::{Outcome, RpcError};
use crate::sessions::archive;
use crate::storage::Storage;

/// How many requests that repeat others may be under way.
const REPEATED: usize = 200;

impl<S: Storage, E: Environment> Router<S, E> {
    pub(super) fn unarchive(&mut self, request: &ClientRequest, params: &Params<'_>) -> Handling {
        let session = params.session_id()?;
        if !archive::set_archived(&self.store, &session, false)? {
            return Err(RpcError::session_not_found(&session));
        }
        self.finish(request, Ok("{}".to_owned()));
        self.tell_archived(&session, false, &params.rest());
        Ok(Handled::Done)
    }

    /// The user has put a session away, or brought it back: the agent is told, and what its list said before counts no
    /// more.
    pub(super) fn tell_archived(&mut self, session: &str, archived: bool, rest: &Rest) {
        let stored = match self.store.session(session) {
            Ok(stored) => stored,
            Err(error) => return self.warn(format!("the agent is not told what was archived: {error}")),
        };
        let agent_id = stored.and_then(|stored| stored.id_at(&self.connection.agent.name).map(str::to_owned));
        if let Some(agent_id) = agent_id {
            self.connection.discovery.archived_here(&agent_id);
            self.archive_at_agent(session.to_owned(), agent_id, archived, rest);
        }
    }

    /// Has the agent put a session away that is archived here, or bring it back.
    fn archive_at_agent(&mut self, session: String, agent_id: String, archived: bool, rest: &Rest) {
        if !self.connection.agent.archive || self.connection.agent_gone {
            return;
        }
        let method = if archived { "session/archive" } else { "session/unarchive" };
        let params = rest.naming(&agent_id);
        self.run(|cx| cx.ask(Outgoing::Archive { session, agent_id, archived }, method, params));
    }

    /// The agent's own list says that it has not followed: it is asked again, if it is not being asked already.
    pub(super) fn archive_again(&mut self, session: String, agent_id: String, archived: bool) {
        let under_way = self.connection.requests.outgoing.values().filter_map(|asked| match asked {
            Outgoing::Archive { agent_id, .. } => Some(agent_id),
            _ => None,
        });
        let (mut count, mut is_asked) = (0, false);
        for asked in under_way {
            count += 1;
            is_asked |= *asked == agent_id;
        }
        if count < REPEATED && !is_asked {
            self.archive_at_agent(session, agent_id, archived, &Rest::default());
        }
    }

    pub(super) fn archive_answered(&mut self, session: &str, agent_id: &str, archived: bool, outcome: Outcome<'_>) {
        let Outcome::Result(_) = outcome else { return };
        let agent = &self.connection.agent.name;
        if let Err(error) = archive::followed(&self.store, session, (agent, agent_id), archived, self.now()) {
            self.warn(format!("it could not be noted that the agent has archived a session: {error}"));
        }
    }
}
