//! Reading a line.

use std::borrow::Cow;

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::{Code, Id, Object, RpcError, head};

/// One message; all text is borrowed from its line.
#[derive(Debug)]
pub enum Message<'a> {
    /// Wants an answer.
    Request {
        /// To be repeated in the answer.
        id: Id,
        /// What is asked.
        method: Cow<'a, str>,
        /// As sent; `None` where absent or null.
        params: Option<&'a str>,
    },
    /// Wants none.
    Notification {
        /// What is told.
        method: Cow<'a, str>,
        /// As sent; `None` where absent or null.
        params: Option<&'a str>,
    },
    /// Answers a request of ours.
    Response {
        /// The request's.
        id: Id,
        /// What came of it.
        outcome: Outcome<'a>,
    },
}

/// What came of a request; the JSON as sent.
#[derive(Debug, Clone, Copy)]
pub enum Outcome<'a> {
    /// The result.
    Result(&'a str),
    /// The error object.
    Error(&'a str),
}

/// A line that is no message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Malformed {
    /// Not JSON.
    NotJson,
    /// JSON, but no JSON-RPC 2.0 message.
    NotAMessage,
    /// A batch, which ACP does not use.
    Batch,
}

impl Malformed {
    /// How a request that cannot be read is answered.
    pub fn to_error(self) -> RpcError {
        match self {
            Self::NotJson => RpcError::new(Code::ParseError, "Parse error: the line is not JSON"),
            Self::NotAMessage => {
                RpcError::new(Code::InvalidRequest, "Invalid request: the line is not a JSON-RPC 2.0 message")
            }
            Self::Batch => RpcError::new(
                Code::InvalidRequest,
                "Invalid request: batches are not supported; send one message a line",
            ),
        }
    }
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    jsonrpc: Cow<'a, str>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    error: Option<&'a RawValue>,
}

/// A null that is there is not the same as nothing.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

impl<'a> Message<'a> {
    /// Reads a line.
    pub fn parse(line: &'a str) -> Result<Self, Malformed> {
        let envelope: Envelope<'a> = serde_json::from_str(line).map_err(|_| diagnose(line))?;
        if envelope.jsonrpc != "2.0" {
            return Err(Malformed::NotAMessage);
        }
        let id = envelope.id.map(|raw| Id::from_raw(raw).ok_or(Malformed::NotAMessage)).transpose()?;
        let params = envelope.params.map(RawValue::get);
        match (envelope.method, id, envelope.result, envelope.error) {
            (Some(method), Some(id), None, None) => Ok(Self::Request { id, method, params }),
            (Some(method), None, None, None) => Ok(Self::Notification { method, params }),
            (None, Some(id), Some(result), None) => Ok(Self::Response { id, outcome: Outcome::Result(result.get()) }),
            (None, Some(id), None, Some(error)) => Ok(Self::Response { id, outcome: Outcome::Error(error.get()) }),
            _ => Err(Malformed::NotAMessage),
        }
    }

    /// The id of what would be a request, were it one: an object that answers nothing and has an id that can be repeated.
    pub fn id_of_malformed(line: &str) -> Option<Id> {
        if diagnose(line) != Malformed::NotAMessage {
            return None;
        }
        let object = Object::parse(line)?;
        let is_answer = object.get("result").is_some() || object.get("error").is_some();
        object.get_some("id").filter(|_| !is_answer).and_then(Id::parse)
    }

    /// The id of a message of which only the beginning is known, if it stands there: the member of the line's own
    /// object, not one further in.
    pub fn id_in_head(head: &str) -> Option<Id> {
        Id::parse(head::member(head, "id")?)
    }
}

fn diagnose(line: &str) -> Malformed {
    match serde_json::from_str::<IgnoredAny>(line) {
        Err(_) => Malformed::NotJson,
        Ok(_) if line.trim_start().starts_with('[') => Malformed::Batch,
        Ok(_) => Malformed::NotAMessage,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_are_no_messages_are_told_apart() {
        for (line, expected) in [
            ("{", Malformed::NotJson),
            ("hello", Malformed::NotJson),
            ("{\"jsonrpc\":\"2.0\",\"method\":\"x\"} trailing", Malformed::NotJson),
            ("[]", Malformed::Batch),
            (" [{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\"}]", Malformed::Batch),
            ("null", Malformed::NotAMessage),
            ("42", Malformed::NotAMessage),
            ("{}", Malformed::NotAMessage),
            ("{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"x\"}", Malformed::NotAMessage),
            ("{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"x\"}", Malformed::NotAMessage),
            ("{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"x\"}", Malformed::NotAMessage),
            ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":5}", Malformed::NotAMessage),
            ("{\"jsonrpc\":\"2.0\",\"id\":1}", Malformed::NotAMessage),
        ] {
            assert_eq!(Message::parse(line).err(), Some(expected), "{line}");
        }
    }

    #[test]
    fn an_object_that_is_no_message_may_have_an_id() {
        for (line, expected) in [
            ("{\"jsonrpc\":\"2.0\",\"id\":1}", Some("1")),
            ("{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":5}", Some("\"a\"")),
            ("{\"id\":1,\"method\":\"x\"}", Some("1")),
            ("{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"x\"}", None),
            ("{\"jsonrpc\":\"2.0\",\"id\":null}", None),
            ("{\"jsonrpc\":\"2.0\",\"params\":{\"id\":1}}", None),
            // What it answers is a request of the other side, which has ids of its own.
            ("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{},\"error\":{}}", None),
            ("[{\"jsonrpc\":\"2.0\",\"id\":1}]", None),
            ("{\"id\":1", None),
        ] {
            assert_eq!(Message::id_of_malformed(line).as_ref().map(Id::as_json), expected, "{line}");
        }
    }

    #[test]
    fn a_null_id_is_an_id() {
        let message = Message::parse("{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"x\"}").unwrap();
        assert!(matches!(message, Message::Request { id, .. } if id == Id::null()));
    }

    #[test]
    fn an_id_is_found_in_the_head_of_a_long_line() {
        for (head, expected) in [
            ("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"session/prompt\",\"params\":{\"prompt\":[{", Some("7")),
            ("{\"jsonrpc\":\"2.0\",\"id\": \"a\" ,\"result\":{", Some("\"a\"")),
            ("{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":{", None),
        ] {
            assert_eq!(Message::id_in_head(head).as_ref().map(Id::as_json), expected);
        }
    }
}
