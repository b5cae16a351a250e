//! What sessions have cost by their agent's list, on its way into one commit.

use std::collections::BTreeMap;

use super::parents::Parents;
use super::renamed::Renamed;
use crate::storage::{Expectation, Result, Storage, Write};
use crate::store::{Cost, Draft, Usage, Used, keys};

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

    /// What one of the agents' sessions, from which another was forked, is said and known to have cost.
    pub(super) fn parents(&self, id: &str, of: &str, listed: Option<&Cost>) -> Parents {
        let usage = self.0.get(id).map(|count| &count.usage);
        let told = usage.and_then(|usage| usage.told(of)).cloned().unwrap_or_default();
        Parents { told, known: usage.map(|usage| usage.known(of)).unwrap_or_default(), listed: listed.cloned() }
    }

    /// What one of the agent's sessions was said to have cost under another name counts under this one.
    pub(super) fn go_on(&mut self, renamed: &Renamed) {
        if let Some(count) = self.0.get_mut(&renamed.id) {
            count.is_changed |= count.usage.note_same(&renamed.was, &renamed.is);
        }
    }

    /// The session was forked from one that has cost this: its count begins at that, or at as much of it as this one is listed
    /// to have cost, or at nothing if that is less than all that is known of its parent. Where it has begun at nothing before,
    /// as its parent was not known, what was its parent's is taken back.
    pub(super) fn begin(&mut self, id: &str, agent: &str, (of, listed): (&str, Option<&Cost>), parents: &Parents) {
        let Some(count) = self.0.get_mut(id) else { return };
        if count.usage.told(of).is_none() {
            let begins_at = parents.begin(listed);
            if !begins_at.is_empty() {
                count.usage.note_told(of, begins_at.clone(), &begins_at);
                count.is_changed = true;
            }
            return;
        }
        for cost in count.usage.known(of).iter().filter_map(|known| parents.within(known)) {
            count.usage.take_back(agent, &cost);
            count.is_changed = true;
        }
    }

    /// The session is said to have cost this. What is more than is known counts. A smaller sum than was told last is that of
    /// an older list, also of a fork of which nothing was counted yet: its parent may have cost that much a while before.
    /// `may_count` says of what is new whether it may be taken in.
    pub(super) fn add(
        &mut self,
        id: &str,
        agent: &str,
        (of, cost): (&str, &Cost),
        may_count: impl FnOnce() -> Result<bool>,
    ) -> Result<()> {
        let Some(count) = self.0.get_mut(id) else { return Ok(()) };
        let mut told = count.usage.told(of).cloned().unwrap_or_default();
        let mut known = count.usage.known(of);
        let before = told.of(&cost.currency).unwrap_or_default();
        if cost.amount <= before || !may_count()? {
            return Ok(());
        }
        if let Some(more) = known.lack(cost) {
            let mut used = Used::default();
            used.cost.add(&more);
            count.usage.add(None, agent, &used);
            known.set(cost);
        }
        told.set_last(cost);
        count.usage.note_told(of, told, &known);
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
