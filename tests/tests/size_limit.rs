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

#[test]
fn what_could_not_be_stored_until_the_end_is_told_then() {
    let scene = Scene::new();
    let log = scene.file("log");
    let launch = limited_logging(&scene, 1024, "2> \"$ACP_TEST_LOG\"").env("ACP_TEST_LOG", &log);
    let id = goes_on_unstored(&scene, Client::ready(&launch.env("ACP_SESSIONS_LOG", "off")));
    let told = fs::read_to_string(log).expect("the log");
    let expected = "acp-sessions: what was said last in one session could not be stored until the end, and is lost";
    assert_eq!(told.lines().collect::<Vec<_>>(), [format!("{expected}: {id}")]);
}

/// More is said than the store takes, which is logged; in which session.
fn goes_on_unstored(scene: &Scene, mut client: Client) -> String {
    let id = client.new_session(&scene.cwd());
    assert_eq!(turn(&mut client, &id, "hello"), Value::Null, "there is room");
    let told = turn(&mut client, &id, &"x".repeat(3_000_000));
    assert_eq!(told["stored"], false, "{told}");
    // The connection goes on, and nothing of what was stored before is lost.
    client.take_updates(&id);
    client.list();
    assert_eq!(client.close().code(), Some(1), "what was said last is lost");
    let (replay, _) = Client::ready(&scene.builtin(&[])).load(&id, &scene.cwd());
    assert!(text_of(&replay, "user_message_chunk").starts_with("hello"));
    id
}

#[test]
fn a_store_is_opened_for_reading_where_nothing_can_be_written_beside_it() {
    let scene = Scene::new();
    assert!(Client::ready(&scene.builtin(&[])).close().success());
    let script = r#"ulimit -f 0; exec "$0" list --store "$1""#;
    let launch = Launch::new(Path::new("sh")).args(&["-c", script]).arg(built("acp-sessions")).arg(scene.store());
    // The engine needs a file of its own in memory, to which the limit applies as well: on a disk that is full it has that.
    let complaint = Ran::of(&launch).complaint;
    assert!(complaint.contains("can only be read for now: the disk is full"), "{complaint}");
    assert!(!complaint.contains("cannot open"), "{complaint}");
}
