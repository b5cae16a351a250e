//! Behind the program is another one like it, over a store of its own, which tells what changes in its list.

use acp_sessions_tests::client::Client;
use acp_sessions_tests::followed::Followed;
use acp_sessions_tests::launch::Launch;
use acp_sessions_tests::scene::Scene;
use serde_json::json;

#[test]
fn a_sessions_life_in_another_program_of_the_agent_is_told() {
    let scene = Scene::new();
    let agent = scene.proxy(&[], &["--load"]);
    let mut client = Client::ready(&Launch::proxy(&scene.file("in-front.db"), &[], &agent));
    let mut list = Followed::begin(&mut client, json!({}));
    let mut other = Client::ready(&agent);
    let id = other.new_session(&scene.cwd());
    list.wait(&mut client, "it was made", |list| list.row(&id)["state"] == "idle");
    let turn = other.start_endless(&id, "wait");
    list.wait(&mut client, "a turn has begun", |list| list.row(&id)["state"] == "running");
    other.notify("session/cancel", json!({"sessionId": id}));
    other.finish(&turn).expect("it is cancelled");
    list.wait(&mut client, "the turn has ended", |list| list.row(&id)["state"] == "idle");
    other.result("session/set_title", json!({"sessionId": id, "title": "The roof"}));
    list.wait(&mut client, "it was renamed", |list| list.row(&id)["title"] == "The roof");
    other.result("session/delete", json!({"sessionId": id}));
    list.wait(&mut client, "it was deleted", |list| list.row(&id).is_null());
    list.settle(&mut client);
    assert_eq!(list.findings, [""; 0]);
    other.close();
    client.close();
}
