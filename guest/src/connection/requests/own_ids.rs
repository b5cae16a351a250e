//! The ids of the engine's own requests to the agent.

use serde::{Deserialize, Serialize};

use crate::rpc::Id;

/// A request of the engine's to the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::connection) struct OwnId(u64);

/// Hands out the ids of the engine's own requests. They bear a number that no other instance and no other layer before or
/// behind this one uses, so that nobody's late answers are mistaken for answers to them.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::connection) struct OwnIds {
    instance: u64,
    last: u64,
}

const PREFIX: &str = "acp-sessions:";

impl OwnIds {
    pub(in crate::connection) fn new(instance: u64) -> Self {
        Self { instance, last: 0 }
    }

    pub(in crate::connection) fn next(&mut self) -> OwnId {
        self.last += 1;
        OwnId(self.last)
    }

    /// The id as it goes over the wire.
    pub(in crate::connection) fn wire(&self, id: OwnId) -> Id {
        Id::text(&format!("{PREFIX}{:016x}:{}", self.instance, id.0))
    }

    /// Whose id this is.
    pub(in crate::connection) fn read(&self, id: &Id) -> Owner {
        let Some(rest) = id.as_text().and_then(|text| text.strip_prefix(PREFIX).map(str::to_owned)) else {
            return Owner::Client;
        };
        let Some((instance, number)) = rest.split_once(':') else { return Owner::Client };
        let is_instance = instance.len() == 16 && instance.bytes().all(|byte| byte.is_ascii_hexdigit());
        match number.parse() {
            Ok(number) if is_instance && instance == format!("{:016x}", self.instance) => Owner::Engine(OwnId(number)),
            Ok(_) if is_instance => Owner::OtherEngine,
            _ => Owner::Client,
        }
    }
}

/// Who asked what an answer is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::connection) enum Owner {
    /// A client.
    Client,
    /// This engine.
    Engine(OwnId),
    /// An instance that was lost, or another layer whose requests pass through this one.
    OtherEngine,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_clients_and_of_other_layers_are_not_taken_for_own_ones() {
        let mut ids = OwnIds::new(7);
        let own = ids.next();
        let text = |text: &str| Id::text(text);
        for (id, owner) in [
            (ids.wire(own), Owner::Engine(own)),
            (OwnIds::new(8).wire(own), Owner::OtherEngine),
            (text("acp-sessions:1"), Owner::Client),
            (text("acp-sessions:x:1"), Owner::Client),
            (Id::parse("1").unwrap(), Owner::Client),
            (Id::null(), Owner::Client),
        ] {
            assert_eq!(ids.read(&id), owner, "{id:?}");
        }
    }
}
