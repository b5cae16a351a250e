//! An agent that sends faster than anybody can take it does not keep the client from being heard.

use std::io::{BufRead, BufReader, Write};

use acp_sessions_tests::launch::{Launch, built};
use acp_sessions_tests::scene::Scene;
use serde_json::{Value, json};

/// How many updates the agent would send, of a KiB each, if nobody told it to stop.
const FLOOD: u64 = 300_000;

/// The cancel is sent after so many of them.
const ENOUGH: u64 = 2_000;

/// So many more may come: what fits between the agent and the client, which is some MiB, and as much again.
const UNDER_WAY: u64 = 20_000;

#[test]
fn a_cancel_reaches_an_agent_that_floods() {
    let scene = Scene::new();
    let mut command = Launch::proxy(&scene.store(), &[], &Launch::new(&built("flood_agent"))).command();
    let mut program = command.spawn().expect("the program starts");
    let mut input = program.stdin.take().expect("its input");
    let mut output = BufReader::new(program.stdout.take().expect("its output"));
    let mut line = String::new();
    // Lines are looked at no closer than need be: this client has to be faster than the program.
    let mut next = |line: &mut String| {
        line.clear();
        assert!(output.read_line(line).expect("its output is text") > 0, "the program has ended");
    };

    let mut ask = |id: u64, method: &str, params: Value| {
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        input.write_all(format!("{request}\n").as_bytes()).expect("the program reads its input");
    };
    let answer_to = |line: &str, id: u64| -> Option<Value> {
        let message: Value = serde_json::from_str(line).expect("JSON");
        (message["id"] == id).then(|| message["result"].clone())
    };
    ask(1, "initialize", json!({"protocolVersion": 1}));
    ask(2, "session/new", json!({"cwd": scene.cwd(), "mcpServers": []}));
    let session = loop {
        next(&mut line);
        if let Some(result) = answer_to(&line, 2) {
            break result["sessionId"].clone();
        }
    };
    let prompt = json!([{"type": "text", "text": FLOOD.to_string()}]);
    ask(3, "session/prompt", json!({"sessionId": session, "prompt": prompt}));
    let mut heard = 0;
    let ended = loop {
        next(&mut line);
        if !line.contains("agent_message_chunk") {
            match answer_to(&line, 3) {
                Some(result) => break result,
                None => continue,
            }
        }
        heard += 1;
        if heard == ENOUGH {
            let cancel = json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}});
            input.write_all(format!("{cancel}\n").as_bytes()).expect("the program reads its input");
        }
    };
    drop(input);
    assert!(program.wait().expect("its status").success());
    assert_eq!(ended["stopReason"], "cancelled", "{ended}");
    let sent = ended["_meta"]["sent"].as_u64().expect("how many there were");
    assert_eq!(heard, sent, "none was lost");
    assert!(sent < ENOUGH + UNDER_WAY, "{sent} updates were sent before the cancel arrived");
}
