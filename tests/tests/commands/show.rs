//! `acp-sessions show`

use acp_sessions_tests::client::Client;
use acp_sessions_tests::scene::Scene;
use acp_sessions_tests::transcript::text_of;
use serde_json::Value;

use crate::run::{empty, on, with_sessions};

#[test]
fn show_prints_who_said_what() {
    let (scene, ids) = with_sessions(&["Mend the roof"]);
    let printed = on(&scene, &["show", &ids[0]]).printed();
    let rest = printed.strip_prefix("## User\n\nMend the roof\n\n## Agent\n\n").expect("the prompt under its heading");
    assert!(rest.contains("Mend the roof") && rest.ends_with('\n'), "{printed}");
}

#[test]
fn json_is_what_a_client_is_told() {
    let (scene, ids) = with_sessions(&["Mend the roof"]);
    let printed = on(&scene, &["show", "--json", &ids[0]]).printed();
    let updates: Vec<Value> = printed.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let (replay, _) = Client::ready(&scene.builtin(&[])).load(&ids[0], &scene.cwd());
    for kind in ["user_message_chunk", "agent_message_chunk"] {
        assert_eq!(text_of(&updates, kind), text_of(&replay, kind), "{kind}");
        assert!(text_of(&updates, kind).contains("Mend the roof"), "{kind}");
    }
}

#[test]
fn what_was_set_aside_is_shown_when_asked_for() {
    let scene = Scene::new();
    let launch = scene.proxy(&[], &["--list", "--load", "--resume", "--dates"]);
    let mut client = Client::ready(&launch);
    let id = client.new_session(&scene.cwd());
    client.prompt(&id, "Mend the roof");
    client.prompt(&id, "Paint the fence");
    client.close();
    assert_eq!(on(&scene, &["show", "--set-aside", &id]).printed(), "\nNothing was set aside.\n");
    assert_eq!(on(&scene, &["show", "--set-aside", "--json", &id]).printed(), "");
    scene.outside().rewind(&id, 1);
    let mut client = Client::ready(&launch);
    let (_, answer) = client.load(&id, &scene.cwd());
    assert!(answer["_meta"]["acp-sessions"]["setAside"].as_u64().is_some_and(|count| count > 0), "{answer}");
    client.close();
    let (shown, aside) = (on(&scene, &["show", &id]).printed(), on(&scene, &["show", "--set-aside", &id]).printed());
    assert!(shown.contains("Mend the roof") && !shown.contains("Paint the fence"), "{shown}");
    assert!(shown.ends_with("; --set-aside shows them.\n"), "{shown}");
    assert!(aside.contains("Paint the fence") && !aside.contains("Mend the roof"), "{aside}");
    let found = on(&scene, &["list", "--search", "fence"]).printed();
    assert!(found.contains("(set aside)"), "{found}");
}

#[test]
fn a_session_in_which_nothing_was_said_is_empty() {
    let scene = empty();
    let mut client = Client::ready(&scene.builtin(&[]));
    let id = client.new_session(&scene.cwd());
    client.close();
    assert_eq!(on(&scene, &["show", "--json", &id]).printed(), "");
    assert_eq!(on(&scene, &["show", &id]).printed(), "\n");
}
