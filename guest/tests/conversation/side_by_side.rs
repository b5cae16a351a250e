//! Two windows on one session, each with an agent of its own: what the stories of them begin with.

use acp_sessions_guest::engine::{Arrival, Content, Output, Peer};
use acp_sessions_guest::storage::Storage;
use serde_json::{Value, json};

use crate::desk::{Desk, Out, World, envelope};
use crate::scenes::{ask_load, begun, oblige, said};

/// How long it may take until what is said elsewhere is shown, in milliseconds.
pub(crate) const SOON: i64 = 1000;

/// A window on `s1` with another agent than the first has, which knows it as `b1`.
pub(crate) fn other<'a, S: Storage>(store: &'a S, world: &'a World) -> Desk<'a, S> {
    with_agent(store, world, "b", "b1")
}

/// A window on `s1` with this agent, which knows it by this id.
pub(crate) fn with_agent<'a, S: Storage>(store: &'a S, world: &'a World, agent: &str, agent_id: &str) -> Desk<'a, S> {
    let mut desk = Desk::open(store, world, &[]);
    desk.greet(Some(agent), &json!({}));
    let out = ask_load(&mut desk, "load", "s1");
    oblige(&mut desk, out, &[], agent_id).answer("load");
    desk
}

/// Two windows that have `s1` open, in which one turn was had.
pub(crate) fn two_windows<'a, S: Storage>(store: &'a S, world: &'a World) -> (Desk<'a, S>, Desk<'a, S>) {
    let first = begun(store, world, &json!({"sessionCapabilities": {"resume": {}}}), &[("Hi", "Ho")]);
    (first, other(store, world))
}

pub(crate) fn ends<S: Storage>(desk: &mut Desk<'_, S>, prompt: &Out) -> Out {
    desk.reply(&prompt.request("session/prompt"), json!({"stopReason": "end_turn"}))
}

/// What a client is told of a turn elsewhere, and nothing of it is taken for its own agent's.
pub(crate) fn shown(out: &Out) -> Vec<String> {
    let updates = out.client.iter().filter(|message| message["method"] == "session/update");
    for message in updates.filter(|message| message["params"]["update"]["sessionUpdate"] != "session_info_update") {
        assert_eq!(message["params"]["_meta"]["acp-sessions"]["elsewhere"], true, "{message}");
    }
    said(&out.client)
}

/// A client that has no room for what is shown sends this: no prompt goes to the agent yet. What the client is sent.
pub(crate) fn sends_without_room<const N: usize>(desk: &mut Desk<'_>, lines: [Value; N]) -> Vec<String> {
    desk.engine.idle();
    let content = |line| Content::Line(envelope(line));
    desk.engine.receive(lines.map(|line| Arrival { peer: Peer::Client, content: content(line) }));
    let sent = desk.engine.pull(0).into_iter().filter_map(|output| match output {
        Output::ToClient(line) => Some(line),
        Output::ToAgent(line) if line.contains("session/prompt") => panic!("{line}"),
        _ => None,
    });
    sent.collect()
}
