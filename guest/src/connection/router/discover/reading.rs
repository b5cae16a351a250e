//! Beginning to read the agent's list, going on with it, and giving it up.

use super::pages::{ALL, INCLUDE};
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
        let agent = &self.connection.agent;
        let archived =
            if agent.list_extensions.is_some() { Some(ALL) } else { Some(INCLUDE).filter(|_| agent.archive) };
        let begun = self.now();
        let Discovery { waiting, waited_since, asked, mut wanted, said, .. } =
            std::mem::take(&mut self.connection.discovery);
        let asked = wanted.take(begun).unwrap_or(asked);
        self.connection.discovery = Discovery {
            phase: Phase::Reading,
            was_complete: was_complete.is_ok_and(|at| at.is_some()),
            said,
            archived,
            begun,
            waiting,
            waited_since,
            asked,
            wanted,
            ..Discovery::default()
        };
        self.ask_page(None);
    }

    /// Begins to read it once more, while what was read of it, if it was, still counts.
    pub(in crate::connection::router) fn read_anew(&mut self) {
        let was_read = self.connection.discovery.read_since();
        self.begin_discovery();
        self.connection.discovery.was_read = was_read;
    }

    /// A client lists with this `_meta`, but for what is the layer's. If it asks for anything, the agent's list is read anew
    /// with it, as soon as it is not being read any more.
    pub(in crate::connection::router) fn list_with(&mut self, meta: Option<&str>) {
        let meta = ListMeta::read(meta);
        if self.connection.agent.list && !meta.asks_as(&ListMeta::default()) {
            self.connection.discovery.want(meta);
            self.read_wanted();
        }
    }

    /// Begins to read it anew with the next that a client has listed with, if it is time.
    pub(super) fn read_wanted(&mut self) {
        if self.connection.discovery.is_wanted(self.now()) {
            self.read_anew();
        }
    }

    /// What was read of the list counts no more, and nothing waits for the rest.
    pub(in crate::connection::router) fn forget_discovery(&mut self) {
        let Discovery { waiting, asked, wanted, .. } = std::mem::take(&mut self.connection.discovery);
        self.connection.discovery = Discovery { waiting, asked, wanted, ..Discovery::default() };
        self.release_lists();
    }

    /// It cannot be read; what an earlier reading has told still counts.
    pub(super) fn give_up_reading(&mut self) {
        let Discovery { was_read, begun, waited_since, .. } = self.connection.discovery;
        let said = std::mem::take(&mut self.connection.discovery.said);
        self.forget_discovery();
        self.connection.discovery =
            Discovery { said, was_read, waited_since, begun, ..std::mem::take(&mut self.connection.discovery) };
    }

    /// Takes in some of what the agent has said, or asks for the next page.
    pub(crate) fn discover_some(&mut self) {
        let discovery = &self.connection.discovery;
        let has_said = !discovery.said.is_empty() && !self.is_page_asked_for();
        match &discovery.phase {
            Phase::Sifting(behind) if !has_said => {
                let behind = behind.clone();
                if let Err(error) = self.sift(&behind) {
                    self.warn(format!("the agent's sessions could not be compared with its list: {error}"));
                    self.connection.discovery.phase = Phase::Done;
                }
            }
            Phase::Idle | Phase::Done if !has_said => {
                let now = self.now();
                if discovery.is_outdated(now) || discovery.is_wanted(now) {
                    self.read_anew();
                }
            }
            Phase::Idle | Phase::Reading | Phase::Sifting(_) | Phase::Done => {
                if !discovery.is_paused(self.now())
                    && let Err(error) = self.take_in_some()
                {
                    self.pause_intake(&error);
                }
            }
        }
    }

    /// Whether there is more of that to do at once.
    pub(in crate::connection::router) fn has_more_of_list(&self) -> bool {
        let Discovery { phase, said, trouble, .. } = &self.connection.discovery;
        let has_said = !said.is_empty() && !matches!(trouble, Trouble::Paused { .. }) && !self.is_page_asked_for();
        has_said || (matches!(phase, Phase::Sifting(_)) && said.is_empty())
    }

    /// Answers the lists that have waited for long enough.
    pub(in crate::connection::router) fn lists_overdue(&mut self, now: i64) {
        if self.connection.discovery.patience(now) == Some(0) {
            self.release_lists();
        }
    }
}
