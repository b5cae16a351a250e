//! Sessions that an agent has had without the program, once they are opened through it.

use std::time::{Duration, Instant};

use acp_sessions_tests::client::Client;
use acp_sessions_tests::scene::Scene;
use acp_sessions_tests::transcript::spoken;
use acp_sessions_tests::until;

/// Longer than a connection is open before it first looks for sessions to remove.
const SETTLED: Duration = Duration::from_secs(6);
const ID: &str = "born-outside";
const BEFORE: [&str; 4] = ["> one", "< first", "> two", "< second"];
const LATER: [&str; 2] = ["> three", "< You said: three"];

/// A session of the agent's own, from long ago.
fn born_outside() -> Scene {
    let scene = Scene::new();
    scene.outside().have(ID, &scene.cwd(), &[("one", "first"), ("two", "second")]);
    scene
}

fn once_listed(client: &mut Client) {
    until("the agent's own session is listed", || client.listed().iter().any(|id| id == ID));
}

#[test]
fn an_old_session_that_was_loaded_is_not_taken_for_one_that_nobody_used() {
    for flags in [&["--list", "--load"][..], &["--list", "--load", "--resume"]] {
        let scene = born_outside();
        let launch = scene.proxy(&["--prune-empty-hours", "1"], flags);
        let mut client = Client::ready(&launch);
        once_listed(&mut client);
        assert_eq!(spoken(&client.load(ID, &scene.cwd()).0), BEFORE, "{flags:?}");
        client.close();
        let mut client = Client::ready(&launch);
        let start = Instant::now();
        while start.elapsed() < SETTLED {
            assert_eq!(client.listed(), [ID], "{flags:?}: after {:?}", start.elapsed());
        }
        assert_eq!(spoken(&client.load(ID, &scene.cwd()).0), BEFORE, "{flags:?}");
        assert!(scene.outside().has(ID), "{flags:?}: the agent has lost it");
    }
}

#[test]
fn what_was_said_before_comes_before_what_was_said_after_a_resume() {
    for flags in [&["--list", "--load"][..], &["--list", "--load", "--resume"], &["--list", "--load", "--echo-user"]] {
        let scene = born_outside();
        let launch = scene.proxy(&[], flags);
        let mut client = Client::ready(&launch);
        once_listed(&mut client);
        client.result("session/resume", scene.place(ID));
        client.prompt(ID, "three");
        client.close();
        for time in 1..=3 {
            let mut client = Client::ready(&launch);
            let (replay, _) = client.load(ID, &scene.cwd());
            assert_eq!(spoken(&replay), [&BEFORE[..], &LATER].concat(), "{flags:?}: load {time}");
            client.close();
        }
    }
}

#[test]
fn what_was_resumed_can_be_loaded_on_the_same_connection() {
    let scene = born_outside();
    let mut client = Client::ready(&scene.proxy(&[], &["--list", "--load", "--resume"]));
    once_listed(&mut client);
    client.result("session/resume", scene.place(ID));
    assert_eq!(spoken(&client.load(ID, &scene.cwd()).0), BEFORE);
    client.prompt(ID, "three");
    assert_eq!(spoken(&client.load(ID, &scene.cwd()).0), [&BEFORE[..], &LATER].concat());
}

#[test]
fn what_an_agent_replays_on_its_own_fork_is_there_once() {
    for flags in [&["--list", "--load", "--fork"][..], &["--list", "--load", "--fork", "--replays-on-fork"]] {
        let scene = Scene::new();
        let launch = scene.proxy(&[], flags);
        let mut client = Client::ready(&launch);
        let id = client.new_session(&scene.cwd());
        client.prompt(&id, "two");
        let fork = client.result("session/fork", scene.place(&id));
        let fork = fork["sessionId"].as_str().expect("an id").to_owned();
        client.prompt(&fork, "three");
        client.close();
        let (replay, _) = Client::ready(&launch).load(&fork, &scene.cwd());
        assert_eq!(spoken(&replay), [&["> two", "< You said: two"], &LATER[..]].concat(), "{flags:?}");
    }
}
