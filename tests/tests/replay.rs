//! What may happen while a long history is being replayed.

use acp_sessions_tests::client::Client;
use acp_sessions_tests::launch::Launch;
use acp_sessions_tests::process::memory;
use acp_sessions_tests::scene::Scene;
use acp_sessions_tests::transcript::kind;
use serde_json::{Value, json};

const MANY: usize = 5000;

/// A session with a long history, and how to reach it.
struct Long {
    scene: Scene,
    launch: Launch,
    id: String,
}

impl Long {
    fn new() -> Self {
        let scene = Scene::new();
        let launch = scene.proxy(&[], &[]);
        let id = scene.past(&launch, &[&format!("many {MANY}")]);
        Self { scene, launch, id }
    }

    fn place(&self) -> Value {
        json!({"sessionId": self.id, "cwd": self.scene.cwd(), "mcpServers": []})
    }

    /// Starts a load and waits until its replay has begun.
    fn start_load(&self, client: &mut Client) -> Value {
        let load = client.send_request("session/load", self.place());
        client.wait_for_update(&self.id, |update| kind(update) == "tool_call");
        load
    }

    fn check_whole(&self, client: &mut Client) {
        client.take_updates(&self.id);
        let (replay, _) = client.load(&self.id, &self.scene.cwd());
        assert_eq!(calls(&replay), all_calls());
    }

    /// The load is answered as one that was cancelled, and its replay has ended before its end.
    fn check_cut_off(&self, client: &mut Client, load: &Value) {
        let error = client.finish(load).expect_err("most of the replay was still to come");
        assert_eq!(error.code, -32800, "{error:?}");
        let came = calls(&client.take_updates(&self.id));
        assert!(came.len() < MANY, "it was replayed to the end all the same");
        assert_eq!(came, all_calls()[..came.len()]);
        // Whatever is still on its way would come before this answer.
        client.result("session/list", json!({}));
        assert_eq!(calls(&client.take_updates(&self.id)), [""; 0], "it went on after the answer");
    }
}

fn all_calls() -> Vec<String> {
    (0..MANY).map(|number| format!("call-{number}")).collect()
}

fn calls(replay: &[Value]) -> Vec<String> {
    let calls = replay.iter().filter(|update| kind(update) == "tool_call");
    calls.map(|update| update["toolCallId"].as_str().expect("an id").to_owned()).collect()
}

#[test]
fn a_replay_is_whole_in_order_and_ends_before_the_response() {
    let long = Long::new();
    let mut client = Client::ready(&long.launch);
    long.check_whole(&mut client);
    client.result("session/list", json!({}));
    assert_eq!(calls(&client.take_updates(&long.id)), [""; 0], "nothing follows the response");
}

#[test]
fn other_requests_are_answered_meanwhile() {
    let long = Long::new();
    let mut client = Client::ready(&long.launch);
    let load = client.send_request("session/load", long.place());
    let list = client.send_request("session/list", json!({}));
    let mut answered = Vec::new();
    while answered.len() < 2 {
        let message = client.read();
        if message.get("method").is_none() {
            answered.push(message["id"].clone());
        }
    }
    assert_eq!(answered, [list, load], "the list waited for the replay");
}

#[test]
fn a_second_load_does_not_harm_the_first() {
    let long = Long::new();
    let mut client = Client::ready(&long.launch);
    let first = long.start_load(&mut client);
    let second = client.send_request("session/load", long.place());
    for load in [first, second] {
        client.finish(&load).expect("it is loaded");
        assert_eq!(calls(&client.take_updates(&long.id)), all_calls(), "each load is whole and by itself");
    }
    long.check_whole(&mut client);
}

#[test]
fn a_replay_can_be_cancelled() {
    let long = Long::new();
    let mut client = Client::ready(&long.launch);
    let load = long.start_load(&mut client);
    client.notify("$/cancel_request", json!({"requestId": load}));
    long.check_cut_off(&mut client, &load);
    long.check_whole(&mut client);
}

#[test]
fn the_session_can_be_deleted() {
    let long = Long::new();
    let mut client = Client::ready(&long.launch);
    let load = long.start_load(&mut client);
    let delete = client.send_request("session/delete", json!({"sessionId": long.id}));
    assert_eq!(client.finish(&delete), Ok(json!({})));
    long.check_cut_off(&mut client, &load);
    assert_eq!(client.list().len(), 0);
    assert_eq!(client.error("session/load", long.place()).code, -32002);
}

#[test]
fn the_session_can_be_closed() {
    let long = Long::new();
    let mut client = Client::ready(&long.launch);
    let load = long.start_load(&mut client);
    let close = client.send_request("session/close", json!({"sessionId": long.id}));
    assert_eq!(client.finish(&close), Ok(json!({})));
    long.check_cut_off(&mut client, &load);
    long.check_whole(&mut client);
}

#[test]
fn the_client_can_go() {
    let long = Long::new();
    let mut client = Client::ready(&long.launch);
    long.start_load(&mut client);
    assert!(client.close().success());
    long.check_whole(&mut Client::ready(&long.launch));
}

#[test]
fn a_replay_is_not_recorded_again() {
    let long = Long::new();
    for _ in 0..3 {
        let mut client = Client::ready(&long.launch);
        long.check_whole(&mut client);
        client.close();
    }
}

#[test]
fn a_client_that_does_not_read_stalls_only_itself_and_takes_no_memory() {
    const PART: usize = 4_000_000;
    const PARTS: usize = 25;
    let scene = Scene::new();
    let launch = scene.proxy(&[], &[]);
    let mut client = Client::ready(&launch);
    let id = client.new_session(&scene.cwd());
    for _ in 0..PARTS {
        client.prompt(&id, &format!("big {PART}"));
    }
    client.close();

    let mut stalled = Client::ready(&launch);
    let place = json!({"sessionId": id, "cwd": scene.cwd(), "mcpServers": []});
    let load = stalled.send_request("session/load", place.clone());
    stalled.wait_for_update(&id, |update| kind(update) == "tool_call");
    let mut other = Client::ready(&launch);
    let in_other = other.new_session(&scene.cwd());
    other.prompt(&in_other, "hello");
    assert_eq!(other.list().len(), 2);
    let taken = memory(stalled.pid());
    assert!(taken < 20 * PART as u64, "the whole conversation is in memory: {taken} bytes");
    stalled.finish(&load).expect("it is loaded in the end");
    let results = stalled.take_updates(&id);
    let results = results.iter().filter_map(|update| update["content"][0]["content"]["text"].as_str());
    assert_eq!(results.map(str::len).sum::<usize>(), PARTS * PART);
    assert!(memory(stalled.pid()) < 20 * PART as u64);
}
