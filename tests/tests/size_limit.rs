//! A limit for the size of files, which the system enforces by a signal that ends a program which does not expect it.

use std::path::Path;

use acp_sessions_tests::client::Client;
use acp_sessions_tests::launch::{Launch, built};
use acp_sessions_tests::scene::Scene;
use acp_sessions_tests::transcript::text_of;
use serde_json::{Value, json};

/// The program in front of its own agent, which may not write files of more than so many KiB.
fn limited(scene: &Scene, kib: u32) -> Launch {
    // Some shells count in blocks of 512 bytes and some in those of 1024: the limit is the one or the half.
    let script = format!("ulimit -f {kib}; exec \"$0\" \"$@\"");
    let launch = Launch::new(Path::new("sh")).args(&["-c", &script]).arg(built("acp-sessions"));
    launch.args(&["agent", "--store"]).arg(scene.store())
}

fn turn(client: &mut Client, id: &str, text: &str) -> Value {
    let prompt = json!([{"type": "text", "text": text}]);
    client.result("session/prompt", json!({"sessionId": id, "prompt": prompt}))["_meta"]["acp-sessions"].clone()
}

#[test]
fn a_file_that_may_not_grow_is_an_error_of_the_store() {
    let scene = Scene::new();
    let mut client = Client::ready(&limited(&scene, 1024));
    let id = client.new_session(&scene.cwd());
    assert_eq!(turn(&mut client, &id, "hello"), Value::Null, "there is room");
    let told = turn(&mut client, &id, &"x".repeat(3_000_000));
    assert_eq!(told["stored"], false, "{told}");
    // The connection goes on, and nothing of what was stored before is lost.
    client.take_updates(&id);
    client.list();
    assert!(client.close().success());
    let (replay, _) = Client::ready(&scene.builtin(&[])).load(&id, &scene.cwd());
    assert!(text_of(&replay, "user_message_chunk").starts_with("hello"));
}
