//! Agents that people use, with a model stub behind them: what one client saw is what the next one loads.

use std::fs;
use std::path::Path;

use acp_sessions_tests::client::Client;
use acp_sessions_tests::launch::Launch;
use acp_sessions_tests::model_stub::ModelStub;
use acp_sessions_tests::real_agents::{opencode, qwen_code};
use acp_sessions_tests::scene::Scene;
use acp_sessions_tests::transcript::{Entry, join, text_of, with_prompt};
use serde_json::json;

fn records_and_replays(agent: fn(&Path, &ModelStub) -> Launch) {
    let scene = Scene::new();
    let model = ModelStub::start();
    let notes = format!("{}/notes.txt", scene.cwd());
    fs::write(&notes, "one\ntwo\nthree\n").expect("the project is writable");
    let launch = Launch::proxy(&scene.store(), &[], &agent(&scene.file("home"), &model));

    let mut client = Client::ready(&launch).unchecked();
    let id = client.new_session(&scene.cwd());
    let mut seen = Vec::new();
    for prompt in ["What do you think of this project?", &format!("Please read {notes} and count its lines.")] {
        let updates = client.prompt(&id, prompt);
        seen.extend(with_prompt(prompt, &updates));
    }
    client.kill();

    let seen = join(&seen);
    let calls = seen.iter().filter(|entry| matches!(entry, Entry::ToolCall(_))).count();
    assert_eq!(calls, 1, "the conversation has a tool call: {seen:#?}");
    let mut client = Client::ready(&launch).unchecked();
    let row = client.list().into_iter().find(|row| row["sessionId"] == json!(id)).expect("it is listed");
    assert!(row["title"].is_string(), "{row}");
    let (replay, _) = client.load(&id, &scene.cwd());
    assert_eq!(join(&replay), seen);

    let answer = client.prompt(&id, "And what do you think now?");
    assert!(!text_of(&answer, "agent_message_chunk").is_empty(), "the conversation goes on");
    client.close();
    let (replay, _) = Client::ready(&launch).unchecked().load(&id, &scene.cwd());
    let replayed = join(&replay);
    assert_eq!(replayed[..seen.len()], seen);
    assert_eq!(replayed.len(), seen.len() + 2);
}

#[test]
fn opencode_is_recorded_and_replayed() {
    records_and_replays(opencode);
}

#[test]
fn qwen_code_is_recorded_and_replayed() {
    records_and_replays(qwen_code);
}
