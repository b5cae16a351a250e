//! Misdeeds in a connection.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use acp_sessions_tests::client::Client;
use acp_sessions_tests::engines::{hostile, with_cache};
use acp_sessions_tests::launch::Launch;
use acp_sessions_tests::process::peak;
use acp_sessions_tests::ran::Ran;
use acp_sessions_tests::scene::Scene;
use serde_json::{Value, json};

const MIB: usize = 1 << 20;

/// Little of everything, so that it is soon used up.
const LITTLE: [&str; 12] = [
    "--engine-memory",
    "128",
    "--engine-seconds",
    "1",
    "--engine-call",
    "40",
    "--engine-store-calls",
    "10000",
    "--engine-output",
    "24",
    "--engine-memos",
    "24",
];

/// What the program may hold then: 128 MiB of an instance's memory, 40 MiB that it hands over, 24 MiB that wait, 24 MiB that are kept,
/// and itself. 183 MiB were seen.
const MOST: usize = 256 * MIB;

/// What a call comes to an end with.
const MISDEEDS: [&str; 12] = [
    "trap",
    "loop",
    "memory",
    "recursion",
    "calls",
    "value",
    "values",
    "hits",
    "output",
    "agent-output",
    "warnings",
    "memos",
];

fn options() -> Vec<String> {
    let component = hostile().to_str().expect("a path that is text").to_owned();
    ["--component".to_owned(), component].into_iter().chain(LITTLE.map(str::to_owned)).collect()
}

fn with_options(launch: impl FnOnce(&[&str]) -> Launch, scene: &Scene) -> Client {
    let options = options();
    let options: Vec<_> = options.iter().map(String::as_str).collect();
    let mut client = Client::start(&with_cache(launch(&options), scene)).unchecked();
    client.initialize();
    client
}

fn builtin(scene: &Scene) -> Client {
    with_options(|options| scene.builtin(options), scene)
}

fn shell(scene: &Scene, script: &str) -> Client {
    let agent = Launch::new(Path::new("/bin/sh")).args(&["-c", script]);
    with_options(|options| Launch::proxy(&scene.store(), options, &agent), scene)
}

/// How many instances were lost so far.
fn lost(client: &mut Client) -> Value {
    client.result("hostile/count", json!({}))["lost"].take()
}

#[test]
fn whatever_is_done_in_a_call_costs_its_request_and_nothing_else() {
    let scene = Scene::new();
    let mut client = builtin(&scene);
    let mut losses = 0;
    for place in ["receive", "pull", "idle", "hand-over"] {
        for what in MISDEEDS {
            let error = client.error(&format!("hostile/{place}"), json!({"what": what}));
            losses += 1;
            assert_eq!((error.code, lost(&mut client)), (-32603, json!(losses)), "{what} in {place}");
        }
    }
    let peak = peak(client.pid());
    assert!(peak < MOST, "{} MiB", peak / MIB);
    assert!(client.close().success());
}

#[test]
fn a_call_may_take_the_seconds_that_it_is_given() {
    let scene = Scene::new();
    let mut client = builtin(&scene);
    for losses in 1..=3 {
        // Other calls go before it, for half a second: its second begins with itself, not with theirs.
        let others = Instant::now();
        while others.elapsed() < Duration::from_millis(500) {
            lost(&mut client);
        }
        let begun = Instant::now();
        client.error("hostile/receive", json!({"what": "loop"}));
        assert!(begun.elapsed() >= Duration::from_secs(1), "stopped after {:?}", begun.elapsed());
        assert_eq!(lost(&mut client), losses);
    }
    assert!(client.close().success());
}

#[test]
fn what_the_store_holds_for_an_engine_is_bounded() {
    let scene = Scene::new();
    let mut client = builtin(&scene);
    // It asks 4096 times for the same 1 MiB; the store gives 256 MiB at most, and an error to those who want more.
    let error = client.error("hostile/receive", json!({"what": "answers"}));
    assert_eq!((error.code, lost(&mut client)), (-32603, json!(1)));
    let peak = peak(client.pid());
    assert!(peak < MOST + 256 * MIB, "{} MiB", peak / MIB);
    assert!(client.close().success());
}

#[test]
fn a_request_at_which_the_next_instance_fails_too_is_answered() {
    let scene = Scene::new();
    let mut client = builtin(&scene);
    let error = client.error("hostile/connect", json!({}));
    assert_eq!((error.code, error.message.as_str(), lost(&mut client)), (-32603, "It was lost.", json!(1)));
    // Where none can be told of it, the host answers.
    let error = client.error("hostile/connect", json!({"what": "always"}));
    assert_eq!(error.code, -32603);
    assert_eq!(error.message, "The session engine failed at this request");
    assert_eq!(lost(&mut client), 2);
    assert!(client.close().success());
}

#[test]
fn an_engine_that_fails_for_good_ends_the_connection_and_says_so_to_whoever_waits() {
    let scene = Scene::new();
    let mut client = builtin(&scene);
    client.result("hostile/forever", json!({}));
    let error = client.error("hostile/receive", json!({"what": "trap"}));
    assert_eq!((error.code, error.message.as_str()), (-32603, "The session engine failed at this request"));
    assert_eq!(client.wait().code(), Some(1));
}

#[test]
fn an_engine_that_fails_as_a_side_ends_lets_the_connection_end() {
    for what in ["trap", "loop", "memory", "recursion"] {
        let scene = Scene::new();
        let mut client = builtin(&scene);
        client.result("hostile/peer-closed", json!({"what": what}));
        assert!(client.close().success(), "{what}");
    }
}

#[test]
fn an_engine_that_fails_as_the_agent_is_started_again_is_told_again() {
    let scene = Scene::new();
    // It ends with the first line that it is given.
    let mut client = shell(&scene, "read -r line");
    for (nth, what) in ["trap", "loop", "memory", "recursion"].into_iter().enumerate() {
        let error = client.error("hostile/agent-restarted", json!({"what": what}));
        assert_eq!((error.code, lost(&mut client)), (-32603, json!(nth + 1)), "{what}");
    }
    assert!(client.close().success());
}

#[test]
fn what_is_said_to_an_agent_that_does_not_read_is_bounded() {
    let scene = Scene::new();
    let gate = scene.file("gate");
    assert!(Command::new("mkfifo").arg(&gate).status().expect("mkfifo runs").success());
    let mut client = shell(&scene, &format!("read -r gate < '{}'; exec cat > /dev/null", gate.display()));
    client.result("hostile/flood", json!({"what": "agent-drip"}));
    // The flood ends with the instance that made it.
    while client.read()["method"] != "hostile/anew" {}
    let peak = peak(client.pid());
    assert!(peak < MOST, "{} MiB", peak / MIB);
    // Nothing is taken from the client while the agent does not keep up.
    fs::write(&gate, "open\n").expect("the agent waits for it");
    assert_eq!(lost(&mut client), 1);
    assert!(client.close().success());
}

#[test]
fn an_engine_that_does_not_open_a_connection_ends_the_program_with_a_sentence() {
    for (what, why) in [
        ("trap", "wasm trap: wasm `unreachable` instruction executed"),
        ("loop", "wasm trap: interrupt"),
        ("memory", "wasm trap: wasm `unreachable` instruction executed"),
        ("recursion", "wasm trap: call stack exhausted"),
        ("calls", "one call used the storage 10000 times"),
        ("values", "too much data is being copied"),
    ] {
        let scene = Scene::new();
        // An agent is called by its file.
        let file = scene.file(what);
        symlink("/bin/cat", &file).expect("a link");
        let options = options();
        let options: Vec<_> = options.iter().map(String::as_str).collect();
        let launch = with_cache(Launch::proxy(&scene.store(), &options, &Launch::new(&file)), &scene);
        let complaint = Ran::of(&launch).complained();
        assert!(complaint.contains(why), "{what}: {complaint}");
        assert!(fs::exists(scene.store()).expect("it can be looked for"), "the store was opened");
    }
}
