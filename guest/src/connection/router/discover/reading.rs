//! Beginning to read the agent's list, going on with it, and giving it up.

use super::{Discovery, Phase, Trouble};
use crate::connection::list_meta::ListMeta;
use crate::connection::router::Router;
use crate::environment::Environment;
use crate::storage::Storage;
use crate::store::keys;

impl<S: Storage, E: Environment> Router<S, E> {
    /// Begins to read the agent's list, if it has one.
    pub(in crate::connection::router) fn begin_discovery(&mut self) {
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

    /// A client lists with this `_meta`, but for what is the layer's. If it asks for anything that the agent's list was not
    /// asked for with, that is read anew.
    pub(in crate::connection::router) fn list_with(&mut self, meta: Option<&str>) {
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
    pub(in crate::connection::router) fn forget_discovery(&mut self) {
        let Discovery { waiting, wanted, .. } = std::mem::take(&mut self.connection.discovery);
        self.connection.discovery = Discovery { waiting, wanted, ..Discovery::default() };
        self.release_lists();
    }

    /// It cannot be read; what an earlier reading has told still counts.
    pub(super) fn give_up_reading(&mut self) {
        let was_read = self.connection.discovery.was_read;
        self.forget_discovery();
        self.connection.discovery.was_read = was_read;
    }

    /// Takes in some rows, or asks for the next page.
    pub(crate) fn discover_some(&mut self) {
        match &self.connection.discovery.phase {
            Phase::Idle | Phase::Done => {}
            Phase::Reading => {
                if !self.connection.discovery.is_paused(self.now())
                    && let Err(error) = self.take_in_some()
                {
                    self.pause_intake(&error);
                }
            }
            Phase::Sifting(behind) => {
                let behind = behind.clone();
                if let Err(error) = self.sift(&behind) {
                    self.warn(format!("the agent's sessions could not be compared with its list: {error}"));
                    self.connection.discovery.phase = Phase::Done;
                }
            }
        }
    }

    /// Whether there is more of that to do at once.
    pub(in crate::connection::router) fn has_more_of_list(&self) -> bool {
        let Discovery { phase, rows, trouble, .. } = &self.connection.discovery;
        match phase {
            Phase::Idle | Phase::Done => false,
            Phase::Reading => {
                !rows.is_empty() && !matches!(trouble, Trouble::Paused { .. }) && !self.is_page_asked_for()
            }
            Phase::Sifting(_) => true,
        }
    }

    /// Answers the lists that have waited for long enough.
    pub(in crate::connection::router) fn lists_overdue(&mut self, now: i64) {
        if self.connection.discovery.patience(now) == Some(0) {
            self.release_lists();
        }
    }
}
