//! Sessions that were continued, renamed, rewound, compacted or deleted at the agent, without the layer in front of it.

use acp_sessions_tests::client::Client;
use acp_sessions_tests::launch::Launch;
use acp_sessions_tests::scene::Scene;
use acp_sessions_tests::transcript::spoken;
use acp_sessions_tests::until;
use serde_json::json;

const FLAGS: &[&str] = &["--list", "--load", "--resume", "--dates"];
const ONE: [&str; 2] = ["> one", "< You said: one"];
const TWO: [&str; 2] = ["> two", "< You said: two"];
const OUTSIDE: [&str; 2] = ["> outside", "< was said"];
const AFTER: [&str; 2] = ["> after", "< You said: after"];

/// A session of an earlier process, with two turns.
struct Past {
    scene: Scene,
    launch: Launch,
    id: String,
}

impl Past {
    fn new(flags: &[&str]) -> Self {
        let scene = Scene::new();
        let launch = scene.proxy(&[], flags);
        let id = scene.past(&launch, &["one", "two"]);
        scene.forget_heard();
        Self { scene, launch, id }
    }

    fn client(&self) -> Client {
        Client::ready(&self.launch)
    }

    fn check_load(&self, client: &mut Client, turns: &[[&str; 2]]) {
        let (replay, _) = client.load(&self.id, &self.scene.cwd());
        assert_eq!(spoken(&replay), turns.concat());
    }

    /// The same by a process of its own.
    fn check_fresh_load(&self, turns: &[[&str; 2]]) {
        let mut client = self.client();
        self.check_load(&mut client, turns);
        client.close();
    }

    /// A process that has read the agent's list, which a session shows that was not there before.
    fn client_with_list(&self) -> Client {
        self.scene.outside().have("z-last", &self.scene.cwd(), &[("hello", "there")]);
        let mut client = self.client();
        until("the agent's list is read", || client.listed().iter().any(|id| id == "z-last"));
        client
    }
}

#[test]
fn what_was_said_outside_is_loaded_once_and_in_order() {
    let past = Past::new(FLAGS);
    past.scene.outside().say(&past.id, "outside", "was said");
    for _ in 0..2 {
        past.check_fresh_load(&[ONE, TWO, OUTSIDE]);
    }
    let mut client = past.client();
    past.check_load(&mut client, &[ONE, TWO, OUTSIDE]);
    client.prompt(&past.id, "after");
    past.check_load(&mut client, &[ONE, TWO, OUTSIDE, AFTER]);
    client.close();
    past.check_fresh_load(&[ONE, TWO, OUTSIDE, AFTER]);
}

#[test]
fn what_was_said_outside_comes_before_what_was_said_after_a_resume() {
    let past = Past::new(FLAGS);
    past.scene.outside().say(&past.id, "outside", "was said");
    let mut client = past.client();
    client.result("session/resume", past.scene.place(&past.id));
    client.prompt(&past.id, "after");
    client.close();
    for _ in 0..2 {
        past.check_fresh_load(&[ONE, TWO, OUTSIDE, AFTER]);
    }
}

#[test]
fn what_was_said_on_a_connection_of_its_own_is_loaded_too() {
    let past = Past::new(FLAGS);
    let mut direct = Client::ready(&past.scene.agent(FLAGS));
    direct.load(&past.id, &past.scene.cwd());
    direct.prompt(&past.id, "after");
    direct.close();
    past.check_fresh_load(&[ONE, TWO, AFTER]);
}

#[test]
fn the_list_has_the_time_of_what_was_said_outside() {
    let past = Past::new(FLAGS);
    let before = past.client().row(&past.id)["updatedAt"].as_str().expect("a time").to_owned();
    past.scene.outside().say(&past.id, "outside", "was said");
    let outside = past.scene.outside().updated(&past.id);
    assert!(outside > before, "{outside} {before}");
    let mut client = past.client_with_list();
    assert_eq!(client.row(&past.id)["updatedAt"], json!(outside));
}

#[test]
fn a_title_given_outside_is_listed_unless_the_user_has_given_one() {
    let past = Past::new(FLAGS);
    let title = |client: &mut Client| client.row(&past.id)["title"].clone();
    past.scene.outside().rename(&past.id, "A name from outside");
    let mut client = past.client_with_list();
    assert_eq!(title(&mut client), "A name from outside");
    client.result("session/set_title", json!({"sessionId": past.id, "title": "The user's"}));
    client.close();
    past.scene.outside().delete("z-last");
    past.scene.outside().rename(&past.id, "Another name");
    let mut client = past.client();
    until("what is gone at the agent is gone", || !client.listed().iter().any(|id| id == "z-last"));
    assert_eq!(title(&mut client), "The user's");
}

#[test]
fn a_better_title_in_the_agents_list_is_listed() {
    let past = Past::new(&[FLAGS, &["--better-titles"]].concat());
    let mut client = past.client_with_list();
    assert_eq!(client.row(&past.id)["title"], "About: one");
}

#[test]
fn a_session_deleted_outside_stays_and_the_agent_is_told_of_it() {
    for opens in ["session/load", "session/resume"] {
        let past = Past::new(FLAGS);
        past.scene.outside().delete(&past.id);
        let mut client = past.client_with_list();
        assert!(client.listed().contains(&past.id));
        client.result(opens, past.scene.place(&past.id));
        client.prompt(&past.id, "after");
        let prompt = past.scene.heard_of("session/prompt").remove(0);
        let told = prompt["prompt"][0]["text"].as_str().expect("text");
        assert!(told.contains("You said: two"), "{opens}: {told}");
        past.check_load(&mut client, &[ONE, TWO, AFTER]);
        client.close();
        past.check_fresh_load(&[ONE, TWO, AFTER]);
    }
}

#[test]
fn a_session_that_only_the_agent_had_goes_with_it() {
    let scene = Scene::new();
    let launch = scene.proxy(&[], FLAGS);
    let outside = scene.outside();
    for id in ["a-first", "b-second"] {
        outside.have(id, &scene.cwd(), &[("one", "first")]);
    }
    let mut client = Client::ready(&launch);
    until("both are listed", || client.list().len() == 2);
    client.close();
    outside.delete("a-first");
    let mut client = Client::ready(&launch);
    until("what is gone at the agent is gone", || client.listed() == ["b-second"]);
    assert_eq!(client.error("session/load", scene.place("a-first")).code, -32002);
    assert_eq!(client.listed(), ["b-second"]);
}

#[test]
fn of_a_session_rewound_outside_the_client_sees_what_is_left() {
    let past = Past::new(FLAGS);
    past.scene.outside().rewind(&past.id, 1);
    for _ in 0..2 {
        past.check_fresh_load(&[ONE]);
    }
    past.scene.outside().say(&past.id, "outside", "was said");
    past.check_fresh_load(&[ONE, OUTSIDE]);
}

#[test]
fn of_a_session_compacted_outside_the_client_sees_the_summary() {
    let past = Past::new(FLAGS);
    past.scene.outside().compact(&past.id, "In short: one.");
    past.scene.outside().say(&past.id, "outside", "was said");
    for _ in 0..2 {
        let mut client = past.client();
        let (replay, _) = client.load(&past.id, &past.scene.cwd());
        assert_eq!(spoken(&replay), [&["< In short: one."][..], &TWO, &OUTSIDE].concat());
        client.close();
    }
}
