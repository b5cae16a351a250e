//! Asking the agent for its list, a page at a time.

use serde_json::value::RawValue;

use super::{Discovery, Phase};
use crate::connection::requests::Outgoing;
use crate::connection::router::Router;
use crate::environment::Environment;
use crate::rpc::{Code, Object, Outcome, RpcError};
use crate::storage::Storage;

/// How many pages of the agent's list are read at most; some agents never end their lists.
const MOST_PAGES: u32 = 500;

impl<S: Storage, E: Environment> Router<S, E> {
    /// Asks for a page. An agent that has archived sessions leaves them out of its list unless it is asked for them, and
    /// would seem to have them no more.
    pub(super) fn ask_page(&mut self, cursor: Option<&str>) {
        let Discovery { asked, asks_archived, .. } = &self.connection.discovery;
        let params = asked.params(cursor, *asks_archived);
        self.run(|cx| cx.ask(Outgoing::List, "session/list", params));
    }

    /// A page has come: take it in, ask for the next.
    pub(in crate::connection::router) fn discovered(&mut self, outcome: Outcome<'_>) {
        if self.connection.discovery.phase != Phase::Reading {
            return;
        }
        let Outcome::Result(result) = outcome else { return self.page_refused(outcome) };
        let result = Object::parse_or_empty(result);
        let rows = result.get("sessions").and_then(|rows| serde_json::from_str::<Vec<&RawValue>>(rows).ok());
        // An answer without sessions is no list, and says nothing of what is gone.
        let Some(rows) = rows else { return self.give_up_reading() };
        let cursor = result.get_string("nextCursor");
        let discovery = &mut self.connection.discovery;
        discovery.pages += 1;
        // A cursor that comes again would be followed for ever.
        let is_new = cursor.as_ref().is_some_and(|cursor| {
            let hash = discovery.seen.hash(cursor);
            discovery.cursors.insert(hash)
        });
        let goes_on = is_new && discovery.pages < MOST_PAGES && !rows.is_empty();
        discovery.seen.is_cut_off |= cursor.is_some() && !goes_on;
        discovery.next = cursor.filter(|_| goes_on);
        discovery.rows.extend(rows.into_iter().map(|row| row.get().to_owned()));
        // What has arrived behind it may be judged by it.
        self.discover_some();
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

    /// The agent gives no page. One that does not take the request with archived sessions is asked without; what it has
    /// put away is then not to be told from what it has no more.
    fn page_refused(&mut self, outcome: Outcome<'_>) {
        let discovery = &mut self.connection.discovery;
        let is_refused =
            matches!(outcome, Outcome::Error(error) if RpcError::read(error).code == Code::InvalidParams as i64);
        if !(is_refused && discovery.asks_archived && discovery.pages == 0) {
            return self.give_up_reading();
        }
        discovery.asks_archived = false;
        discovery.seen.is_cut_off = true;
        self.ask_page(None);
    }
}
