//! What lists show: which sessions, in which pages, under which titles.

use acp_sessions_tests::client::Client;
use acp_sessions_tests::scene::Scene;
use acp_sessions_tests::transcript::kind;
use serde_json::json;

#[test]
fn a_list_is_for_one_directory_and_comes_in_pages() {
    let scene = Scene::new();
    let mut client = Client::ready(&scene.builtin(&[]));
    let here = scene.cwd();
    let there = scene.folder().to_str().expect("text").to_owned();
    let elsewhere = client.new_session(&there);
    let ours: Vec<String> = (0..130).map(|_| client.new_session(&here)).collect();
    let page = client.result("session/list", json!({"cwd": here}));
    assert_eq!(page["sessions"].as_array().map(Vec::len), Some(100));
    let rest = client.result("session/list", json!({"cwd": here, "cursor": page["nextCursor"]}));
    assert_eq!(rest["sessions"].as_array().map(Vec::len), Some(30));
    assert!(rest["nextCursor"].is_null());
    let both = [page["sessions"].as_array().expect("rows").clone(), rest["sessions"].as_array().expect("rows").clone()];
    let mut ids: Vec<&str> = both.iter().flatten().map(|row| row["sessionId"].as_str().expect("an id")).collect();
    ids.sort_unstable();
    let mut expected: Vec<&str> = ours.iter().map(String::as_str).collect();
    expected.sort_unstable();
    assert_eq!(ids, expected);
    let page = client.result("session/list", json!({"cwd": format!("{there}/")}));
    assert_eq!(page["sessions"][0]["sessionId"], json!(elsewhere));
    assert_eq!(page["sessions"].as_array().map(Vec::len), Some(1));
    assert_eq!(client.result("session/list", json!({"cwd": "/nowhere"}))["sessions"], json!([]));
    assert_eq!(client.list().len(), 131);
}

#[test]
fn the_title_is_the_first_line_that_says_something() {
    let scene = Scene::new();
    let mut client = Client::ready(&scene.proxy(&[], &[]));
    let long = "a ".repeat(30) + &"word ".repeat(20);
    for (prompt, title) in
        [("\n\n   Fix the parser  \nplease", "Fix the parser"), ("short", "short"), (long.as_str(), "")]
    {
        let id = client.new_session(&scene.cwd());
        let turn = client.start_prompt(&id, prompt);
        client.finish(&turn).expect("the turn ends");
        let pushed = client.wait_for_update(&id, |update| update["title"].is_string());
        assert_eq!(kind(&pushed), "session_info_update");
        let shown = client.row(&id)["title"].as_str().expect("a title").to_owned();
        assert_eq!(pushed["title"], json!(shown));
        assert!(shown.chars().count() <= 80, "{shown}");
        assert!(title.is_empty() || shown == title, "{shown}");
        let words = shown.trim_end_matches('…').trim_end();
        let is_cut_at_a_word = prompt.trim()[words.len()..].chars().next().is_none_or(char::is_whitespace);
        assert!(prompt.trim().starts_with(words) && is_cut_at_a_word, "{shown}");
    }
}

#[test]
fn a_title_of_the_agent_stays() {
    let scene = Scene::new();
    let launch = scene.proxy(&[], &[]);
    let mut client = Client::ready(&launch);
    let id = client.new_session(&scene.cwd());
    client.prompt(&id, "title The agent's own");
    assert_eq!(client.row(&id)["title"], "The agent's own");
    client.prompt(&id, "hello");
    assert_eq!(client.row(&id)["title"], "The agent's own");
    client.close();
    assert_eq!(Client::ready(&launch).row(&id)["title"], "The agent's own");
}

#[test]
fn the_methods_that_are_not_stable_yet_keep_to_their_schema() {
    let scene = Scene::new();
    let mut client = Client::ready(&scene.builtin(&[]));
    let id = client.new_session(&scene.cwd());
    client.prompt(&id, "hello");
    let this = json!({"sessionId": id});
    assert_eq!(client.result("session/status", this.clone())["status"], "open");
    let titled = client.result("session/set_title", json!({"sessionId": id, "title": "  A title  "}));
    assert_eq!(titled["title"], "A title");
    client.result("session/archive", this.clone());
    assert_eq!(client.result("session/status", this.clone())["status"], "saved");
    assert_eq!(client.list().len(), 0);
    let archived = client.result("session/list", json!({"archived": "only"}));
    assert_eq!(archived["sessions"][0]["title"], "A title");
    client.result("session/unarchive", this);
    assert_eq!(client.row(&id)["archived"], false);
    for method in ["session/status", "session/archive", "session/unarchive"] {
        let error = client.error(method, json!({"sessionId": "no-such"}));
        assert_eq!((error.code, &error.data["sessionId"]), (-32002, &json!("no-such")), "{method}");
    }
    let draft = client.result("session/list", json!({"limit": 1, "search": "hello"}));
    assert!(draft["sessions"][0]["createdAt"].is_string(), "{draft}");
}
