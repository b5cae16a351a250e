//! Sessions that the store has under another agent's name: that agent was renamed, or keeps its sessions where this one does.
//! By an id that no two agents give by chance they are known again.

use super::intake::Intake;
use super::owner::Owner;
use super::renamed::Renamed;
use super::row::Row;
use crate::environment::Environment;
use crate::storage::{Expectation, Result, Storage, Write};
use crate::store::{Session, directory, is_unmistakable, keys};
use crate::transcript::speaker;

impl<S: Storage, E: Environment> Intake<'_, '_, S, E> {
    /// Looks for those of these rows that nobody has under the agent's name under others: where one session has an id there,
    /// and in the row's directory, it is that one. What was deleted under another name stays so.
    pub(super) fn look_under_other_names(&mut self, rows: &[Row]) -> Result<()> {
        let is_unowned = |row: &&Row| matches!(self.owners.get(&row.agent_id), None | Some(Owner::Nobody));
        let rows: Vec<&Row> = rows.iter().filter(is_unowned).filter(|row| is_unmistakable(&row.agent_id)).collect();
        if rows.is_empty() {
            return Ok(());
        }
        let agents = self.draft.agents()?;
        let names: Vec<&str> = agents.others(self.agent).collect();
        let keys: Vec<String> = rows.iter().flat_map(|row| owner_keys_of_all(&names, &row.agent_id)).collect();
        let values = if keys.is_empty() { Vec::new() } else { self.draft.storage().get(&keys)? };
        let mut values = values.into_iter();
        let mut candidates = Vec::new();
        for row in rows {
            let (mut holders, mut is_deleted) = (Vec::new(), self.draft.is_deleted(&row.agent_id));
            for name in &names {
                let (mapped, tombstone) = (values.next().flatten(), values.next().flatten());
                holders.extend(mapped.map(|id| (*name, id)));
                is_deleted |= tombstone.is_some();
            }
            match holders.first().map(|(_, first)| first.clone()) {
                // Where it is several sessions' already, nobody can say whose it is.
                Some(first) if holders.iter().all(|(_, id)| *id == first) => {
                    candidates.push((row, first, holders.into_iter().map(|(name, _)| name).collect::<Vec<_>>()));
                }
                None if is_deleted => {
                    self.owners.insert(row.agent_id.clone(), Owner::Deleted);
                }
                Some(_) | None => {}
            }
        }
        self.draft.read(&candidates.iter().map(|(_, id, _)| id.as_str()).collect::<Vec<_>>())?;
        for (row, id, names) in candidates {
            let session = self.draft.session(&id).filter(|session| is_in_directory(session, row));
            let name = session.and_then(|session| name_of(session, &names, &row.agent_id));
            if let Some(name) = name {
                self.owners.insert(row.agent_id.clone(), Owner::UnderOtherName { id, name: name.to_owned() });
            }
        }
        Ok(())
    }

    /// The session that an agent called `name` knows by this id is this agent's, too, with all that is known of it there. Returns
    /// it as it is then; `None` where another of its ids is some other session's here.
    pub(super) fn share(&mut self, id: &str, name: &str, agent_id: &str) -> Result<Option<Session>> {
        let Some(mut session) = self.draft.session(id).cloned() else { return Ok(None) };
        if let Some(known) = session.agents.get_mut(self.agent) {
            // It has begun one of its own in this one's place.
            known.forget(agent_id.to_owned());
            self.give(&[agent_id], id);
        } else {
            session.know_by_another_name(self.agent, name);
            let Some(known) = session.agents.get_mut(self.agent) else { return Ok(None) };
            let others = self.unowned(known.ids().filter(|other| *other != agent_id))?;
            if known.id != agent_id && !others.contains(&known.id) {
                return Ok(None);
            }
            known.former.retain(|former| former == agent_id || others.contains(former));
            let ids: Vec<String> = known.ids().map(str::to_owned).collect();
            for known_as in &ids {
                let [was, is] = [name, self.agent].map(|agent| speaker(agent, known_as));
                self.renamed.push(Renamed { id: id.to_owned(), was, is });
            }
            self.give(&ids.iter().map(String::as_str).collect::<Vec<_>>(), id);
        }
        self.draft.put(session.clone());
        Ok(Some(session))
    }

    /// Those of these ids that no session has, or had and was deleted, under the agent's name, and none can have by chance.
    fn unowned<'i>(&self, agent_ids: impl Iterator<Item = &'i str>) -> Result<Vec<String>> {
        let agent_ids: Vec<&str> = agent_ids.filter(|agent_id| is_unmistakable(agent_id)).collect();
        if agent_ids.is_empty() {
            return Ok(Vec::new());
        }
        let keys: Vec<String> = agent_ids.iter().flat_map(|agent_id| self.owner_keys(agent_id)).collect();
        let values = self.draft.storage().get(&keys)?;
        let is_owned_here = |agent_id: &str| matches!(self.owners.get(agent_id), Some(Owner::Session(_)));
        let unowned = agent_ids
            .into_iter()
            .zip(values.chunks(2))
            .filter(|(agent_id, both)| both.iter().all(Option::is_none) && !is_owned_here(agent_id));
        Ok(unowned.map(|(agent_id, _)| agent_id.to_owned()).collect())
    }

    /// These ids of the agent's, which are nobody's, are this session's.
    fn give(&mut self, agent_ids: &[&str], id: &str) {
        for agent_id in agent_ids {
            let [mapping, tombstone] = self.owner_keys(agent_id);
            self.draft.expected.extend([&mapping, &tombstone].map(|key| Expectation { key: key.clone(), value: None }));
            self.draft.writes.push(Write::Put { key: mapping, value: id.to_owned() });
            self.owners.insert((*agent_id).to_owned(), Owner::Session(id.to_owned()));
        }
    }
}

/// Where it stands whose an id of each of these agents is.
fn owner_keys_of_all(names: &[&str], agent_id: &str) -> impl Iterator<Item = String> {
    names.iter().flat_map(move |name| [keys::agent_session(name, agent_id), keys::agent_tombstone(name, agent_id)])
}

fn is_in_directory(session: &Session, row: &Row) -> bool {
    row.cwd.as_deref().is_some_and(|cwd| !directory::is_other(cwd, &session.cwd))
}

/// Which of the agents of these names knows, or knew, a session by this id: the one that it is with, else one that knows it so now.
fn name_of<'n>(session: &Session, names: &[&'n str], agent_id: &str) -> Option<&'n str> {
    let has_known = |name: &str| session.agents.get(name).is_some_and(|known| known.ids().any(|id| id == agent_id));
    let names = || names.iter().filter(|name| has_known(name)).copied();
    let is_with = names().find(|name| session.agent.as_deref() == Some(*name));
    is_with.or_else(|| names().find(|name| session.id_at(name) == Some(agent_id))).or_else(|| names().next())
}
