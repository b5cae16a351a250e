//! Making lines.

use std::fmt;

use super::{Id, RpcError};

/// A request.
pub fn request(id: &Id, method: &str, params: &str) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"{method}\",\"params\":{params}}}", id.as_json())
}

/// A notification.
pub fn notification(method: &str, params: &(impl fmt::Display + ?Sized)) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"method\":\"{method}\",\"params\":{params}}}")
}

/// How a notification begins whose params are long: these follow, and a brace.
pub fn notification_head(method: &str) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"method\":\"{method}\",\"params\":")
}

/// The answer to a request.
pub fn response(id: &Id, result: &str) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{result}}}", id.as_json())
}

/// The error answer to a request.
pub fn failure(id: &Id, error: &RpcError) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"error\":{}}}", id.as_json(), error.to_json())
}

/// The line with one part of it replaced. `part` must be borrowed from `line`; anything else leaves it unchanged.
pub fn splice(line: &str, part: &str, with: &str) -> String {
    let Some(start) = (part.as_ptr() as usize).checked_sub(line.as_ptr() as usize) else { return line.to_owned() };
    match (line.get(..start), line.get(start + part.len()..)) {
        (Some(before), Some(after)) => [before, with, after].concat(),
        _ => line.to_owned(),
    }
}
