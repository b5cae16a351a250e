//! The first list over an agent that has had many sessions, and agents that want to know who asks.

use std::time::{Duration, Instant};

use acp_sessions_tests::client::Client;
use acp_sessions_tests::scene::Scene;
use acp_sessions_tests::transcript::spoken;
use acp_sessions_tests::until;
use serde_json::json;

const SESSIONS: usize = 50;
/// How long the program waits at most for the agent's list, but for what its clock leaves out.
const WAITS: Duration = Duration::from_millis(990);
const FLAGS: &[&str] = &["--list", "--load", "--page-size", "10"];

/// An agent with many sessions, and their ids.
fn with_sessions() -> (Scene, Vec<String>) {
    let scene = Scene::new();
    let ids: Vec<String> = (0..SESSIONS).map(|number| format!("own-{number:02}")).collect();
    for id in &ids {
        scene.outside().have(id, &scene.cwd(), &[("one", "first")]);
    }
    (scene, ids)
}

/// The first list of a client is all that the agent has. One that has taken the whole time that the program waits for the
/// agent, as on a very busy machine, may lack some of it: then it is complete in the end.
fn check_first_list(client: &mut Client, ids: &[String], what: &str) {
    let asked = Instant::now();
    let first = sorted(client.listed());
    if asked.elapsed() < WAITS {
        assert_eq!(first, ids, "{what}");
    } else {
        until("the list is complete", || sorted(client.listed()) == ids);
    }
}

fn sorted(mut ids: Vec<String>) -> Vec<String> {
    ids.sort();
    ids
}

#[test]
fn the_first_list_is_complete() {
    for habit in [&[][..], &["--nameless"], &["--dates"]] {
        let (scene, ids) = with_sessions();
        let launch = scene.proxy(&[], &[FLAGS, habit].concat());
        for start in 1..=3 {
            let mut client = Client::ready(&launch);
            check_first_list(&mut client, &ids, &format!("{habit:?}: start {start}"));
            client.close();
        }
    }
}

#[test]
fn a_session_of_an_agent_without_a_name_is_loaded_like_any_other() {
    let (scene, ids) = with_sessions();
    let launch = scene.proxy(&[], &[FLAGS, &["--nameless"]].concat());
    for _ in 0..2 {
        let mut client = Client::ready(&launch);
        check_first_list(&mut client, &ids, "without a name");
        assert_eq!(spoken(&client.load(&ids[7], &scene.cwd()).0), ["> one", "< first"]);
        client.close();
    }
}

#[test]
fn the_first_list_after_authenticating_is_complete() {
    let (scene, ids) = with_sessions();
    let launch = scene.proxy(&[], &[FLAGS, &["--auth", "all"]].concat());
    let mut client = Client::ready(&launch);
    assert_eq!(client.error("session/new", json!({"cwd": scene.cwd(), "mcpServers": []})).code, -32000);
    client.result("authenticate", json!({"methodId": "sign-in"}));
    check_first_list(&mut client, &ids, "authenticated");
}

#[test]
fn nothing_of_a_session_is_told_to_somebody_who_is_not_authenticated() {
    let scene = Scene::new();
    let flags = &["--load", "--resume"];
    let id = scene.past(&scene.proxy(&[], flags), &["one"]);
    let mut client = Client::ready(&scene.proxy(&[], &[&flags[..], &["--auth", "all"]].concat()));
    for _ in 0..2 {
        for method in ["session/load", "session/resume"] {
            assert_eq!(client.error(method, scene.place(&id)).code, -32000, "{method}");
            assert_eq!(client.take_updates(&id), [json!(null); 0], "{method}");
        }
        client.result("authenticate", json!({"methodId": "sign-in"}));
        let (replay, _) = client.load(&id, &scene.cwd());
        assert_eq!(spoken(&replay), ["> one", "< You said: one"]);
        client.result("session/close", json!({"sessionId": id}));
        client.result("logout", json!({}));
    }
    assert_eq!(scene.heard_of("session/new").len(), 1, "the agent has kept it, and was asked for no other");
}
