//! Rows on their way into one commit.

use std::collections::{BTreeMap, BTreeSet};

use super::fork_of::ForkOf;
use super::found::Found;
use super::here::Here;
use super::owner::Owner;
use super::refresh::refresh;
use super::renamed::Renamed;
use super::row::Row;
use crate::environment::Environment;
use crate::sessions::{create, info};
use crate::storage::{Expectation, Result, Storage};
use crate::store::{Draft, Origin, Session, Title, keys};

/// So many bytes of metadata are enough for one commit.
const ENOUGH: usize = 1024 * 1024;

/// The sessions as they are being changed, and whose the agent's ids are: an agent may list one twice.
pub(super) struct Intake<'d, 'a, S, E> {
    pub(super) draft: &'d mut Draft<'a, S>,
    environment: &'d E,
    pub(super) agent: &'d str,
    pub(super) now: i64,
    pub(super) owners: BTreeMap<String, Owner>,
    /// Those that were found under another name.
    pub(super) renamed: Vec<Renamed>,
}

impl<'d, 'a, S: Storage, E: Environment> Intake<'d, 'a, S, E> {
    pub(super) fn new(draft: &'d mut Draft<'a, S>, environment: &'d E, agent: &'d str, now: i64) -> Self {
        Self { draft, environment, agent, now, owners: BTreeMap::new(), renamed: Vec::new() }
    }

    /// Takes rows in until it is enough for a commit; returns what those were, at least one of them, and which of them are
    /// forks of a session that is not known.
    pub(super) fn take_in(mut self, rows: &[Row], here: impl Fn(&str) -> Here) -> Result<(Vec<Found>, Vec<ForkOf>)> {
        self.read(rows.iter().map(|row| row.agent_id.as_str()))?;
        self.look_under_other_names(rows)?;
        let (mut found, mut size) = (Vec::new(), 0);
        for row in rows {
            if size > ENOUGH {
                break;
            }
            let here = here(&row.agent_id);
            if let Some(Owner::UnderOtherName { id, name }) = self.owners.get(&row.agent_id).cloned() {
                match self.share(&id, &name, &row.agent_id)? {
                    Some(session) => size += weight(&session),
                    None => drop(self.owners.insert(row.agent_id.clone(), Owner::Nobody)),
                }
            }
            found.push(match self.owners.get(&row.agent_id) {
                Some(Owner::Session(id)) => {
                    let id = id.clone();
                    self.refresh(&id, row, here == Here::Open, &mut size)
                }
                Some(Owner::Deleted) => Found::Deleted,
                // The list may be older than the agent's letting go of it.
                _ if here == Here::InVain => Found::InVain,
                Some(Owner::Nobody | Owner::UnderOtherName { .. }) | None => match &row.cwd {
                    Some(cwd) => self.begin(row, cwd, &mut size),
                    None => Found::Nowhere,
                },
            });
        }
        let rows = &rows[..found.len()];
        let forks = self.note_parents(rows.iter().filter_map(ForkOf::of))?;
        self.note_costs(rows, &forks.joined, |agent_id| here(agent_id) == Here::Open)?;
        Ok((found, forks.waiting))
    }

    /// Takes in which sessions these were forked from, of which rows said so before.
    pub(super) fn join(mut self, forks: &[ForkOf]) -> Result<()> {
        self.read(forks.iter().map(|fork| fork.agent_id.as_str()))?;
        let forks = self.note_parents(forks.iter().cloned())?;
        self.note_costs(&[], &forks.joined, |_| true)
    }

    /// The session of ours that has this id of the agent's, as far as was read.
    pub(super) fn owner(&self, agent_id: &str) -> Option<&str> {
        match self.owners.get(agent_id)? {
            Owner::Session(id) => Some(id),
            Owner::UnderOtherName { .. } | Owner::Deleted | Owner::Nobody => None,
        }
    }

    /// Reads whose these ids of the agent's are, and these sessions or, for new ones, what has the id that they ask for.
    fn read<'i>(&mut self, agent_ids: impl Iterator<Item = &'i str> + Clone) -> Result<()> {
        let keys: Vec<String> = agent_ids.clone().flat_map(|agent_id| self.owner_keys(agent_id)).collect();
        let mut values = self.draft.storage().get(&keys)?.into_iter();
        for agent_id in agent_ids {
            let (mapped, tombstone) = (values.next().flatten(), values.next().flatten());
            let owner = match (mapped, tombstone) {
                // One that has the id by now was given it after another was deleted that had it.
                (Some(id), _) => Owner::Session(id),
                (None, Some(_)) => Owner::Deleted,
                (None, None) => Owner::Nobody,
            };
            self.owners.insert(agent_id.to_owned(), owner);
        }
        let ids: BTreeSet<&str> = self
            .owners
            .iter()
            .filter_map(|(agent_id, owner)| match owner {
                Owner::Session(id) => Some(id.as_str()),
                Owner::Nobody => Some(agent_id.as_str()),
                Owner::UnderOtherName { .. } | Owner::Deleted => None,
            })
            .collect();
        self.draft.read(&ids.into_iter().collect::<Vec<_>>())
    }

    /// Where it stands whose an id of the agent's is.
    pub(super) fn owner_keys(&self, agent_id: &str) -> [String; 2] {
        [keys::agent_session(self.agent, agent_id), keys::agent_tombstone(self.agent, agent_id)]
    }

    fn refresh(&mut self, id: &str, row: &Row, is_open: bool, size: &mut usize) -> Found {
        let Some(session) = self.draft.session(id) else { return Found::Known };
        let (found, fresh) = refresh(session, self.agent, row, is_open, self.now);
        if let Some(fresh) = fresh {
            *size += weight(&fresh);
            self.draft.put(fresh);
        }
        found
    }

    /// A session that the layer did not know.
    fn begin(&mut self, row: &Row, cwd: &str, size: &mut usize) -> Found {
        let session = self.new_session(row, cwd);
        *size += weight(&session);
        // Another process may be deleting it that has no session of it either, or take it in.
        let unowned = self.owner_keys(&row.agent_id).map(|key| Expectation { key, value: None });
        self.draft.expected.extend(unowned);
        let id = create::add(self.draft, self.environment, session);
        self.owners.insert(row.agent_id.clone(), Owner::Session(id));
        Found::New
    }

    fn new_session(&self, row: &Row, cwd: &str) -> Session {
        // A time to come orders nothing: what is known else stands in for it.
        let [updated, prompted, turn_ended, created] =
            [row.updated, row.prompted, row.turn_ended, row.created].map(|at| at.filter(|at| *at <= self.now));
        let updated = updated.or(prompted.max(turn_ended)).or(created).unwrap_or(self.now);
        let mut session = Session::new(row.agent_id.clone(), cwd.to_owned(), updated);
        session.give_to(self.agent, &row.agent_id, 0);
        session.origin = Origin::Agent;
        session.undated = row.updated.is_none();
        if let Some(prompted) = prompted {
            session.prompt_elsewhere(prompted);
        }
        session.create_at(created);
        session.turn_ended = turn_ended;
        session.model.clone_from(&row.model);
        session.directories = row.directories.clone().unwrap_or_default();
        session.archived = row.archived.unwrap_or_default();
        session.title = row.title.clone().map_or(Title::None, Title::Agent);
        if let Some(known) = session.agents.get_mut(self.agent) {
            known.listed = row.updated;
            known.untimed = row.updated.is_none();
            known.archived = session.archived;
        }
        info::merge(&mut session, &format!("{{\"_meta\":{}}}", row.meta), self.now);
        session
    }
}

/// How many bytes of metadata it has, which is what can make it large.
fn weight(session: &Session) -> usize {
    session.meta.iter().map(|(name, value)| name.len() + value.get().len()).sum()
}
