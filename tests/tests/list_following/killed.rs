//! Programs that are killed say nothing any more of what is being done in their sessions.

use acp_sessions_tests::client::Client;
use acp_sessions_tests::followed::Followed;
use acp_sessions_tests::scene::Scene;
use serde_json::json;

#[test]
fn of_what_a_killed_program_was_doing_nothing_is_known_any_more() {
    let scene = Scene::new();
    let mut client = Client::ready(&scene.proxy(&[], &[]));
    let mut list = Followed::begin(&mut client, json!({"archived": "all"}));
    let mut writers = Vec::new();
    for (prompt, state) in [("", "idle"), ("wait", "running"), ("permission", "requires_action")] {
        let mut writer = Client::ready(&scene.proxy(&[], &[]));
        let id = writer.new_session(&scene.cwd());
        writer.hold_permissions();
        if !prompt.is_empty() {
            writer.start_prompt(&id, prompt);
        }
        list.wait(&mut client, state, |list| list.row(&id)["state"] == state);
        writers.push((writer, id));
    }
    let living = client.new_session(&scene.cwd());
    let ids: Vec<String> = writers
        .into_iter()
        .map(|(writer, id)| {
            writer.kill();
            id
        })
        .collect();
    for id in &ids {
        list.wait(&mut client, "nothing is known", |list| list.row(id).is_object() && list.row(id)["state"].is_null());
    }
    list.settle(&mut client);
    assert_eq!(list.row(&living)["state"], "idle");
}
