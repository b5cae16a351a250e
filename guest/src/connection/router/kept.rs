//! What the host keeps for a lost instance, all of it, and under which keys.

use std::sync::Arc;

use crate::connection::client_request::ClientRequest;
use crate::connection::live::Memo;
use crate::exchange::Output;
use crate::rpc::Id;

/// Under which key an instance is given what another has handed over.
const HANDED_OVER: &str = "handed-over";

/// Something that the host keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kept<'a> {
    /// That the connection is a proxy in a chain.
    Chain,
    /// What the client has said of itself with `initialize`.
    Introduction,
    /// Which store the client has, which is a layer in front of this one.
    ClientsStore,
    /// What the agent has said of itself.
    Profile,
    /// Which of several agents that were started one after the other it is.
    Restart,
    /// That the agent wants its user to log in.
    Login,
    /// An open session, by its id.
    Session(&'a str),
    /// What an open session was opened with; apart, because it does not change and may be long.
    Given(&'a str),
    /// What a session was opened with that a layer behind over the same store has open, by its id.
    Relayed(&'a str),
    /// A list that the client follows there, by the id that the client has for the subscription.
    RelayedList(&'a str),
    /// A list that the client follows, by the subscription's id.
    Subscription(&'a str),
    /// A request of the client's that is open.
    Request(ClientRequest),
    /// What the agent was asked to open, by the id of the request to it.
    Step(Id),
    /// A request of the agent's that was answered for the client, which may still answer it.
    TakenBack(Id),
    /// What an instance has handed over, which the host keeps no longer than that takes.
    HandedOver,
    /// A request of the agent's that the client does not have yet, by the id that it will have there; what the agent is answered
    /// if it never has.
    Held(Id),
}

impl<'a> Kept<'a> {
    /// Tells the host to keep this of it; `None`: nothing any more.
    pub(super) fn with(&self, value: Option<String>) -> Output {
        Output::Keep { key: self.key(), value }
    }

    pub(super) fn key(&self) -> String {
        match self {
            Self::Chain => "chain".to_owned(),
            Self::Introduction => "client".to_owned(),
            Self::ClientsStore => "store".to_owned(),
            Self::Profile => "agent".to_owned(),
            Self::Restart => "again".to_owned(),
            Self::Login => "login".to_owned(),
            Self::HandedOver => HANDED_OVER.to_owned(),
            Self::Session(id) => format!("s/{id}"),
            Self::Given(id) => format!("g/{id}"),
            Self::Relayed(id) => format!("r/{id}"),
            Self::RelayedList(id) => format!("f/{id}"),
            Self::Subscription(id) => format!("l/{id}"),
            Self::Request(request) => format!("q/{}", request.id().as_json()),
            Self::Step(id) => format!("o/{}", id.as_json()),
            Self::TakenBack(id) => format!("a/{}", id.as_json()),
            Self::Held(id) => format!("h/{}", id.as_json()),
        }
    }

    /// What goes by this key; `None`: nothing that this version knows.
    pub(super) fn read(key: &'a str) -> Option<Self> {
        Some(match key {
            "chain" => Self::Chain,
            "client" => Self::Introduction,
            "store" => Self::ClientsStore,
            "agent" => Self::Profile,
            "again" => Self::Restart,
            "login" => Self::Login,
            HANDED_OVER => Self::HandedOver,
            _ => match key.split_once('/')? {
                ("s", id) => Self::Session(id),
                ("g", id) => Self::Given(id),
                ("r", id) => Self::Relayed(id),
                ("f", id) => Self::RelayedList(id),
                ("l", id) => Self::Subscription(id),
                ("q", id) => Self::Request(ClientRequest::new(Id::parse(id)?)),
                ("o", id) => Self::Step(Id::parse(id)?),
                ("a", id) => Self::TakenBack(Id::parse(id)?),
                ("h", id) => Self::Held(Id::parse(id)?),
                _ => return None,
            },
        })
    }
}

/// What the host was last given to keep of a session.
#[derive(Debug)]
pub(super) struct KeptSession {
    pub(super) memo: Memo,
    pub(super) given: Option<Arc<str>>,
}

impl KeptSession {
    pub(super) fn given(&self) -> Option<&Arc<str>> {
        self.given.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::Kept;
    use crate::connection::client_request::ClientRequest;
    use crate::rpc::Id;

    #[test]
    fn everything_is_kept_under_a_key_of_its_own() {
        let id = || Id::parse("\"a/b\"").unwrap();
        let all = [
            Kept::Chain,
            Kept::Introduction,
            Kept::ClientsStore,
            Kept::Profile,
            Kept::Restart,
            Kept::Login,
            Kept::HandedOver,
            Kept::Session("a/b"),
            Kept::Given("a/b"),
            Kept::Relayed("a/b"),
            Kept::RelayedList("a/b"),
            Kept::Subscription("a/b"),
            Kept::Request(ClientRequest::new(id())),
            Kept::Step(id()),
            Kept::TakenBack(id()),
            Kept::Held(id()),
        ];
        for kept in all {
            assert_eq!(Kept::read(&kept.key()), Some(kept));
        }
        for key in ["", "chains", "s", "x/1", "q/", "o/[1]"] {
            assert_eq!(Kept::read(key), None, "{key}");
        }
    }
}
