//! What sessions have cost by their agent's list, on its way into one commit.

use std::collections::BTreeMap;

use crate::storage::{Expectation, Result, Storage, Write};
use crate::store::{Cost, Costs, Draft, Usage, Used, keys};

/// What sessions have used, by id. What cannot be read is not there: it is left for a checkup.
pub(super) struct Counted(BTreeMap<String, Count>);

struct Count {
    value: Option<String>,
    usage: Usage,
    is_changed: bool,
}

impl Counted {
    /// Reads what these sessions have used.
    pub(super) fn read<'i>(storage: &impl Storage, ids: impl Iterator<Item = &'i str>) -> Result<Self> {
        let mut ids: Vec<&str> = ids.collect();
        ids.sort_unstable();
        ids.dedup();
        let keys: Vec<String> = ids.iter().map(|id| keys::usage(id)).collect();
        let values = if keys.is_empty() { Vec::new() } else { storage.get(&keys)? };
        let counts = ids.into_iter().zip(values).filter_map(|(id, value)| {
            let usage = value.as_deref().map_or(Ok(Usage::default()), Usage::parse).ok()?;
            Some((id.to_owned(), Count { value, usage, is_changed: false }))
        });
        Ok(Self(counts.collect()))
    }

    /// What one of the agents' sessions was last said to have cost.
    pub(super) fn told(&self, id: &str, of: &str) -> Option<&Costs> {
        self.0.get(id)?.usage.told(of)
    }

    /// The session was forked from one that has cost this: its count begins at that. Where it has begun at nothing before, as
    /// its parent was not known, what was its parent's is taken back. A smaller sum than its parent's is its own.
    pub(super) fn begin(&mut self, id: &str, agent: &str, of: &str, parents: &Costs) {
        let Some(count) = self.0.get_mut(id).filter(|_| !parents.is_empty()) else { return };
        let Some(told) = count.usage.told(of) else {
            count.usage.note_told(of, parents.clone());
            count.is_changed = true;
            return;
        };
        let is_within = |cost: &&Cost| told.of(&cost.currency).is_some_and(|told| told >= cost.amount);
        let inherited: Vec<Cost> = parents.iter().filter(is_within).cloned().collect();
        for cost in inherited {
            count.usage.take_back(agent, &cost);
            count.is_changed = true;
        }
    }

    /// The session is said to have cost this, if that is more than is known: a smaller sum is that of an older list. But
    /// where nothing was counted yet, what is known is the parent's of a fork that has begun a count of its own. `may_count`
    /// says of what there is more whether that may be counted.
    pub(super) fn add(
        &mut self,
        id: &str,
        agent: &str,
        (of, cost): (&str, &Cost),
        may_count: impl FnOnce() -> Result<bool>,
    ) -> Result<()> {
        let Some(count) = self.0.get_mut(id) else { return Ok(()) };
        let mut told = count.usage.told(of).cloned().unwrap_or_default();
        let before = told.of(&cost.currency).unwrap_or_default();
        let is_first = count.usage.cost().is_none();
        let more = cost.amount.since(before).or_else(|| is_first.then_some(cost.amount));
        let Some(more) = more.filter(|more| !more.is_zero()) else { return Ok(()) };
        if !may_count()? {
            return Ok(());
        }
        let mut used = Used::default();
        used.cost.add(&Cost { amount: more, currency: cost.currency.clone() });
        count.usage.add(None, agent, &used);
        told.set_last(cost);
        count.usage.note_told(of, told);
        count.is_changed = true;
        Ok(())
    }

    /// Has what has changed written with the sessions.
    pub(super) fn write<S: Storage>(self, draft: &mut Draft<'_, S>) {
        for (id, Count { value, usage, .. }) in self.0.into_iter().filter(|(_, count)| count.is_changed) {
            let Some(mut session) = draft.session(&id).cloned() else { continue };
            session.cost = usage.cost();
            let key = keys::usage(&id);
            draft.expected.push(Expectation { key: key.clone(), value });
            draft.writes.push(Write::Put { key, value: usage.to_text() });
            draft.put(session);
        }
    }
}
