//! Errors as they go over the wire.

use serde_json::json;

use super::{Object, text, whole_number};
use crate::storage::StorageError;

/// The codes the engine itself answers with (protocol v1, `ErrorCode`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// The line was not JSON.
    ParseError = -32700,
    /// The line was JSON, but no message that may come now.
    InvalidRequest = -32600,
    /// Something the engine could not do for a reason of its own.
    InternalError = -32603,
    /// A field is missing, mistyped or out of range.
    InvalidParams = -32602,
    /// The client cancelled the request.
    RequestCancelled = -32800,
    /// There is no such session, or it is not open.
    ResourceNotFound = -32002,
}

/// An error answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RpcError {
    /// What kind.
    pub code: i64,
    /// For people.
    pub message: String,
    /// For programs: JSON, from a peer as it was sent.
    pub data: Option<String>,
}

impl RpcError {
    /// An error of this kind.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code: code as i64, message: message.into(), data: None }
    }

    /// A bad field of the request's params.
    pub fn invalid_params(field: &str, message: impl std::fmt::Display) -> Self {
        Self {
            code: Code::InvalidParams as i64,
            message: format!("Invalid params: `{field}` {message}"),
            data: Some(json!({ "field": field }).to_string()),
        }
    }

    /// A session that nobody knows (protocol v1, `Error::session_not_found`).
    pub fn session_not_found(id: &str) -> Self {
        Self::session(id, "Resource not found: no session has this id")
    }

    /// A session that is known but not open on this connection.
    pub fn session_not_open(id: &str) -> Self {
        Self::session(id, "Resource not found: the session is not open on this connection; load or resume it first")
    }

    /// A session that was deleted.
    pub fn session_deleted(id: &str) -> Self {
        Self::session(id, "Resource not found: the session was deleted; nothing that is said in it is kept")
    }

    /// A session that was deleted while something was done with it.
    pub fn session_deleted_meanwhile(id: &str) -> Self {
        Self::session(id, "Resource not found: the session was deleted meanwhile")
    }

    fn session(id: &str, message: &str) -> Self {
        Self {
            code: Code::ResourceNotFound as i64,
            message: message.to_owned(),
            data: Some(json!({ "sessionId": id }).to_string()),
        }
    }

    /// An error as a peer has given it, whatever it has made of it.
    pub fn read(json: &str) -> Self {
        let error = Object::parse_or_empty(json);
        let code = error.get("code").and_then(|code| match error.get_string("code") {
            Some(text) => whole(text.trim()),
            None => whole(code),
        });
        let message = error.get_text("message").or_else(|| text(json));
        Self {
            code: code.unwrap_or(Code::InternalError as i64),
            message: message.unwrap_or_else(|| "Internal error: no reason was given".to_owned()),
            data: error.get_some("data").map(str::to_owned),
        }
    }

    /// Its JSON.
    pub fn to_json(&self) -> String {
        let mut error = Object::default();
        error.set("code", self.code.to_string());
        error.set("message", json!(self.message).to_string());
        if let Some(data) = &self.data {
            error.set("data", data);
        }
        error.to_json()
    }
}

/// A whole number, however it is written.
fn whole(json: &str) -> Option<i64> {
    let (sign, size) = json.strip_prefix('-').map_or((1, json), |size| (-1, size));
    Some(sign * i64::try_from(whole_number(size)?).ok()?)
}

impl From<StorageError> for RpcError {
    fn from(error: StorageError) -> Self {
        Self::new(Code::InternalError, format!("Internal error: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_peer_makes_of_an_error_is_read_as_far_as_it_goes() {
        let data = r#"{"b":[1e400,18446744073709551617],"a":1.0,"c":"\ud800"}"#;
        let none = "Internal error: no reason was given";
        for (json, code, message, is_with_data) in [
            (r#"{"code":-32000,"message":"no"}"#, -32000, "no", false),
            (&format!(r#"{{"code":-32000,"message":"no","data":{data}}}"#), -32000, "no", true),
            (&format!(r#"{{"data":{data},"x":1e400,"code":" -3.2e4 ","message":5}}"#), -32000, none, true),
            (r#"{"code":1e400,"message":"no","data":null}"#, -32603, "no", false),
            (r#"{"code":1.5,"message":null}"#, -32603, none, false),
            (r#"{"code":"1","code":2}"#, 2, none, false),
            (r#""no""#, -32603, "no", false),
            (r#"{"code":-32000,"message":"no \ud83d"}"#, -32000, "no \u{fffd}", false),
            (r#""\ud83d no""#, -32603, "\u{fffd} no", false),
            (r#"["no"]"#, -32603, none, false),
            ("1e400", -32603, none, false),
            ("", -32603, none, false),
        ] {
            let data = if is_with_data { format!(",\"data\":{data}") } else { String::new() };
            let expected = format!(r#"{{"code":{code},"message":"{message}"{data}}}"#);
            assert_eq!(RpcError::read(json).to_json(), expected, "{json}");
        }
    }
}
