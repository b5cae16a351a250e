//! Requests that no instance could answer: the host says so itself, in the least words.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use crate::component::connection::{Arrival, Content, Output, Peer};

/// The answer to one request.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    to: Peer,
    line: String,
}

#[derive(Deserialize)]
struct Request<'a> {
    #[serde(borrow)]
    id: &'a RawValue,
    #[serde(rename = "method")]
    _method: IgnoredAny,
}

/// The answers to the requests among these lines, as far as they can be read.
pub(super) fn refusals(lines: &[Arrival]) -> Vec<Refusal> {
    lines.iter().filter_map(refusal).collect()
}

fn refusal(arrival: &Arrival) -> Option<Refusal> {
    let Content::Line(line) = &arrival.content else { return None };
    let request: Request = serde_json::from_str(line).ok()?;
    let id = request.id.get();
    let line = format!(
        r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32603,"message":"The session engine failed at this request"}}}}"#
    );
    Some(Refusal { to: arrival.peer, line })
}

impl Refusal {
    pub(super) fn into_output(self) -> Output {
        match self.to {
            Peer::Client => Output::ToClient(self.line),
            Peer::Agent => Output::ToAgent(self.line),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(peer: Peer, line: &str) -> Arrival {
        Arrival { peer, content: Content::Line(line.to_owned()) }
    }

    #[test]
    fn requests_are_answered_to_whoever_asked_and_nothing_else_is() {
        let lines = [
            line(Peer::Client, r#"{"jsonrpc":"2.0","id":"a \" b","method":"x/ask","params":{}}"#),
            line(Peer::Agent, r#"{"method":"x/ask","id":7}"#),
            line(Peer::Client, r#"{"jsonrpc":"2.0","method":"x/tell"}"#),
            line(Peer::Agent, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#),
            line(Peer::Client, r#"{"id":"#),
            Arrival { peer: Peer::Client, content: Content::NotBearable(r#"{"id":1,"method":"x"}"#.to_owned()) },
        ];
        let outputs: Vec<_> = refusals(&lines).into_iter().map(Refusal::into_output).collect();
        let [Output::ToClient(client), Output::ToAgent(agent)] = &outputs[..] else { panic!("{outputs:?}") };
        for (answer, id) in [(client, serde_json::json!("a \" b")), (agent, serde_json::json!(7))] {
            let answer: serde_json::Value = serde_json::from_str(answer).expect("JSON");
            assert_eq!((&answer["id"], answer["error"]["code"].as_i64()), (&id, Some(-32603)));
        }
    }
}
