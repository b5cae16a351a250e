//! The agent's lists of one folder. Unless it is asked for a folder, an agent may list what is in one of its own choice alone
//! (pi-acp: in the one that was opened last). A session that its list lacks is therefore gone only if that list has others of
//! its folder, or if the list of its folder lacks it as well.

use std::collections::HashSet;

use serde_json::value::RawValue;

use super::SessionNews;
use super::in_doubt::{FolderBeingRead, Lacking};
use super::pages::MOST_PAGES;
use super::seen::Seen;
use crate::connection::requests::{Outgoing, OwnId};
use crate::connection::router::Router;
use crate::environment::Environment;
use crate::rpc::{Object, Outcome};
use crate::sessions::discovered::Row;
use crate::sessions::vanish;
use crate::storage::{Result, Storage};

impl<S: Storage, E: Environment> Router<S, E> {
    /// Asks for the list of the next folder that sessions in doubt are of.
    pub(super) fn ask_next_folder(&mut self) {
        let Some((folder, lacking)) = self.connection.discovery.in_doubt.folders.pop_first() else { return };
        let page = self.ask_page_of(&folder, None);
        let begun = self.now();
        let asked = FolderBeingRead { begun, folder, lacking, seen: Seen::default(), cursors: HashSet::new(), page };
        self.connection.discovery.in_doubt.asked = Some(asked);
    }

    /// Asks for a page of a folder's list.
    fn ask_page_of(&mut self, folder: &str, cursor: Option<&str>) -> OwnId {
        let discovery = &self.connection.discovery;
        let params = discovery.asked.params(cursor, discovery.archived, Some(folder));
        self.run(|cx| cx.ask(Outgoing::ListOfFolder, "session/list", params))
    }

    /// A page of a folder's list has come. One that an earlier reading had asked for says nothing any more.
    pub(in crate::connection::router) fn folder_listed(&mut self, page: OwnId, outcome: Outcome<'_>) {
        let Some(mut asked) = self.connection.discovery.in_doubt.asked.take_if(|asked| asked.page == page) else {
            return;
        };
        let result =
            if let Outcome::Result(result) = outcome { Object::parse_or_empty(result) } else { Object::default() };
        let rows = result.get("sessions").and_then(|rows| serde_json::from_str::<Vec<&RawValue>>(rows).ok());
        // An agent that gives no list of the folder has not said that anything is gone from it.
        let Some(rows) = rows else { return self.ask_next_folder() };
        for row in rows.into_iter().map(RawValue::get) {
            if !asked.seen.is_first(row) {
                continue;
            }
            if let Some(row) = Row::read(row, asked.begun) {
                asked.seen.note(&row);
            }
            self.connection.discovery.said.push_back(SessionNews::Row { json: row.to_owned(), asked: asked.begun });
        }
        if let Some(cursor) = result.get_string("nextCursor") {
            let is_new = asked.cursors.insert(asked.seen.hash(&cursor));
            if is_new && asked.cursors.len() < MOST_PAGES {
                let page = self.ask_page_of(&asked.folder, Some(&cursor));
                self.connection.discovery.in_doubt.asked = Some(FolderBeingRead { page, ..asked });
                return;
            }
            asked.seen.is_cut_off = true;
        }
        if let Err(error) = self.forget_lacking(&asked) {
            self.warn(format!("the agent's sessions could not be compared with its list: {error}"));
        }
        self.ask_next_folder();
    }

    /// Forgets the sessions in doubt that the list of their folder lacks, too.
    fn forget_lacking(&mut self, asked: &FolderBeingRead) -> Result<()> {
        let Some(since) = asked.seen.complete_since() else { return Ok(()) };
        let agent = self.connection.agent.name.clone();
        for Lacking { agent_id, id } in &asked.lacking {
            if !self.is_open_here(agent_id, id) && !asked.seen.has(agent_id) {
                vanish::forget_if_since(&self.store, id, (&agent, agent_id), since, self.now())?;
            }
        }
        Ok(())
    }
}
