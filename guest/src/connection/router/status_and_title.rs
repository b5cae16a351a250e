//! `session/status` and `session/set_title` (unstable): what needs the store only.

use serde_json::json;

use crate::connection::answer::AUTH_REQUIRED;
use crate::connection::client_request::ClientRequest;
use crate::connection::handled::{Handled, Handling};
use crate::connection::key::Key;
use crate::connection::live::LiveSession;
use crate::connection::params::Params;
use crate::connection::requests::{Outgoing, Telling};
use crate::connection::router::Router;
use crate::environment::Environment;
use crate::rpc::{Object, Outcome, RpcError};
use crate::sessions::open_marks;
use crate::sessions::rename::{self, RenameError};
use crate::storage::Storage;
use crate::store::Session;

impl<S: Storage, E: Environment> Router<S, E> {
    /// `open` where any connection has it open, else `saved`.
    pub(super) fn status(&mut self, request: &ClientRequest, params: &Params<'_>) -> Handling {
        let session = params.session_id()?;
        if self.store.session(&session)?.is_none() {
            return Err(RpcError::session_not_found(&session));
        }
        let is_open = self.connection.sessions.contains_key(&Key::Session(session.clone()))
            || open_marks::is_open(&self.store, &session, self.now())?;
        let status = if is_open { "open" } else { "saved" };
        self.finish(request, Ok(json!({ "status": status }).to_string()));
        Ok(Handled::Done)
    }

    pub(super) fn set_title(&mut self, request: &ClientRequest, params: &Params<'_>) -> Handling {
        let session = params.session_id()?;
        let title = params.text("title")?;
        match rename::rename(&self.store, &session, &title) {
            Ok(session) => {
                self.with(&Key::Session(session.id.clone()), |live, _| live.note_known_title(&session.title));
                self.tell_agent_title(&session, params);
                self.finish(request, Ok(json!({ "title": session.title.text() }).to_string()));
            }
            Err(RenameError::Invalid(message)) => return Err(RpcError::invalid_params("title", message)),
            Err(RenameError::NotFound) => return Err(RpcError::session_not_found(&session)),
            Err(RenameError::Storage(error)) => return Err(error.into()),
        }
        Ok(Handled::Done)
    }

    /// The agent learns what the user calls a session of its own; what it makes of that is its own affair.
    fn tell_agent_title(&mut self, session: &Session, params: &Params<'_>) {
        if !self.connection.agent.title {
            return;
        }
        let open = self.connection.sessions.get(&Key::Session(session.id.clone()));
        let id = match open.map(LiveSession::agent_id).filter(|id| !id.is_empty()) {
            Some(id) => Some(id.to_string()),
            None => session.id_at(&self.connection.agent.name).map(str::to_owned),
        };
        if let Some(id) = id {
            let params = params.rest().naming(&id);
            let mut params = Object::parse_or_empty(&params);
            params.set("title", json!(session.title.text()).to_string());
            let (params, title) = (params.to_json(), session.title.text().unwrap_or_default().to_owned());
            let asked = Outgoing::Title { session: session.id.clone(), agent_id: id, title, telling: Telling::AtOnce };
            self.run(|cx| cx.ask(asked, "session/set_title", params));
        }
    }

    /// The agent was told what the user calls a session of its own. It is not told again, also where it keeps that in its own
    /// way or refuses it once more, unless it wants its user to log in first.
    pub(super) fn title_answered(
        &mut self,
        session: &str,
        agent_id: &str,
        title: &str,
        telling: Telling,
        outcome: Outcome<'_>,
    ) {
        if let Outcome::Error(error) = outcome
            && (telling == Telling::AtOnce || RpcError::read(error).code == AUTH_REQUIRED)
        {
            return;
        }
        if let Err(error) = rename::told(&self.store, session, &self.connection.agent.name, agent_id, title) {
            self.warn(format!("it could not be noted that the agent was told a title: {error}"));
        }
    }
}
