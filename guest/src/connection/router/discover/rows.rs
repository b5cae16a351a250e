//! Taking in what a page of the agent's list says, some rows in one commit.

use serde_json::json;

use super::{Discovery, Phase, Trouble};
use crate::connection::params::Rest;
use crate::connection::requests::Outgoing;
use crate::connection::router::Router;
use crate::environment::Environment;
use crate::sessions::discovered::{self, Found, Here, Row};
use crate::storage::{Durability, Result, Storage, StorageError, Write};
use crate::store::keys;

/// How many rows are taken in at a time, and of about how many bytes: requests wait for these.
const ROWS_AT_ONCE: usize = 64;
const BYTES_AT_ONCE: usize = 256 * 1024;

/// The rows that come next.
struct Next {
    /// Those that can be read, each with the number of rows that are done with once it is taken in.
    rows: Vec<Row>,
    ends: Vec<usize>,
}

impl Discovery {
    /// Reads the rows that are to be taken in together. There is at least one if any is left that can be read.
    fn next_rows(&self) -> Next {
        let (mut next, mut bytes) = (Next { rows: Vec::new(), ends: Vec::new() }, 0);
        for (at, json) in self.rows.iter().enumerate() {
            bytes += json.len();
            if next.rows.len() == ROWS_AT_ONCE || (bytes > BYTES_AT_ONCE && !next.rows.is_empty()) {
                break;
            }
            let Some(mut row) = Row::read(json) else { continue };
            row.archived.take_if(|_| self.archived_here.contains(&row.agent_id));
            next.rows.push(row);
            next.ends.push(at + 1);
        }
        next
    }
}

impl<S: Storage, E: Environment> Router<S, E> {
    /// Takes in some rows and, if there are no more, asks for the next page.
    pub(super) fn take_in_some(&mut self) -> Result<()> {
        if self.is_page_asked_for() {
            return Ok(());
        }
        self.take_in_rows()?;
        if !self.connection.discovery.rows.is_empty() {
            return Ok(());
        }
        if let Some(cursor) = self.connection.discovery.next.take() {
            self.ask_page(Some(&cursor));
            return Ok(());
        }
        self.end_list()
    }

    /// Whether a page is still to come.
    pub(super) fn is_page_asked_for(&self) -> bool {
        self.connection.requests.outgoing.values().any(|asked| *asked == Outgoing::List)
    }

    /// Takes in the rows that come next. They stay where they are until the store has them.
    fn take_in_rows(&mut self) -> Result<()> {
        let Next { rows, ends } = self.connection.discovery.next_rows();
        if rows.is_empty() {
            self.connection.discovery.rows.clear();
            return Ok(());
        }
        let (agent, open) = (&self.connection.agent.name, &self.connection.by_agent);
        let here = |agent_id: &str| {
            if open.contains_key(agent_id) {
                Here::Open
            } else if self.connection.disowned.contains(agent_id) {
                Here::InVain
            } else {
                Here::Nothing
            }
        };
        let found = discovered::take_in(&self.store, &self.environment, agent, &rows, here, self.now())?;
        let done = ends.get(found.len().saturating_sub(1)).copied().unwrap_or_default();
        self.connection.discovery.rows.drain(..done);
        if let Trouble::Paused { .. } = self.connection.discovery.trouble {
            self.connection.discovery.trouble = Trouble::Told;
        }
        let taken = found.len();
        self.note_agents_states(rows.iter().take(taken))?;
        self.follow(rows.into_iter().zip(found));
        Ok(())
    }

    /// What follows from rows that were taken in: what the agent has not followed in it is asked for again.
    fn follow(&mut self, rows: impl Iterator<Item = (Row, Found)>) {
        let mut deleted = Vec::new();
        for (row, found) in rows {
            self.connection.discovery.seen.note(&row.agent_id, row.updated);
            match found {
                Found::Archived { id, archived } => self.archive_again(id, row.agent_id, archived),
                Found::Deleted => deleted.push(row.agent_id),
                Found::Named(title) if self.connection.agent.title => {
                    let params = json!({ "sessionId": row.agent_id, "title": title }).to_string();
                    self.run(|cx| cx.ask(Outgoing::Ignored, "session/set_title", params));
                }
                Found::New | Found::Known | Found::Named(_) | Found::InVain | Found::Nowhere => {}
                Found::Refused(error) => self.warn_of_list(&error),
            }
        }
        self.delete_at_agent(&deleted, &Rest::default());
    }

    /// The list has been read to its end.
    fn end_list(&mut self) -> Result<()> {
        if self.may_lack_rows() {
            if self.connection.discovery.repeated == 0 {
                self.read_again();
                return Ok(());
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
        }
        Ok(())
    }

    /// The store does not take what the list says. Lists wait for it no more; it is tried again.
    pub(super) fn pause_intake(&mut self, error: &StorageError) {
        self.warn_of_list(error);
        self.connection.discovery.trouble = Trouble::Paused { since: self.now() };
        self.release_lists();
    }

    /// Tells the host, once for each reading of the list.
    fn warn_of_list(&mut self, error: &StorageError) {
        if std::mem::replace(&mut self.connection.discovery.trouble, Trouble::Told) == Trouble::None {
            self.warn(format!("not all of the agent's sessions could be taken in: {error}"));
        }
    }
}
