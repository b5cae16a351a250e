//! The connection: requests are answered, misdeeds done where they were asked for.

use std::cell::RefCell;

use serde_json::{Value, json};

use crate::bindings::Component;
use crate::bindings::exports::acp::sessions::connection::{
    Arrival, ConnectError, Content, Guest, Memo, Output, Peer, Setting, Step,
};
use crate::misdeed;

#[derive(Default)]
struct State {
    outputs: Vec<Output>,
    /// Where something is to be done yet, and what.
    pending: Option<(String, String)>,
    /// How many instances there were before this one.
    lost: u64,
    /// What it says without end, a little at each pull.
    flood: Option<String>,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

fn with<T>(run: impl FnOnce(&mut State) -> T) -> T {
    STATE.with_borrow_mut(run)
}

/// Here something is done that was asked for.
fn arrive_at(place: &str) {
    let pending = with(|state| state.pending.take_if(|(at, _)| at == place));
    if let Some((_, what)) = pending {
        let outputs = misdeed::commit(&what);
        with(|state| state.outputs.extend(outputs));
    }
}

fn keep(key: &str, value: Option<String>) -> Output {
    Output::Keep(Memo { key: key.to_owned(), value })
}

fn error(id: &Value) -> Output {
    let error = json!({"code": -32603, "message": "It was lost."});
    Output::ToClient(json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string())
}

fn result(id: &Value, result: &Value) -> Output {
    Output::ToClient(json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string())
}

/// The note of an open request.
fn note(id: &Value) -> String {
    format!("open/{id}")
}

fn parse(content: &Content) -> Value {
    let (Content::Line(text) | Content::NotText(text) | Content::TooLong(text) | Content::NotBearable(text)) = content;
    serde_json::from_str(text).unwrap_or_default()
}

fn take(message: &Value) {
    let (id, what) = (&message["id"], message["params"]["what"].as_str().unwrap_or_default());
    let method = message["method"].as_str().unwrap_or_default();
    match method.strip_prefix("hostile/") {
        Some("count") => with(|state| {
            let told = json!({"lost": state.lost});
            state.outputs.push(result(id, &told));
        }),
        Some("flood") => with(|state| {
            state.outputs.push(result(id, &json!({})));
            state.flood = Some(what.to_owned());
        }),
        Some("receive") => {
            let outputs = misdeed::commit(what);
            with(|state| {
                state.outputs.extend(outputs);
                state.outputs.push(result(id, &json!({})));
            });
        }
        // No instance after this one starts.
        Some("forever") => {
            with(|state| state.outputs.extend([keep("forever", Some(String::new())), result(id, &json!({}))]))
        }
        // Also when another instance is told of it: in `connect`.
        Some("connect") => core::arch::wasm32::unreachable(),
        Some(place) => with(|state| {
            state.pending = Some((place.to_owned(), what.to_owned()));
            state.outputs.push(keep(&note(id), Some(String::new())));
            if place == "hand-over" {
                // It is asked to when it has become large.
                misdeed::grow();
            }
            if place == "agent-restarted" {
                state.outputs.push(Output::ToAgent("end".to_owned()));
            }
            if place == "peer-closed" {
                state.outputs.push(result(id, &json!({})));
                state.outputs.push(keep(&note(id), None));
            }
        }),
        None if method == "initialize" => {
            with(|state| state.outputs.push(result(id, &json!({"protocolVersion": 1}))));
        }
        None => with(|state| state.outputs.push(result(id, &json!({})))),
    }
}

fn step() -> Step {
    with(|state| {
        let more = state.flood.is_some() || state.pending.as_ref().is_some_and(|(place, _)| place == "pull");
        Step { outputs: std::mem::take(&mut state.outputs), more, held: false, full: false }
    })
}

impl Guest for Component {
    fn connect(settings: Vec<Setting>, kept: Vec<Memo>, lost: Vec<Arrival>) -> Result<(), ConnectError> {
        // An agent that is called by a misdeed has it done at once.
        if let Some(agent) = settings.iter().find(|setting| setting.name == "agent") {
            misdeed::commit(&agent.value);
        }
        for arrival in &lost {
            let message = parse(&arrival.content);
            let method = message["method"].as_str().unwrap_or_default();
            // Even of its beginning nothing is to be told to one that fails at everything.
            let is_told = matches!(arrival.content, Content::Line(_)) || message["params"]["what"] == "always";
            if method == "hostile/connect" && is_told {
                core::arch::wasm32::unreachable();
            }
            if arrival.peer == Peer::Client && message["method"].is_string() {
                with(|state| state.outputs.push(error(&message["id"])));
            }
        }
        for memo in &kept {
            if memo.key == "forever" {
                core::arch::wasm32::unreachable();
            }
            if let Some(id) = memo.key.strip_prefix("open/") {
                let id: Value = serde_json::from_str(id).unwrap_or_default();
                with(|state| state.outputs.extend([error(&id), keep(&memo.key, None)]));
            }
            if let Some(before) = memo.value.as_deref().filter(|_| memo.key == "lost") {
                let told = json!({"jsonrpc": "2.0", "method": "hostile/anew"}).to_string();
                with(|state| {
                    state.lost = before.parse::<u64>().unwrap_or_default() + 1;
                    state.outputs.push(Output::ToClient(told));
                });
            }
        }
        with(|state| state.outputs.push(keep("lost", Some(state.lost.to_string()))));
        Ok(())
    }

    fn receive(arrivals: Vec<Arrival>, _: u32) -> Step {
        for arrival in arrivals.iter().filter(|arrival| arrival.peer == Peer::Client) {
            take(&parse(&arrival.content));
        }
        step()
    }

    fn pull(_: u32) -> Step {
        arrive_at("pull");
        if let Some(what) = with(|state| state.flood.clone()) {
            let outputs = misdeed::commit(&what);
            with(|state| state.outputs.extend(outputs));
        }
        step()
    }

    fn peer_closed(_: Peer) {
        arrive_at("peer-closed");
    }

    fn agent_restarted(_: String) {
        arrive_at("agent-restarted");
    }

    fn idle() -> Option<u32> {
        arrive_at("idle");
        Some(1000)
    }

    fn hand_over() -> Option<String> {
        arrive_at("hand-over");
        None
    }
}
