//! `session/list`: answered from the store alone. The first one on a store that never had the agent's own list to its
//! end waits for it, a little.

use crate::connection::client_request::ClientRequest;
use crate::connection::handled::{Handled, Handling};
use crate::connection::params::Params;
use crate::connection::router::Router;
use crate::environment::Environment;
use crate::rpc::RpcError;
use crate::sessions::list::{self, Agents, ListError, Options};
use crate::settings::Settings;
use crate::storage::Storage;

impl<S: Storage, E: Environment> Router<S, E> {
    pub(super) fn list(&mut self, request: &ClientRequest, params: Option<&str>) -> Handling {
        let now = self.now();
        if let Ok(read) = Params::read(params) {
            self.list_with(read.meta_for_agent().as_deref());
        }
        if self.connection.discovery.is_worth_waiting_for() {
            self.connection.discovery.wait(request.clone(), params.map(str::to_owned), now);
            return Ok(Handled::Done);
        }
        let page = self.listed(params)?;
        self.finish(request, Ok(page));
        Ok(Handled::Done)
    }

    fn listed(&self, params: Option<&str>) -> Result<String, RpcError> {
        let agent = self.connection.agent.name.clone();
        let agents = if self.settings.list_all { Agents::All } else { Agents::Own(agent.clone()) };
        let Settings { page_size, draft, .. } = self.settings;
        let options = Options { page_size, agents, agent: Some(agent), draft };
        list::list(&self.store, &options, params).map_err(|error| match error {
            ListError::Invalid { field, message } => RpcError::invalid_params(&field, message),
            ListError::Storage(error) => error.into(),
        })
    }

    /// Answers the lists that waited for the agent's own.
    pub(super) fn release_lists(&mut self) {
        for (request, params) in self.connection.discovery.take_waiting() {
            let page = self.listed(params.as_deref());
            self.finish(&request, page);
        }
    }
}
