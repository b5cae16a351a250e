//! What passes of lists to a layer behind this one over the same store, and what comes of it. That one ends the client's
//! subscriptions with itself: when it was started again it is asked for them anew, and calls them otherwise than the client does,
//! who is told to read the lists again, since nobody knows what has changed in between (draft: session list extensions).

use super::kept::Kept;
use super::relayed_lists::Ending;
use super::subscriptions::too_many;
use crate::connection::client_request::ClientRequest;
use crate::connection::handled::{Handled, Handling};
use crate::connection::requests::{Incoming, Outgoing};
use crate::connection::router::Router;
use crate::environment::Environment;
use crate::rpc::{self, Object, Outcome};
use crate::sessions::filter::as_of_the_draft;
use crate::settings::Dialect;
use crate::storage::Storage;

impl<S: Storage, E: Environment> Router<S, E> {
    /// The client asks for a page.
    pub(super) fn relay_list(&mut self, line: &str, request: &ClientRequest, params: Option<&str>) -> Handled {
        self.expect(request, Incoming::Passed);
        self.as_asked_here(params).map_or(Handled::Pass, |asked| Handled::PassAs(with_params(line, params, &asked)))
    }

    /// The client subscribes.
    pub(super) fn relay_subscribe(&mut self, line: &str, request: &ClientRequest, params: Option<&str>) -> Handling {
        if self.connection.relayed_lists.is_full() {
            return Err(too_many());
        }
        let asked = self.as_asked_here(params);
        let handled = asked.as_ref().map_or(Handled::Pass, |asked| Handled::PassAs(with_params(line, params, asked)));
        let asked = asked.unwrap_or_else(|| params.unwrap_or("{}").to_owned());
        self.expect(request, Incoming::RelayedSubscribe { params: asked });
        Ok(handled)
    }

    /// The params of a list as the layer behind is to have them, where it would take them otherwise than this one: it may have been
    /// made for another dialect.
    fn as_asked_here(&self, params: Option<&str>) -> Option<String> {
        if self.settings.dialect == Dialect::Draft { as_of_the_draft(params) } else { None }
    }

    /// The client ends a subscription, by the id that it knows.
    pub(super) fn relay_unsubscribe(&mut self, line: &str, request: &ClientRequest, params: Option<&str>) -> Handled {
        let object = params.and_then(Object::parse).unwrap_or_default();
        let id = object.get_string("subscriptionId").unwrap_or_default();
        match self.connection.relayed_lists.ending(&id) {
            Ending::ByLayer(theirs) => {
                self.expect(request, Incoming::RelayedUnsubscribe { subscription: id });
                Handled::named(line, &object, "subscriptionId", &theirs)
            }
            Ending::Ended => {
                self.forget_relayed_list(&id);
                self.finish(request, Ok("{}".to_owned()));
                Handled::Done
            }
            Ending::Unknown => self.pass_request(line, request, params, Incoming::Passed),
        }
    }

    /// The layer behind has answered a subscription of the client's.
    pub(super) fn relayed_subscribed(&mut self, params: String, outcome: Outcome<'_>) {
        if let Some(id) = subscription(outcome) {
            self.connection.relayed_lists.begin(id.clone(), params);
            self.keep_relayed_list(&id);
        }
    }

    /// The layer behind has answered that it ends one, or that it has none such.
    pub(super) fn forget_relayed_list(&mut self, id: &str) {
        if self.connection.relayed_lists.remove(id) {
            self.keep_relayed_list(id);
        }
    }

    /// The layer behind has ended, and with it all subscriptions.
    pub(super) fn lose_relayed_lists(&mut self) {
        for id in self.connection.relayed_lists.lose() {
            self.keep_relayed_list(&id);
        }
    }

    /// The layer behind can be asked: it is asked for the subscriptions that it does not know.
    pub(super) fn follow_relayed_lists(&mut self) {
        for (id, params) in self.connection.relayed_lists.ask() {
            self.keep_relayed_list(&id);
            match params {
                Some(params) => {
                    let what = Outgoing::RelayedSubscribe { subscription: id };
                    self.run(|cx| cx.ask(what, "session/list/subscribe", params));
                }
                None => self.tell_to_read_again(&id),
            }
        }
    }

    /// It has answered for one of them. What changes from now on is told; where it has refused the client is told once that
    /// something may have changed, and the next that is started is asked.
    pub(super) fn relayed_list_answered(&mut self, id: &str, outcome: Outcome<'_>) {
        let theirs = subscription(outcome);
        if self.connection.relayed_lists.answered(id, theirs.clone()) {
            self.keep_relayed_list(id);
            self.tell_to_read_again(id);
        } else if let Some(theirs) = theirs {
            // The client has ended it meanwhile.
            self.unsubscribe_from_agent(&theirs);
        }
    }

    /// Something that the layer behind says of a list; none of what is not that.
    pub(super) fn relayed_list_changed(&mut self, line: &str, method: &str, params: Option<&str>) -> Option<Handled> {
        if !matches!(method, "session/list/changes" | "session/list/resync") {
            return None;
        }
        let params = params.and_then(Object::parse)?;
        let theirs = params.get_string("subscriptionId")?;
        if let Some(id) = self.connection.relayed_lists.client_id(&theirs) {
            return Some(Handled::named(line, &params, "subscriptionId", id));
        }
        // An answer was lost that told of it: nobody follows it.
        self.unsubscribe_from_agent(&theirs);
        Some(Handled::Done)
    }

    fn keep_relayed_list(&mut self, id: &str) {
        let value = self.connection.relayed_lists.kept(id).and_then(|list| serde_json::to_string(list).ok());
        self.outputs.push_back(Kept::RelayedList(id).with(value));
    }
}

/// The id of the subscription that an answer tells of.
fn subscription(outcome: Outcome<'_>) -> Option<String> {
    match outcome {
        Outcome::Result(result) => Object::parse_or_empty(result).get_string("subscriptionId"),
        Outcome::Error(_) => None,
    }
}

/// A request with others in the place of its params, which must come from `line` if it has any.
fn with_params(line: &str, params: Option<&str>, with: &str) -> String {
    if let Some(params) = params {
        return rpc::splice(line, params, with);
    }
    let mut message = Object::parse_or_empty(line);
    message.set("params", with);
    message.to_json()
}
