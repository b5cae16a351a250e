//! `acp-sessions usage`, and the permissions of `acp-sessions show`

use acp_sessions_tests::client::Client;
use acp_sessions_tests::launch::Launch;
use acp_sessions_tests::scene::Scene;
use acp_sessions_tests::script::Script;
use serde_json::{Value, json};

use crate::run::{empty, on};

fn rows(printed: &str) -> Vec<Value> {
    printed.lines().map(|line| serde_json::from_str(line).expect("one JSON object a line")).collect()
}

/// Three sessions of an agent that replays what it has told: the sums that each was told to have cost.
fn spent(sums: &[&[&str]]) -> (Scene, Vec<String>) {
    let scene = Scene::new();
    let launch = scene.proxy(&[], &["--list", "--load"]);
    let mut client = Client::ready(&launch);
    let ids: Vec<String> = sums
        .iter()
        .map(|sums| {
            let id = client.new_session(&scene.cwd());
            for sum in *sums {
                client.prompt(&id, &format!("spend {sum}"));
            }
            id
        })
        .collect();
    assert!(client.close().success());
    // Another window loads them all, and is told again what they have cost.
    let mut client = Client::ready(&launch);
    for id in &ids {
        client.load(id, &scene.cwd());
    }
    assert!(client.close().success());
    (scene, ids)
}

#[test]
fn what_was_used_is_summed_up_to_the_last_digit() {
    let (scene, ids) = spent(&[&["0.1", "0.3"], &["0.2", "0.1"], &[]]);
    let sums = |amount: &str, answers: u64| {
        let amount: Value = serde_json::from_str(amount).expect("a number");
        json!({"answers": answers, "totalTokens": 15 * answers, "inputTokens": 10 * answers, "outputTokens": 5 * answers,
            "thoughtTokens": 0, "cachedReadTokens": 0, "cachedWriteTokens": 0,
            "costs": [{"amount": amount, "currency": "USD"}]})
    };
    let with = |mut sums: Value, names: Value| {
        for (name, value) in names.as_object().expect("an object") {
            sums[name] = value.clone();
        }
        sums
    };
    let all = || sums("0.6", 4);
    let of = |by: &str| rows(&on(&scene, &["usage", "--json", "--by", by]).printed());
    let days = of("day");
    assert_eq!(days.len(), 1, "{days:?}");
    assert!(days[0]["day"].as_str().is_some_and(|day| day.len() == 10), "{days:?}");
    assert_eq!(days, [with(all(), json!({"day": days[0]["day"]}))]);
    let agents = of("agent");
    assert_eq!(agents, [with(all(), json!({"agent": agents[0]["agent"]}))]);
    assert_eq!(of("directory"), [with(all(), json!({"cwd": scene.cwd()}))]);
    let mut sessions = of("session");
    sessions.sort_by_key(|row| row["title"].to_string());
    let named = |id: &str, title: &str| json!({"sessionId": id, "cwd": scene.cwd(), "title": title});
    assert_eq!(
        sessions,
        [with(sums("0.3", 2), named(&ids[0], "spend 0.1")), with(sums("0.3", 2), named(&ids[1], "spend 0.2"))]
    );
    let printed = on(&scene, &["usage", "--by", "session"]).printed();
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(lines[0].split_whitespace().collect::<Vec<_>>(), ["ANSWERS", "INPUT", "OUTPUT", "TOKENS", "COST"]);
    assert_eq!(lines.len(), 4, "{printed}");
    assert!(lines[1].contains(" 0.3 USD  "), "{printed}");
    assert_eq!(lines[3].split_whitespace().collect::<Vec<_>>(), ["4", "40", "20", "60", "0.6", "USD", "all"]);
    // A deleted session has used nothing.
    on(&scene, &["delete", &ids[0]]).printed();
    assert_eq!(of("directory")[0]["costs"][0]["amount"], 0.3);
    assert_eq!(on(&scene, &["doctor"]).code, Some(0));
}

#[test]
fn where_nobody_has_said_anything_there_is_nothing_to_sum_up() {
    let scene = empty();
    assert_eq!(on(&scene, &["usage"]).printed(), "No agent has said what was used.\n");
    assert_eq!(on(&scene, &["usage", "--json"]).printed(), "");
}

#[test]
fn permissions_are_shown_with_who_answered_them() {
    let scene = Scene::new();
    let mut client = Client::ready(&scene.proxy(&[], &["--list", "--load"]));
    let id = client.new_session(&scene.cwd());
    client.prompt(&id, "permission");
    client.answer_permission("no");
    client.prompt(&id, "permission");
    assert!(client.close().success());
    let printed = on(&scene, &["show", "--permissions", &id]).printed();
    let lines: Vec<&str> = printed.lines().collect();
    for (line, answer) in lines.iter().zip(["Yes (allow_once)", "No (reject_once)"]) {
        let expected = format!("Remove it (call-2): {answer}, through raw-client at ");
        assert!(line.contains(&expected) && line.ends_with('Z'), "{printed}");
    }
    assert_eq!(lines.len(), 2, "{printed}");
    let told = rows(&on(&scene, &["show", "--permissions", "--json", &id]).printed());
    assert_eq!(told[1]["answer"]["selected"], json!({"optionId": "no", "name": "No", "kind": "reject_once"}));
    assert_eq!((&told[0]["answer"]["client"], &told[0]["toolCallId"]), (&json!("raw-client"), &json!("call-2")));
    let other = scene.builtin(&[]);
    let mut client = Client::ready(&other);
    let quiet = client.new_session(&scene.cwd());
    client.close();
    assert_eq!(on(&scene, &["show", "--permissions", &quiet]).printed(), "No permission was asked for.\n");
    assert!(on(&scene, &["show", "--permissions", "none"]).complaint.contains("no session none"));
}

#[test]
fn what_a_sub_agent_has_asked_is_shown_with_its_parents_permissions() {
    let scene = Scene::new();
    let options = json!([{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]);
    let asked = |request: &str, session: &str| {
        let call = json!({"toolCallId": request, "title": format!("Write {request}")});
        let params = json!({"sessionId": session, "toolCall": call, "options": options});
        json!({"jsonrpc": "2.0", "id": request, "method": "session/request_permission", "params": params})
    };
    let agent = Script::new("one")
        .tells("one", json!({"sessionUpdate": "subagent_update", "sessionId": "two"}))
        .says("session/prompt", asked("q1", "two"))
        .says("session/prompt", asked("q2", "one"))
        .ends_turns()
        .agent(&scene.file("script"));
    let mut client = Client::ready(&Launch::proxy(&scene.store(), &[], &agent));
    let id = client.new_session(&scene.cwd());
    client.prompt(&id, "Go");
    client.close();
    for (session, lines) in
        [("one", &["Write q1 (q1) in sub-agent two: Yes", "Write q2 (q2): Yes"][..]), ("two", &["Write q1 (q1): Yes"])]
    {
        let printed = on(&scene, &["show", "--permissions", session]).printed();
        assert_eq!(printed.lines().count(), lines.len(), "{printed}");
        for line in lines {
            assert!(printed.contains(line), "{printed}");
        }
    }
    let told = rows(&on(&scene, &["show", "--permissions", "--json", "one"]).printed());
    let mut asked_in: Vec<&Value> = told.iter().map(|asked| &asked["sessionId"]).collect();
    asked_in.sort_by_key(ToString::to_string);
    assert_eq!(asked_in, ["one", "two"]);
}
