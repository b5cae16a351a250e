//! The envelopes of JSON-RPC.

use serde::Deserialize;
use serde_json::{Value, json};

/// A request, or without an id a notification.
#[derive(Debug, Deserialize)]
pub(super) struct Call {
    /// Present even if it is null.
    #[serde(default, deserialize_with = "present")]
    pub(super) id: Option<Value>,
    pub(super) method: String,
    #[serde(default)]
    pub(super) params: Value,
}

fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// Why a request was not done.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Failure {
    code: i32,
    message: String,
    data: Option<Value>,
}

impl Failure {
    pub(super) fn invalid_request(message: impl Into<String>) -> Self {
        Self { code: -32600, message: message.into(), data: None }
    }

    pub(super) fn method_not_found(method: &str) -> Self {
        Self { code: -32601, message: format!("Method not found: {method}"), data: None }
    }

    pub(super) fn invalid_params(message: impl Into<String>) -> Self {
        Self { code: -32602, message: format!("Invalid params: {}", message.into()), data: None }
    }

    pub(super) fn internal(message: impl Into<String>) -> Self {
        Self { code: -32603, message: message.into(), data: None }
    }

    pub(super) fn unknown_session(id: &str) -> Self {
        Self { code: -32002, message: "Resource not found".to_owned(), data: Some(json!({ "sessionId": id })) }
    }
}

/// The answer to the request with this id.
pub(super) fn response(id: &Value, outcome: Result<Value, Failure>) -> Value {
    match outcome {
        Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
        Err(Failure { code, message, data }) => {
            let mut error = json!({ "code": code, "message": message });
            if let Some(data) = data {
                error["data"] = data;
            }
            json!({ "jsonrpc": "2.0", "id": id, "error": error })
        }
    }
}

/// Something that happened in a session.
pub(super) fn update(session: &str, update: Value) -> Value {
    let mut params = json!({ "sessionId": session });
    params["update"] = update;
    json!({ "jsonrpc": "2.0", "method": "session/update", "params": params })
}
