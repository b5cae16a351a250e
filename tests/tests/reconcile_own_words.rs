//! What the layer tells an agent of an earlier conversation never comes back as somebody's words or as a title.

use acp_sessions_tests::client::Client;
use acp_sessions_tests::scene::Scene;
use acp_sessions_tests::transcript::spoken;
use acp_sessions_tests::until;
use serde_json::{Value, json};

/// What agents do with a prompt, besides answering it.
const HABITS: [&[&str]; 6] = [
    &["--names-after-prompt"],
    &["--names-after-prompt", "--better-titles"],
    &["--echo-user"],
    &["--echo-joined"],
    &["--echo-joined", "--names-after-prompt", "--late-usage"],
    &["--echo-joined", "--names-after-prompt", "--better-titles", "--dates"],
];
const QUESTIONS: [&str; 2] = ["first question\nin two lines", "second question"];

fn assert_not_ours(what: &str, said: &Value) {
    // However it is cut, broken into lines or joined.
    let said = said.to_string().to_lowercase();
    assert!(!said.contains("earlier conversation"), "{what}: {said}");
}

#[test]
fn neither_title_nor_echo_nor_list_show_the_layers_words() {
    for habits in HABITS {
        let flags = [&["--list", "--load", "--resume"], habits].concat();
        let scene = Scene::new();
        let launch = scene.proxy(&[], &flags);
        let id = scene.past(&scene.proxy(&[], &["--list", "--load", "--resume"]), &[QUESTIONS[0]]);
        // The agent has lost it, so that it has to be told.
        scene.outside().delete(&id);
        let mut client = Client::ready(&launch);
        client.load(&id, &scene.cwd());
        let mut seen = client.prompt(&id, QUESTIONS[1]);
        let told = scene.heard_of("session/prompt").last().expect("a prompt")["prompt"].to_string();
        assert!(told.contains("Earlier conversation"), "{habits:?}: it was told nothing: {told}");
        seen.extend(client.prompt(&id, "third question"));
        assert_not_ours(&format!("{habits:?}: what the client saw"), &json!(seen));
        client.close();

        // A session that the agent makes meanwhile shows when its list has been read.
        scene.outside().have("z-last", &scene.cwd(), &[("hello", "there")]);
        let mut client = Client::ready(&launch);
        until("the agent's list is read", || client.listed().iter().any(|id| id == "z-last"));
        let rows = client.list();
        assert_not_ours(&format!("{habits:?}: the list"), &json!(rows));
        assert_eq!(rows.len(), 2, "{habits:?}: {rows:?}");
        let title = client.row(&id)["title"].as_str().expect("a title").to_owned();
        assert!(!title.contains('\n'), "{habits:?}: {title:?}");
        let (replay, _) = client.load(&id, &scene.cwd());
        assert_not_ours(&format!("{habits:?}: the replay"), &json!(replay));
        let asked = [QUESTIONS[0], QUESTIONS[1], "third question"];
        let said = asked.iter().flat_map(|said| [format!("> {said}"), format!("< You said: {said}")]);
        assert_eq!(spoken(&replay), said.collect::<Vec<_>>(), "{habits:?}");
        client.close();
        assert!(!scene.store_holds("Earlier conversation"), "{habits:?}: it is in the store");
    }
}

#[test]
fn a_title_of_many_lines_is_one_line_in_the_list() {
    let scene = Scene::new();
    let mut client = Client::ready(&scene.proxy(&[], &["--load", "--list", "--names-after-prompt"]));
    let id = client.new_session(&scene.cwd());
    client.prompt(&id, QUESTIONS[0]);
    assert_eq!(client.row(&id)["title"], "first question in two lines");
}
