//! Outcomes of requests to the agent, and the answers that clients get.

use serde_json::json;
use serde_json::value::RawValue;

use super::asked::AskedFor;
use crate::rpc::{Code, Object, Outcome, RpcError};
use crate::store::State;

/// Error code of an agent that wants its user to log in first (protocol v1, `Error::auth_required`).
pub(super) const AUTH_REQUIRED: i64 = -32000;

/// What a cancelled prompt ends with (protocol v1: not an error).
pub(super) const CANCELLED: &str = "{\"stopReason\":\"cancelled\"}";

/// What an agent is answered that has asked for permission where nobody is to answer any more.
pub(super) const NOT_ANSWERED: &str = "{\"outcome\":{\"outcome\":\"cancelled\"}}";

/// What an agent is answered that has asked its user for something else where nobody is to answer any more.
pub(super) const NOT_FILLED_IN: &str = "{\"action\":\"cancel\"}";

/// What a prompt ends with that was answered to its end.
pub(super) const END_TURN: &str = "{\"stopReason\":\"end_turn\"}";

/// An outcome as a result that handlers can use `?` on.
pub(super) fn result_of<'a>(outcome: &Outcome<'a>) -> Result<&'a str, RpcError> {
    match outcome {
        Outcome::Result(json) => Ok(json),
        Outcome::Error(json) => Err(RpcError::read(json)),
    }
}

/// How a request is answered that was waiting when it was taken back.
pub(super) fn cancelled() -> RpcError {
    RpcError::new(Code::RequestCancelled, "Request cancelled")
}

/// The end of a turn that failed so, as its entry has it.
pub(super) fn failed_with(error: &RpcError) -> String {
    format!("{{\"error\":{}}}", error.to_json())
}

/// How requests are answered that only the agent could have answered.
pub(super) fn agent_gone() -> RpcError {
    RpcError::new(
        Code::InternalError,
        "Internal error: the agent has ended; the session is kept and can be loaded again",
    )
}

/// How requests are answered that only the agent could have answered, which has not answered `initialize` once.
/// `first`: how it had ended when it was first started again, if it was; `again`: how often it was.
pub(super) fn agent_not_begun(name: &str, first: Option<&str>, again: u32) -> RpcError {
    let times = if again == 1 { "once".to_owned() } else { format!("{again} times") };
    let how = first.map(|how| format!(" ({how}), also when it was started again ({times})")).unwrap_or_default();
    let what = format!("the agent ({name}) cannot be used: it has ended before it answered `initialize`{how}");
    RpcError::new(Code::InternalError, format!("Internal error: {what}"))
}

/// How requests are answered that the agent was at when it ended, in the way that `how` tells people.
pub(super) fn agent_restarted(how: &str) -> RpcError {
    let message = format!(
        "Internal error: the agent has ended ({how}) and was started again; what was said up to then is kept, and its \
         sessions can be gone on with"
    );
    RpcError { data: Some(json!({ "agentEnded": how }).to_string()), ..RpcError::new(Code::InternalError, message) }
}

/// A result with the layer's mark (JSON) in its `_meta`.
pub(super) fn marked(result: &str, mark: &str) -> String {
    let result = Object::parse_or_empty(result);
    result.with("_meta", &result.get_object("_meta").with("acp-sessions", mark))
}

/// The mark of updates that tell what was said in another window, through the store of this name in front of this layer's, if
/// it was through one.
pub(super) fn elsewhere(through: Option<&str>) -> String {
    let mut mark = json!({ "elsewhere": true });
    if let Some(store) = through {
        mark["through"] = store.into();
    }
    mark.to_string()
}

/// The result of a prompt of whose turn not all is stored, for this reason.
pub(super) fn not_stored(result: &str, reason: &str) -> String {
    marked(result, &json!({ "stored": false, "reason": reason }).to_string())
}

/// The error (JSON) that a prompt of whose turn not all is stored, for this reason, was answered with: its message says so, and
/// what else the agent has said stays as it is.
pub(super) fn not_stored_error(error: &str, reason: &str) -> String {
    let read = RpcError::read(error);
    let reason = reason.trim_start_matches("Internal error: ");
    let message = format!("{} (not all of this turn is stored: {reason})", read.message);
    match Object::parse(error) {
        Some(whole) => whole.with("message", &json!(message).to_string()),
        None => RpcError { message, ..read }.to_json(),
    }
}

/// What the agent has answered before of a session that is open, but for modes and options, and for which model is in force.
pub(super) fn as_before(state: &State) -> String {
    let mut result = Object::default();
    for (name, value) in &state.beside {
        result.set(name, value.get());
    }
    result.to_json()
}

/// The agent's answer with what it does not say again of a session that the client had open all the time.
pub(super) fn still_open(state: &State, answer: &str) -> String {
    let before = as_before(state);
    let mut result = Object::parse_or_empty(&before);
    let answer = Object::parse_or_empty(answer);
    for (name, value) in answer.iter() {
        result.set(name, value);
    }
    result.to_json()
}

/// All modes or models, with the one that is in force, where that is known.
fn with_current(all: Option<&str>, member: &str, current: Option<&str>) -> Option<String> {
    let mut all = Object::parse(all?)?;
    if let Some(current) = current {
        all.set(member, json!(current).to_string());
    }
    Some(all.to_json())
}

/// The answer to load, resume and fork: the agent's, with the mode, the model and the options that are in force.
pub(super) fn opened(answer: &str, state: &State, asked: AskedFor, mark: &str) -> String {
    let mut result = Object::parse_or_empty(answer);
    result.remove("sessionId");
    let with_mode = with_current(state.modes.as_deref().map(RawValue::get), "currentModeId", state.mode.as_deref());
    let with_model = with_current(result.get("models"), "currentModelId", state.model.as_deref());
    for (member, with) in [("modes", with_mode), ("models", with_model.filter(|_| state.model.is_some()))] {
        if let Some(with) = with {
            result.set(member, with);
        }
    }
    if let Some(options) = &state.options {
        result.set("configOptions", asked.options(options.get()));
    }
    let result = result.to_json();
    marked(&result, mark)
}
