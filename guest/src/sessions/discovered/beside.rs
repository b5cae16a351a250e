//! What rows say of a session beside its record's plain members: which session it was forked from, and what it has cost.

use std::collections::BTreeMap;

use super::intake::Intake;
use super::row::Row;
use crate::environment::Environment;
use crate::sessions::open_marks;
use crate::storage::{Expectation, Result, Storage, Write};
use crate::store::{Cost, Session, Usage, Used, keys};
use crate::transcript::speaker;

impl<S: Storage, E: Environment> Intake<'_, '_, S, E> {
    /// The session that a row is about, unless the agent has begun another in its place since.
    fn current(&self, row: &Row) -> Option<&Session> {
        let session = self.draft.session(self.owner(&row.agent_id)?)?;
        (session.id_at(self.agent) == Some(&row.agent_id)).then_some(session)
    }

    /// Notes from which sessions these were forked at their agent, where those are known.
    pub(super) fn note_parents(&mut self, rows: &[Row]) -> Result<()> {
        let forks = rows.iter().filter_map(|row| Some((row, row.forked_from.as_deref()?)));
        let mut wanted = Vec::new();
        for (row, parent) in forks {
            let Some(session) = self.current(row).filter(|session| session.forked_from.is_none()) else { continue };
            wanted.push((session.id.clone(), parent));
        }
        let elsewhere: Vec<&str> =
            wanted.iter().map(|(_, parent)| *parent).filter(|parent| self.owner(parent).is_none()).collect();
        let keys: Vec<String> = elsewhere.iter().map(|parent| keys::agent_session(self.agent, parent)).collect();
        let values = if keys.is_empty() { Vec::new() } else { self.draft.storage().get(&keys)? };
        let elsewhere: BTreeMap<&str, String> =
            elsewhere.into_iter().zip(values).filter_map(|(parent, id)| Some((parent, id?))).collect();
        for (id, parent) in wanted {
            let parent = self.owner(parent).or_else(|| elsewhere.get(parent).map(String::as_str));
            let (Some(parent), Some(session)) = (parent, self.draft.session(&id)) else { continue };
            if parent != id {
                let mut session = session.clone();
                session.forked_from = Some(parent.to_owned());
                self.draft.put(session);
            }
        }
        Ok(())
    }

    /// Counts what these sessions have cost as far as it was not heard of: it was used when nobody was there. A smaller sum
    /// than is known is that of an older list. What is open in some window is left to that one.
    pub(super) fn note_costs(&mut self, rows: &[Row], is_open: impl Fn(&str) -> bool) -> Result<()> {
        let told: Vec<(String, String, Cost)> = rows
            .iter()
            .filter_map(|row| Some((row, row.cost.as_ref()?)))
            .filter(|(row, _)| !is_open(&row.agent_id))
            .filter_map(|(row, cost)| Some((self.current(row)?.id.clone(), row.agent_id.clone(), cost.clone())))
            .collect();
        if told.is_empty() {
            return Ok(());
        }
        let keys: Vec<String> = told.iter().map(|(id, ..)| keys::usage(id)).collect();
        let values = self.draft.storage().get(&keys)?;
        let mut usages: BTreeMap<String, Option<String>> = keys.into_iter().zip(values).collect();
        for (id, agent_id, cost) in told {
            // An agent may list one twice.
            let key = keys::usage(&id);
            let Some(value) = usages.remove(&key) else { continue };
            // One that cannot be read is left for a checkup.
            let Ok(mut usage) = value.as_deref().map_or(Ok(Usage::default()), Usage::parse) else { continue };
            let of = speaker(self.agent, &agent_id);
            let known = usage.told(&of).cloned().unwrap_or_default();
            let before = known.of(&cost.currency).unwrap_or_default();
            let Some(more) = cost.amount.since(before).filter(|more| !more.is_zero()) else { continue };
            if open_marks::is_open_elsewhere(self.draft.store(), &id, "", self.now)? {
                continue;
            }
            let Some(mut session) = self.draft.session(&id).cloned() else { continue };
            let mut used = Used::default();
            used.cost.add(&Cost { amount: more, currency: cost.currency.clone() });
            usage.add(None, self.agent, &used);
            let mut now = known;
            now.set_last(&cost);
            usage.note_told(&of, now);
            session.cost = usage.cost();
            self.draft.expected.push(Expectation { key: key.clone(), value });
            self.draft.writes.push(Write::Put { key, value: usage.to_text() });
            self.draft.put(session);
        }
        Ok(())
    }
}
