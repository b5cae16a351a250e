//! Agents with a list of their own, which knows of sessions that were had without the program.

use std::time::Instant;

use acp_sessions_tests::PATIENCE;
use acp_sessions_tests::client::Client;
use acp_sessions_tests::scene::Scene;
use acp_sessions_tests::transcript::text_of;
use serde_json::{Value, json};

/// Sessions that the agent has had without the program in front of it.
fn on_its_own(scene: &Scene, flags: &[&str], prompts: &[&str]) -> Vec<String> {
    let mut client = Client::ready(&scene.agent(flags));
    let ids = prompts.iter().map(|prompt| {
        let id = client.new_session(&scene.cwd());
        client.prompt(&id, prompt);
        id
    });
    let ids = ids.collect();
    client.close();
    scene.forget_heard();
    ids
}

/// The rows once there are so many. The agent's list is read in the background, so they come after a while.
fn rows_once(client: &mut Client, count: usize) -> Vec<Value> {
    let start = Instant::now();
    loop {
        let rows = client.list();
        if rows.len() == count {
            return rows;
        }
        assert!(start.elapsed() < PATIENCE, "{} rows instead of {count}: {rows:?}", rows.len());
    }
}

#[test]
fn sessions_of_the_agents_own_list_are_listed_and_loaded_through_it() {
    let scene = Scene::new();
    let flags = &["--list", "--load", "--resume"];
    let ids = on_its_own(&scene, flags, &["one", "two", "three", "four", "five"]);
    let launch = scene.proxy(&[], flags);
    let mut client = Client::ready(&launch);
    for row in rows_once(&mut client, ids.len()) {
        assert_eq!(row["_meta"]["acp-sessions"]["origin"], "agent", "{row}");
        assert_eq!(row["cwd"], json!(scene.cwd()));
        let updated = row["updatedAt"].as_str().expect("a time");
        assert!(updated.starts_with("2026-01-02T03:04:05"), "{row}");
    }
    let (replay, _) = client.load(&ids[2], &scene.cwd());
    assert_eq!(text_of(&replay, "user_message_chunk"), "three");
    assert_eq!(text_of(&replay, "agent_message_chunk"), "You said: three");
    assert_eq!(scene.heard_of("session/load").len(), 1, "there is no other way to its history");
    client.prompt(&ids[2], "and more");
    client.close();

    // The list's one time for the session says nothing of what may have been said before the turn through the program, so
    // the next load compares. Nothing has been said since, so the one after it need not.
    for (outside, (other, attached)) in (1..).zip([("y", "load"), ("z", "resume")]) {
        // A session that is new shows when the list has been read.
        scene.outside().have(other, &scene.cwd(), &[("hello", "there")]);
        let mut client = Client::ready(&launch);
        rows_once(&mut client, ids.len() + outside);
        let (replay, result) = client.load(&ids[2], &scene.cwd());
        assert_eq!(text_of(&replay, "user_message_chunk"), "threeand more", "kept, and not twice");
        assert_eq!(text_of(&replay, "agent_message_chunk"), "You said: threeYou said: and more");
        assert_eq!(result["_meta"]["acp-sessions"]["attached"], attached);
        client.close();
    }
}

#[test]
fn a_deleted_session_stays_deleted_though_the_agent_still_lists_it() {
    for can_delete in [false, true] {
        let scene = Scene::new();
        let mut flags = vec!["--list", "--load"];
        flags.extend(can_delete.then_some("--delete"));
        let ids = on_its_own(&scene, &flags, &["one", "two", "three"]);
        let launch = scene.proxy(&[], &flags);
        let mut client = Client::ready(&launch);
        rows_once(&mut client, 3);
        client.result("session/delete", json!({"sessionId": ids[1]}));
        assert_eq!(client.list().len(), 2);
        client.close();
        assert_eq!(scene.heard_of("session/delete").len(), usize::from(can_delete));

        // A session that the agent makes meanwhile shows when its list has been read to the end.
        on_its_own(&scene, &flags, &["four"]);
        let mut client = Client::ready(&launch);
        let rows = rows_once(&mut client, 3);
        assert!(rows.iter().all(|row| row["sessionId"] != json!(ids[1])), "{rows:?}");
        let place = json!({"sessionId": ids[1], "cwd": scene.cwd(), "mcpServers": []});
        assert_eq!(client.error("session/load", place).code, -32002);
    }
}

#[test]
fn a_list_of_the_agent_without_an_end_holds_nothing_up() {
    let scene = Scene::new();
    let flags = &["--list", "--load", "--endless-list"];
    let ids = on_its_own(&scene, flags, &["one", "two", "three"]);
    let mut client = Client::ready(&scene.proxy(&[], flags));
    rows_once(&mut client, ids.len());
    let id = client.new_session(&scene.cwd());
    client.prompt(&id, "hello");
    assert_eq!(client.list().len(), ids.len() + 1);
    assert!(client.close().success());
    // Two pages hold all of it; the cursor of the second leads to the first, whose cursor is known already.
    let read = scene.heard_of("session/list").len();
    assert!(read <= 4, "nothing new came after the second page, and {read} were read");
}
