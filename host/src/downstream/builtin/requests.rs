//! One function for each method.

use std::sync::Arc;

use serde_json::{Value, json};

use super::turn::{self, Prompt};
use super::{State, content};
use crate::downstream::rpc::{self, Call, Failure};

/// Does what a line asks for, and answers.
pub(super) fn handle(state: &Arc<State>, line: &[u8]) {
    // Answers to requests have no method; this agent sends none that would have some.
    let Ok(call) = serde_json::from_slice::<Call>(line) else { return };
    match call.id {
        Some(id) => {
            if let Some(outcome) = request(state, &id, &call.method, &call.params) {
                state.send(&rpc::response(&id, outcome));
            }
        }
        None => notification(state, &call.method, &call.params),
    }
}

fn notification(state: &State, method: &str, params: &Value) {
    if method == "session/cancel"
        && let Ok(session) = text(params, "sessionId")
    {
        state.sessions().cancel(session);
    }
}

/// Returns none if the answer comes later.
fn request(state: &Arc<State>, id: &Value, method: &str, params: &Value) -> Option<Result<Value, Failure>> {
    Some(match method {
        "initialize" => Ok(initialize()),
        "session/new" => new_session(state, params),
        "session/prompt" => match begin_prompt(state, id, params) {
            Ok(()) => return None,
            Err(failure) => Err(failure),
        },
        "session/close" => text(params, "sessionId").and_then(|session| state.sessions().close(session)),
        "session/set_mode" => set_mode(state, params),
        "session/set_config_option" => set_config_option(state, params),
        _ => Err(Failure::method_not_found(method)),
    })
}

fn initialize() -> Value {
    json!({
        "protocolVersion": 1,
        "agentCapabilities": {
            "loadSession": false,
            "promptCapabilities": { "embeddedContext": true },
            "sessionCapabilities": { "close": {} },
        },
        "agentInfo": {
            "name": "acp-sessions-agent",
            "title": "acp-sessions built-in agent",
            "version": env!("CARGO_PKG_VERSION"),
        },
        "authMethods": [],
    })
}

fn new_session(state: &State, params: &Value) -> Result<Value, Failure> {
    let cwd = text(params, "cwd")?;
    state.sessions().create(cwd.to_owned())
}

fn set_mode(state: &State, params: &Value) -> Result<Value, Failure> {
    let (session, mode) = (text(params, "sessionId")?, text(params, "modeId")?);
    state.sessions().set_mode(session, mode)
}

fn set_config_option(state: &State, params: &Value) -> Result<Value, Failure> {
    let (session, option, value) = (text(params, "sessionId")?, text(params, "configId")?, text(params, "value")?);
    state.sessions().set_option(session, option, value)
}

fn begin_prompt(state: &Arc<State>, id: &Value, params: &Value) -> Result<(), Failure> {
    let session = text(params, "sessionId")?;
    let prompt = params.get("prompt").ok_or_else(|| Failure::invalid_params("prompt is missing"))?;
    let blocks = content::blocks(prompt)
        .ok_or_else(|| Failure::invalid_params("prompt must be a list of content blocks with their fields"))?;
    turn::begin(state, id.clone(), session, Prompt { blocks })
}

fn text<'p>(params: &'p Value, name: &str) -> Result<&'p str, Failure> {
    match params.get(name) {
        Some(Value::String(text)) => Ok(text),
        Some(_) => Err(Failure::invalid_params(format!("{name} must be a string"))),
        None => Err(Failure::invalid_params(format!("{name} is missing"))),
    }
}
