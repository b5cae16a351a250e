//! `session/list`: answered from the store alone. The first one on a store that never had the agent's own list to its
//! end waits for it, a little.

use crate::connection::client_request::ClientRequest;
use crate::connection::handled::{Handled, Handling};
use crate::connection::params::Params;
use crate::connection::router::Router;
use crate::connection::router::waiting_lists::{Answer, WaitingList};
use crate::environment::Environment;
use crate::rpc::RpcError;
use crate::sessions::filter::Request;
use crate::sessions::list::{self, Agents, Effort, ListError, Options};
use crate::settings::Settings;
use crate::storage::Storage;

impl<S: Storage, E: Environment> Router<S, E> {
    pub(super) fn list(&mut self, request: &ClientRequest, params: Option<&str>) -> Handling {
        self.answer_list(request, params, Answer::Page)
    }

    /// Answers now, or when the agent's list has come that is about to.
    pub(super) fn answer_list(&mut self, request: &ClientRequest, params: Option<&str>, answer: Answer) -> Handling {
        if let Ok(read) = Params::read(params) {
            self.list_with(read.meta_for_agent().as_deref());
        }
        self.refresh_agents_states();
        if self.connection.discovery.is_worth_waiting_for() {
            let params = params.map(str::to_owned);
            let share = self.connection.load.share(params.as_ref().map_or(0, String::len));
            let list = WaitingList { request: request.clone(), params, answer, since: self.now(), _share: share };
            self.connection.discovery.wait(list);
            return Ok(Handled::Done);
        }
        let answer = self.listed(params, answer)?;
        self.finish(request, Ok(answer));
        Ok(Handled::Done)
    }

    fn listed(&mut self, params: Option<&str>, answer: Answer) -> Result<String, RpcError> {
        if answer == Answer::Subscription {
            return self.subscribed(params);
        }
        let request = self.list_request(params)?;
        let page = list::answer(&self.store, &request, Effort::default())?;
        self.watch_list(&request, Params::read(params)?.object().get_string("cwd"));
        Ok(page)
    }

    /// Reads the params of a list.
    pub(super) fn list_request(&mut self, params: Option<&str>) -> Result<Request, RpcError> {
        let agent = self.connection.agent.name.clone();
        let agents = if self.settings.list_all { Agents::All } else { Agents::Own(agent.clone()) };
        let Settings { page_size, draft, .. } = self.settings;
        let extended = self.connection.asked.knows_list_extensions();
        let options = Options { page_size, agents, agent: Some(agent), draft, extended, now: self.now() };
        let mut request = Request::read_for(params, &options)?;
        request.find(&|cwd: &str| self.environment.worktrees(cwd));
        request.known_states = self.agents_states();
        Ok(request)
    }

    /// The lists that waited for the agent's own wait for it no more.
    pub(super) fn release_lists(&mut self) {
        self.connection.discovery.release_lists();
        self.answer_lists();
    }

    /// Answers lists that wait for nothing but room for their answers.
    pub(super) fn answer_lists(&mut self) {
        while !self.is_out_of_room()
            && let Some(list) = self.connection.discovery.next_due()
        {
            let answer = self.listed(list.params.as_deref(), list.answer);
            self.finish(&list.request, answer);
        }
    }
}

impl From<ListError> for RpcError {
    fn from(error: ListError) -> Self {
        match error {
            ListError::Invalid { field, message } => Self::invalid_params(&field, message),
            ListError::Storage(error) => error.into(),
        }
    }
}
