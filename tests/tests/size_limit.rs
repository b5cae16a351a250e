//! A limit for the size of files, which the system enforces by a signal that ends a program which does not expect it.

use std::fs;
use std::path::Path;

use acp_sessions_tests::client::Client;
use acp_sessions_tests::launch::{Launch, built};
use acp_sessions_tests::ran::Ran;
use acp_sessions_tests::scene::Scene;
use acp_sessions_tests::transcript::text_of;
use serde_json::{Value, json};

/// The program in front of its own agent, which may not write files of more than so many KiB.
fn limited(scene: &Scene, kib: u32) -> Launch {
    // The log of the tests themselves may be longer.
    limited_logging(scene, kib, "2>/dev/null")
}

/// The same with its log going elsewhere.
fn limited_logging(scene: &Scene, kib: u32, redirection: &str) -> Launch {
    // Some shells count in blocks of 512 bytes and some in those of 1024: the limit is the one or the half.
    let script = format!("ulimit -f {kib}; exec \"$0\" \"$@\" {redirection}");
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
    let client = Client::ready(&limited(&scene, 1024));
    goes_on_unstored(&scene, client);
}

#[test]
fn a_log_that_cannot_be_written_ends_nothing() {
    let full = [">> \"$ACP_TEST_LOG\"", "> /dev/full", ">&-"];
    for redirection in full {
        let scene = Scene::new();
        let log = scene.file("log");
        // It is as long as it may be already.
        fs::write(&log, vec![b'\n'; 1024 * 1024]).expect("written");
        let launch = limited_logging(&scene, 1024, &format!("2{redirection}")).env("ACP_TEST_LOG", log);
        goes_on_unstored(&scene, Client::ready(&launch));
    }
}

/// More is said than the store takes, which is logged.
fn goes_on_unstored(scene: &Scene, mut client: Client) {
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

#[test]
fn a_store_is_read_where_nothing_can_be_written_beside_it() {
    let scene = Scene::new();
    let mut client = Client::ready(&scene.builtin(&[]));
    let id = client.new_session(&scene.cwd());
    client.prompt(&id, "Mend the roof");
    assert!(client.close().success());
    let script = r#"ulimit -f 0; exec "$0" list --json --store "$1""#;
    let launch = Launch::new(Path::new("sh")).args(&["-c", script]).arg(built("acp-sessions")).arg(scene.store());
    let ran = Ran::of(&launch);
    assert!(ran.out.contains(&id) && ran.complaint.contains("the disk is full"), "{ran:?}");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    // A client finds it as well.
    let mut client = Client::ready(&limited(&scene, 0));
    assert_eq!(client.list().len(), 1);
    let told = turn_of(&mut client, &scene, &id);
    assert_eq!(told["stored"], false, "{told}");
    assert!(client.close().success());
}

/// The session is loaded and prompted.
fn turn_of(client: &mut Client, scene: &Scene, id: &str) -> Value {
    client.result("session/load", json!({"sessionId": id, "cwd": scene.cwd(), "mcpServers": []}));
    assert!(text_of(&client.take_updates(id), "user_message_chunk").contains("Mend the roof"));
    turn(client, id, "Another")
}
