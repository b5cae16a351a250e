//! Reading a line.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::Id;

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

/// A line that is no message by the letter. [`Meant`](super::Meant) reads it as it was meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotAMessage;

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    jsonrpc: Cow<'a, str>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "text")]
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

/// A method that is null is none, and an answer should not have one.
fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Cow<'de, str>>, D::Error> {
    Text::deserialize(deserializer).map(|text| Some(text.0))
}

#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// What an error has to have, so that those who read strictly can read it.
#[derive(Deserialize)]
struct ErrorObject<'a> {
    #[serde(rename = "code")]
    _code: i64,
    #[serde(rename = "message", borrow)]
    _message: Cow<'a, str>,
}

impl<'a> Message<'a> {
    /// Reads a line that is a message by the letter.
    pub fn parse(line: &'a str) -> Result<Self, NotAMessage> {
        let envelope: Envelope<'a> = serde_json::from_str(line).map_err(|_| NotAMessage)?;
        if envelope.jsonrpc != "2.0" {
            return Err(NotAMessage);
        }
        let id = envelope.id.map(|raw| Id::from_raw(raw).ok_or(NotAMessage)).transpose()?;
        let params = envelope.params.map(RawValue::get);
        match (envelope.method, id, envelope.result, envelope.error) {
            (Some(method), Some(id), None, None) => Ok(Self::Request { id, method, params }),
            (Some(method), None, None, None) => Ok(Self::Notification { method, params }),
            (None, Some(id), Some(result), None) => Ok(Self::Response { id, outcome: Outcome::Result(result.get()) }),
            (None, Some(id), None, Some(error)) if serde_json::from_str::<ErrorObject<'_>>(error.get()).is_ok() => {
                Ok(Self::Response { id, outcome: Outcome::Error(error.get()) })
            }
            _ => Err(NotAMessage),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_slightly_off_is_no_message_by_the_letter() {
        for line in [
            "{",
            "hello",
            "{\"jsonrpc\":\"2.0\",\"method\":\"x\"} trailing",
            "[]",
            "null",
            "{}",
            "{\"id\":1,\"method\":\"x\"}",
            "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"x\"}",
            "{\"jsonrpc\":\"2.0\",\"id\":1.0,\"method\":\"x\"}",
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":5}",
            "{\"jsonrpc\":\"2.0\",\"id\":1}",
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":1,\"result\":1}",
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":null,\"result\":1}",
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1,\"error\":null}",
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":null}",
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":\"no\"}",
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":1.0,\"message\":\"\"}}",
        ] {
            assert_eq!(Message::parse(line).err(), Some(NotAMessage), "{line}");
        }
    }

    #[test]
    fn a_null_id_is_an_id() {
        let message = Message::parse("{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"x\"}").unwrap();
        assert!(matches!(message, Message::Request { id, .. } if id == Id::null()));
    }
}
