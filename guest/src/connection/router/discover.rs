//! Reading the agent's own list, after `initialize` and in the background, so that sessions made without the layer are
//! listed too, and what the agent knows better of the others.

mod seen;

use std::collections::{HashSet, VecDeque};

use serde_json::json;
use serde_json::value::RawValue;

use seen::Seen;

use crate::connection::answer::agent_error;
use crate::connection::client_request::ClientRequest;
use crate::connection::list_meta::ListMeta;
use crate::connection::requests::Outgoing;
use crate::connection::router::Router;
use crate::environment::Environment;
use crate::rpc::{Code, Object, Outcome};
use crate::sessions::discovered::{self, Found, Row};
use crate::sessions::vanish::{self, KnownPart};
use crate::storage::{Durability, Result, Storage, Write};
use crate::store::keys;

/// How many pages of the agent's list are read at most; some agents never end their lists.
const MOST_PAGES: u32 = 500;
/// How many of its rows are taken in at a time: requests wait for these.
const ROWS_AT_ONCE: usize = 32;
/// How long the first list on a store that never had this agent's list to its end waits for it, in milliseconds.
const PATIENCE: i64 = 1000;

/// How far the agent's list has been read.
#[derive(Debug, Default)]
pub(super) struct Discovery {
    phase: Phase,
    /// This agent's list was read to its end before, for this store.
    was_complete: bool,
    pages: u32,
    /// What the cursors were that have led on, as hashes: one for each page at most.
    cursors: HashSet<u64>,
    /// Rows that are still to be taken in.
    rows: VecDeque<String>,
    /// The page behind them.
    next: Option<String>,
    seen: Seen,
    /// How often it was begun again because rows had moved while it was read.
    repeated: u32,
    /// The agent's ids of sessions that were put away or brought back since, so that it may have said something else.
    archived_here: HashSet<String>,
    /// Archived sessions are asked for too.
    asks_archived: bool,
    /// Lists that wait for it, and since when.
    waiting: VecDeque<(ClientRequest, Option<String>, i64)>,
    /// The `_meta` that the pages are asked for with, and the one that a client has listed with last.
    asked: ListMeta,
    wanted: ListMeta,
    /// It was read to its end before it was begun again for other `_meta`.
    was_read: bool,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Idle,
    /// Pages are asked for and taken in.
    Reading,
    /// What is not in the list any more is looked for, behind this key.
    Sifting(String),
    Done,
}

impl Discovery {
    /// Whether the agent's list has been read to its end.
    pub(super) fn is_read(&self) -> bool {
        self.was_read || matches!(self.phase, Phase::Sifting(_) | Phase::Done)
    }

    /// Whether a list would lack what the agent is about to tell.
    pub(super) fn is_worth_waiting_for(&self) -> bool {
        self.phase == Phase::Reading && !self.was_complete
    }

    /// Whether lists wait.
    pub(super) fn is_waited_for(&self) -> bool {
        !self.waiting.is_empty()
    }

    pub(super) fn wait(&mut self, request: ClientRequest, params: Option<String>, now: i64) {
        self.waiting.push_back((request, params, now));
    }

    /// The user has put a session away, or brought it back, that the agent knows by this id.
    pub(super) fn archived_here(&mut self, agent_id: &str) {
        if self.phase == Phase::Reading {
            self.archived_here.insert(agent_id.to_owned());
        }
    }

    /// The agent has deleted a session.
    pub(super) fn deleted_there(&mut self) {
        self.seen.has_moved |= self.phase == Phase::Reading;
    }

    /// Takes a waiting list back; says whether it waited here.
    pub(super) fn withdraw(&mut self, request: &ClientRequest) -> bool {
        let before = self.waiting.len();
        self.waiting.retain(|(waiting, ..)| waiting != request);
        self.waiting.len() < before
    }

    pub(super) fn take_waiting(&mut self) -> Vec<(ClientRequest, Option<String>)> {
        self.waiting.drain(..).map(|(request, params, _)| (request, params)).collect()
    }

    /// For how many milliseconds the longest waiting list may still wait.
    pub(super) fn patience(&self, now: i64) -> Option<u32> {
        let (_, _, since) = self.waiting.front()?;
        Some(u32::try_from((since + PATIENCE - now).clamp(0, PATIENCE)).unwrap_or(0))
    }
}

impl<S: Storage, E: Environment> Router<S, E> {
    /// Begins to read the agent's list, if it has one.
    pub(super) fn begin_discovery(&mut self) {
        if !self.connection.agent.list || self.connection.discovery.phase == Phase::Reading {
            return;
        }
        let was_complete = self.store.record(keys::agent_list(&self.connection.agent.name));
        let Discovery { waiting, wanted, .. } = std::mem::take(&mut self.connection.discovery);
        self.connection.discovery = Discovery {
            phase: Phase::Reading,
            was_complete: was_complete.is_ok_and(|at| at.is_some()),
            waiting,
            asked: wanted.clone(),
            wanted,
            ..Discovery::default()
        };
        self.connection.discovery.asks_archived = self.connection.agent.archive;
        self.ask_page(None);
    }

    /// Asks for a page. An agent that has archived sessions leaves them out of its list unless it is asked for them, and
    /// would seem to have them no more.
    fn ask_page(&mut self, cursor: Option<&str>) {
        let Discovery { asked, asks_archived, .. } = &self.connection.discovery;
        let params = asked.params(cursor, *asks_archived);
        self.run(|cx| cx.ask(Outgoing::List, "session/list", params));
    }

    /// A client lists with this `_meta`, but for what is the layer's. If it asks for anything that the agent's list was not
    /// asked for with, that is read anew.
    pub(super) fn list_with(&mut self, meta: Option<&str>) {
        let wanted = ListMeta::read(meta);
        let discovery = &mut self.connection.discovery;
        if wanted.asks_as(&ListMeta::default()) || wanted.asks_as(&discovery.wanted) {
            return;
        }
        discovery.wanted = wanted;
        let was_read = discovery.is_read();
        if was_read {
            self.begin_discovery();
            self.connection.discovery.was_read = was_read;
        }
    }

    /// What was read of the list counts no more, and nothing waits for the rest.
    pub(super) fn forget_discovery(&mut self) {
        let Discovery { waiting, wanted, .. } = std::mem::take(&mut self.connection.discovery);
        self.connection.discovery = Discovery { waiting, wanted, ..Discovery::default() };
        self.release_lists();
    }

    /// It cannot be read; what an earlier reading has told still counts.
    fn give_up_reading(&mut self) {
        let was_read = self.connection.discovery.was_read;
        self.forget_discovery();
        self.connection.discovery.was_read = was_read;
    }

    /// A page has come: take it in, ask for the next.
    pub(super) fn discovered(&mut self, outcome: Outcome<'_>) {
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

    /// The agent gives no page. One that does not take the request with archived sessions is asked without; what it has
    /// put away is then not to be told from what it has no more.
    fn page_refused(&mut self, outcome: Outcome<'_>) {
        let discovery = &mut self.connection.discovery;
        let is_refused =
            matches!(outcome, Outcome::Error(error) if agent_error(error).code == Code::InvalidParams as i64);
        if !(is_refused && discovery.asks_archived && discovery.pages == 0) {
            return self.give_up_reading();
        }
        discovery.asks_archived = false;
        discovery.seen.is_cut_off = true;
        self.ask_page(None);
    }

    /// Takes in a few rows, or asks for the next page; says whether there is more to do at once.
    pub(crate) fn discover_some(&mut self) -> bool {
        match &self.connection.discovery.phase {
            Phase::Idle | Phase::Done => false,
            Phase::Reading => {
                let taken_in = self.take_in_some();
                taken_in.unwrap_or_else(|error| {
                    self.warn(format!("the agent's sessions could not be taken in: {error}"));
                    self.give_up_reading();
                    false
                })
            }
            Phase::Sifting(behind) => {
                let behind = behind.clone();
                self.sift(&behind).unwrap_or_else(|error| {
                    self.warn(format!("the agent's sessions could not be compared with its list: {error}"));
                    self.connection.discovery.phase = Phase::Done;
                    false
                })
            }
        }
    }

    fn take_in_some(&mut self) -> Result<bool> {
        // Nothing has been asked and answered yet, or the answer is still to come.
        if self.connection.requests.outgoing.values().any(|asked| *asked == Outgoing::List) {
            return Ok(false);
        }
        let mut deleted = Vec::new();
        for _ in 0..ROWS_AT_ONCE {
            let Some(row) = self.connection.discovery.rows.pop_front() else { break };
            let Some(mut row) = Row::read(&row) else { continue };
            self.connection.discovery.seen.note(&row.agent_id, row.updated);
            row.archived.take_if(|_| self.connection.discovery.archived_here.contains(&row.agent_id));
            let agent = &self.connection.agent.name;
            let is_open = self.connection.by_agent.contains_key(row.agent_id.as_str());
            match discovered::take_in(&self.store, &self.environment, agent, &row, is_open, self.now())? {
                Found::Archived { id, archived } => self.archive_again(id, row.agent_id, archived),
                Found::Deleted => deleted.push(row.agent_id),
                Found::Named(title) if self.connection.agent.title => {
                    let params = json!({ "sessionId": row.agent_id, "title": title }).to_string();
                    self.run(|cx| cx.ask(Outgoing::Ignored, "session/set_title", params));
                }
                Found::New | Found::Known | Found::Named(_) => {}
            }
        }
        // The agent has kept what was deleted here.
        self.delete_at_agent(&deleted);
        if !self.connection.discovery.rows.is_empty() {
            return Ok(true);
        }
        if let Some(cursor) = self.connection.discovery.next.take() {
            self.ask_page(Some(&cursor));
            return Ok(false);
        }
        if self.may_lack_rows() {
            if self.connection.discovery.repeated == 0 {
                self.read_again();
                return Ok(false);
            }
            self.connection.discovery.seen.is_cut_off = true;
        }
        let key = keys::agent_list(&self.connection.agent.name);
        let now = self.now();
        let read = Write::Put { key, value: now.to_string() };
        self.store.commit(&[], vec![read], Durability::Relaxed)?;
        self.connection.discovery.phase = Phase::Sifting(String::new());
        self.release_lists();
        let Discovery { asked, wanted, .. } = &self.connection.discovery;
        if !wanted.asks_as(asked) {
            self.begin_discovery();
            self.connection.discovery.was_read = true;
            return Ok(false);
        }
        Ok(true)
    }

    /// Whether rows may have been passed over, because others before them went while the pages were read.
    fn may_lack_rows(&self) -> bool {
        let Discovery { ref seen, pages, .. } = self.connection.discovery;
        let goes_on =
            || self.connection.requests.outgoing.values().any(|asked| matches!(asked, Outgoing::Delete { .. }));
        pages > 1 && (seen.has_moved || goes_on())
    }

    fn read_again(&mut self) {
        let Discovery { was_read, repeated, .. } = self.connection.discovery;
        self.connection.discovery.phase = Phase::Idle;
        self.begin_discovery();
        self.connection.discovery.was_read = was_read;
        self.connection.discovery.repeated = repeated + 1;
    }

    /// Looks for sessions that the agent had and has no more, a few at a time.
    fn sift(&mut self, behind: &str) -> Result<bool> {
        let agent = self.connection.agent.name.clone();
        let Some(since) = self.connection.discovery.seen.complete_since() else {
            self.connection.discovery.phase = Phase::Done;
            return Ok(false);
        };
        let KnownPart { ids, next } = vanish::known_to(&self.store, &agent, behind)?;
        for (agent_id, id) in ids {
            let is_open = self.connection.by_agent.contains_key(agent_id.as_str());
            if !is_open && !self.connection.discovery.seen.has(&agent_id) {
                vanish::forget_if_since(&self.store, &id, (&agent, &agent_id), since, self.now())?;
            }
        }
        let more = next.is_some();
        self.connection.discovery.phase = next.map_or(Phase::Done, Phase::Sifting);
        Ok(more)
    }

    /// Answers the lists that have waited for long enough.
    pub(super) fn lists_overdue(&mut self, now: i64) {
        if self.connection.discovery.patience(now) == Some(0) {
            self.release_lists();
        }
    }
}
