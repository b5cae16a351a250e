//! `session/list`: answered from the store alone. The first one on a store that never had the agent's own list to its
//! end waits for it, a little; and so does one of worktrees that the host does not know yet.

use crate::connection::client_request::ClientRequest;
use crate::connection::handled::{Handled, Handling};
use crate::connection::params::Params;
use crate::connection::router::Router;
use crate::connection::router::waiting_lists::{Answer, WaitingList};
use crate::environment::Environment;
use crate::rpc::RpcError;
use crate::sessions::filter::{Found, Request};
use crate::sessions::list::{self, Agents, Effort, ListError, Options};
use crate::settings::{Dialect, Listed, Settings};
use crate::storage::Storage;

/// How long a list waits for the host to know its worktrees, in milliseconds.
const PATIENCE: i64 = 1000;

/// What becomes of a list where the host does not know which worktrees it is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Worktrees {
    /// It waits.
    AreWaitedFor,
    /// It is of its directory alone.
    MayBeUnknown,
}

impl<S: Storage, E: Environment> Router<S, E> {
    pub(super) fn list(&mut self, request: &ClientRequest, params: Option<&str>) -> Handling {
        self.answer_list(request, params, Answer::Page)
    }

    /// Answers now, or when the agent's list has come that is about to.
    pub(super) fn answer_list(&mut self, request: &ClientRequest, params: Option<&str>, answer: Answer) -> Handling {
        if let Ok(read) = Params::read(params) {
            self.list_with(read.meta_for_agent().as_deref());
        }
        self.refresh_agents_list();
        if self.connection.discovery.is_worth_waiting_for(self.now()) {
            let list = self.waiting_list(request, params, answer);
            self.connection.discovery.wait(list);
            return Ok(Handled::Done);
        }
        if let Some(answer) = self.listed(params, answer, Worktrees::AreWaitedFor)? {
            self.finish(request, Ok(answer));
        } else {
            let list = self.waiting_list(request, params, answer);
            self.connection.awaiting_worktrees.push(list);
        }
        Ok(Handled::Done)
    }

    fn waiting_list(&self, request: &ClientRequest, params: Option<&str>, answer: Answer) -> WaitingList {
        let params = params.map(str::to_owned);
        let share = self.connection.load.share(params.as_ref().map_or(0, String::len));
        WaitingList { request: request.clone(), params, answer, since: self.now(), _share: share }
    }

    /// The answer to a list; none where it waits for the host to know which worktrees it is of.
    fn listed(
        &mut self,
        params: Option<&str>,
        answer: Answer,
        worktrees: Worktrees,
    ) -> Result<Option<String>, RpcError> {
        let (request, found) = self.list_request(params)?;
        if found == Found::NotYet && worktrees == Worktrees::AreWaitedFor {
            return Ok(None);
        }
        // No row comes behind a page that is older than the page has it.
        self.tell_untold();
        self.give_up_found();
        if answer == Answer::Subscription {
            return self.subscribed(request, params).map(Some);
        }
        // Nothing changes behind the page that is not followed yet.
        self.watch_list(&request, Params::read(params)?.object().get_string("cwd"));
        let page = list::answer(&self.store, &request, Effort::default())?;
        self.note_page_given(page.states);
        Ok(Some(page.result))
    }

    /// Reads the params of a list, and finds out which directories it is of. Where the host does not know that yet, it is asked
    /// again for the lists that are followed.
    pub(super) fn list_request(&mut self, params: Option<&str>) -> Result<(Request, Found), RpcError> {
        let agent = self.connection.agent.name.clone();
        let agents = match self.settings.list {
            Listed::All => Agents::All,
            Listed::Own => Agents::Own(agent.clone()),
        };
        let Settings { page_size, dialect, .. } = self.settings;
        let draft = dialect == Dialect::Draft;
        let extended = self.connection.asked.knows_list_extensions();
        let options = Options { page_size, agents, agent: Some(agent), draft, extended, now: self.now() };
        let mut request = Request::read_for(params, &options)?;
        let found = request.find(&|cwd: &str| self.environment.worktrees(cwd));
        if found == Found::NotYet {
            let now = self.now();
            self.connection.subscriptions.ask_for_worktrees(now);
        } else {
            self.connection.subscriptions.compare_worktrees(&request.filter);
        }
        request.agents_words = self.agents_words()?;
        Ok((request, found))
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
            let list = WaitingList { since: self.now(), ..list };
            self.answer_waiting(list);
        }
    }

    /// Answers lists that wait for the host to know their worktrees, if it does by now or they have waited long enough. Returns
    /// in how many milliseconds to ask it again.
    pub(super) fn ask_for_worktrees(&mut self, now: i64) -> Option<u32> {
        for list in self.connection.awaiting_worktrees.take() {
            if self.is_out_of_room() {
                self.connection.awaiting_worktrees.push(list);
            } else {
                self.answer_waiting(list);
            }
        }
        // Most answers come within milliseconds, and the others are not hurried by questions.
        let waited = now - self.connection.awaiting_worktrees.since()?;
        u32::try_from(waited.clamp(2, 50)).ok()
    }

    fn answer_waiting(&mut self, list: WaitingList) {
        let may_wait = (0..PATIENCE).contains(&(self.now() - list.since));
        let worktrees = if may_wait { Worktrees::AreWaitedFor } else { Worktrees::MayBeUnknown };
        match self.listed(list.params.as_deref(), list.answer, worktrees) {
            Ok(Some(answer)) => self.finish(&list.request, Ok(answer)),
            Ok(None) => self.connection.awaiting_worktrees.push(list),
            Err(error) => self.finish(&list.request, Err(error)),
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
