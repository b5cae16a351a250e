//! Errors as they go over the wire.

use serde_json::{Value, json};

use super::whole_number;
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
#[derive(Debug, Clone, PartialEq)]
pub struct RpcError {
    /// What kind.
    pub code: i64,
    /// For people.
    pub message: String,
    /// For programs.
    pub data: Option<Value>,
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
            data: Some(json!({ "field": field })),
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
            data: Some(json!({ "sessionId": id })),
        }
    }

    /// An error as a peer has given it, whatever it has made of it.
    pub fn read(json: &str) -> Self {
        let error: Value = serde_json::from_str(json).unwrap_or_default();
        let code = match &error["code"] {
            Value::Number(code) => whole(&code.to_string()),
            Value::String(code) => whole(code.trim()),
            _ => None,
        };
        let message = error["message"].as_str().or(error.as_str()).unwrap_or("Internal error: no reason was given");
        Self {
            code: code.unwrap_or(Code::InternalError as i64),
            message: message.to_owned(),
            data: error.get("data").filter(|data| !data.is_null()).cloned(),
        }
    }

    /// Its JSON.
    pub fn to_json(&self) -> String {
        match &self.data {
            Some(data) => json!({ "code": self.code, "message": self.message, "data": data }).to_string(),
            None => json!({ "code": self.code, "message": self.message }).to_string(),
        }
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
