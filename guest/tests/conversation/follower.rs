//! A client that follows lists: what it asks, and what it is told (draft: session list extensions).

use acp_sessions_guest::storage::{Memory, Storage};
use serde_json::{Value, json};

use crate::desk::{Desk, Out, World};
use crate::scenes::{CWD, ask_prompt, met};

/// A change in one window is told in another within this time, in milliseconds.
pub(crate) const SOON: i64 = 1000;

pub(crate) fn loads() -> Value {
    json!({"loadSession": true, "sessionCapabilities": {"fork": {}, "close": {}}})
}

pub(crate) fn window<'a, S: Storage>(store: &'a S, world: &'a World) -> Desk<'a, S> {
    Desk::ready(store, world, &loads())
}

/// A window at a turn in `s1`, and another that follows the list by this subscription.
pub(crate) fn followed_turn<'a>(store: &'a Memory, world: &'a World) -> (Desk<'a>, Desk<'a>, String) {
    let mut first = window(store, world);
    first.new_session("s1", CWD);
    let mut second = window(store, world);
    let (subscription, _) = subscribe(&mut second, json!({}));
    ask_prompt(&mut first, "turn", "s1", "Go");
    (first, second, subscription)
}

/// A window of a client that wants hints.
pub(crate) fn hinted<'a>(store: &'a Memory, world: &'a World) -> Desk<'a> {
    met(store, world, &json!({"session": {"listChanged": {}}}), &loads())
}

/// The rows of a list with what the draft adds.
pub(crate) fn rows<S: Storage>(desk: &mut Desk<'_, S>) -> Vec<Value> {
    rows_of(desk, json!({"archived": "all"}))
}

pub(crate) fn rows_of<S: Storage>(desk: &mut Desk<'_, S>, params: Value) -> Vec<Value> {
    let answer = desk.ask("session/list", params);
    answer["result"]["sessions"].as_array().unwrap_or_else(|| panic!("{answer}")).clone()
}

/// What a list says is being done in a session.
pub(crate) fn state<S: Storage>(desk: &mut Desk<'_, S>, id: &str) -> Value {
    let row = rows(desk).into_iter().find(|row| row["sessionId"] == id);
    row.unwrap_or_else(|| panic!("{id} is not listed"))["state"].clone()
}

/// Subscribes; the subscription's id and the first page.
pub(crate) fn subscribe<S: Storage>(desk: &mut Desk<'_, S>, params: Value) -> (String, Vec<Value>) {
    let answer = desk.ask("session/list/subscribe", params);
    let id = answer["result"]["subscriptionId"].as_str().unwrap_or_else(|| panic!("{answer}"));
    (id.to_owned(), answer["result"]["sessions"].as_array().unwrap().clone())
}

/// What a subscription was told: the rows, and the ids of what is gone.
pub(crate) fn told(out: &Out, subscription: &str) -> (Vec<Value>, Vec<String>) {
    let (mut rows, mut removed) = (Vec::new(), Vec::new());
    for message in notified(out, "session/list/changes") {
        if message["subscriptionId"] == subscription {
            rows.extend(message["sessions"].as_array().unwrap().clone());
            let ids = message["removed"].as_array().unwrap();
            removed.extend(ids.iter().map(|id| id.as_str().unwrap().to_owned()));
        }
    }
    (rows, removed)
}

/// The params of the client's notifications of a method.
pub(crate) fn notified(out: &Out, method: &str) -> Vec<Value> {
    out.client.iter().filter(|message| message["method"] == method).map(|message| message["params"].clone()).collect()
}

/// One member of each of these rows, by session.
pub(crate) fn members(rows: &[Value], member: &str) -> Vec<(String, Value)> {
    rows.iter().map(|row| (row["sessionId"].as_str().unwrap().to_owned(), row[member].clone())).collect()
}

pub(crate) fn one(id: &str, value: impl Into<Value>) -> Vec<(String, Value)> {
    vec![(id.to_owned(), value.into())]
}
