//! The agents of these tests keep to the protocol themselves; else the other tests would show nothing.

use acp_sessions_tests::client::Client;
use acp_sessions_tests::launch::Launch;
use acp_sessions_tests::process::signal;
use acp_sessions_tests::scene::Scene;
use acp_sessions_tests::schema::Role;
use acp_sessions_tests::tap;
use acp_sessions_tests::transcript::text_of;
use serde_json::json;

#[test]
fn the_bare_agent_answers() {
    let mut client = Client::ready(&Launch::bare_agent());
    let id = client.new_session("/project");
    assert_eq!(text_of(&client.prompt(&id, "hello"), "agent_message_chunk"), "Noted.");
    assert!(client.close().success());
}

#[test]
fn the_test_agent_does_all_that_it_can_by_the_schema() {
    let scene = Scene::new();
    let flags =
        &["--load", "--resume", "--list", "--fork", "--delete", "--close", "--modes", "--config", "--echo-user"];
    let launch = scene.agent(flags);
    let note = scene.file("note.txt");
    std::fs::write(&note, "a note").expect("the scene's folder is writable");
    let mut client = Client::ready(&launch);
    let id = client.new_session(&scene.cwd());
    let read = format!("read {}", note.display());
    for command in
        ["stream 3", "tool", "permission", &read, "big 1000", "many 3", "colourful", "title T", "mode code", "hello"]
    {
        client.prompt(&id, command);
    }
    let turn = client.start_prompt(&id, "wait");
    client.wait_for_update(&id, |update| update["content"]["text"] == "waiting");
    client.notify("session/cancel", json!({"sessionId": id}));
    assert_eq!(client.finish(&turn).expect("an end")["stopReason"], "cancelled");
    let effort = json!({"sessionId": id, "configId": "effort", "value": "high"});
    client.result("session/set_config_option", effort);
    client.close();

    let mut client = Client::ready(&launch);
    let (replay, result) = client.load(&id, &scene.cwd());
    assert!(text_of(&replay, "agent_message_chunk").starts_with("word-0 word-1 word-2 Looked it up."));
    assert_eq!(result["configOptions"][0]["currentValue"], "high");
    assert_eq!(client.list().len(), 1);
    client.result("session/delete", json!({"sessionId": id}));
    assert_eq!(client.list().len(), 0);
}

#[test]
fn a_stubborn_agent_is_stubborn() {
    let scene = Scene::new();
    let mut client = Client::ready(&scene.agent(&["--stubborn"]));
    signal("TERM", client.pid());
    let id = client.new_session(&scene.cwd());
    client.prompt(&id, "hello");
}

#[test]
fn the_wiretap_hears_both_sides() {
    let scene = Scene::new();
    let log = scene.file("tap");
    let launch = scene.agent(&[]).tapped(&log);
    let mut client = Client::ready(&launch);
    let id = client.new_session(&scene.cwd());
    client.prompt(&id, "stream 5");
    assert!(client.close().success());
    assert_eq!(tap::check(&log, Role::Agent), 3 + 5);
    assert_eq!(tap::check_peer(&log, Role::Client), 3);
}
