//! What is done in one program is told in another.

use acp_sessions_tests::client::Client;
use acp_sessions_tests::followed::Followed;
use acp_sessions_tests::scene::Scene;
use serde_json::{Value, json};

use crate::{on, text};

/// A client of another program, and the lists of its directory and of all.
struct Window {
    client: Client,
    all: Followed,
    here: Followed,
}

impl Window {
    fn open(scene: &Scene) -> Self {
        let mut client = Client::ready(&scene.proxy(&[], AGENT));
        let all = Followed::begin(&mut client, json!({"archived": "all"}));
        let here = Followed::begin(&mut client, json!({"archived": "all", "cwd": scene.cwd()}));
        Self { client, all, here }
    }

    /// Both lists are told of a row that is like this.
    fn shows(&mut self, session: &str, what: &str, is_so: impl Fn(&Value) -> bool) {
        for list in [&mut self.all, &mut self.here] {
            list.wait(&mut self.client, what, |list| is_so(list.row(session)));
        }
    }

    fn settle(&mut self) {
        for list in [&mut self.all, &mut self.here] {
            list.settle(&mut self.client);
            assert_eq!(list.told.resyncs, 0);
            assert_eq!(list.findings, [""; 0]);
        }
    }
}

const AGENT: &[&str] = &["--load", "--fork"];

#[test]
fn a_sessions_life_in_one_program_is_told_in_another() {
    let scene = Scene::new();
    let mut window = Window::open(&scene);
    let mut writer = Client::ready(&scene.proxy(&[], AGENT));
    let id = writer.new_session(&scene.cwd());
    let this = || json!({"sessionId": id});
    window.shows(&id, "it was made", |row| row["state"] == "idle" && row["lastPromptAt"].is_null());

    let turn = writer.start_endless(&id, "wait");
    window.shows(&id, "a turn has begun", |row| row["state"] == "running" && row["lastPromptAt"].is_string());
    assert!(window.all.row(&id)["lastTurnEndedAt"].is_null());
    writer.notify("session/cancel", this());
    writer.finish(&turn).expect("it is cancelled");
    window.shows(&id, "the turn has ended", |row| row["state"] == "idle" && row["lastTurnEndedAt"].is_string());

    writer.hold_permissions();
    let turn = writer.start_prompt(&id, "permission");
    while writer.agent_requests().is_empty() {
        assert!(writer.hear(acp_sessions_tests::PATIENCE), "the agent does not ask");
    }
    window.shows(&id, "permission is asked for", |row| row["state"] == "requires_action");
    writer.answer_held();
    writer.finish(&turn).expect("it ends");
    window.shows(&id, "permission was given", |row| row["state"] == "idle");
    writer.prompt(&id, "spend 0.5");
    window.shows(&id, "it has cost something", |row| row["cost"] == json!({"amount": 0.5, "currency": "USD"}));

    writer.result("session/set_title", json!({"sessionId": id, "title": "The roof"}));
    window.shows(&id, "it was renamed", |row| row["title"] == "The roof");
    let fork = writer.result("session/fork", scene.place(&id))["sessionId"].as_str().expect("an id").to_owned();
    window.shows(&fork, "it was forked", |row| row["forkedFrom"] == id.as_str());
    writer.result("session/archive", this());
    window.shows(&id, "it was archived", |row| row["archived"] == true);
    writer.result("session/unarchive", this());
    window.shows(&id, "it was taken out again", |row| row["archived"] == false);
    window.settle();

    let there = scene.file("there");
    on(&scene, &["move", &scene.cwd(), text(&there)]);
    for session in [&id, &fork] {
        window.all.wait(&mut window.client, "it was moved", |list| list.row(session)["cwd"] == text(&there));
        window.here.wait(&mut window.client, "it is elsewhere", |list| list.row(session).is_null());
    }
    window.settle();
    on(&scene, &["move", text(&there), &scene.cwd()]);
    window.shows(&id, "it was moved back", |row| row["cwd"] == scene.cwd());
    writer.result("session/delete", json!({"sessionId": fork}));
    window.shows(&fork, "the fork was deleted", Value::is_null);
    on(&scene, &["delete", &id]);
    window.shows(&id, "it was deleted", Value::is_null);
    window.settle();
    assert!(window.all.is_empty() && window.here.is_empty());
}

#[test]
fn what_a_program_does_itself_it_tells_as_well() {
    let scene = Scene::new();
    let mut client = Client::ready(&scene.builtin(&[]));
    let mut list = Followed::begin(&mut client, json!({"archived": "all"}));
    let ids: Vec<String> = (0..3).map(|_| client.new_session(&scene.cwd())).collect();
    for id in &ids {
        client.prompt(id, "Hello");
        list.wait(&mut client, "the turn is over", |list| list.row(id)["lastTurnEndedAt"].is_string());
    }
    client.result("session/delete", json!({"sessionId": ids[0]}));
    list.wait(&mut client, "it is gone", |list| list.row(&ids[0]).is_null());
    list.settle(&mut client);
    assert_eq!(list.len(), 2);
    list.end(&mut client);
    assert!(client.close().success());
}
