//! A delete reaches the agent that keeps the session too, however long that takes it.

use acp_sessions_tests::client::Client;
use acp_sessions_tests::launch::Launch;
use acp_sessions_tests::process::{is_running, signal};
use acp_sessions_tests::scene::Scene;
use acp_sessions_tests::until;
use serde_json::json;

/// An agent that needs two seconds to end and deletes only then.
const SLOW: &[&str] = &["--list", "--load", "--delete", "--deletes-at-end", "--end-ms", "2000"];

/// A session with a turn, open no more.
fn with_session(launch: &Launch, scene: &Scene) -> (Client, String) {
    let mut client = Client::ready(launch);
    let id = client.new_session(&scene.cwd());
    client.prompt(&id, "one");
    (client, id)
}

fn agents_have_ended(scene: &Scene) {
    until("the agents have ended", || !scene.agent_pids().into_iter().any(is_running));
}

#[test]
fn an_agent_that_needs_two_seconds_to_end_gets_to_delete() {
    let scene = Scene::new();
    let (mut client, id) = with_session(&scene.proxy(&[], SLOW), &scene);
    assert_eq!(client.result("session/delete", json!({"sessionId": id})), json!({}));
    assert!(client.close().success());
    agents_have_ended(&scene);
    assert!(!scene.outside().has(&id), "it was stopped before it had deleted");
}

#[test]
fn a_delete_is_done_again_if_the_agent_was_killed_and_started_again() {
    let scene = Scene::new();
    let (mut client, id) = with_session(&scene.proxy(&[], SLOW), &scene);
    assert_eq!(client.result("session/delete", json!({"sessionId": id})), json!({}));
    until("the agent is asked", || scene.heard_of("session/delete").len() == 1);
    signal("KILL", scene.agent_pids()[0]);
    until("another agent is asked again", || scene.heard_of("session/delete").len() == 2);
    assert_eq!(scene.heard_of("session/delete").last(), Some(&json!({"sessionId": id})));
    assert!(client.close().success());
    agents_have_ended(&scene);
    assert!(!scene.outside().has(&id));
}

#[test]
fn a_delete_is_done_again_by_the_next_connection_if_the_agent_was_killed() {
    let scene = Scene::new();
    let launch = scene.proxy(&["--restart", "off"], SLOW);
    let (mut client, id) = with_session(&launch, &scene);
    assert_eq!(client.result("session/delete", json!({"sessionId": id})), json!({}));
    signal("KILL", scene.agent_pids()[0]);
    client.wait();
    assert!(scene.outside().has(&id), "it was killed before it could");
    let asked = scene.heard_of("session/delete").len();

    let mut client = Client::ready(&launch);
    assert_eq!(client.listed(), [""; 0], "deleted is deleted");
    until("the agent is asked again", || scene.heard_of("session/delete").len() > asked);
    assert_eq!(scene.heard_of("session/delete").last(), Some(&json!({"sessionId": id})));
    client.close();
    agents_have_ended(&scene);
    assert!(!scene.outside().has(&id));
}

#[test]
fn a_delete_that_was_done_is_not_done_again() {
    let scene = Scene::new();
    let launch = scene.proxy(&[], &["--list", "--load", "--delete"]);
    let (mut client, id) = with_session(&launch, &scene);
    client.result("session/delete", json!({"sessionId": id}));
    until("the agent has deleted it", || !scene.outside().has(&id));
    client.close();
    scene.outside().have("z-last", &scene.cwd(), &[("hello", "there")]);
    let mut client = Client::ready(&launch);
    until("the agent's list is read", || client.listed() == ["z-last"]);
    client.close();
    assert_eq!(scene.heard_of("session/delete").len(), 1);
}
