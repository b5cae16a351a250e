//! A list that is followed with the official TypeScript SDK.

use std::path::Path;

use acp_sessions_tests::client::Client;
use acp_sessions_tests::launch::Launch;
use acp_sessions_tests::scene::Scene;
use acp_sessions_tests::schema::Role;
use acp_sessions_tests::tap;
use serde_json::{Value, json};

/// The list as the follower must come to keep it: ordered by ids, but for when its sessions were last active.
fn in_order(rows: Value) -> Value {
    let Value::Array(mut rows) = rows else { panic!("no rows: {rows}") };
    for row in &mut rows {
        row.as_object_mut().expect("a row").remove("updatedAt");
    }
    rows.sort_by_key(|row| row["sessionId"].to_string());
    Value::Array(rows)
}

#[test]
fn the_official_typescript_sdk_follows_a_list() {
    let scene = Scene::new();
    let mut writer = Client::ready(&scene.proxy(&[], &["--fork"]));
    let ids: Vec<String> = (0..3).map(|_| writer.new_session(&scene.cwd())).collect();
    let tapped = scene.file("front.tap");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("clients/ts/follower.mjs");
    let program = scene.proxy(&[], &["--fork"]).tapped(&tapped);
    let node = Launch::new(Path::new("node")).arg(script).under(&program);
    let mut follower = Client::start(&node).unchecked();
    let mut shown = in_order(follower.read());
    assert_eq!(shown.as_array().map(Vec::len), Some(3));

    writer.prompt(&ids[0], "spend 0.5");
    writer.result("session/set_title", json!({"sessionId": ids[1], "title": "The roof"}));
    writer.result("session/archive", json!({"sessionId": ids[1]}));
    writer.result("session/fork", scene.place(&ids[0]));
    writer.result("session/delete", json!({"sessionId": ids[2]}));
    writer.start_endless(&ids[0], "wait");
    let listed = in_order(writer.result("session/list", json!({"archived": "all"}))["sessions"].take());
    while shown != listed {
        shown = in_order(follower.read());
    }
    assert_eq!(listed.as_array().map(Vec::len), Some(3));
    assert!(follower.close().success());
    assert!(tap::check(&tapped, Role::Agent) >= 4, "a hello, a page, changes and an end");
}
