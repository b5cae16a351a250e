//! Reading a line that is slightly off, as it was meant. Many agents and some clients are written by hand: what can be told
//! is taken, and of the rest it is told whose it is, so that nobody waits for ever.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, IgnoredAny, SeqAccess, Visitor};
use serde_json::json;
use serde_json::value::RawValue;

use super::head::Head;
use super::{Code, Id, Message, Object, RpcError};

/// What a line that is no message was meant to be.
#[derive(Debug, PartialEq, Eq)]
pub enum Meant {
    /// This message.
    Message(String),
    /// Several, where one should be.
    Several(Vec<String>),
    /// Something that cannot be taken.
    Bad(Bad),
}

/// A line that cannot be taken.
#[derive(Debug, PartialEq, Eq)]
pub struct Bad {
    /// What it is, as far as can be told.
    pub what: What,
    /// Why it cannot be taken.
    pub why: Malformed,
}

/// Why a line is no message, or cannot be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Malformed {
    /// Not JSON.
    NotJson,
    /// JSON, but no JSON-RPC 2.0 message.
    NotAMessage,
    /// A batch, which ACP does not use.
    Batch,
    /// Not UTF-8.
    NotText,
    /// Longer than the host lets through.
    TooLong,
    /// One at which the engine fails.
    NotBearable,
    /// A request that answers, or an answer that asks.
    Mixed,
    /// An answer with a result and an error.
    Both,
    /// An answer with neither.
    Neither,
}

/// What a line is that cannot be taken.
#[derive(Debug, PartialEq, Eq)]
pub enum What {
    /// It asks for something, under this id.
    Request(Id),
    /// It answers what was asked under this id.
    Answer(Id),
    /// It has an id, and nothing that says whether it asks or answers.
    Either(Id),
    /// It has no id that could be read.
    Nameless,
}

/// What stands in the place of a line's middle where that was not kept: no line has it within.
const WITHOUT_MIDDLE: char = '\n';

impl Meant {
    /// Reads a line that is no message as it stands.
    pub fn read(line: &str) -> Self {
        let line = line.trim_start_matches('\u{feff}');
        if serde_json::from_str::<IgnoredAny>(line).is_err() {
            return several(line).map_or_else(|| Self::Bad(Bad::read(line, Malformed::NotJson)), Self::Several);
        }
        if line.trim_start().starts_with('[') {
            let parts = serde_json::from_str::<Batch>(line);
            return parts.map_or_else(|_| Self::Bad(Bad::nameless(Malformed::Batch)), |batch| Self::Several(batch.0));
        }
        let meant = match Object::parse(line) {
            Some(object) => of_object(&object),
            None => Err(Bad::nameless(Malformed::NotAMessage)),
        };
        match meant {
            Ok(line) if Message::parse(&line).is_ok() => Self::Message(line),
            Ok(line) => Self::Bad(Bad::read(&line, Malformed::NotAMessage)),
            Err(bad) => Self::Bad(bad),
        }
    }

    /// Reads a line that is not UTF-8 and has U+FFFD for what is none. What it tells is taken so. What it asks would be
    /// done as it was not meant, and what it answers be believed; so that fails.
    pub fn read_not_text(text: &str) -> Self {
        if text.contains(WITHOUT_MIDDLE) {
            return Self::Bad(Bad::read_shortened(text, Malformed::NotText));
        }
        let meant = if Message::parse(text).is_ok() { Self::Message(text.to_owned()) } else { Self::read(text) };
        let what = match &meant {
            Self::Message(line) => match Message::parse(line) {
                Ok(Message::Notification { .. }) => return meant,
                Ok(Message::Request { id, .. }) => What::Request(id),
                Ok(Message::Response { id, .. }) => What::Answer(id),
                Err(_) => What::Nameless,
            },
            Self::Several(_) => What::Nameless,
            Self::Bad(_) => Bad::read(text, Malformed::NotText).what,
        };
        Self::Bad(Bad { what, why: Malformed::NotText })
    }
}

impl Bad {
    /// What can be told of a line of which this is all there is.
    pub fn read(line: &str, why: Malformed) -> Self {
        Self::told(&Head::read(line), why)
    }

    /// What can be told of a line of which this is the beginning and, behind a line feed, the end where that was kept.
    pub fn read_shortened(line: &str, why: Malformed) -> Self {
        let (beginning, end) = line.split_once(WITHOUT_MIDDLE).unwrap_or((line, ""));
        Self::told(&Head::read_with_end(beginning, end), why)
    }

    fn told(head: &Head<'_>, why: Malformed) -> Self {
        let what = match head.id.and_then(Id::parse_loosely) {
            Some(id) if head.asks && !head.answers => What::Request(id),
            Some(id) if head.answers && !head.asks => What::Answer(id),
            Some(id) => What::Either(id),
            None => What::Nameless,
        };
        Self { what, why }
    }

    fn nameless(why: Malformed) -> Self {
        Self { what: What::Nameless, why }
    }
}

/// How many messages one line may hold, where one should be.
const MOST_PARTS: usize = 256;

/// Messages behind each other on one line.
fn several(line: &str) -> Option<Vec<String>> {
    let parts = serde_json::Deserializer::from_str(line).into_iter::<&RawValue>().take(MOST_PARTS + 1);
    let parts: Option<Vec<_>> = parts.map(|part| part_of(part.ok()?)).collect();
    parts.filter(|parts| parts.len() <= MOST_PARTS)
}

fn part_of(part: &RawValue) -> Option<String> {
    part.get().starts_with('{').then(|| part.get().to_owned())
}

/// Objects in an array.
struct Batch(Vec<String>);

impl<'de> Deserialize<'de> for Batch {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(PartsVisitor)
    }
}

struct PartsVisitor;

impl<'de> Visitor<'de> for PartsVisitor {
    type Value = Batch;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an array of objects, not too many")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Batch, A::Error> {
        let mut parts = Vec::new();
        while let Some(part) = sequence.next_element::<&RawValue>()? {
            match part_of(part) {
                Some(part) if parts.len() < MOST_PARTS => parts.push(part),
                _ => return Err(A::Error::custom("no object, or too many")),
            }
        }
        if parts.is_empty() { Err(A::Error::custom("nothing")) } else { Ok(Batch(parts)) }
    }
}

/// What a message may have. An object that does not even say that it is one has nothing else: programs also log in JSON.
const MEMBERS: [&str; 6] = ["id", "method", "params", "result", "error", "_meta"];

/// The line that an object was meant to be.
fn of_object(object: &Object<'_>) -> Result<String, Bad> {
    let id = object.get("id").map(Id::parse_loosely);
    let bad = |what: fn(Id) -> What, why| match &id {
        Some(Some(id)) if *id != Id::null() => Err(Bad { what: what(id.clone()), why }),
        _ => Err(Bad::nameless(why)),
    };
    if object.get("jsonrpc").is_none() && object.iter().any(|(name, _)| !MEMBERS.contains(&name)) {
        return Err(Bad::nameless(Malformed::NotAMessage));
    }
    let method = object.get_some("method");
    let (result, error) = (object.get_some("result"), object.get_some("error"));
    let mut meant = object.clone();
    meant.drop_doubles();
    meant.set("jsonrpc", "\"2.0\"");
    match (method, result, error) {
        (Some(method), None, None) if method.starts_with('"') => {
            meant.remove("result");
            meant.remove("error");
            match id {
                None => {}
                Some(Some(id)) => meant.set("id", id.as_json().to_owned()),
                // It waits for an answer all the same.
                Some(None) => return Err(Bad { what: What::Request(Id::null()), why: Malformed::NotAMessage }),
            }
        }
        (Some(_), None, None) => return bad(What::Request, Malformed::NotAMessage),
        (Some(_), _, _) => return bad(What::Either, Malformed::Mixed),
        (None, Some(_), Some(_)) => return bad(What::Answer, Malformed::Both),
        (None, result, error) => {
            let is_null = result.is_none() && error.is_none();
            if is_null && object.get("result").is_none() {
                if object.get("jsonrpc").is_none() {
                    return Err(Bad::nameless(Malformed::NotAMessage));
                }
                let what = if object.get("error").is_some() { What::Answer } else { What::Either };
                return bad(what, Malformed::Neither);
            }
            meant.remove("method");
            if object.get_some("params").is_none() {
                meant.remove("params");
            }
            meant.remove(if error.is_some() { "result" } else { "error" });
            if let Some(error) = error {
                meant.set("error", error_object(error));
            }
            match id.flatten() {
                Some(id) => meant.set("id", id.as_json().to_owned()),
                // Agents answer so what they could not read.
                None if error.is_some() && object.get("id").is_none() => meant.set("id", "null"),
                None => return Err(Bad::nameless(Malformed::NotAMessage)),
            }
        }
    }
    Ok(meant.to_json())
}

/// An error as an object with a code and a message.
fn error_object(json: &str) -> String {
    let error = RpcError::read(json);
    match Object::parse(json) {
        Some(mut object) => {
            object.drop_doubles();
            object.set("code", error.code.to_string());
            if object.get_string("message").is_none() {
                object.set("message", json!(error.message).to_string());
            }
            object.to_json()
        }
        None => error.to_json(),
    }
}

impl Malformed {
    /// How a request of the client's that cannot be taken is answered: what its user may do about it.
    pub fn of_client(self) -> RpcError {
        self.of_request(
            "the line is longer than 16 MiB, the most that a message may have: attach less than 12 MB to it",
        )
    }

    /// How a request of the agent's fails, which may be longer.
    pub fn of_agent(self) -> RpcError {
        self.of_request("the line is too long to be taken")
    }

    fn of_request(self, too_long: &str) -> RpcError {
        let (code, kind) = match self {
            Self::NotJson | Self::NotText => (Code::ParseError, "Parse error"),
            Self::NotBearable => (Code::InternalError, "Internal error"),
            _ => (Code::InvalidRequest, "Invalid request"),
        };
        let what = match self {
            Self::NotJson => "the line is not JSON",
            Self::NotText => "the line is not UTF-8",
            Self::TooLong => too_long,
            Self::NotBearable => "the session engine fails at this line",
            Self::Batch => "batches are not supported; send one message a line",
            Self::NotAMessage | Self::Mixed | Self::Both | Self::Neither => "the line is not a JSON-RPC 2.0 message",
        };
        RpcError::new(code, format!("{kind}: {what}"))
    }

    /// How a request fails whose answer cannot be taken; `whose`: who gave it.
    pub fn of_answer(self, whose: &str) -> RpcError {
        RpcError::new(Code::InternalError, format!("Internal error: the {whose}'s answer {}", self.what_it_is()))
    }

    /// What is told people of a line of the agent's that nobody can be answered for.
    pub fn of_line(self) -> String {
        let besides = match self {
            Self::NotJson => "; what an agent logs belongs on standard error",
            _ => "",
        };
        format!("the agent sent a line that cannot be taken: it {}{besides}", self.what_it_is())
    }

    /// Behind the name of what cannot be taken.
    fn what_it_is(self) -> &'static str {
        match self {
            Self::NotJson => "is not JSON",
            Self::NotText => "is not UTF-8",
            Self::TooLong => "is too long to pass on",
            Self::NotBearable => "is a line at which the session engine fails",
            Self::Batch | Self::NotAMessage => "is not a JSON-RPC 2.0 message",
            Self::Mixed => "has both a method and a result or an error",
            Self::Both => "has both a result and an error",
            Self::Neither => "has neither a result nor an error",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_cannot_be_taken_say_whose_they_are() {
        let request = |id: &str| What::Request(Id::parse(id).unwrap());
        let answer = |id: &str| What::Answer(Id::parse(id).unwrap());
        let either = |id: &str| What::Either(Id::parse(id).unwrap());
        for (line, what, why) in [
            ("{", What::Nameless, Malformed::NotJson),
            ("hello", What::Nameless, Malformed::NotJson),
            (r#"{"jsonrpc":"2.0","method":"x"} trailing"#, What::Nameless, Malformed::NotJson),
            (r#"{"jsonrpc":"2.0","id":1,"method":"x"} trailing"#, request("1"), Malformed::NotJson),
            (r#"{"jsonrpc":"2.0","id":"a","result":{"x":01}}"#, answer("\"a\""), Malformed::NotJson),
            (r#"{"id":1,"x":NaN}"#, either("1"), Malformed::NotJson),
            ("[]", What::Nameless, Malformed::Batch),
            (r#" [{"id":1,"result":{}},7]"#, What::Nameless, Malformed::Batch),
            ("null", What::Nameless, Malformed::NotAMessage),
            ("42", What::Nameless, Malformed::NotAMessage),
            ("{}", What::Nameless, Malformed::NotAMessage),
            (r#"{"id":1}"#, What::Nameless, Malformed::NotAMessage),
            (r#"{"id":1,"method":"GET","url":"/"}"#, What::Nameless, Malformed::NotAMessage),
            (r#"{"id":1,"error":"it is late","level":"warn"}"#, What::Nameless, Malformed::NotAMessage),
            (r#"{"jsonrpc":"2.0","id":null}"#, What::Nameless, Malformed::Neither),
            (r#"{"jsonrpc":"2.0","params":{"id":1}}"#, What::Nameless, Malformed::Neither),
            (r#"{"jsonrpc":"2.0","id":1}"#, either("1"), Malformed::Neither),
            (r#"{"jsonrpc":"2.0","id":1,"error":null}"#, answer("1"), Malformed::Neither),
            (r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#, answer("1"), Malformed::Both),
            (r#"{"jsonrpc":"2.0","id":1,"method":"x","result":{}}"#, either("1"), Malformed::Mixed),
            (r#"{"jsonrpc":"2.0","id":1,"method":5}"#, request("1"), Malformed::NotAMessage),
            (r#"{"jsonrpc":"2.0","method":5}"#, What::Nameless, Malformed::NotAMessage),
            (r#"{"jsonrpc":"2.0","id":{},"method":"x"}"#, request("null"), Malformed::NotAMessage),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"x"}"#, request("null"), Malformed::NotAMessage),
            (r#"{"jsonrpc":"2.0","id":{},"result":1}"#, What::Nameless, Malformed::NotAMessage),
            (r#"{"jsonrpc":"2.0","id":1,"\ud800":1,"method":"x"}"#, What::Nameless, Malformed::NotAMessage),
            (r#"{"jsonrpc":"2.0","id":1,"method":"\ud800"}"#, request("1"), Malformed::NotAMessage),
        ] {
            assert_eq!(Meant::read(line), Meant::Bad(Bad { what, why }), "{line}");
        }
    }

    #[test]
    fn what_is_meant_is_a_message_and_keeps_its_values() {
        for (line, meant) in [
            (r#"{"id":1,"method":"x"}"#, r#"{"id":1,"method":"x","jsonrpc":"2.0"}"#),
            (r#"{"method":"x","id":null,"jsonrpc":"2"}"#, r#"{"method":"x","id":null,"jsonrpc":"2.0"}"#),
            (r#"{"jsonrpc":"2.0","id":-3.0,"method":"x"}"#, r#"{"jsonrpc":"2.0","id":-3,"method":"x"}"#),
            (
                r#"{"error":{"code":1,"message":"m"}}"#,
                r#"{"error":{"code":1,"message":"m"},"jsonrpc":"2.0","id":null}"#,
            ),
            (
                r#"{"x":1,"id":1,"x":2,"result":{"x":1,"x": 2.0},"error":null,"jsonrpc":2}"#,
                r#"{"id":1,"x":2,"result":{"x":1,"x": 2.0},"jsonrpc":"2.0"}"#,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"error":{"code":"7","data":[ 1 ]},"result":null}"#,
                r#"{"jsonrpc":"2.0","id":1,"error":{"code":7,"data":[ 1 ],"message":"Internal error: no reason was given"}}"#,
            ),
        ] {
            assert_eq!(Meant::read(line), Meant::Message(meant.to_owned()), "{line}");
            assert!(Message::parse(meant).is_ok(), "{meant}");
        }
    }
}
