//! Taking in what a page of the agent's list says, some rows in one commit.

use super::{Discovery, Phase, SessionNews, Trouble};
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
    /// How many were read in all.
    read: usize,
}

impl Discovery {
    /// Reads the rows that are to be taken in together. There is at least one if any comes next that can be read.
    fn next_rows(&self) -> Next {
        let (mut next, mut bytes) = (Next { rows: Vec::new(), ends: Vec::new(), read: 0 }, 0);
        for (at, said) in self.said.iter().enumerate() {
            let SessionNews::Row { json, asked } = said else { break };
            bytes += json.len();
            if next.rows.len() == ROWS_AT_ONCE || (bytes > BYTES_AT_ONCE && !next.rows.is_empty()) {
                break;
            }
            next.read = at + 1;
            let Some(mut row) = Row::read(json, *asked) else { continue };
            row.archived.take_if(|_| self.archived_here.contains(&row.agent_id));
            next.rows.push(row);
            next.ends.push(at + 1);
        }
        next
    }
}

impl<S: Storage, E: Environment> Router<S, E> {
    /// Takes in some of what the agent has said and, if there is no more of a page, asks for the next.
    pub(super) fn take_in_some(&mut self) -> Result<()> {
        if self.is_page_asked_for() {
            return Ok(());
        }
        if let Some(SessionNews::Gone(agent_id)) = self.connection.discovery.said.front() {
            let agent_id = agent_id.clone();
            self.forget_gone(&agent_id)?;
            self.connection.discovery.said.pop_front();
        } else if let Some(SessionNews::Fork(_)) = self.connection.discovery.said.front() {
            self.take_in_forks()?;
        } else {
            self.take_in_rows()?;
        }
        let Discovery { said, phase, .. } = &self.connection.discovery;
        if !said.is_empty() || *phase != Phase::Reading {
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
        let Next { rows, ends, read } = self.connection.discovery.next_rows();
        if rows.is_empty() {
            self.connection.discovery.said.drain(..read);
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
        let (found, forks) = discovered::take_in(&self.store, &self.environment, agent, &rows, here, self.now())?;
        for fork in forks {
            self.connection.discovery.forks.wait(fork);
        }
        let done = ends.get(found.len().saturating_sub(1)).copied().unwrap_or_default();
        self.connection.discovery.said.drain(..done);
        if let Trouble::Paused { .. } = self.connection.discovery.trouble {
            self.connection.discovery.trouble = Trouble::Told;
        }
        let taken = found.len();
        self.note_agents_states(rows.iter().take(taken))?;
        self.follow(rows.into_iter().zip(found));
        Ok(())
    }

    /// Takes in which sessions the next ones were forked from. They stay where they are until the store has that.
    fn take_in_forks(&mut self) -> Result<()> {
        let said = self.connection.discovery.said.iter().take(ROWS_AT_ONCE);
        let forks = said.map_while(|said| if let SessionNews::Fork(fork) = said { Some(fork.clone()) } else { None });
        let forks: Vec<_> = forks.collect();
        discovered::join(&self.store, &self.environment, &self.connection.agent.name, &forks, self.now())?;
        self.connection.discovery.said.drain(..forks.len());
        Ok(())
    }

    /// What follows from rows that were taken in: what the agent has not followed in it is asked for again, once a
    /// connection: one that does not answer would be asked for ever.
    fn follow(&mut self, rows: impl Iterator<Item = (Row, Found)>) {
        let Discovery { was_read, ref phase, .. } = self.connection.discovery;
        let is_reading = *phase == Phase::Reading;
        let mut deleted = Vec::new();
        for (row, found) in rows {
            self.connection.discovery.seen.note(&row);
            if let Found::New | Found::Known | Found::Behind { .. } = &found {
                let forks = self.connection.discovery.forks.come(&row.agent_id);
                self.connection.discovery.said.extend(forks.into_iter().map(SessionNews::Fork));
            }
            match found {
                Found::Behind { id, title, archived } if is_reading && was_read.is_none() => {
                    if let Some(archived) = archived {
                        self.archive_again(id.clone(), row.agent_id.clone(), archived);
                    }
                    if let Some(title) = title {
                        self.run(|cx| cx.tell_agent_title(&id, &row.agent_id, &title));
                    }
                }
                Found::Deleted if is_reading => deleted.push(row.agent_id),
                Found::New | Found::Known | Found::Behind { .. } | Found::Deleted | Found::InVain | Found::Nowhere => {}
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
        let discovery = &mut self.connection.discovery;
        discovery.phase = Phase::Sifting(String::new());
        discovery.took = (now - discovery.begun).max(0);
        self.connection.agents_states.forget_before(discovery.begun, now);
        self.release_lists();
        self.read_wanted();
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
