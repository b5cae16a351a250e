//! The small agent that comes with the program.

use std::fs;

use acp_sessions_tests::client::Client;
use acp_sessions_tests::process::is_running;
use acp_sessions_tests::scene::Scene;
use acp_sessions_tests::transcript::text_of;
use acp_sessions_tests::until;
use serde_json::json;

/// Writes a shell script into the scene and returns the command that runs it.
fn script(scene: &Scene, text: &str) -> String {
    let path = scene.file("command.sh");
    fs::write(&path, text).expect("the scene's folder is writable");
    format!("sh {}", path.display())
}

/// The process id that a command says first.
fn said_pid(client: &mut Client, session: &str) -> u32 {
    let update = client.wait_for_update(session, |update| update["sessionUpdate"] == "agent_message_chunk");
    update["content"]["text"].as_str().expect("text").trim().parse().expect("a process id")
}

#[test]
fn without_a_command_it_says_the_same_thing_twice() {
    let scene = Scene::new();
    let mut client = Client::ready(&scene.builtin(&[]));
    let answers = [(); 2].map(|()| {
        let id = client.new_session(&scene.cwd());
        text_of(&client.prompt(&id, "hello there"), "agent_message_chunk")
    });
    assert!(answers[0].contains("hello there"), "{answers:?}");
    assert_eq!(answers[0], answers[1]);
}

#[test]
fn a_command_gets_the_prompt_and_knows_where_it_is() {
    let scene = Scene::new();
    let command = script(&scene, "echo \"prompt=$(cat)\"; env; pwd");
    let mut client = Client::ready(&scene.builtin(&["--exec", &command]));
    let new = client.result("session/new", json!({"cwd": scene.cwd(), "mcpServers": []}));
    let id = new["sessionId"].as_str().expect("an id").to_owned();
    let mode = new["modes"]["currentModeId"].as_str().expect("a mode").to_owned();
    let answer = text_of(&client.prompt(&id, "hello there"), "agent_message_chunk");
    assert!(answer.contains("prompt=hello there"), "{answer}");
    for value in [&id, &scene.cwd(), &mode] {
        let is_told = |line: &str| line.starts_with("ACP_") && line.ends_with(&format!("={value}"));
        assert!(answer.lines().any(is_told), "{value} is not in the environment:\n{answer}");
    }
}

#[test]
fn the_output_comes_line_by_line_as_it_is_written() {
    let scene = Scene::new();
    // The second line is written only once the client has shown that it saw the first.
    let gate = scene.file("gate");
    let made = std::process::Command::new("mkfifo").arg(&gate).status().expect("the command `mkfifo`");
    assert!(made.success());
    let command = script(&scene, &format!("echo first; read line < '{}'; echo \"$line\"", gate.display()));
    let mut client = Client::ready(&scene.builtin(&["--exec", &command]));
    let id = client.new_session(&scene.cwd());
    let turn = client.start_prompt(&id, "hello");
    client.wait_for_update(&id, |update| update["content"]["text"].as_str().is_some_and(|text| text.contains("first")));
    fs::write(&gate, "second\n").expect("the command reads");
    client.finish(&turn).expect("the turn ends");
    let said = text_of(&client.take_updates(&id), "agent_message_chunk");
    assert_eq!(said.trim_end(), "first\nsecond");
}

#[test]
fn cancelling_kills_the_command_and_keeps_what_it_said() {
    let scene = Scene::new();
    let command = script(&scene, "cat > /dev/null; echo $$; exec sleep 600");
    let launch = scene.builtin(&["--exec", &command]);
    let mut client = Client::ready(&launch);
    let id = client.new_session(&scene.cwd());
    let turn = client.start_prompt(&id, "hello");
    let pid = said_pid(&mut client, &id);
    assert!(is_running(pid));
    client.notify("session/cancel", json!({"sessionId": id}));
    assert_eq!(client.finish(&turn).expect("an end")["stopReason"], "cancelled");
    until("the cancelled command has ended", || !is_running(pid));
    client.close();
    let (replay, _) = Client::ready(&launch).load(&id, &scene.cwd());
    assert_eq!(text_of(&replay, "agent_message_chunk").trim(), pid.to_string());
}

#[test]
fn ending_the_program_kills_the_command() {
    let scene = Scene::new();
    let command = script(&scene, "trap '' TERM; cat > /dev/null; echo $$; while :; do sleep 600; done");
    let mut client = Client::ready(&scene.builtin(&["--exec", &command]));
    let id = client.new_session(&scene.cwd());
    client.start_prompt(&id, "hello");
    let pid = said_pid(&mut client, &id);
    client.close();
    assert!(!is_running(pid), "the command is an orphan");
}

#[test]
fn a_command_that_fails_says_so_in_its_turn() {
    let scene = Scene::new();
    let command = script(&scene, "cat > /dev/null; echo partly; exit 7");
    let mut client = Client::ready(&scene.builtin(&["--exec", &command]));
    let id = client.new_session(&scene.cwd());
    let turn = client.start_prompt(&id, "hello");
    let outcome = client.finish(&turn);
    let said = text_of(&client.take_updates(&id), "agent_message_chunk");
    assert!(said.contains("partly"), "{said}");
    assert!(said.contains("exit status: 7"), "{said}");
    assert_eq!(outcome.expect("an end")["stopReason"], "end_turn");
}
