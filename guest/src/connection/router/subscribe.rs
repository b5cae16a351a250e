//! `session/list/subscribe` and `session/list/unsubscribe` (draft: session list extensions).

use serde_json::json;

use super::kept::Kept;
use super::subscriptions::{MOST_SUBSCRIPTIONS, too_many};
use super::waiting_lists::Answer;
use crate::connection::client_request::ClientRequest;
use crate::connection::handled::{Handled, Handling};
use crate::connection::params::Params;
use crate::connection::router::Router;
use crate::environment::Environment;
use crate::rpc::RpcError;
use crate::sessions::changes::{Follower, Scope};
use crate::sessions::filter::Request;
use crate::sessions::list::{self, Effort};
use crate::sessions::states::SaidStates;
use crate::storage::Storage;

impl<S: Storage, E: Environment> Router<S, E> {
    pub(super) fn subscribe(&mut self, request: &ClientRequest, params: Option<&str>) -> Handling {
        self.answer_list(request, params, Answer::Subscription)
    }

    /// Begins a subscription, and answers with the first page. What changes from before the page was read is told.
    pub(super) fn subscribed(&mut self, mut wanted: Request, params: Option<&str>) -> Result<String, RpcError> {
        if self.connection.subscriptions.by_id.len() >= MOST_SUBSCRIPTIONS {
            return Err(too_many());
        }
        // Whoever subscribes knows the draft.
        wanted.extend();
        let scope = Scope::of(&wanted)?;
        self.follow_lists()?;
        let page = list::answer(&self.store, &wanted, Effort::default())?;
        self.note_page_given(page.states);
        let id = format!("list_{:016x}", self.environment.random());
        self.connection.subscriptions.by_id.insert(id.clone(), scope);
        self.outputs.push_back(Kept::Subscription(&id).with(Some(params.unwrap_or("{}").to_owned())));
        // Should it end, the list was still asked for.
        self.watch_list(&wanted, Params::read(params)?.object().get_string("cwd"));
        Ok(format!("{{\"subscriptionId\":{},{}", json!(id), &page.result[1..]))
    }

    /// The client has a page that says this of being done in sessions: who follows lists for it is to know.
    pub(super) fn note_page_given(&mut self, states: SaidStates) {
        if let Some(follower) = &mut self.connection.subscriptions.follower {
            follower.note_page_given(states);
        }
    }

    /// Follows what changes from now on, if nobody has yet.
    fn follow_lists(&mut self) -> Result<(), RpcError> {
        if self.connection.subscriptions.follower.is_none() {
            let (now, words) = (self.now(), self.agents_words()?);
            let follower = Follower::begin(&self.store, now, &words)?;
            self.connection.subscriptions.begin(follower, now);
        }
        Ok(())
    }

    pub(super) fn unsubscribe(&mut self, request: &ClientRequest, params: &Params<'_>) -> Handling {
        let id = params.string("subscriptionId")?;
        if self.connection.subscriptions.by_id.remove(&id).is_none() {
            return Err(RpcError::invalid_params("subscriptionId", "is none of this connection's subscriptions"));
        }
        self.connection.subscriptions.untold.forget(&id);
        self.outputs.push_back(Kept::Subscription(&id).with(None));
        self.finish(request, Ok("{}".to_owned()));
        Ok(Handled::Done)
    }

    /// A subscription of a lost instance goes on. What has changed meanwhile is not known.
    pub(super) fn subscribe_again(&mut self, id: &str, params: &str) {
        let scope = self.list_request(Some(params)).ok().and_then(|(wanted, _)| Scope::of(&wanted).ok());
        let Some(scope) = scope.filter(|_| self.follow_lists().is_ok()) else {
            self.outputs.push_back(Kept::Subscription(id).with(None));
            return;
        };
        self.connection.subscriptions.by_id.insert(id.to_owned(), scope);
        self.tell_to_read_again(id);
    }

    /// The client has asked for the first page of a list of a directory: it is told when that is not so any more.
    pub(super) fn watch_list(&mut self, request: &Request, cwd: Option<String>) {
        let (Some(cwd), true) = (cwd, self.connection.asked.wants_list_hints()) else { return };
        // Where nobody can follow it no hint comes, which hints may do.
        let Some(scope) = Scope::around(request).filter(|_| self.follow_lists().is_ok()) else { return };
        let now = self.now();
        self.connection.subscriptions.watch(cwd, scope, now);
    }
}
