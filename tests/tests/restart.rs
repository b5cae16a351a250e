//! An agent that ends while its client is there: it is started again, and the conversation goes on.

use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use acp_sessions_tests::client::Client;
use acp_sessions_tests::launch::Launch;
use acp_sessions_tests::process::{is_running, signal};
use acp_sessions_tests::scene::Scene;
use acp_sessions_tests::transcript::text_of;
use acp_sessions_tests::until;
use serde_json::json;

/// What agents can do to open a session again, from nothing to both.
const KINDS: [&[&str]; 4] = [&[], &["--resume"], &["--load"], &["--load", "--resume", "--list", "--dates"]];

/// Kills the agent, and waits for the one in its place.
fn kill_agent(scene: &Scene) {
    let before = scene.agent_pids();
    let killed = *before.last().expect("one runs");
    signal("KILL", killed);
    until("another is started", || scene.agent_pids().len() > before.len());
    assert!(!is_running(killed));
}

#[test]
fn killed_at_rest_nobody_notices() {
    for flags in KINDS {
        let scene = Scene::new();
        let launch = scene.proxy(&[], flags);
        let mut client = Client::ready(&launch);
        let params = json!({"cwd": scene.cwd(), "mcpServers": [{"name": "m", "command": "/m", "args": [], "env": []}]});
        let id = client.result("session/new", params.clone())["sessionId"].as_str().expect("an id").to_owned();
        client.prompt(&id, "one");
        for word in ["two", "three"] {
            kill_agent(&scene);
            let said = text_of(&client.prompt(&id, word), "agent_message_chunk");
            assert_eq!(said, format!("You said: {word}"), "{flags:?}: what it replays is not shown");
        }
        let introductions = scene.heard_of("initialize");
        assert_eq!(introductions.len(), 3);
        assert!(introductions.iter().all(|params| *params == introductions[0]), "{introductions:?}");
        let again =
            [scene.heard_of("session/resume"), scene.heard_of("session/load"), scene.heard_of("session/new")].concat();
        assert!(again.len() >= 3, "{again:?}");
        assert!(again.iter().all(|given| given["mcpServers"] == params["mcpServers"]), "{flags:?}: {again:?}");
        assert!(client.close().success());
        let (replay, _) = Client::ready(&scene.builtin(&[])).load(&id, &scene.cwd());
        assert_eq!(text_of(&replay, "user_message_chunk"), "onetwothree", "{flags:?}");
        assert_eq!(text_of(&replay, "agent_message_chunk"), "You said: oneYou said: twoYou said: three", "{flags:?}");
    }
}

#[test]
fn killed_in_mid_turn_the_turn_fails_and_the_conversation_goes_on() {
    for flags in KINDS {
        let scene = Scene::new();
        let mut client = Client::ready(&scene.proxy(&[], flags));
        let id = client.new_session(&scene.cwd());
        client.prompt(&id, "before");
        let turn = client.start_endless(&id, "wait");
        kill_agent(&scene);
        let error = client.finish(&turn).expect_err("nobody is left to end the turn");
        assert_eq!(error.code, -32603, "{error:?}");
        assert!(error.message.contains("SIGKILL") && error.message.contains("started again"), "{error:?}");
        client.prompt(&id, "after");
        assert_eq!(client.listed(), std::slice::from_ref(&id), "{flags:?}");
        assert!(client.close().success());
        let (replay, _) = Client::ready(&scene.builtin(&[])).load(&id, &scene.cwd());
        assert_eq!(text_of(&replay, "user_message_chunk"), "beforewaitafter", "{flags:?}");
        let said = text_of(&replay, "agent_message_chunk");
        assert_eq!(said, "You said: beforewaitingYou said: after", "{flags:?}");
    }
}

#[test]
fn an_agent_that_ends_by_itself_is_started_again_too() {
    let scene = Scene::new();
    let mut client = Client::ready(&scene.proxy(&["--restart", "on"], &[]));
    let id = client.new_session(&scene.cwd());
    let turn = client.start_prompt(&id, "crash");
    let error = client.finish(&turn).expect_err("it has ended");
    assert!(error.message.contains("exit status: 3"), "{error:?}");
    client.prompt(&id, "hello");
    // Its end after the client's is its own affair.
    assert!(client.close().success());
    assert_eq!(scene.agent_pids().len(), 2);
}

#[test]
fn an_agent_that_ends_again_and_again_ends_the_connection() {
    let scene = Scene::new();
    let mut client = Client::ready(&scene.proxy(&[], &[]));
    let id = client.new_session(&scene.cwd());
    for _ in 0..6 {
        let turn = client.start_prompt(&id, "crash");
        assert_eq!(client.finish(&turn).expect_err("it has ended").code, -32603);
    }
    assert_eq!(client.wait().code(), Some(1));
    assert_eq!(scene.agent_pids().len(), 6);
}

#[test]
fn an_agent_that_ends_at_once_is_told_of_in_a_sentence() {
    for (options, expected) in [
        (&[][..], "the agent has ended: exit status: 0; it was started again 5 times within a minute"),
        (&["--restart", "off"], "the agent has ended: exit status: 0"),
    ] {
        let scene = Scene::new();
        let agent = Launch::new(Path::new("sh")).args(&["-c", "exit 0"]);
        let mut command = Launch::proxy(&scene.store(), options, &agent).command();
        let mut program = command.stderr(Stdio::piped()).spawn().expect("the program starts");
        let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": 1}});
        let mut input = program.stdin.take().expect("its input is piped");
        writeln!(input, "{hello}").expect("room");
        let output = program.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(1));
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(complaint.trim_end().ends_with(expected), "{complaint}");
        let answers = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(answers.lines().count() <= 1 && (answers.is_empty() || answers.contains("-32603")), "{answers}");
        drop(input);
    }
}

#[test]
fn a_client_is_told_of_an_agent_that_cannot_be_started() {
    let scene = Scene::new();
    let mut client = Client::start(&Launch::proxy(&scene.store(), &[], &Launch::new(Path::new("/no/such/agent"))));
    let error = client.error("initialize", json!({"protocolVersion": 1}));
    assert!(error.message.contains("cannot start the agent `/no/such/agent`"), "{error:?}");
    assert_eq!(client.wait().code(), Some(1));
    // One that ends again and again is no session that could be loaded.
    let agent = Launch::new(Path::new("sh")).args(&["-c", "read line; exit 3"]);
    let mut client = Client::start(&Launch::proxy(&scene.store(), &[], &agent));
    let error = client.error("initialize", json!({"protocolVersion": 1}));
    assert!(error.message.contains("it has ended before it answered `initialize` (exit status: 3)"), "{error:?}");
    assert!(error.message.contains("(5 times)"), "{error:?}");
    assert_eq!(client.wait().code(), Some(1));
}
