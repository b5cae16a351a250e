//! Being a proxy in a chain that a conductor keeps (unstable: `proxy/initialize`, `proxy/successor`).
//!
//! There the agent has no pipe of its own: what goes to it goes to the conductor in an envelope, and comes from there in
//! one. The engine behind this file knows nothing of that. Two kinds of requests then go the same way, those to the client
//! under the ids that the conductor gave them, and those to the agent; so the ids of the latter are marked.

use std::borrow::Cow;

use serde_json::json;

use crate::exchange::{Arrival, Content, Output, Peer};
use crate::rpc::{self, Bad, Id, Message, Object, What};

/// How a conductor tells a component that it is a proxy.
pub(super) const INITIALIZE: &str = "proxy/initialize";
/// The envelope, in both directions.
const SUCCESSOR: &str = "proxy/successor";
const CANCEL: &str = "$/cancel_request";
/// What ids of requests to the agent begin with.
const MARK: &str = "acp-sessions-successor:";

/// Whether a line is the first of a chain.
pub(super) fn begins(arrival: &Arrival) -> bool {
    let Content::Line(line) = &arrival.content else { return false };
    arrival.peer == Peer::Client
        && matches!(Message::parse(line), Ok(Message::Request { method, .. }) if method == INITIALIZE)
}

/// What arrived, as if the agent had a pipe of its own. `is_clients`: whether a request of this id is the client's.
pub(super) fn enter(arrival: Arrival, is_clients: impl Fn(&Id) -> bool) -> Arrival {
    if arrival.peer == Peer::Agent {
        return arrival;
    }
    let Content::Line(line) = &arrival.content else { return arrival };
    match entered(line, is_clients) {
        Some((peer, line)) => Arrival { peer, content: Content::Line(line) },
        None => arrival,
    }
}

/// What came by way of the conductor and cannot be taken, and whose it is.
pub(super) fn enter_bad(bad: Bad) -> (Peer, Bad) {
    let Bad { what, why } = bad;
    match what {
        What::Answer(id) | What::Either(id) if unmarked(&id).is_some() => {
            (Peer::Agent, Bad { what: unmarked(&id).map_or(What::Nameless, What::Answer), why })
        }
        what => (Peer::Client, Bad { what, why }),
    }
}

/// A line that is not the client's as it stands, and whose it is.
fn entered(line: &str, is_clients: impl Fn(&Id) -> bool) -> Option<(Peer, String)> {
    match Message::parse(line).ok()? {
        Message::Request { id, method, params } if method == INITIALIZE => {
            Some((Peer::Client, rpc::request(&id, "initialize", params.unwrap_or("{}"))))
        }
        Message::Request { id, method, params } if method == SUCCESSOR => {
            Some((Peer::Agent, unwrapped(Some(&id), params)?))
        }
        Message::Notification { method, params } if method == SUCCESSOR => {
            Some((Peer::Agent, unwrapped(None, params)?))
        }
        Message::Notification { method, params } if method == CANCEL => {
            let named = Id::parse(Object::parse(params?)?.get("requestId")?)?;
            (!is_clients(&named)).then(|| (Peer::Agent, line.to_owned()))
        }
        Message::Response { id, .. } => {
            let meant = unmarked(&id)?;
            let mut answer = Object::parse(line)?;
            answer.set("id", meant.as_json().to_owned());
            Some((Peer::Agent, answer.to_json()))
        }
        Message::Request { .. } | Message::Notification { .. } => None,
    }
}

/// The message in an envelope.
fn unwrapped(id: Option<&Id>, params: Option<&str>) -> Option<String> {
    let envelope = Object::parse(params?)?;
    let method: Cow<'_, str> = serde_json::from_str(envelope.get("method")?).ok()?;
    let mut message = Object::default();
    message.set("jsonrpc", "\"2.0\"");
    if let Some(id) = id {
        message.set("id", id.as_json());
    }
    message.set("method", json!(method).to_string());
    if let Some(params) = envelope.get_some("params") {
        message.set("params", params);
    }
    Some(message.to_json())
}

/// What is to be sent, by way of the conductor.
pub(super) fn leave(output: Output) -> Output {
    match output {
        Output::ToAgent(line) => Output::ToClient(left(&line).unwrap_or(line)),
        output => output,
    }
}

/// A line to the agent as the conductor is to have it; `None`: as it stands.
fn left(line: &str) -> Option<String> {
    match Message::parse(line).ok()? {
        Message::Request { id, method, params } => {
            Some(rpc::request(&marked(&id), SUCCESSOR, &wrapped(&method, params)))
        }
        // It names a request on this very connection, and no other hop's.
        Message::Notification { method, params } if method == CANCEL => {
            let mut params = Object::parse(params?)?;
            let named = Id::parse(params.get("requestId")?)?;
            params.set("requestId", marked(&named).as_json().to_owned());
            Some(rpc::notification(CANCEL, &params.to_json()))
        }
        Message::Notification { method, params } => Some(rpc::notification(SUCCESSOR, &wrapped(&method, params))),
        Message::Response { .. } => None,
    }
}

fn wrapped(method: &str, params: Option<&str>) -> String {
    let mut envelope = Object::default();
    envelope.set("method", json!(method).to_string());
    if let Some(params) = params {
        envelope.set("params", params);
    }
    envelope.to_json()
}

fn marked(id: &Id) -> Id {
    Id::text(&format!("{MARK}{}", id.as_json()))
}

fn unmarked(id: &Id) -> Option<Id> {
    Id::parse(id.as_text()?.strip_prefix(MARK)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rpc::Malformed;

    fn entering(line: &str) -> (Peer, String) {
        let arrival = Arrival { peer: Peer::Client, content: Content::Line(line.to_owned()) };
        let Arrival { peer, content: Content::Line(line) } = enter(arrival, |id| *id == Id::text("c")) else {
            panic!("no line")
        };
        (peer, line)
    }

    #[test]
    fn what_comes_in_an_envelope_is_the_agents() {
        for (line, peer, expected) in [
            (
                r#"{"jsonrpc":"2.0","id":"x","method":"proxy/successor","params":{"method":"fs/read_text_file","params":{"p":1.0},"_meta":{}}}"#,
                Peer::Agent,
                r#"{"jsonrpc":"2.0","id":"x","method":"fs/read_text_file","params":{"p":1.0}}"#,
            ),
            (
                r#"{"jsonrpc":"2.0","method":"proxy/successor","params":{"method":"_x/note","params":null}}"#,
                Peer::Agent,
                r#"{"jsonrpc":"2.0","method":"_x/note"}"#,
            ),
            (
                r#"{"jsonrpc":"2.0","id":"acp-sessions-successor:\"a\"","result":{"y":[1.50]}}"#,
                Peer::Agent,
                r#"{"jsonrpc":"2.0","id":"a","result":{"y":[1.50]}}"#,
            ),
            (
                r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"x"}}"#,
                Peer::Agent,
                r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"x"}}"#,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"proxy/initialize","params":{"protocolVersion":1}}"#,
                Peer::Client,
                r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}"#,
            ),
        ] {
            assert_eq!(entering(line), (peer, expected.to_owned()));
        }
    }

    #[test]
    fn what_comes_without_one_is_the_clients() {
        for line in [
            r#"{"jsonrpc":"2.0","id":1,"method":"session/list"}"#,
            r#"{"jsonrpc":"2.0","id":"x","result":{}}"#,
            r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"c"}}"#,
            // Whoever sent that learns that there is no such method.
            r#"{"jsonrpc":"2.0","id":1,"method":"proxy/successor","params":{"params":{}}}"#,
            "nonsense",
        ] {
            assert_eq!(entering(line), (Peer::Client, line.to_owned()));
        }
    }

    #[test]
    fn what_goes_to_the_agent_goes_in_an_envelope() {
        for (line, expected) in [
            (
                r#"{"jsonrpc":"2.0","id":7,"method":"session/new","params":{"cwd":"/x"}}"#,
                r#"{"jsonrpc":"2.0","id":"acp-sessions-successor:7","method":"proxy/successor","params":{"method":"session/new","params":{"cwd":"/x"}}}"#,
            ),
            (
                r#"{"jsonrpc":"2.0","method":"_x/note"}"#,
                r#"{"jsonrpc":"2.0","method":"proxy/successor","params":{"method":"_x/note"}}"#,
            ),
            (
                r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"a"}}"#,
                r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"acp-sessions-successor:\"a\""}}"#,
            ),
            (r#"{"jsonrpc":"2.0","id":"x","result":{}}"#, r#"{"jsonrpc":"2.0","id":"x","result":{}}"#),
        ] {
            assert_eq!(leave(Output::ToAgent(line.to_owned())), Output::ToClient(expected.to_owned()));
        }
        let own = Output::ToClient("{}".to_owned());
        assert_eq!(leave(own.clone()), own);
    }

    #[test]
    fn an_answer_that_cannot_be_taken_is_the_agents_if_it_was_asked() {
        let (what, why) = (What::Answer(Id::text("acp-sessions-successor:7")), Malformed::TooLong);
        let seven = What::Answer(Id::parse("7").unwrap());
        assert_eq!(enter_bad(Bad { what, why }), (Peer::Agent, Bad { what: seven, why }));
        for what in [|| What::Answer(Id::text("x")), || What::Request(Id::text("acp-sessions-successor:7"))] {
            assert_eq!(enter_bad(Bad { what: what(), why }), (Peer::Client, Bad { what: what(), why }));
        }
    }
}
