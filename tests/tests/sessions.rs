//! What the program does for a session, seen from both of its sides.

use acp_sessions_tests::client::Client;
use acp_sessions_tests::scene::Scene;
use acp_sessions_tests::transcript::{join, kind, text_of};
use serde_json::{Value, json};

#[test]
fn the_agents_own_capabilities_stay_and_the_programs_are_added() {
    let scene = Scene::new();
    let mut client = Client::start(&scene.proxy(&[], &[]));
    let hello = client.initialize();
    let able = &hello["agentCapabilities"];
    assert_eq!(able["loadSession"], true);
    for added in ["delete", "resume", "close", "fork", "archive"] {
        assert_eq!(able["sessionCapabilities"][added], json!({}), "{added}");
    }
    assert_eq!(able["sessionCapabilities"]["list"], json!({"limit": {}, "changes": {}, "subscribe": {}}));
    assert_eq!(able["promptCapabilities"]["embeddedContext"], true);
    assert_eq!(able["_meta"]["test-agent"], json!({"kept": "as it is"}));
    assert_eq!(hello["agentInfo"]["name"], "test-agent");
    let id = client.new_session(&scene.cwd());
    assert_eq!(client.row(&id)["archived"], false, "whoever offers to archive has to say so in every row");
    let heard = scene.heard_of("initialize");
    assert_eq!(heard[0]["clientInfo"]["name"], "raw-client");
    assert_eq!(heard[0]["clientCapabilities"]["fs"]["readTextFile"], true);
}

#[test]
fn a_message_passes_with_all_that_is_in_it() {
    let scene = Scene::new();
    let mut client = Client::ready(&scene.proxy(&[], &[]));
    let id = client.new_session(&scene.cwd());
    let prompt = json!({"sessionId": id, "prompt": [{"type": "text", "text": "hello", "_meta": {"a": [1.50, 1e3]}}],
        "_meta": {"traceparent": "00-1", "big": 12_345_678_901_234_567_890_u64}});
    client.result("session/prompt", prompt.clone());
    let heard = scene.heard_of("session/prompt").remove(0);
    assert_eq!(heard["prompt"], prompt["prompt"]);
    assert_eq!(heard["_meta"], prompt["_meta"]);
}

#[test]
fn what_the_agent_asks_names_the_session_as_the_client_knows_it() {
    let scene = Scene::new();
    let launch = scene.proxy(&[], &[]);
    // Takes the name that the agent will give again in the next process.
    Client::ready(&launch).new_session(&scene.cwd());
    let mut client = Client::ready(&launch);
    let id = client.new_session(&scene.cwd());
    let note = scene.file("note.txt");
    std::fs::write(&note, "what the file says").expect("the scene's folder is writable");
    let said = client.prompt(&id, &format!("read {}", note.display()));
    assert_eq!(text_of(&said, "agent_message_chunk"), "what the file says");
    let said = client.prompt(&id, "permission");
    assert_eq!(said.last().expect("an end")["status"], "completed");
    let asked = client.agent_requests();
    assert_eq!(asked.len(), 2);
    assert!(asked.iter().all(|request| request["params"]["sessionId"] == json!(id)), "{asked:?}");
    let agents_name = scene.heard_of("session/prompt")[0]["sessionId"].clone();
    assert_ne!(agents_name, json!(id), "the agent has its own name for it");

    client.answer_permission("no");
    let said = client.prompt(&id, "permission");
    assert_eq!(said.last().expect("an end")["status"], "failed");
}

#[test]
fn a_prompt_is_kept_once_whether_the_agent_says_it_back_or_not() {
    for flags in [&[][..], &["--echo-user"]] {
        let scene = Scene::new();
        let launch = scene.proxy(&[], flags);
        let id = scene.past(&launch, &["one thing", "another"]);
        let (replay, _) = Client::ready(&launch).load(&id, &scene.cwd());
        assert_eq!(text_of(&replay, "user_message_chunk"), "one thinganother", "{flags:?}");
        let kinds: Vec<&str> = join_kinds(&replay);
        let [user, agent] = ["user_message_chunk", "agent_message_chunk"];
        assert_eq!(kinds, [user, agent, user, agent], "{flags:?}");
    }
}

fn join_kinds(replay: &[Value]) -> Vec<&str> {
    let mut kinds: Vec<&str> = replay.iter().map(kind).filter(|kind| kind.ends_with("_chunk")).collect();
    kinds.dedup();
    kinds
}

#[test]
fn a_prompt_of_many_blocks_comes_back_as_it_was() {
    let scene = Scene::new();
    let launch = scene.proxy(&[], &[]);
    let mut client = Client::ready(&launch);
    let id = client.new_session(&scene.cwd());
    let blocks = json!([
        {"type": "text", "text": "see this"},
        {"type": "resource", "resource": {"uri": "file:///x", "text": "inside", "mimeType": "text/plain"}},
        {"type": "resource_link", "name": "y", "uri": "file:///y"},
        {"type": "text", "text": "and say"}]);
    client.result("session/prompt", json!({"sessionId": id, "prompt": blocks}));
    client.close();
    let (replay, _) = Client::ready(&launch).load(&id, &scene.cwd());
    let user = replay.iter().filter(|update| kind(update) == "user_message_chunk");
    let user: Vec<&Value> = user.map(|update| &update["content"]).collect();
    assert_eq!(json!(user), blocks);
}

#[test]
fn what_is_state_comes_back_once_as_it_last_was() {
    let scene = Scene::new();
    let launch = scene.proxy(&[], &[]);
    let id = scene.past(&launch, &["colourful", "colourful"]);
    let (replay, _) = Client::ready(&launch).load(&id, &scene.cwd());
    for state in ["plan", "available_commands_update", "usage_update"] {
        let all: Vec<&Value> = replay.iter().filter(|update| kind(update) == state).collect();
        assert_eq!(all.len(), 1, "{state}: {replay:#?}");
    }
    let plan = replay.iter().find(|update| kind(update) == "plan").expect("the plan");
    assert_eq!(plan["entries"][0]["status"], "completed");
    let usage = replay.iter().find(|update| kind(update) == "usage_update").expect("the usage");
    assert_eq!(usage["used"], 20);
    assert_eq!(text_of(&replay, "agent_thought_chunk"), "Hm.Hm.");
}

#[test]
fn mode_and_configuration_come_back_and_the_agent_is_told() {
    for flags in [
        &["--modes", "--config"][..],
        &["--modes", "--config", "--load", "--tells-once"],
        &["--modes", "--config", "--load", "--resume", "--tells-once"],
    ] {
        let scene = Scene::new();
        let launch = scene.proxy(&[], flags);
        let mut client = Client::ready(&launch);
        let id = client.new_session(&scene.cwd());
        client.result("session/set_mode", json!({"sessionId": id, "modeId": "code"}));
        let set = json!({"sessionId": id, "configId": "effort", "value": "high"});
        let answer = client.result("session/set_config_option", set);
        assert_eq!(answer["configOptions"][0]["currentValue"], "high");
        client.prompt(&id, "hello");
        client.close();
        for method in ["session/load", "session/resume"] {
            scene.forget_heard();
            let mut client = Client::ready(&launch);
            let result = client.result(method, scene.place(&id));
            assert_eq!(result["modes"]["currentModeId"], "code", "{flags:?} {method}: {result}");
            assert_eq!(result["modes"]["availableModes"].as_array().map(Vec::len), Some(2), "{flags:?} {method}");
            assert_eq!(result["configOptions"][0]["currentValue"], "high", "{flags:?} {method}: {result}");
            client.prompt(&id, "hello again");
            client.close();
            if !flags.contains(&"--load") {
                assert_eq!(scene.heard_of("session/set_mode")[0]["modeId"], "code", "{flags:?} {method}");
                assert_eq!(scene.heard_of("session/set_config_option")[0]["value"], "high", "{flags:?} {method}");
            }
        }
    }
}

#[test]
fn a_mode_that_the_agent_changes_is_remembered() {
    let scene = Scene::new();
    let launch = scene.proxy(&[], &["--modes"]);
    let id = scene.past(&launch, &["mode code"]);
    let (_, result) = Client::ready(&launch).load(&id, &scene.cwd());
    assert_eq!(result["modes"]["currentModeId"], "code");
}

#[test]
fn a_request_of_old_clients_for_a_model_is_passed_on() {
    let scene = Scene::new();
    let mut client = Client::ready(&scene.proxy(&[], &[]));
    let id = client.new_session(&scene.cwd());
    let outcome = client.request("session/set_model", json!({"sessionId": id, "modelId": "large"}));
    assert_eq!(outcome.expect_err("this agent has no models").code, -32601);
    assert_eq!(scene.heard_of("session/set_model")[0]["modelId"], "large");
}

#[test]
fn closing_cancels_the_turn_and_keeps_the_history() {
    for flags in [&[][..], &["--close"]] {
        let scene = Scene::new();
        let mut client = Client::ready(&scene.proxy(&[], flags));
        let id = client.new_session(&scene.cwd());
        let turn = client.start_endless(&id, "wait");
        client.result("session/close", json!({"sessionId": id}));
        assert_eq!(client.finish(&turn).expect("an end")["stopReason"], "cancelled");
        let (replay, _) = client.load(&id, &scene.cwd());
        assert_eq!(text_of(&replay, "user_message_chunk"), "wait");
        assert_eq!(text_of(&replay, "agent_message_chunk"), "waiting");
        client.prompt(&id, "hello");
    }
}

#[test]
fn deleting_an_open_session_cancels_it_first() {
    let scene = Scene::new();
    let mut client = Client::ready(&scene.proxy(&[], &[]));
    let id = client.new_session(&scene.cwd());
    let turn = client.start_endless(&id, "wait");
    client.result("session/delete", json!({"sessionId": id}));
    assert_eq!(client.finish(&turn).expect("an end")["stopReason"], "cancelled");
    assert_eq!(client.list(), [json!(null); 0]);
    let prompt = json!({"sessionId": id, "prompt": [{"type": "text", "text": "hello"}]});
    assert_eq!(client.error("session/prompt", prompt).code, -32002);
    let other = client.new_session(&scene.cwd());
    client.prompt(&other, "hello");
}

#[test]
fn a_cancelled_turn_ends_after_its_updates() {
    let scene = Scene::new();
    let mut client = Client::ready(&scene.proxy(&[], &[]));
    let id = client.new_session(&scene.cwd());
    let turn = client.start_endless(&id, "wait");
    client.notify("session/cancel", json!({"sessionId": id}));
    assert_eq!(client.finish(&turn).expect("an end")["stopReason"], "cancelled");
    client.prompt(&id, "hello");
}

#[test]
fn a_part_of_the_history_can_be_asked_for() {
    let scene = Scene::new();
    let launch = scene.proxy(&[], &[]);
    let mut client = Client::ready(&launch);
    let id = client.new_session(&scene.cwd());
    for number in 0..10 {
        client.prompt(&id, &format!("question {number}"));
    }
    client.close();
    let mut client = Client::ready(&launch);
    let mut ask = scene.place(&id);
    ask["_meta"] = json!({"acp-sessions": {"replay": {"last": 2}}});
    client.result("session/load", ask);
    let chunks = client.take_updates(&id);
    let chunks: Vec<&Value> = chunks.iter().filter(|update| kind(update).ends_with("_chunk")).collect();
    assert_eq!(chunks.len(), 2, "{chunks:#?}");
    assert_eq!(chunks[1]["content"]["text"], "You said: question 9");
}

#[test]
fn the_rest_of_the_history_can_be_asked_for() {
    let scene = Scene::new();
    let mut client = Client::ready(&scene.proxy(&[], &[]));
    let id = client.new_session(&scene.cwd());
    client.prompt(&id, "before");
    let (_, loaded) = client.load(&id, &scene.cwd());
    let cursor = &loaded["_meta"]["acp-sessions"]["cursor"];
    client.prompt(&id, "after");
    let mut ask = scene.place(&id);
    ask["_meta"] = json!({"acp-sessions": {"replay": {"after": cursor}}});
    client.result("session/load", ask);
    let rest = client.take_updates(&id);
    assert_eq!(text_of(&rest, "user_message_chunk"), "after");
    assert_eq!(text_of(&rest, "agent_message_chunk"), "You said: after");
}

#[test]
fn a_large_result_comes_back_whole() {
    let scene = Scene::new();
    let launch = scene.proxy(&[], &[]);
    let mut client = Client::ready(&launch);
    let id = client.new_session(&scene.cwd());
    let seen = client.prompt(&id, "big 12000000");
    client.close();
    let (replay, _) = Client::ready(&launch).load(&id, &scene.cwd());
    let (seen, replayed) = (join(&seen), join(&replay));
    assert!(replayed[1..] == seen, "what came back is not what was seen");
}

#[test]
fn a_fork_is_at_once_a_session_of_its_own() {
    let scene = Scene::new();
    let mut client = Client::ready(&scene.proxy(&[], &["--modes"]));
    let id = client.new_session(&scene.cwd());
    client.prompt(&id, "stream 50");
    let forked = client.result("session/fork", scene.place(&id));
    let fork = forked["sessionId"].as_str().expect("an id").to_owned();
    assert_eq!(forked["modes"]["currentModeId"], "ask");
    client.result("session/set_mode", json!({"sessionId": fork, "modeId": "code"}));
    client.prompt(&fork, "in the fork");
    client.prompt(&id, "in the parent");
    let (in_fork, result) = client.load(&fork, &scene.cwd());
    assert_eq!(result["modes"]["currentModeId"], "code");
    let (in_parent, result) = client.load(&id, &scene.cwd());
    assert_eq!(result["modes"]["currentModeId"], "ask");
    assert_eq!(text_of(&in_fork, "user_message_chunk"), "stream 50in the fork");
    assert_eq!(text_of(&in_parent, "user_message_chunk"), "stream 50in the parent");
    assert_eq!(result["_meta"]["acp-sessions"]["attached"], "live");
}
