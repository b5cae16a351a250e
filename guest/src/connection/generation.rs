//! Which of the agents that were started one after the other asked the client something.
//!
//! Each of them counts its requests anew, and a client may answer what an earlier one has asked long after that one has
//! ended. So the ids of all but the first agent's requests are marked: an answer then tells by itself whom it is for.

use serde::{Deserialize, Serialize};

use crate::rpc::Id;

/// How often the agent was started again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Generation(pub(super) u32);

/// Whom an answer of the client's is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Whose {
    /// The agent that runs, by its own id for the request.
    Present(Id),
    /// One that has ended.
    Past,
}

/// What the ids begin with.
const MARK: &str = "acp-sessions-again:";

impl Generation {
    pub(super) fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    /// The id by which the client knows a request of the agent that runs.
    pub(super) fn mark(self, id: &Id) -> Id {
        if self.0 == 0 { id.clone() } else { Id::text(&format!("{MARK}{}:{}", self.0, id.as_json())) }
    }

    /// Whom an answer to a request is for that the client knows by this id.
    pub(super) fn read(self, id: &Id) -> Whose {
        if self.0 == 0 {
            return Whose::Present(id.clone());
        }
        let text = id.as_text().unwrap_or_default();
        let own = text.strip_prefix(MARK).and_then(|rest| rest.strip_prefix(&self.0.to_string())?.strip_prefix(':'));
        own.and_then(Id::parse).map_or(Whose::Past, Whose::Present)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_tells_whom_it_is_for() {
        let (first, second, third) = (Generation(0), Generation(1), Generation(2));
        for id in ["5", "\"five\"", "null", "\"acp-sessions-again:1:5\""] {
            let id = Id::parse(id).unwrap();
            assert_eq!(first.mark(&id), id);
            for own in [first, second, third] {
                assert_eq!(own.read(&own.mark(&id)), Whose::Present(id.clone()), "{own:?}");
            }
            assert_ne!(second.mark(&id), third.mark(&id));
            assert_eq!(third.read(&second.mark(&id)), Whose::Past);
            assert_eq!(third.read(&id), Whose::Past);
        }
        assert_eq!(second.read(&Id::text("acp-sessions-again:12:5")), Whose::Past);
    }
}
