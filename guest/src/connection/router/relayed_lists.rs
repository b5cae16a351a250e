//! Lists that the client follows by a layer behind this one over the same store (draft: session list extensions).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::subscriptions::MOST_SUBSCRIPTIONS;

/// The longest params, in bytes, that are remembered: few of them count, and those are short.
const LONGEST: usize = 256 * 1024;

/// The client's subscriptions, by the ids that it knows.
#[derive(Debug, Default)]
pub(super) struct RelayedLists(BTreeMap<String, RelayedList>);

/// A subscription.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct RelayedList {
    /// With what it is asked for again; none where that is too long to be remembered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    params: Option<String>,
    phase: Phase,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
enum Phase {
    /// The layer behind tells what changes, and calls it so.
    Followed(String),
    /// The layer behind was started again.
    Lost,
    /// That one is asked for it.
    Asked,
    /// It has refused.
    Refused,
}

/// What becomes of the client's wish that a subscription end.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// The layer behind ends it, which calls it so.
    ByLayer(String),
    /// There is nothing to end there, or there is nothing yet.
    Ended,
    /// It is none that is known.
    Unknown,
}

impl RelayedLists {
    /// Whether there are as many as a client may have.
    pub(super) fn is_full(&self) -> bool {
        self.0.len() >= MOST_SUBSCRIPTIONS
    }

    /// The client has subscribed with these params, and was given this id.
    pub(super) fn begin(&mut self, id: String, params: String) {
        let phase = Phase::Followed(id.clone());
        self.0.insert(id, RelayedList { params: Some(params).filter(|params| params.len() <= LONGEST), phase });
    }

    /// One that a lost instance knew of.
    pub(super) fn take_up(&mut self, id: String, list: RelayedList) {
        // Whoever was to have the answer is gone.
        let phase = if matches!(list.phase, Phase::Asked) { Phase::Lost } else { list.phase };
        self.0.insert(id, RelayedList { phase, ..list });
    }

    /// What the host is to keep of one; none of one that is over.
    pub(super) fn kept(&self, id: &str) -> Option<&RelayedList> {
        self.0.get(id)
    }

    /// The layer behind has ended. Gives the ids of all.
    pub(super) fn lose(&mut self) -> Vec<String> {
        self.0.values_mut().for_each(|list| list.phase = Phase::Lost);
        self.0.keys().cloned().collect()
    }

    /// The layer behind can be asked. Gives what it is to be asked for, by their ids, each with its params if it has any.
    pub(super) fn ask(&mut self) -> Vec<(String, Option<String>)> {
        let lost = self.0.iter_mut().filter(|(_, list)| matches!(list.phase, Phase::Lost));
        let asked = lost.map(|(id, list)| {
            list.phase = if list.params.is_some() { Phase::Asked } else { Phase::Refused };
            (id.clone(), list.params.clone())
        });
        asked.collect()
    }

    /// The layer behind has answered for this one, which it calls so if it tells what changes. Returns whether anybody follows it.
    pub(super) fn answered(&mut self, id: &str, theirs: Option<String>) -> bool {
        let list = self.0.get_mut(id);
        let is_followed = list.is_some();
        if let Some(list) = list {
            list.phase = theirs.map_or(Phase::Refused, Phase::Followed);
        }
        is_followed
    }

    /// The client wants it to end.
    pub(super) fn ending(&self, id: &str) -> Ending {
        match self.0.get(id).map(|list| &list.phase) {
            Some(Phase::Followed(theirs)) => Ending::ByLayer(theirs.clone()),
            Some(Phase::Lost | Phase::Asked | Phase::Refused) => Ending::Ended,
            None => Ending::Unknown,
        }
    }

    /// It is over.
    pub(super) fn remove(&mut self, id: &str) -> bool {
        self.0.remove(id).is_some()
    }

    /// The client's id for what the layer behind calls so.
    pub(super) fn client_id(&self, theirs: &str) -> Option<&str> {
        let is_it = |list: &RelayedList| matches!(&list.phase, Phase::Followed(id) if id == theirs);
        self.0.iter().find(|(_, list)| is_it(list)).map(|(id, _)| id.as_str())
    }
}
