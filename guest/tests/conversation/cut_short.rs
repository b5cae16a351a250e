//! A history that is deleted by another engine while it is on its way to the client does not count as shown.

use acp_sessions_guest::engine::{Arrival, Content, Output, Peer};
use acp_sessions_guest::sessions::delete::delete;
use acp_sessions_guest::storage::Memory;
use acp_sessions_guest::store::Store;
use serde_json::{Value, json};

use crate::desk::{Desk, Out, World, envelope};
use crate::scenes::{CWD, ask_load, leave, load, oblige};

const TURNS: usize = 12;
/// Room for about two entries.
const LITTLE: u32 = 4096;

fn resumes() -> Value {
    json!({"sessionCapabilities": {"resume": {}, "fork": {}}})
}

/// A session of turns with long answers, the last of which was cut off.
fn long(store: &Memory, world: &World, capabilities: &Value) -> String {
    let mut desk = Desk::ready(store, world, capabilities);
    let id = desk.new_session("s1", CWD);
    for nth in 0..TURNS {
        desk.turn(&id, &format!("Question {nth}"), &[&"words ".repeat(300)]);
    }
    leave(desk);
    id
}

/// One pull, with room for so much.
fn some(desk: &mut Desk<'_>, room: u32) -> Out {
    let mut out = Out::default();
    for output in desk.engine.pull(room) {
        match output {
            Output::ToClient(line) => out.client.push(serde_json::from_str(&line).unwrap()),
            Output::ToAgent(line) => out.agent.push(serde_json::from_str(&line).unwrap()),
            Output::Keep { .. } | Output::Warn(_) => {}
        }
    }
    out
}

fn receive(desk: &mut Desk<'_>, peer: Peer, message: Value) -> Out {
    desk.engine.receive([Arrival { peer, content: Content::Line(envelope(message)) }]);
    some(desk, 1)
}

/// What a history is shown of, and how.
#[derive(Debug, Clone, Copy)]
enum Shown {
    /// A session that was closed; the agent answers at once, or when all is out.
    Closed { answers_at_once: bool },
    /// One that is open here.
    Open,
    /// A fork, which shares what it shows with one that stays.
    Fork,
    /// From the middle on.
    After,
}

/// Deletes the session after so many pulls of its load; whether there was anything left to come, and the answer.
fn cut(shown: Shown, pulls: usize) -> (bool, Value) {
    let (store, world) = (Memory::new(), World::default());
    let capabilities = resumes();
    let mut id = long(&store, &world, &capabilities);
    let mut desk = Desk::ready(&store, &world, &capabilities);
    let mut params = json!({"sessionId": id, "cwd": CWD, "mcpServers": []});
    match shown {
        Shown::Closed { .. } => {}
        Shown::Open => drop(load(&mut desk, &id, &[])),
        Shown::Fork => {
            let fork = json!({"id": "fork", "method": "session/fork", "params": {"sessionId": id, "cwd": CWD}});
            let out = desk.client(fork);
            let out = oblige(&mut desk, out, &[], "f1");
            out.answer("fork")["result"]["sessionId"].as_str().unwrap().clone_into(&mut id);
            params["sessionId"] = id.as_str().into();
        }
        Shown::After => params["_meta"] = json!({"acp-sessions": {"replay": {"last": 20}}}),
    }
    let mut out = receive(&mut desk, Peer::Client, json!({"id": "load", "method": "session/load", "params": params}));
    let asked = out.asked("session/resume").cloned();
    let answer = |desk: &mut Desk<'_>| match &asked {
        Some(asked) => receive(desk, Peer::Agent, json!({"id": asked["id"], "result": {}})),
        None => Out::default(),
    };
    let is_late = matches!(shown, Shown::Closed { answers_at_once: false });
    if !is_late {
        out.extend(answer(&mut desk));
    }
    for _ in 0..pulls {
        out.extend(some(&mut desk, LITTLE));
    }
    let was_over = !out.is_open("load");
    assert_eq!(delete(&Store::new(&store), &id, 0).unwrap().len(), 1);
    if is_late {
        out.extend(answer(&mut desk));
    }
    while desk.engine.has_more() {
        out.extend(some(&mut desk, LITTLE));
    }
    (!was_over, out.answer("load").clone())
}

#[test]
fn a_history_that_is_deleted_on_its_way_ends_with_an_error_that_says_so() {
    let all = [
        Shown::Closed { answers_at_once: true },
        Shown::Closed { answers_at_once: false },
        Shown::Open,
        Shown::Fork,
        Shown::After,
    ];
    for shown in all {
        let mut cuts = 0;
        for pulls in 0.. {
            let (is_cut, answer) = cut(shown, pulls);
            if !is_cut {
                assert!(answer["result"].is_object(), "{shown:?}: {answer}");
                break;
            }
            cuts += 1;
            assert_eq!(answer["error"]["code"], -32002, "{shown:?} after {pulls}: {answer}");
            let message = answer["error"]["message"].as_str().unwrap();
            assert!(message.contains("deleted"), "{shown:?} after {pulls}: {message}");
            if pulls > 60 {
                // It waits for the agent, which has not answered.
                assert!(matches!(shown, Shown::Closed { answers_at_once: false }), "{shown:?}");
                break;
            }
        }
        assert!(cuts > 3, "{shown:?}: {cuts}");
    }
}

#[test]
fn a_load_whose_session_is_deleted_before_its_agent_has_told_it_says_so() {
    let (store, world) = (Memory::new(), World::default());
    let capabilities = json!({"loadSession": true});
    let id = long(&store, &world, &capabilities);
    let mut desk = Desk::ready(&store, &world, &capabilities);
    let out = ask_load(&mut desk, "load", &id);
    let asked = out.request("session/load");
    delete(&Store::new(&store), &id, 0).unwrap();
    let out = desk.reply(&asked, json!({}));
    let error = &out.answer("load")["error"];
    assert_eq!(error["code"], -32002);
    assert!(error["message"].as_str().unwrap().contains("deleted"), "{error}");
}
