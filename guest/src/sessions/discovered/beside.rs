//! What rows say of a session beside its record's plain members: which session it was forked from, and what it has cost.

use std::collections::BTreeMap;

use super::counted::Counted;
use super::fork_of::ForkOf;
use super::intake::Intake;
use super::row::Row;
use crate::environment::Environment;
use crate::sessions::open_marks;
use crate::storage::{Result, Storage};
use crate::store::{Cost, Session, keys};
use crate::transcript::speaker;

/// A fork that was not known to be one, and its parent, by their ids here.
pub(super) struct Joined {
    fork: String,
    parent: String,
    of: ForkOf,
}

/// What became of forks.
#[derive(Default)]
pub(super) struct Forks {
    /// Those whose parent was noted.
    pub(super) joined: Vec<Joined>,
    /// Those whose parent is not known.
    pub(super) waiting: Vec<ForkOf>,
}

impl<S: Storage, E: Environment> Intake<'_, '_, S, E> {
    /// The session that the agent has by this id, unless the agent has begun another in its place since.
    fn current(&self, agent_id: &str) -> Option<&Session> {
        let session = self.draft.session(self.owner(agent_id)?)?;
        (session.id_at(self.agent) == Some(agent_id)).then_some(session)
    }

    /// Notes from which sessions these were forked at their agent, where those are known.
    pub(super) fn note_parents(&mut self, forks: impl Iterator<Item = ForkOf>) -> Result<Forks> {
        let wanted: Vec<ForkOf> = forks
            .filter(|fork| self.current(&fork.agent_id).is_some_and(|session| session.forked_from.is_none()))
            .collect();
        let elsewhere: Vec<&str> =
            wanted.iter().map(|fork| fork.parent.as_str()).filter(|parent| self.owner(parent).is_none()).collect();
        let keys: Vec<String> = elsewhere.iter().map(|parent| keys::agent_session(self.agent, parent)).collect();
        let values = if keys.is_empty() { Vec::new() } else { self.draft.storage().get(&keys)? };
        let elsewhere: BTreeMap<String, String> =
            elsewhere.into_iter().zip(values).filter_map(|(parent, id)| Some((parent.to_owned(), id?))).collect();
        let mut found = Forks::default();
        for of in wanted {
            let parent = self.owner(&of.parent).or_else(|| elsewhere.get(&of.parent).map(String::as_str));
            let Some(parent) = parent.map(str::to_owned) else {
                found.waiting.push(of);
                continue;
            };
            // An agent may list one twice.
            let session = self.current(&of.agent_id).filter(|session| session.forked_from.is_none());
            let Some(mut session) = session.filter(|session| session.id != parent).cloned() else { continue };
            session.forked_from = Some(parent.clone());
            found.joined.push(Joined { fork: session.id.clone(), parent, of });
            self.draft.put(session);
        }
        Ok(found)
    }

    /// Counts what these sessions have cost as far as it was not heard of: it was used when nobody was there. What is open in
    /// some window is left to that one. A fork begins at what its parent was said to have cost, as one that is made here.
    pub(super) fn note_costs(&mut self, rows: &[Row], joined: &[Joined], is_open: impl Fn(&str) -> bool) -> Result<()> {
        let listed: BTreeMap<&str, &Cost> =
            rows.iter().filter_map(|row| Some((row.agent_id.as_str(), row.cost.as_ref()?))).collect();
        let told: Vec<(String, &str, &Cost)> = listed
            .iter()
            .filter(|(agent_id, _)| !is_open(agent_id))
            .filter_map(|(agent_id, cost)| Some((self.current(agent_id)?.id.clone(), *agent_id, *cost)))
            .collect();
        let sessions = told.iter().map(|(id, ..)| id.as_str());
        let relatives = joined.iter().flat_map(|joined| [joined.fork.as_str(), joined.parent.as_str()]);
        let renamed = self.renamed.iter().map(|renamed| renamed.id.as_str());
        let mut counted = Counted::read(self.draft.storage(), sessions.chain(relatives).chain(renamed))?;
        for renamed in &self.renamed {
            counted.go_on(renamed);
        }
        for Joined { fork, parent, of } in joined {
            let [speaks, parent_speaks] = [&of.agent_id, &of.parent].map(|agent_id| speaker(self.agent, agent_id));
            let in_list = |agent_id: &str| listed.get(agent_id).copied();
            let parents = counted.parents(parent, &parent_speaks, in_list(&of.parent));
            counted.begin(fork, self.agent, (&speaks, in_list(&of.agent_id)), &parents);
        }
        for (id, agent_id, cost) in told {
            let (store, now) = (self.draft.store(), self.now);
            let may_count = || Ok(!open_marks::is_open_elsewhere(store, &id, "", now)?);
            counted.add(&id, self.agent, (&speaker(self.agent, agent_id), cost), may_count)?;
        }
        counted.write(self.draft);
        Ok(())
    }
}
