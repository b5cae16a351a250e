//! What is left of a turn when the program is killed in the middle of a tool call.

use std::time::{Duration, Instant};

use acp_sessions_tests::client::Client;
use acp_sessions_tests::launch::Launch;
use acp_sessions_tests::process::signal;
use acp_sessions_tests::scene::Scene;
use acp_sessions_tests::transcript::{Entry, join};
use acp_sessions_tests::until;
use serde_json::{Value, json};

/// When nobody may take a session for open any more whose program was killed: a heartbeat later, on a busy machine.
const OVER: Duration = Duration::from_mins(1);

fn status(client: &mut Client, id: &str) -> Value {
    client.result("session/status", json!({"sessionId": id}))["status"].clone()
}

/// The tool calls, and the status in which each ended.
fn calls(replay: &[Value]) -> Vec<(Value, Value)> {
    let calls = join(replay).into_iter().filter_map(|entry| match entry {
        Entry::ToolCall(call) => Some((call["toolCallId"].clone(), call["status"].clone())),
        _ => None,
    });
    calls.collect()
}

fn ended() -> [(Value, Value); 2] {
    [(json!("call-1"), json!("completed")), (json!("call-3"), json!("failed"))]
}

/// A turn that hangs in the middle of a tool call, after one that has ended.
struct Hanging {
    scene: Scene,
    launch: Launch,
    client: Client,
    id: String,
    turn: Value,
}

impl Hanging {
    fn new(options: &[&str], flags: &[&str]) -> Self {
        let scene = Scene::new();
        let launch = scene.proxy(options, flags);
        let mut client = Client::ready(&launch);
        let id = client.new_session(&scene.cwd());
        client.prompt(&id, "tool");
        let turn = client.start_endless(&id, "hang");
        Self { scene, launch, client, id, turn }
    }
}

#[test]
fn a_killed_program_leaves_no_session_open_and_no_tool_call_pending() {
    for flags in [&[][..], &["--load", "--resume"]] {
        let Hanging { scene, launch, client, id, .. } = Hanging::new(&[], flags);
        let mut other = Client::ready(&launch);
        until("another window sees the call", || {
            other.load(&id, &scene.cwd()).0.iter().any(|update| update["toolCallId"] == "call-3")
        });
        other.close();
        client.kill();

        let killed = Instant::now();
        let mut client = Client::ready(&launch);
        while status(&mut client, &id) != "saved" {
            assert!(killed.elapsed() < OVER, "{flags:?}: it is still taken for open");
        }
        for _ in 0..2 {
            let (replay, _) = client.load(&id, &scene.cwd());
            assert_eq!(calls(&replay), ended(), "{flags:?}");
            client.result("session/close", json!({"sessionId": id}));
        }
    }
}

#[test]
fn a_killed_agent_leaves_no_tool_call_pending() {
    for flags in [&[][..], &["--load", "--resume"]] {
        for restart in ["on", "off"] {
            let Hanging { scene, launch, mut client, id, turn } = Hanging::new(&["--restart", restart], flags);
            signal("KILL", scene.agent_pids()[0]);
            assert_eq!(client.finish(&turn).expect_err("nobody is left to end it").code, -32603);
            match restart {
                "on" => assert!(client.close().success()),
                _ => assert!(!client.wait().success()),
            }
            let (replay, _) = Client::ready(&launch).load(&id, &scene.cwd());
            assert_eq!(calls(&replay), ended(), "{flags:?}, --restart {restart}");
        }
    }
}
