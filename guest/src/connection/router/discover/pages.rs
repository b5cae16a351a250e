//! Asking the agent for its list, a page at a time.

use serde_json::value::RawValue;

use super::{Discovery, Phase, SessionNews};
use crate::connection::answer::AUTH_REQUIRED;
use crate::connection::requests::{Outgoing, OwnId};
use crate::connection::router::Router;
use crate::connection::router::agents_subscription::AgentsSubscription;
use crate::environment::Environment;
use crate::rpc::{self, Code, Object, Outcome, RpcError};
use crate::storage::Storage;

/// How many pages of the agent's list are read at most; some agents never end their lists.
pub(super) const MOST_PAGES: usize = 500;

/// What a list is asked for with, so that it has archived sessions too: in the draft of list extensions, and in the schema
/// (unstable).
pub(super) const ALL: &str = "all";
pub(super) const INCLUDE: &str = "include";

impl<S: Storage, E: Environment> Router<S, E> {
    /// Asks for a page; for the first one with a subscription, where the agent has them and there is none yet. An agent that
    /// has archived sessions leaves them out of its list unless it is asked for them, and would seem to have them no more.
    pub(super) fn ask_page(&mut self, cursor: Option<&str>) {
        let Discovery { asked, archived, .. } = &self.connection.discovery;
        let params = asked.params(cursor, *archived, None);
        let subscribes = cursor.is_none() && self.subscribes_to_agent();
        let method = if subscribes { "session/list/subscribe" } else { "session/list" };
        self.connection.discovery.asked_at = self.running();
        self.run(|cx| cx.ask(Outgoing::List, method, params));
    }

    /// A page has come: take it in, ask for the next.
    pub(in crate::connection::router) fn discovered(&mut self, outcome: Outcome<'_>) {
        let subscribing = self.subscription_answered(outcome);
        if self.connection.discovery.phase != Phase::Reading {
            return;
        }
        let result = match outcome {
            Outcome::Result(result) => Object::parse_or_empty(result),
            Outcome::Error(error) => return self.page_refused(&RpcError::read(error), subscribing),
        };
        let rows = result.get("sessions").and_then(|rows| serde_json::from_str::<Vec<&RawValue>>(rows).ok());
        // An answer without sessions is no list, and says nothing of what is gone.
        let Some(rows) = rows else { return self.give_up_reading() };
        let cursor = result.get_string("nextCursor");
        let discovery = &mut self.connection.discovery;
        discovery.pages += 1;
        // A cursor that comes again would be followed for ever. A page without rows is no end: an agent may leave some out
        // after it has cut its list into pages.
        let is_new = cursor.as_ref().is_some_and(|cursor| {
            let hash = discovery.seen.hash(cursor);
            discovery.cursors.insert(hash)
        });
        let goes_on = is_new && discovery.pages < MOST_PAGES;
        discovery.seen.is_cut_off |= cursor.is_some() && !goes_on;
        discovery.next = cursor.filter(|_| goes_on);
        let Discovery { said, seen, begun, .. } = discovery;
        let first = rows.into_iter().map(RawValue::get).filter(|row| seen.is_first(row));
        said.extend(first.map(|row| SessionNews::Row { json: row.to_owned(), asked: *begun }));
        // What has arrived behind it may be judged by it.
        self.discover_some();
    }

    /// Gives up a page that the agent does not give: nothing is to wait for it for ever.
    pub(in crate::connection::router) fn page_overdue(&mut self) {
        let Discovery { phase, asked_at, .. } = &self.connection.discovery;
        if *phase != Phase::Reading || asked_at.until(self.running()) < i64::from(self.settings.agent_timeout_ms) {
            return;
        }
        let asked = self.connection.requests.outgoing.iter().filter(|(_, asked)| **asked == Outgoing::List);
        let asked: Vec<OwnId> = asked.map(|(id, _)| *id).collect();
        if asked.is_empty() {
            return;
        }
        for id in asked {
            self.connection.requests.outgoing.insert(id, Outgoing::LateList);
            let params = format!("{{\"requestId\":{}}}", self.connection.ids.wire(id).as_json());
            self.send_agent(rpc::notification("$/cancel_request", &params));
        }
        let subscription = &mut self.connection.agents_subscription;
        if *subscription == AgentsSubscription::AskedFor {
            *subscription = AgentsSubscription::None;
        }
        self.give_up_reading();
    }

    /// A page has come after it was given up. What it says may be another thing by now, and others may be behind it: where the
    /// list was not read since, it is read from its beginning.
    pub(in crate::connection::router) fn discovered_late(&mut self, outcome: Outcome<'_>) {
        let Outcome::Result(result) = outcome else { return };
        self.connection.discovery.is_stale |= self.connection.discovery.phase == Phase::Idle;
        let Some(id) = Object::parse_or_empty(result).get_string("subscriptionId") else { return };
        match &self.connection.agents_subscription {
            AgentsSubscription::None => self.connection.agents_subscription = AgentsSubscription::Known(id),
            AgentsSubscription::Known(known) if *known == id => {}
            AgentsSubscription::AskedFor | AgentsSubscription::Known(_) | AgentsSubscription::Refused => {
                self.unsubscribe_from_agent(&id);
            }
        }
    }

    /// Whether rows may have been passed over, because others before them went while the pages were read.
    pub(super) fn may_lack_rows(&self) -> bool {
        let Discovery { ref seen, pages, .. } = self.connection.discovery;
        let goes_on =
            || self.connection.requests.outgoing.values().any(|asked| matches!(asked, Outgoing::Delete { .. }));
        pages > 1 && (seen.has_moved || goes_on())
    }

    pub(super) fn read_again(&mut self) {
        let Discovery { was_read, repeated, .. } = self.connection.discovery;
        self.connection.discovery.phase = Phase::Idle;
        self.begin_discovery();
        self.connection.discovery.was_read = was_read;
        self.connection.discovery.repeated = repeated + 1;
    }

    /// The agent gives no page. One that has no subscriptions is asked without, and so is one that does not take the
    /// request with archived sessions; what it has put away is then not to be told from what it has no more.
    fn page_refused(&mut self, error: &RpcError, subscribing: bool) {
        let may_be_of_archived = error.code == Code::InvalidParams as i64;
        let discovery = &mut self.connection.discovery;
        if may_be_of_archived && discovery.archived.is_some() && discovery.pages == 0 {
            discovery.archived = discovery.archived.filter(|word| *word == ALL && self.connection.agent.archive);
            if let Some(word) = &mut discovery.archived {
                *word = INCLUDE;
            } else {
                discovery.seen.is_cut_off = true;
            }
        } else if subscribing && error.code != AUTH_REQUIRED {
            self.connection.agents_subscription = AgentsSubscription::Refused;
        } else {
            return self.give_up_reading();
        }
        self.ask_page(None);
    }
}
