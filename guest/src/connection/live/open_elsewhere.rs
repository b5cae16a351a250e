//! What agents say of a session that they cannot open as long as another of their programs has it.

use crate::rpc::{Object, RpcError};

/// By what it is known.
#[derive(Debug, Clone, Copy)]
enum Sign {
    /// The message of the error has this.
    Message(&'static str),
    /// The `details` in its data begin and end so.
    Details(&'static str, &'static str),
}

/// What is known, by agent.
const SIGNS: [Sign; 3] = [
    // Codex.
    Sign::Message("This Codex session is in use by another Codex client"),
    // Vibe.
    Sign::Message("Session is already open: "),
    // deepagents.
    Sign::Details("Thread ", " is open elsewhere."),
];

/// Whether an agent refuses to open a session with this error because another of its programs has it open.
pub(super) fn is_open_elsewhere(error: &RpcError) -> bool {
    let details = || Object::parse_or_empty(error.data.as_deref().unwrap_or_default()).get_string("details");
    SIGNS.into_iter().any(|sign| match sign {
        Sign::Message(sign) => error.message.contains(sign),
        Sign::Details(begins, ends) => {
            details().is_some_and(|details| details.starts_with(begins) && details.trim_end().ends_with(ends))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_for_other_reasons_is_no_such_refusal() {
        for (message, data, expected) in [
            ("Invalid request: This Codex session is in use by another Codex client (the CLI).", None, true),
            ("Session is already open: s1", None, true),
            ("Session is not open: s1", None, false),
            ("Internal error", Some(r#"{"details": "Thread s1 is open elsewhere."}"#), true),
            ("Internal error", Some(r#"{"details": "Thread s1 was not found."}"#), false),
            ("Internal error", Some(r#""Thread s1 is open elsewhere.""#), false),
            ("Internal error", None, false),
        ] {
            let error = RpcError { code: -32603, message: message.to_owned(), data: data.map(str::to_owned) };
            assert_eq!(is_open_elsewhere(&error), expected, "{message} {data:?}");
        }
    }
}
