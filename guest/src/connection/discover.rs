//! Reading the agent's own list, after `initialize` and in the background, so that sessions made without the layer
//! are listed too.

use std::collections::VecDeque;

use serde_json::json;
use serde_json::value::RawValue;

use super::Handling;
use super::agent::DONE;
use super::awaiting::Awaiting;
use crate::engine::Engine;
use crate::environment::Environment;
use crate::rpc::{Object, Outcome};
use crate::sessions::{create, info};
use crate::storage::{Durability, Result, Storage};
use crate::store::{Origin, Session, Title, directory, keys};
use crate::time;

/// How many pages of the agent's list are read at most; some agents never end their lists.
const MOST_PAGES: u32 = 500;
/// How many of its rows are taken in at a time: requests wait for these.
const ROWS_AT_ONCE: usize = 32;

/// How far the agent's list has been read.
#[derive(Debug, Default)]
pub(super) struct Discovery {
    pages: u32,
    last_cursor: Option<String>,
    /// Rows that are still to be taken in.
    rows: VecDeque<String>,
    /// The page behind them.
    next: Option<String>,
}

impl<S: Storage, E: Environment> Engine<S, E> {
    pub(super) fn begin_discovery(&mut self) {
        if self.connection.agent.list && self.connection.agent.name.is_some() {
            self.connection.discovery = Discovery::default();
            self.ask_agent("session/list", "{}", Awaiting::Discover);
        }
    }

    /// A page has come: take it in, ask for the next.
    pub(super) fn discovered(&mut self, outcome: Outcome<'_>) -> Handling {
        let Outcome::Result(result) = outcome else { return DONE };
        let result = Object::parse_or_empty(result);
        let rows: Vec<&RawValue> =
            result.get("sessions").and_then(|rows| serde_json::from_str(rows).ok()).unwrap_or_default();
        let cursor = result.get_string("nextCursor");
        let discovery = &mut self.connection.discovery;
        discovery.pages += 1;
        // A cursor that comes again would be followed for ever.
        let goes_on = cursor != discovery.last_cursor && discovery.pages < MOST_PAGES && !rows.is_empty();
        discovery.last_cursor.clone_from(&cursor);
        discovery.next = cursor.filter(|_| goes_on);
        discovery.rows.extend(rows.into_iter().map(|row| row.get().to_owned()));
        DONE
    }

    /// Takes in a few rows, or asks for the next page; says whether there is more to do at once.
    pub(crate) fn discover_some(&mut self) -> bool {
        for _ in 0..ROWS_AT_ONCE {
            let Some(row) = self.connection.discovery.rows.pop_front() else { break };
            if let Err(error) = self.take_in(&row) {
                self.warn(format!("the agent's sessions could not be taken in: {error}"));
                self.connection.discovery = Discovery::default();
                return false;
            }
        }
        if !self.connection.discovery.rows.is_empty() {
            return true;
        }
        if let Some(cursor) = self.connection.discovery.next.take() {
            self.ask_agent("session/list", &json!({ "cursor": cursor }).to_string(), Awaiting::Discover);
        }
        false
    }

    /// One row of the agent's list.
    fn take_in(&mut self, row: &str) -> Result<()> {
        let row = Object::parse_or_empty(row);
        let (Some(agent_id), Some(cwd)) = (row.get_string("sessionId"), row.get_string("cwd")) else { return Ok(()) };
        let Some(agent) = self.connection.agent.name.clone() else { return Ok(()) };
        if directory::normalise(&cwd).is_none() {
            return Ok(());
        }
        let read = [
            keys::agent_session(&agent, &agent_id),
            keys::agent_tombstone(&agent, &agent_id),
            keys::session(&agent_id),
            keys::tombstone(&agent_id),
        ];
        let known = self.store.storage().get(&read)?;
        let [mapped, agent_deleted, same_id, deleted] = known.as_slice() else { return Ok(()) };
        if agent_deleted.is_some() || (mapped.is_none() && deleted.is_some()) {
            return Ok(());
        }
        let now = self.now();
        if let Some(id) = mapped {
            return self.refresh(id, &row, now);
        }
        if let Some(text) = same_id
            && Session::parse(text)?.id_at(&agent) == Some(&agent_id)
        {
            return self.refresh(&agent_id, &row, now);
        }
        let updated = row.get_string("updatedAt").and_then(|text| time::parse(&text));
        let mut session = Session::new(agent_id.clone(), cwd, updated.unwrap_or(now));
        session.give_to(&agent, &agent_id, u64::MAX);
        session.origin = Origin::Agent;
        session.undated = updated.is_none();
        if let Some(title) = row.get_string("title").filter(|title| !title.trim().is_empty()) {
            session.title = Title::Auto(title);
        }
        let meta = Object::parse_or_empty(row.get_some("_meta").unwrap_or("{}")).to_json();
        info::merge(&mut session, &format!("{{\"_meta\":{meta}}}"), now);
        create::create(&self.store, &self.environment, &session, Durability::Relaxed)?;
        Ok(())
    }

    /// A session that is known already: what the agent knows better of one whose history only it has.
    fn refresh(&mut self, id: &str, row: &Object<'_>, now: i64) -> Result<()> {
        let title = row.get_string("title").filter(|title| !title.trim().is_empty());
        let updated = row.get_string("updatedAt").and_then(|text| time::parse(&text)).filter(|updated| *updated <= now);
        self.store.change(id).commit(|before, _, _| {
            let Some(session) = before.filter(|session| session.origin == Origin::Agent) else { return Ok(None) };
            let mut fresh = session.clone();
            if let (Title::None | Title::Auto(_), Some(title)) = (&session.title, &title) {
                fresh.title = Title::Auto(title.clone());
            }
            if let Some(updated) = updated {
                fresh.touch(updated);
            }
            let same = fresh.title == session.title && fresh.updated == session.updated;
            Ok((!same).then_some(Some(fresh)))
        })?;
        Ok(())
    }
}
