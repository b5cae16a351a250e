//! `session/load` and `session/resume` of a session that is open already.

use crate::connection::client_request::ClientRequest;
use crate::connection::handled::{Handled, Handling};
use crate::connection::key::Key;
use crate::connection::live::{LiveSession, OpenRequest, Target, Wanted};
use crate::connection::params::Params;
use crate::connection::router::Router;
use crate::environment::Environment;
use crate::rpc::RpcError;
use crate::sessions::mend;
use crate::storage::{Storage, StorageError};
use crate::store::{Known, Session};

impl<S: Storage, E: Environment> Router<S, E> {
    /// Shows a session that its agent has open. The agent is asked where the client wants it open with something else, or where
    /// it may have more of the history.
    pub(super) fn open_live(
        &mut self,
        request: &ClientRequest,
        key: &Key,
        session: Session,
        params: &Params<'_>,
        wanted: Wanted,
    ) -> Handling {
        let Some(live) = self.connection.sessions.get(key) else {
            return Err(RpcError::session_not_found(&session.id));
        };
        let rest = live.to_open_again(&params.to_open(Some(&session.cwd)), &session);
        let is_otherwise = live.is_wanted_otherwise(&rest);
        let mut is_opened = is_otherwise && live.may_be_opened_otherwise();
        let may_tell = wanted.is_history() && !live.is_in_turn();
        let is_to_be_compared = may_tell && self.is_to_be_compared(live, &session)?;
        let is_only_there = self.is_only_with_agent(&session);
        let mut tells = may_tell && (is_to_be_compared || is_only_there);
        if may_tell || is_opened {
            // What was said here is in the log before that is looked at, or compared with what the agent tells.
            let written = self.with(key, |live, cx| {
                if is_only_there { live.write(cx, true).map(|()| true) } else { live.write_if_possible(cx) }
            });
            let is_written = written.unwrap_or(Ok(true))?;
            is_opened &= is_written;
            tells &= is_written;
            self.mend(&session)?;
        }
        let opened = self.with(key, |live, cx| {
            if !is_opened && !tells {
                if is_otherwise {
                    live.open_later_with(&rest, cx)?;
                }
                return live.show_again(request, wanted, cx);
            }
            let asked = OpenRequest { request: Some(request.clone()), rest, wanted };
            if is_opened { live.open_otherwise(asked, cx) } else { live.open_again(Target::Known(session), asked, cx) }
        });
        opened.unwrap_or(Ok(()))?;
        Ok(Handled::Done)
    }

    /// Whether what the agent has of a session that is open here is to be compared with its history now: something may have been
    /// said without the layer since it was looked at, or somebody else was at work in it then.
    fn is_to_be_compared(&self, live: &LiveSession, session: &Session) -> Result<bool, StorageError> {
        let (agent, now) = (&self.connection.agent, self.now());
        if !live.is_uncompared(now) || live.is_opening() || !agent.load {
            return Ok(false);
        }
        let has_recent_list = self.connection.discovery.holds().contains(&now);
        if has_recent_list && session.agents.get(&agent.name).is_some_and(Known::agrees) {
            return Ok(false);
        }
        Ok(!mend::is_at_work_elsewhere(&self.store, &session.id, &self.connection.name, now)?)
    }
}
