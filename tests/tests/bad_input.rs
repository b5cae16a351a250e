//! Every kind of bad input gets the error that says so, and the same connection works on.

use acp_sessions_tests::client::Client;
use acp_sessions_tests::scene::Scene;
use serde_json::{Value, json};

/// Asserts that the connection still does what it should.
fn works(client: &mut Client, after: &str) {
    let page = client.request("session/list", json!({}));
    assert!(page.as_ref().is_ok_and(|page| page["sessions"].is_array()), "after {after}: {page:?}");
}

#[test]
fn lines_that_are_no_request() {
    let scene = Scene::new();
    let mut client = Client::ready(&scene.builtin(&[]));
    let table: [(&[u8], i64); 14] = [
        (b"{\"jsonrpc\":\n", -32700),
        (b"nonsense\n", -32700),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session/list\"}}\n", -32700),
        (b"\xff\xfe{}\n", -32700),
        (b"[]\n", -32600),
        (b"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session/list\"}]\n", -32600),
        (b"\"text\"\n", -32600),
        (b"17\n", -32600),
        (b"null\n", -32600),
        (b"true\n", -32600),
        (b"{}\n", -32600),
        (b"{\"jsonrpc\":\"2.0\",\"params\":{}}\n", -32600),
        (b"{\"jsonrpc\":\"2.0\",\"method\":5,\"params\":{}}\n", -32600),
        (b"{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"id\":{}}\n", -32600),
    ];
    for (line, code) in table {
        let shown = String::from_utf8_lossy(line).into_owned();
        client.send_bytes(line);
        let response = client.read();
        assert_eq!(response["error"]["code"], code, "{shown} {response}");
        assert!(response["id"].is_null(), "{shown} {response}");
        works(&mut client, &shown);
    }
}

#[test]
fn an_object_without_a_method_names_its_request() {
    let scene = Scene::new();
    let mut client = Client::ready(&scene.builtin(&[]));
    client.send_bytes(b"{\"jsonrpc\":\"2.0\",\"id\":77}\n");
    let response = client.read();
    assert_eq!((&response["error"]["code"], &response["id"]), (&json!(-32600), &json!(77)), "{response}");
    works(&mut client, "an id without a method");
}

#[test]
fn blank_lines_and_line_ends_of_any_system_are_fine() {
    let scene = Scene::new();
    let mut client = Client::ready(&scene.builtin(&[]));
    client.send_bytes(b"\n  \n\r\n");
    works(&mut client, "blank lines");
    client.send_bytes(b"nonsense\r\n");
    let response = client.read();
    assert_eq!((&response["error"]["code"], &response["id"]), (&json!(-32700), &Value::Null), "{response}");
    works(&mut client, "a carriage return");
}

#[test]
fn a_line_over_the_limit_is_refused_and_forgotten() {
    let scene = Scene::new();
    let mut client = Client::ready(&scene.builtin(&[]));
    let mut line = br#"{"jsonrpc":"2.0","id":9,"method":"session/list","params":{"cursor":""#.to_vec();
    line.resize((16 << 20) + 1, b'x');
    line.extend_from_slice(b"\"}}\n");
    client.send_bytes(&line);
    let response = client.read();
    assert_eq!((&response["error"]["code"], &response["id"]), (&json!(-32600), &json!(9)), "{response}");
    works(&mut client, "a long line");
}

#[test]
fn before_initialize_nothing_else_is_answered() {
    let scene = Scene::new();
    let mut client = Client::start(&scene.builtin(&[]));
    for method in ["session/list", "session/new", "session/prompt", "_vendor/thing", "nonsense"] {
        let error = client.error(method, json!({"cwd": scene.cwd(), "mcpServers": []}));
        assert_eq!(error.code, -32600, "{method}: {error:?}");
    }
    client.notify("session/cancel", json!({"sessionId": "s"}));
    client.initialize();
    works(&mut client, "initialize");
}

#[test]
fn an_initialize_without_a_version_is_refused_and_may_be_sent_again() {
    let scene = Scene::new();
    let mut client = Client::start(&scene.builtin(&[]));
    for params in [json!({}), json!({"protocolVersion": "one"}), json!({"protocolVersion": -1})] {
        let error = client.error("initialize", params);
        assert_eq!(error.code, -32602, "{error:?}");
        assert!(error.names("protocolVersion"), "{error:?}");
    }
    client.initialize();
    works(&mut client, "a second try");
}

#[test]
fn requests_behind_initialize_wait_their_turn() {
    let scene = Scene::new();
    for launch in [scene.builtin(&[]), scene.proxy(&[], &[]), scene.proxy(&[], &["--load", "--resume", "--list"])] {
        let mut client = Client::start(&launch);
        let requests = [
            ("initialize", json!({"protocolVersion": 1, "clientCapabilities": {}})),
            ("session/new", json!({"cwd": scene.cwd(), "mcpServers": []})),
            ("session/list", json!({"cwd": scene.cwd()})),
            ("session/list", json!({"cwd": 5})),
            ("session/new", json!({"cwd": scene.cwd(), "mcpServers": []})),
        ];
        let ids = requests.map(|(method, params)| client.send_request(method, params));
        let mut answered = Vec::new();
        while answered.len() < ids.len() {
            let message = client.read();
            if message.get("method").is_none() {
                answered.push(message["id"].clone());
            }
        }
        assert_eq!(answered, ids);
        works(&mut client, "requests behind initialize");
    }
}

#[test]
fn every_version_is_answered_with_the_one_there_is() {
    let scene = Scene::new();
    let v2 =
        json!({"protocolVersion": 2, "info": {"name": "next", "version": "1"}, "capabilities": {"elicitation": {}}});
    let table = [
        json!({"protocolVersion": 0}),
        json!({"protocolVersion": 1}),
        json!({"protocolVersion": 65535, "clientCapabilities": {}}),
        v2,
    ];
    for params in table {
        for launch in [scene.builtin(&[]), scene.proxy(&[], &[])] {
            let mut client = Client::start(&launch);
            let result = client.result("initialize", params.clone());
            assert_eq!(result["protocolVersion"], 1, "{params}");
            works(&mut client, "initialize");
        }
    }
}

#[test]
fn params_that_are_missing_or_of_the_wrong_type_are_named() {
    let scene = Scene::new();
    let mut client = Client::ready(&scene.builtin(&[]));
    let cwd = scene.cwd();
    let id = client.new_session(&cwd);
    let table: Vec<(&str, Value, &str)> = vec![
        ("session/new", json!({"mcpServers": []}), "cwd"),
        ("session/new", json!({"cwd": 5, "mcpServers": []}), "cwd"),
        ("session/new", json!({"cwd": null, "mcpServers": []}), "cwd"),
        ("session/new", json!({"cwd": "relative/path", "mcpServers": []}), "cwd"),
        ("session/new", json!({"cwd": "", "mcpServers": []}), "cwd"),
        ("session/new", json!({"cwd": cwd}), "mcpServers"),
        ("session/new", json!({"cwd": cwd, "mcpServers": "none"}), "mcpServers"),
        ("session/new", json!({"cwd": cwd, "mcpServers": [], "additionalDirectories": [5]}), "additionalDirectories"),
        ("session/load", json!({"cwd": cwd, "mcpServers": []}), "sessionId"),
        ("session/load", json!({"sessionId": 5, "cwd": cwd, "mcpServers": []}), "sessionId"),
        ("session/load", json!({"sessionId": id, "cwd": "x", "mcpServers": []}), "cwd"),
        ("session/load", json!({"sessionId": id, "cwd": cwd}), "mcpServers"),
        ("session/resume", json!({"cwd": cwd}), "sessionId"),
        ("session/resume", json!({"sessionId": id, "cwd": ["x"]}), "cwd"),
        ("session/fork", json!({"cwd": cwd}), "sessionId"),
        ("session/list", json!({"cwd": 5}), "cwd"),
        ("session/list", json!({"cwd": "x/y"}), "cwd"),
        ("session/list", json!({"cursor": 5}), "cursor"),
        ("session/list", json!({"cursor": "nonsense"}), "cursor"),
        ("session/list", json!({"cursor": ""}), "cursor"),
        ("session/delete", json!({}), "sessionId"),
        ("session/delete", json!({"sessionId": []}), "sessionId"),
        ("session/close", json!({}), "sessionId"),
        ("session/prompt", json!({"prompt": []}), "sessionId"),
        ("session/prompt", json!({"sessionId": id}), "prompt"),
        ("session/prompt", json!({"sessionId": id, "prompt": "hello"}), "prompt"),
        ("session/set_mode", json!({"sessionId": id}), "modeId"),
        ("session/set_mode", json!({"sessionId": id, "modeId": 5}), "modeId"),
        ("session/set_config_option", json!({"sessionId": id, "value": "x"}), "configId"),
        ("session/set_config_option", json!({"sessionId": id, "configId": 5, "value": "x"}), "configId"),
    ];
    for (method, params, field) in table {
        let shown = format!("{method} {params}");
        let error = client.error(method, params);
        assert_eq!(error.code, -32602, "{shown}: {error:?}");
        assert!(error.names(field), "{shown} does not name {field}: {error:?}");
        works(&mut client, &shown);
    }
}

#[test]
fn params_may_be_left_out_where_all_of_them_are_optional() {
    let scene = Scene::new();
    let mut client = Client::ready(&scene.builtin(&[]));
    client.send(&json!({"jsonrpc": "2.0", "id": "a", "method": "session/list"}));
    assert!(client.finish(&json!("a")).is_ok());
    client.send(&json!({"jsonrpc": "2.0", "id": "b", "method": "session/list", "params": null}));
    assert!(client.finish(&json!("b")).is_ok());
    client.send(&json!({"jsonrpc": "2.0", "id": "c", "method": "session/new"}));
    assert_eq!(client.finish(&json!("c")).unwrap_err().code, -32602);
    works(&mut client, "no params");
}

#[test]
fn an_unknown_method_is_the_agents_business() {
    for (scene, proxied) in [(Scene::new(), false), (Scene::new(), true)] {
        let launch = if proxied { scene.proxy(&[], &[]) } else { scene.builtin(&[]) };
        let mut client = Client::ready(&launch);
        for method in ["nonsense", "session/nonsense", "_vendor/thing"] {
            let error = client.error(method, json!({"some": "thing"}));
            assert_eq!(error.code, -32601, "{method}: {error:?}");
            works(&mut client, method);
            client.notify(method, json!({}));
            works(&mut client, method);
        }
        // The agent has heard all that was said before what it answers.
        client.new_session(&scene.cwd());
        if proxied {
            assert_eq!(scene.heard_of("_vendor/thing"), [json!({"some": "thing"}), json!({})]);
        }
    }
}

#[test]
fn an_unknown_session_is_named() {
    let scene = Scene::new();
    let cwd = scene.cwd();
    for launch in [scene.builtin(&[]), scene.proxy(&[], &[]), scene.proxy(&[], &["--load", "--resume", "--fork"])] {
        let mut client = Client::ready(&launch);
        let place = json!({"sessionId": "no-such", "cwd": cwd, "mcpServers": []});
        let table = [
            ("session/load", place.clone()),
            ("session/resume", place.clone()),
            ("session/fork", place),
            ("session/prompt", json!({"sessionId": "no-such", "prompt": [{"type": "text", "text": "hello"}]})),
            ("session/set_mode", json!({"sessionId": "no-such", "modeId": "code"})),
            ("session/set_config_option", json!({"sessionId": "no-such", "configId": "effort", "value": "low"})),
        ];
        for (method, params) in table {
            let error = client.error(method, params);
            assert_eq!(error.code, -32002, "{method}: {error:?}");
            assert_eq!(error.data["sessionId"], "no-such", "{method}: {error:?}");
            works(&mut client, method);
        }
        assert_eq!(client.result("session/delete", json!({"sessionId": "no-such"})), json!({}));
        client.notify("session/cancel", json!({"sessionId": "no-such"}));
        works(&mut client, "the end of an unknown session");
    }
}

#[test]
fn a_request_keeps_its_id_whatever_it_is() {
    let scene = Scene::new();
    let mut client = Client::ready(&scene.proxy(&[], &[]));
    for id in [json!("text"), json!(0), json!(-5), json!(9_007_199_254_740_993_i64), json!("0"), json!("ünï\u{1f600}")]
    {
        client.send(&json!({"jsonrpc": "2.0", "id": id, "method": "session/list", "params": {}}));
        assert!(client.finish(&id).is_ok(), "{id}");
        client.send(&json!({"jsonrpc": "2.0", "id": id, "method": "session/new",
            "params": {"cwd": scene.cwd(), "mcpServers": []}}));
        assert!(client.finish(&id).is_ok(), "{id}");
    }
}
