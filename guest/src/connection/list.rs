//! `session/list`: answered from the store alone.

use super::Handling;
use super::agent::DONE;
use crate::engine::Engine;
use crate::environment::Environment;
use crate::rpc::{Id, RpcError};
use crate::sessions::list::{self, Agents, ListError, Options};
use crate::storage::Storage;

impl<S: Storage, E: Environment> Engine<S, E> {
    pub(super) fn list(&mut self, id: &Id, params: Option<&str>) -> Handling {
        let agent = self.connection.agent.name.clone();
        let agents = agent.map_or(Agents::All, Agents::Own);
        let options = Options { page_size: self.settings.page_size, agents, agent: None };
        match list::list(&self.store, &options, params) {
            Ok(page) => self.answer(id, &page),
            Err(ListError::Invalid { field, message }) => return Err(RpcError::invalid_params(&field, message)),
            Err(ListError::Storage(error)) => return Err(error.into()),
        }
        DONE
    }
}
