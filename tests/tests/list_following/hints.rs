//! Hints that a list is not what it was: for clients that want them, of lists that they have read and do not follow.

use acp_sessions_tests::PATIENCE;
use acp_sessions_tests::client::Client;
use acp_sessions_tests::followed::Followed;
use acp_sessions_tests::scene::Scene;
use serde_json::{Value, json};

use crate::text;

/// Two directories with a session each, and somebody who renames these.
struct Other {
    scene: Scene,
    client: Client,
    places: [(String, String); 2],
    renamed: usize,
}

impl Other {
    fn new() -> Self {
        let scene = Scene::new();
        let mut client = Client::ready(&scene.builtin(&[]));
        let places = ["one", "two"].map(|name| {
            let cwd = text(&scene.file(name)).to_owned();
            let id = client.new_session(&cwd);
            (cwd, id)
        });
        // It is open in nobody's hands from now on: nothing but a name changes.
        assert!(client.close().success());
        client = Client::ready(&scene.builtin(&[]));
        Self { scene, client, places, renamed: 0 }
    }

    fn reader(&self, session: Value) -> Client {
        let mut client = Client::start(&self.scene.builtin(&[]));
        client.initialize_with(session);
        client
    }

    fn cwd(&self, at: usize) -> &str {
        &self.places[at].0
    }

    fn rename(&mut self, at: usize) {
        self.renamed += 1;
        let params = json!({"sessionId": self.places[at].1, "title": format!("Title {}", self.renamed)});
        self.client.result("session/set_title", params);
    }
}

/// The directories that the client was told of so far.
fn hints(client: &mut Client) -> Vec<String> {
    let hints = client.take_notified(|method, _| method == "session/list_changed");
    hints.into_iter().map(|(_, params)| params["cwd"].as_str().expect("a directory").to_owned()).collect()
}

/// The same, of which there must be one at last.
fn next_hints(client: &mut Client) -> Vec<String> {
    loop {
        let hints = hints(client);
        if !hints.is_empty() {
            return hints;
        }
        assert!(client.hear(PATIENCE), "no hint came");
    }
}

#[test]
fn a_client_that_wants_hints_is_given_one_of_a_list_that_it_has_read() {
    let mut other = Other::new();
    let mut reader = other.reader(json!({"listChanged": {}}));
    for at in [0, 1] {
        reader.result("session/list", json!({"cwd": other.cwd(at)}));
    }
    // Each time the hint of the one list shows that no more of the other were to come.
    for at in [0, 1, 0, 0, 1] {
        other.rename(at);
        assert_eq!(next_hints(&mut reader), [other.cwd(at)]);
    }
    let listed = reader.result("session/list", json!({"cwd": other.cwd(0)}));
    assert_eq!(listed["sessions"][0]["title"], "Title 4");
}

#[test]
fn there_are_no_hints_for_those_who_did_not_ask_nor_of_what_was_not_read_or_is_followed() {
    let hinted = json!({"listChanged": {}});
    // Which lists are read, which one is followed.
    for (capabilities, read, followed) in [
        (json!({}), &[0, 1][..], 1),
        (json!({"listChanged": null}), &[0, 1], 1),
        (json!({"listChanged": false}), &[0], 1),
        (hinted.clone(), &[], 1),
        (hinted.clone(), &[1], 1),
        (hinted, &[0, 1], 0),
    ] {
        let mut other = Other::new();
        let is_hinted = capabilities["listChanged"].is_object();
        let mut reader = other.reader(capabilities.clone());
        for at in read {
            reader.result("session/list", json!({"cwd": other.cwd(*at)}));
        }
        let mut list = Followed::begin(&mut reader, json!({"cwd": other.cwd(followed)}));
        let unfollowed = 1 - followed;
        other.rename(unfollowed);
        other.rename(followed);
        let id = other.places[followed].1.clone();
        list.wait(&mut reader, "it was renamed", |list| list.row(&id)["title"] == "Title 2");
        // What is told of a look is told together, hints last.
        reader.result("session/list", json!({}));
        let expected = if is_hinted && read.contains(&unfollowed) { vec![other.cwd(unfollowed)] } else { vec![] };
        let hints = hints(&mut reader);
        assert_eq!(hints, expected, "{capabilities}, read {read:?}, followed {followed}");
    }
}

#[test]
fn whoever_follows_all_is_given_no_hints_until_that_ends() {
    let mut other = Other::new();
    let mut reader = other.reader(json!({"listChanged": {}}));
    reader.result("session/list", json!({"cwd": other.cwd(0)}));
    let mut all = Followed::begin(&mut reader, json!({}));
    let id = other.places[0].1.clone();
    other.rename(0);
    all.wait(&mut reader, "it was renamed", |list| list.row(&id)["title"] == "Title 1");
    reader.result("session/list", json!({}));
    assert_eq!(hints(&mut reader), [""; 0]);
    all.end(&mut reader);
    other.rename(0);
    assert_eq!(next_hints(&mut reader), [other.cwd(0)]);
}
