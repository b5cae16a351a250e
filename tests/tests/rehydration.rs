//! Telling an agent that starts afresh what was said before.

use acp_sessions_tests::client::Client;
use acp_sessions_tests::scene::Scene;
use acp_sessions_tests::transcript::text_of;

#[test]
fn what_was_said_is_told_once() {
    for flags in [&[][..], &["--load", "--resume", "--forgets"]] {
        let scene = Scene::new();
        let launch = scene.proxy(&["--rehydrate", "on"], flags);
        let id = scene.past(&launch, &["first question"]);
        let mut client = Client::ready(&launch);
        client.load(&id, &scene.cwd());
        client.prompt(&id, "second question");
        client.prompt(&id, "third question");
        let prompts = scene.heard_of("session/prompt");
        let blocks: Vec<usize> =
            prompts.iter().filter_map(|prompt| prompt["prompt"].as_array()).map(Vec::len).collect();
        assert_eq!(blocks, [1, 2, 1], "{flags:?}: {prompts:?}");
    }
}

#[test]
fn an_agent_that_keeps_nothing_is_not_told_when_that_is_not_wanted() {
    let scene = Scene::new();
    let launch = scene.proxy(&["--rehydrate", "off"], &[]);
    let id = scene.past(&launch, &["first question"]);
    let mut client = Client::ready(&launch);
    let (replay, result) = client.load(&id, &scene.cwd());
    assert_eq!(text_of(&replay, "user_message_chunk"), "first question");
    assert_eq!(result["_meta"]["acp-sessions"]["attached"], "new");
    assert_eq!(result["_meta"]["acp-sessions"]["rehydrate"], false);
    client.prompt(&id, "second question");
    assert_eq!(scene.heard_of("session/prompt")[1]["prompt"].as_array().map(Vec::len), Some(1));
}

#[test]
fn what_is_told_is_never_shown_as_the_users_words() {
    for flags in [&[][..], &["--echo-user"]] {
        let scene = Scene::new();
        let launch = scene.proxy(&[], flags);
        let id = scene.past(&launch, &["first question"]);
        let mut client = Client::ready(&launch);
        client.load(&id, &scene.cwd());
        let seen = client.prompt(&id, "second question");
        assert!(!text_of(&seen, "user_message_chunk").contains("Earlier conversation"), "{flags:?}: {seen:?}");
        client.close();
        let (replay, _) = Client::ready(&launch).load(&id, &scene.cwd());
        assert_eq!(text_of(&replay, "user_message_chunk"), "first questionsecond question", "{flags:?}");
        assert!(!scene.store_holds("Earlier conversation"), "{flags:?}: it is in the store");
    }
}

#[test]
fn of_a_long_conversation_the_newest_is_told() {
    let scene = Scene::new();
    let launch = scene.proxy(&[], &[]);
    let mut client = Client::ready(&launch);
    let id = client.new_session(&scene.cwd());
    for number in 0..40 {
        client.prompt(&id, &format!("question {number}: {}", "x".repeat(10_000)));
    }
    client.prompt(&id, "the last question");
    client.close();
    let mut client = Client::ready(&launch);
    client.load(&id, &scene.cwd());
    client.prompt(&id, "one more");
    let prompts = scene.heard_of("session/prompt");
    let told = prompts.last().expect("a prompt")["prompt"][0]["text"].as_str().expect("text");
    assert!(told.contains("the last question"), "{} characters without it", told.len());
    assert!(!told.contains("question 0:"), "all of it was told: {} characters", told.len());
}
