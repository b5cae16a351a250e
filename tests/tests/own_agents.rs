//! The agents of these tests keep to the protocol themselves; else the other tests would show nothing.

use acp_sessions_tests::client::Client;
use acp_sessions_tests::launch::Launch;
use acp_sessions_tests::process::signal;
use acp_sessions_tests::scene::Scene;
use acp_sessions_tests::schema::Role;
use acp_sessions_tests::tap;
use acp_sessions_tests::transcript::{kind, text_of};
use serde_json::{Value, json};

#[test]
fn the_bare_agent_answers() {
    let mut client = Client::ready(&Launch::bare_agent());
    let id = client.new_session("/project");
    assert_eq!(text_of(&client.prompt(&id, "hello"), "agent_message_chunk"), "Noted.");
    assert!(client.close().success());
}

#[test]
fn the_test_agent_does_all_that_it_can_by_the_schema() {
    let scene = Scene::new();
    let flags =
        &["--load", "--resume", "--list", "--fork", "--delete", "--close", "--modes", "--config", "--echo-user"];
    let launch = scene.agent(flags);
    let note = scene.file("note.txt");
    std::fs::write(&note, "a note").expect("the scene's folder is writable");
    let mut client = Client::ready(&launch);
    let id = client.new_session(&scene.cwd());
    let read = format!("read {}", note.display());
    for command in
        ["stream 3", "tool", "permission", &read, "big 1000", "many 3", "colourful", "title T", "mode code", "hello"]
    {
        client.prompt(&id, command);
    }
    let turn = client.start_endless(&id, "wait");
    client.notify("session/cancel", json!({"sessionId": id}));
    assert_eq!(client.finish(&turn).expect("an end")["stopReason"], "cancelled");
    let effort = json!({"sessionId": id, "configId": "effort", "value": "high"});
    client.result("session/set_config_option", effort);
    client.close();

    let mut client = Client::ready(&launch);
    let (replay, result) = client.load(&id, &scene.cwd());
    assert!(text_of(&replay, "agent_message_chunk").starts_with("word-0 word-1 word-2 Looked it up."));
    assert_eq!(result["configOptions"][0]["currentValue"], "high");
    assert_eq!(client.list().len(), 1);
    client.result("session/delete", json!({"sessionId": id}));
    assert_eq!(client.list().len(), 0);
}

#[test]
fn a_stubborn_agent_goes_on_after_sigterm() {
    let scene = Scene::new();
    let mut client = Client::ready(&scene.agent(&["--stubborn"]));
    signal("TERM", client.pid());
    let id = client.new_session(&scene.cwd());
    client.prompt(&id, "hello");
}

#[test]
fn the_wiretap_hears_both_sides() {
    let scene = Scene::new();
    let log = scene.file("tap");
    let launch = scene.agent(&[]).tapped(&log);
    let mut client = Client::ready(&launch);
    let id = client.new_session(&scene.cwd());
    client.prompt(&id, "stream 5");
    assert!(client.close().success());
    assert_eq!(tap::check(&log, Role::Agent), 3 + 5);
    assert_eq!(tap::check_peer(&log, Role::Client), 3);
}

/// The kinds of updates that came, in their order.
fn kinds(updates: &[Value]) -> Vec<&str> {
    updates.iter().map(kind).collect()
}

fn of_two_blocks(session: &str) -> Value {
    json!({"sessionId": session, "prompt": [{"type": "text", "text": "one\ntwo"}, {"type": "text", "text": "three"}]})
}

#[test]
fn the_test_agent_names_a_session_after_its_first_prompt_and_has_a_better_title_in_its_list() {
    let scene = Scene::new();
    let name = "one\ntwo\n\nthree";
    for (flags, listed) in [(&["--list"][..], name), (&["--list", "--better-titles"], "About: one\ntwo")] {
        let flags = [flags, &["--names-after-prompt"]].concat();
        let mut client = Client::ready(&scene.agent(&flags));
        let id = client.new_session(&scene.cwd());
        client.result("session/prompt", of_two_blocks(&id));
        let mut updates = client.take_updates(&id);
        updates.extend(client.prompt(&id, "the second"));
        updates.retain(|update| kind(update) == "session_info_update");
        assert_eq!(updates, [json!({"sessionUpdate": "session_info_update", "title": name})]);
        assert_eq!(client.row(&id)["title"], listed, "{flags:?}");
    }
}

#[test]
fn the_test_agent_says_a_prompt_back_in_one_and_its_use_after_the_answer() {
    let scene = Scene::new();
    let mut client = Client::ready(&scene.agent(&["--load", "--echo-joined", "--late-usage"]));
    let id = client.new_session(&scene.cwd());
    client.result("session/prompt", of_two_blocks(&id));
    let updates = client.take_updates(&id);
    assert_eq!(text_of(&updates, "user_message_chunk"), "one\ntwo\n\nthree");
    assert!(!kinds(&updates).contains(&"usage_update"), "{updates:?}");
    client.wait_for_update(&id, |update| kind(update) == "usage_update");
    let (replay, _) = client.load(&id, &scene.cwd());
    assert_eq!(text_of(&replay, "user_message_chunk"), "one\ntwo\n\nthree");
}

#[test]
fn the_test_agent_replays_the_history_of_a_fork_before_its_answer() {
    let scene = Scene::new();
    let mut client = Client::ready(&scene.agent(&["--fork", "--replays-on-fork"]));
    let id = client.new_session(&scene.cwd());
    client.prompt(&id, "hello");
    let fork = client.result("session/fork", scene.place(&id));
    let replay = client.take_updates(fork["sessionId"].as_str().expect("an id"));
    assert_eq!(text_of(&replay, "agent_message_chunk"), "You said: hello");
}

#[test]
fn the_test_agent_answers_nobody_who_is_not_authenticated() {
    let scene = Scene::new();
    let mut client = Client::start(&scene.agent(&["--list", "--load", "--auth", "all"]));
    assert_eq!(client.initialize()["authMethods"][0]["id"], "sign-in");
    let new = json!({"cwd": scene.cwd(), "mcpServers": []});
    for _ in 0..2 {
        for (method, params) in
            [("session/new", new.clone()), ("session/list", json!({})), ("session/load", scene.place("x"))]
        {
            assert_eq!(client.error(method, params).code, -32000, "{method}");
        }
        client.result("authenticate", json!({"methodId": "sign-in"}));
        let id = client.new_session(&scene.cwd());
        client.prompt(&id, "hello");
        client.result("logout", json!({}));
    }
    let mut client = Client::ready(&scene.agent(&["--auth", "prompts"]));
    let id = client.new_session(&scene.cwd());
    let prompt = json!({"sessionId": id, "prompt": []});
    assert_eq!(client.error("session/prompt", prompt).code, -32000);
}

#[test]
fn the_test_agent_has_no_name_and_more_than_the_schema_knows() {
    let scene = Scene::new();
    let mut client = Client::start(&scene.agent(&["--nameless", "--models"])).unchecked();
    assert_eq!(client.initialize()["agentInfo"], Value::Null);
    let new = client.result("session/new", json!({"cwd": scene.cwd(), "mcpServers": []}));
    assert_eq!(new["models"]["currentModelId"], "large");
}

#[test]
fn the_test_agent_deletes_only_when_it_has_the_time_to_end() {
    let scene = Scene::new();
    for (is_killed, left) in [(true, 1), (false, 0)] {
        let launch = scene.agent(&["--list", "--delete", "--deletes-at-end", "--end-ms", "100"]);
        let mut client = Client::ready(&launch);
        let id = client.listed().pop().unwrap_or_else(|| client.new_session(&scene.cwd()));
        client.send_request("session/delete", json!({"sessionId": id}));
        assert_eq!(client.list().len(), 1, "it has heard it and not done it");
        if is_killed {
            client.kill();
        } else {
            client.close();
        }
        assert_eq!(scene.outside().all().len(), left, "killed: {is_killed}");
    }
}

#[test]
fn the_test_agent_sees_what_was_done_outside() {
    let scene = Scene::new();
    let outside = scene.outside();
    outside.have("s-1", &scene.cwd(), &[("one", "first"), ("two", "second"), ("three", "third")]);
    let mut client = Client::ready(&scene.agent(&["--load", "--list", "--dates"]));
    let old = client.row("s-1");
    let said = |client: &mut Client| {
        let (replay, _) = client.load("s-1", &scene.cwd());
        (text_of(&replay, "user_message_chunk"), text_of(&replay, "agent_message_chunk"))
    };
    outside.rewind("s-1", 2);
    assert_eq!(said(&mut client), ("onetwo".into(), "firstsecond".into()));
    outside.compact("s-1", "In short. ");
    assert_eq!(said(&mut client), ("two".into(), "In short. second".into()));
    outside.say("s-1", "four", "fourth");
    assert_eq!(said(&mut client), ("twofour".into(), "In short. secondfourth".into()));
    outside.rename("s-1", "Another");
    let row = client.row("s-1");
    assert_eq!(row["title"], "Another");
    assert_eq!(row["updatedAt"], json!(outside.updated("s-1")));
    assert!(row["updatedAt"].as_str() > old["updatedAt"].as_str(), "{old} {row}");
    outside.delete("s-1");
    assert_eq!(client.error("session/load", scene.place("s-1")).code, -32002);
    assert_eq!(client.listed(), [""; 0]);
}

#[test]
fn another_process_of_the_test_agent_has_the_same_sessions() {
    let scene = Scene::new();
    let flags = &["--load", "--list"];
    let (mut first, mut second) = (Client::ready(&scene.agent(flags)), Client::ready(&scene.agent(flags)));
    let id = first.new_session(&scene.cwd());
    first.prompt(&id, "hello");
    assert_eq!(text_of(&second.load(&id, &scene.cwd()).0, "user_message_chunk"), "hello");
    second.prompt(&id, "there");
    assert_eq!(text_of(&first.load(&id, &scene.cwd()).0, "user_message_chunk"), "hellothere");
}

#[test]
fn the_test_agent_takes_its_time_to_load() {
    for is_silent in [false, true] {
        let scene = Scene::new();
        scene.outside().have("s-1", &scene.cwd(), &[("one", "first")]);
        let gate = scene.file("gate");
        let flags = ["--load", "--load-gate", gate.to_str().expect("text")];
        let flags = [&flags[..], if is_silent { &["--silent-load"] } else { &[] }].concat();
        let mut client = Client::ready(&scene.agent(&flags));
        let load = client.send_request("session/load", scene.place("s-1"));
        if is_silent {
            client.new_session(&scene.cwd());
            assert_eq!(client.take_updates("s-1").len(), 0);
        } else {
            client.wait_for_update("s-1", |update| kind(update) == "usage_update");
        }
        std::fs::write(gate, "").expect("the scene's folder is writable");
        client.finish(&load).expect("it is loaded");
        assert_eq!(text_of(&client.take_updates("s-1"), "agent_message_chunk"), "first");
    }
}

#[test]
fn the_test_agent_counts_its_sessions_anew_with_each_start() {
    let scene = Scene::new();
    for (flags, same) in [(&["--resume", "--forgets"][..], false), (&["--resume", "--forgets", "--counter-ids"], true)]
    {
        let ids = [(); 2].map(|()| Client::ready(&scene.agent(flags)).new_session(&scene.cwd()));
        assert_eq!(ids[0] == ids[1], same, "{flags:?}: {ids:?}");
    }
}
