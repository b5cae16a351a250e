//! `session/status` and `session/set_title` (unstable): what needs the store only.

use serde_json::json;

use crate::connection::handled::{Handled, Handling};
use crate::connection::key::Key;
use crate::connection::params::Params;
use crate::connection::requests::ClientRequest;
use crate::engine::Engine;
use crate::environment::Environment;
use crate::rpc::RpcError;
use crate::sessions::open_marks;
use crate::sessions::rename::{self, RenameError};
use crate::storage::Storage;

impl<S: Storage, E: Environment> Engine<S, E> {
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
        let title = params.string("title")?;
        match rename::rename(&self.store, &session, &title) {
            Ok(title) => self.finish(request, Ok(json!({ "title": title }).to_string())),
            Err(RenameError::Invalid(message)) => return Err(RpcError::invalid_params("title", message)),
            Err(RenameError::NotFound) => return Err(RpcError::session_not_found(&session)),
            Err(RenameError::Storage(error)) => return Err(error.into()),
        }
        Ok(Handled::Done)
    }
}
