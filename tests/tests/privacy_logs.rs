//! What is logged at whatever level has nothing in it of what people say, of their environment, or of what is kept of them.

use std::fs;
use std::path::Path;

use acp_sessions_tests::client::Client;
use acp_sessions_tests::launch::{Launch, built};
use acp_sessions_tests::scene::Scene;
use acp_sessions_tests::script::Script;
use rusqlite::Connection;
use serde_json::json;

/// It is nowhere but in what is private.
const MARKER: &str = "pr1vate-xyzzy";

const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// The program, with its log at this level in this file, and the marker in its environment.
fn logging(level: &str, log: &Path) -> Launch {
    let script = format!("exec \"$0\" \"$@\" 2>>'{}'", log.display());
    let launch = Launch::new(Path::new("sh")).args(&["-c", &script]).arg(built("acp-sessions"));
    launch.env("ACP_SESSIONS_LOG", level).env("SOME_TOKEN", MARKER)
}

/// An agent that does everything wrong that is logged, each time with the marker in it.
fn agent(scene: &Scene) -> Launch {
    let text = json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": MARKER}});
    let error = json!({"code": -32603, "message": MARKER, "data": MARKER});
    Script::new("one")
        .answers("session/new", json!({"sessionId": "one", "_meta": {"m": MARKER}}))
        .tells("one", &text)
        .tells("unknown", &text)
        .tells("one", json!({"sessionUpdate": "session_info_update", "title": MARKER}))
        .tells("one", json!({"sessionUpdate": MARKER, "more": MARKER}))
        .says("session/prompt", format_args!("{{\"jsonrpc\":\"2.0\",\"method\":\"{MARKER}"))
        .says("session/prompt", format_args!("{MARKER}"))
        .says("session/prompt", format_args!(r#"{{"jsonrpc":"2.0","id":"{MARKER}","result":{{"m":"{MARKER}"}}}}"#))
        .says("session/prompt", format_args!(r#"{{"jsonrpc":"2.0","id":"{MARKER}","error":{error}}}"#))
        .says("session/prompt", format_args!(r#"{{"jsonrpc":"2.0","id":"acp-sessions:{MARKER}:1","result":null}}"#))
        .says("session/prompt", format_args!(r#"{{"jsonrpc":"2.0","id":99,"result":"{MARKER}","error":{error}}}"#))
        .ends_turns()
        .says("session/set_mode", format_args!(r#"{{"jsonrpc":"2.0","id":$ID,"error":{error}}}"#))
        .agent(&scene.file("script"))
}

fn converse(client: &mut Client, scene: &Scene) {
    let servers = json!([{"name": "local", "command": "/bin/server", "args": [MARKER],
        "env": [{"name": "TOKEN", "value": MARKER}]}]);
    client.initialize();
    client.result("session/new", json!({"cwd": scene.cwd(), "mcpServers": servers}));
    client.prompt("one", MARKER);
    let refused = client.request("session/set_mode", json!({"sessionId": "one", "modeId": MARKER}));
    assert!(refused.is_err(), "the agent refuses it");
    client.send_bytes(format!("{{\"jsonrpc\":\"2.0\",\"{MARKER}\n\"{MARKER}\"\n").as_bytes());
    client.result("session/list", json!({"_meta": {"acp-sessions": {"search": MARKER}}}));
}

#[test]
fn nothing_private_is_logged_at_any_level() {
    let mut logged = Vec::new();
    for level in LEVELS {
        let scene = Scene::new();
        let log = scene.file("log");
        let program = |command: &str| logging(level, &log).arg(command).arg("--store").arg(scene.store());
        let proxy = program("proxy").arg("--");
        let proxy = agent(&scene).argv().iter().fold(proxy, |launch, word| launch.arg(word.clone()));
        let mut client = Client::start(&proxy).unchecked();
        converse(&mut client, &scene);
        // What cannot be stored is told as well.
        fs::rename(scene.store(), scene.file("elsewhere.db")).expect("renamed");
        client.prompt("one", MARKER);
        fs::rename(scene.file("elsewhere.db"), scene.store()).expect("renamed");
        client.close();
        // Of what cannot be read it is said where it is, not what stands there.
        let store = Connection::open(scene.store()).expect("a database");
        let spoilt =
            format!("UPDATE records SET value = replace(value, '\"prompts\":', '\"prompts\":\"{MARKER}\",\"was\":')");
        let spoilt = store.execute(&spoilt, []).expect("SQL");
        assert!(spoilt > 0, "there is a record");
        drop(store);
        for words in [&["show", "one"][..], &["list", "--search", MARKER], &["doctor", "--rebuild"], &["delete", "one"]]
        {
            let store = scene.store();
            let rest = words[1..].iter().fold(program(words[0]), |launch, word| launch.arg(*word));
            assert!(store.exists());
            // What is printed is another matter.
            rest.command().output().expect("it starts");
        }
        let mut client = Client::start(&proxy).unchecked();
        client.initialize();
        let broken = client.request("session/load", scene.place("one"));
        assert!(broken.is_err(), "its record cannot be read");
        client.close();
        let text = fs::read_to_string(&log).expect("a log");
        assert!(!text.contains(MARKER), "at {level}: {text}");
        logged.push(text.len());
    }
    assert!(
        logged.is_sorted() && logged[0] < logged[2] && logged[2] < logged[5],
        "the levels make a difference: {logged:?}"
    );
}

#[test]
fn a_level_that_is_none_is_told_of_and_warnings_are_logged() {
    let scene = Scene::new();
    let list = |level: &str| {
        let launch = Launch::new(&built("acp-sessions")).arg("list").arg("--store").arg(scene.store());
        let output = launch.env("ACP_SESSIONS_LOG", level).command().output().expect("it starts");
        String::from_utf8(output.stderr).expect("text")
    };
    assert!(list("acp_sessions=loud").contains("ACP_SESSIONS_LOG is not understood"));
    for level in ["", "warn", "acp_sessions::store=debug,warn"] {
        assert!(!list(level).contains("ACP_SESSIONS_LOG"), "{level:?}");
    }
}
