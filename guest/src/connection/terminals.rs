//! Terminals in what is replayed. A tool call may show one of the client's own (protocol v1, content of the type
//! `terminal`), which a client that has none cannot show.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::rpc::Object;

/// The updates that have such content.
const TOOL_CALLS: [&str; 2] = ["tool_call", "tool_call_update"];

/// An update of this name without terminals; all else of it stays, byte for byte.
pub(super) fn left_out<'u>(name: &str, update: &'u str) -> Cow<'u, str> {
    if !may_have(name, update) {
        return Cow::Borrowed(update);
    }
    rest_of(update).map_or(Cow::Borrowed(update), Cow::Owned)
}

/// The params of such an update without terminals; all else of them stays, byte for byte.
pub(super) fn left_out_of_params<'p>(name: &str, params: &'p str) -> Cow<'p, str> {
    if !may_have(name, params) {
        return Cow::Borrowed(params);
    }
    let Some(mut whole) = Object::parse(params) else { return Cow::Borrowed(params) };
    let Some(rest) = whole.get("update").and_then(rest_of) else { return Cow::Borrowed(params) };
    whole.set("update", rest);
    Cow::Owned(whole.to_json())
}

/// Most have none, and need not be read.
fn may_have(name: &str, json: &str) -> bool {
    TOOL_CALLS.contains(&name) && json.contains("terminal")
}

/// What is left of an update that has terminals.
fn rest_of(update: &str) -> Option<String> {
    let is_terminal = |item: &&RawValue| {
        Object::parse(item.get()).is_some_and(|item| item.get_string("type").as_deref() == Some("terminal"))
    };
    let mut update = Object::parse(update)?;
    let content: Vec<&RawValue> = serde_json::from_str(update.get_some("content")?).ok()?;
    let rest: Vec<&str> = content.iter().filter(|item| !is_terminal(item)).map(|item| item.get()).collect();
    if rest.len() == content.len() {
        return None;
    }
    let rest = format!("[{}]", rest.join(","));
    update.set("content", rest);
    Some(update.to_json())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_terminals_are_left_out() {
        for (name, update, expected) in [
            (
                "tool_call",
                r#"{"sessionUpdate":"tool_call","x":1.0,"content":[{"type":"terminal","terminalId":"t"},{"type": "diff"}]}"#,
                r#"{"sessionUpdate":"tool_call","x":1.0,"content":[{"type": "diff"}]}"#,
            ),
            (
                "tool_call_update",
                r#"{"content":[{"terminalId":"t","type":"terminal"}],"rawOutput":"terminal"}"#,
                r#"{"content":[],"rawOutput":"terminal"}"#,
            ),
        ] {
            assert_eq!(left_out(name, update), expected);
            let params = format!(r#"{{"_meta":{{}},"update":{update}}}"#);
            assert_eq!(left_out_of_params(name, &params), format!(r#"{{"_meta":{{}},"update":{expected}}}"#));
        }
        for (name, update) in [
            ("tool_call", r#"{"title":"terminal","content":[{"type":"content" }]}"#),
            ("tool_call", r#"{"title":"terminal","content":null}"#),
            ("tool_call", r#"{"content":{"type":"terminal"}}"#),
            ("agent_message_chunk", r#"{"content":[{"type":"terminal"}]}"#),
        ] {
            assert_eq!(left_out(name, update), update);
        }
    }
}
