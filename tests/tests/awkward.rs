//! Input that is unusual rather than wrong, and agents that misbehave.

use acp_sessions_tests::client::Client;
use acp_sessions_tests::scene::Scene;
use acp_sessions_tests::transcript::text_of;
use serde_json::json;

fn works(client: &mut Client, scene: &Scene, after: &str) {
    let id = client.new_session(&scene.cwd());
    client.prompt(&id, "hello");
    let rows = client.list();
    assert!(rows.iter().any(|row| row["sessionId"] == json!(id)), "after {after}");
}

#[test]
fn text_of_every_kind_comes_back_as_it_was() {
    let scene = Scene::new();
    let launch = scene.proxy(&[], &[]);
    let texts = [
        "quotes \" and \\ backslashes \\u0041",
        "lines\nand\r\nreturns\tand tabs",
        "控制 \u{0} \u{1f} \u{7f} \u{2028} \u{2029} \u{feff}",
        "emoji 👩‍👩‍👧‍👦 and e\u{301} and 한글 and العربية",
        "</script> <![CDATA[ ]]> %s {{}} $(echo) `x`",
    ];
    for text in texts {
        let mut client = Client::ready(&launch);
        let id = client.new_session(&scene.cwd());
        let said = client.prompt(&id, text);
        assert_eq!(text_of(&said, "agent_message_chunk"), format!("You said: {text}"));
        client.close();
        let (replay, _) = Client::ready(&launch).load(&id, &scene.cwd());
        assert_eq!(text_of(&replay, "user_message_chunk"), text);
        assert_eq!(text_of(&replay, "agent_message_chunk"), format!("You said: {text}"));
    }
}

#[test]
fn escapes_that_stand_for_no_character_do_no_harm() {
    let scene = Scene::new();
    for launch in [scene.builtin(&[]), scene.proxy(&[], &[])] {
        let mut client = Client::ready(&launch);
        let id = client.new_session(&scene.cwd());
        let prompt = format!(
            r#"{{"jsonrpc":"2.0","id":"odd","method":"session/prompt","params":{{"sessionId":"{id}","prompt":[{{"type":"text","text":"a \ud800 b"}}]}}}}"#
        );
        client.send_bytes(format!("{prompt}\n").as_bytes());
        let error = client.finish(&json!("odd")).expect_err("no agent could read it");
        assert_eq!((error.code, &error.data["field"]), (-32602, &json!("prompt")), "{error:?}");
        works(&mut client, &scene, "half a surrogate pair");
    }
}

#[test]
fn deep_nesting_does_no_harm() {
    let scene = Scene::new();
    for depth in [100, 1000, 1_000_000] {
        let mut client = Client::ready(&scene.builtin(&[]));
        let nested = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        for (place, id, line) in [
            ("alone", json!(null), nested.clone()),
            (
                "a method's params",
                json!(7),
                format!(r#"{{"jsonrpc":"2.0","id":7,"method":"_deep/thing","params":{nested}}}"#),
            ),
            (
                "a cursor",
                json!(7),
                format!(r#"{{"jsonrpc":"2.0","id":7,"method":"session/list","params":{{"cursor":{nested}}}}}"#),
            ),
        ] {
            client.send_bytes(format!("{line}\n").as_bytes());
            let response = client.read();
            let answer = (&response["error"]["code"], &response["id"]);
            assert_eq!(answer, (&json!(-32600), &id), "{place} {depth}: {response}");
            works(&mut client, &scene, place);
        }
    }
}

#[test]
fn an_answer_to_nothing_is_ignored() {
    let scene = Scene::new();
    let mut client = Client::ready(&scene.proxy(&[], &[]));
    client.send(&json!({"jsonrpc": "2.0", "id": 99, "result": {"outcome": {"outcome": "cancelled"}}}));
    client.send(&json!({"jsonrpc": "2.0", "id": "x", "error": {"code": -1, "message": "no"}}));
    works(&mut client, &scene, "an answer to nothing");
}

#[test]
fn a_cancelled_request_is_the_agents_to_cancel() {
    let scene = Scene::new();
    let mut client = Client::ready(&scene.proxy(&[], &[]));
    let id = client.new_session(&scene.cwd());
    let turn = client.start_endless(&id, "wait");
    client.notify("$/cancel_request", json!({"requestId": turn}));
    client.notify("session/cancel", json!({"sessionId": id}));
    assert_eq!(client.finish(&turn).expect("an end")["stopReason"], "cancelled");
    let heard = scene.heard();
    let prompt = heard.iter().find(|message| message["method"] == "session/prompt").expect("the prompt");
    let cancelled = scene.heard_of("$/cancel_request");
    assert_eq!(cancelled[0]["requestId"], prompt["id"], "the id is the one by which the agent knows the request");
}

#[test]
fn a_line_of_the_agent_over_the_limit_does_not_end_the_conversation() {
    let scene = Scene::new();
    let mut client = Client::ready(&scene.proxy(&[], &[]));
    let id = client.new_session(&scene.cwd());
    let said = client.prompt(&id, "big 17000000");
    assert_eq!(text_of(&said, "agent_message_chunk"), "Looked it up.");
    works(&mut client, &scene, "a long line of the agent");
}

#[test]
fn a_directory_that_is_gone_does_not_take_its_sessions_along() {
    let scene = Scene::new();
    for launch in [scene.proxy(&[], &[]), scene.proxy(&[], &["--load"]), scene.builtin(&[])] {
        let cwd = scene.file("short-lived");
        std::fs::create_dir(&cwd).expect("the scene's folder is writable");
        let cwd_text = cwd.to_str().expect("text").to_owned();
        let mut client = Client::ready(&launch);
        let id = client.new_session(&cwd_text);
        client.prompt(&id, "hello");
        client.close();
        std::fs::remove_dir(&cwd).expect("it is there");
        let (replay, _) = Client::ready(&launch).load(&id, &cwd_text);
        assert_eq!(text_of(&replay, "user_message_chunk"), "hello");
    }
}

#[test]
fn a_cursor_of_one_process_works_in_another() {
    let scene = Scene::new();
    let launch = scene.builtin(&["--page-size", "2"]);
    let mut client = Client::ready(&launch);
    let ids: Vec<String> = (0..5).map(|_| client.new_session(&scene.cwd())).collect();
    client.close();
    let (mut seen, mut cursor) = (Vec::new(), None);
    loop {
        let params = cursor.map_or_else(|| json!({}), |cursor| json!({"cursor": cursor}));
        let page = Client::ready(&launch).result("session/list", params);
        let rows = page["sessions"].as_array().expect("rows");
        seen.extend(rows.iter().map(|row| row["sessionId"].as_str().expect("an id").to_owned()));
        match page["nextCursor"].as_str() {
            Some(next) => cursor = Some(next.to_owned()),
            None => break,
        }
    }
    seen.sort();
    let mut ids = ids;
    ids.sort();
    assert_eq!(seen, ids);
}
