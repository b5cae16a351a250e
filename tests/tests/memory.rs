//! Whatever either side sends, what the program holds of it stays bounded: 128 MiB above the line that it is at.

use std::fs;
use std::io::{BufRead, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Stdio};
use std::thread;

use acp_sessions_tests::launch::{Launch, built};
use acp_sessions_tests::scene::Scene;
use serde_json::{Value, json};

const MIB: usize = 1 << 20;
/// What the program may hold, itself included.
const MOST: usize = 128 * MIB;
/// How much is sent.
const FLOOD: usize = 3 * MIB;

/// The most memory that a process has had so far, in bytes.
fn peak(process: &Child) -> usize {
    let status = fs::read_to_string(format!("/proc/{}/status", process.id())).expect("its status");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("its peak");
    line.trim().trim_end_matches(" kB").parse::<usize>().expect("a number") * 1024
}

/// Reads until this request is answered.
fn await_answer(output: &mut BufReader<ChildStdout>, id: &str) -> Value {
    let mark = format!("\"{id}\"");
    let mut line = String::new();
    loop {
        line.clear();
        assert!(output.read_line(&mut line).expect("text") > 0, "the program has ended");
        // Not parsed unless it may be the answer: there are millions.
        if line.contains(&mark)
            && let Ok(message) = serde_json::from_str::<Value>(&line)
            && message["id"] == id
        {
            return message;
        }
    }
}

fn request(id: &str, method: &str, params: &Value) -> String {
    format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
}

fn shell(script: &str) -> Launch {
    Launch::new(Path::new("/bin/sh")).args(&["-c", script])
}

#[test]
fn a_client_that_floods_costs_little() {
    for line in [
        &b"\xff\n"[..],
        b"{}\n",
        b"[]\n",
        b"{\"id\":1}\n",
        b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"session/list\"}\n",
        b"{\"jsonrpc\":\"2.0\",\"method\":\"session/cancel\",\"params\":{\"sessionId\":\"x\"}}\n",
    ] {
        let scene = Scene::new();
        let launch = Launch::proxy(&scene.store(), &[], &Launch::new(&built("fast_agent")));
        let mut program = launch.command().stderr(Stdio::null()).spawn().expect("the program starts");
        let mut input = program.stdin.take().expect("its input");
        let mut output = BufReader::new(program.stdout.take().expect("its output"));
        let initialize = request("init", "initialize", &json!({"protocolVersion": 1}));
        input.write_all(initialize.as_bytes()).expect("the program reads");
        let reader = thread::spawn(move || await_answer(&mut output, "after"));
        let flood = line.repeat(FLOOD / line.len());
        input.write_all(&flood).expect("the program reads");
        input.write_all(request("after", "session/list", &json!({})).as_bytes()).expect("the program reads");
        let answer = reader.join().expect("an answer");
        assert!(answer["result"].is_object(), "{answer}");
        let peak = peak(&program);
        assert!(peak < MOST, "{}: {} MiB", String::from_utf8_lossy(line).trim_end(), peak / MIB);
        drop(input);
        program.wait().expect("its status");
    }
}

#[test]
fn an_agent_that_floods_costs_little() {
    let says_ready = r#"read -r line; printf '{"jsonrpc":"2.0","id":"init","result":{"protocolVersion":1}}\n'"#;
    // The client's second request is answered behind the flood, and what comes after that is not.
    let answers =
        r#"read -r line; FLOOD; printf '{"jsonrpc":"2.0","id":"new","result":{"sessionId":"s1"}}\n'; cat > /dev/null"#;
    let update = r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"%s"}}}}"#;
    let long = format!(
        "text=$(head -c 2000000 /dev/zero | tr '\\0' x); for n in $(seq 100); do printf '{update}\\n' $text; done"
    );
    let lines = |line: &str| format!("yes '{line}' | head -c {FLOOD}; echo");
    let short = update.replace("%s", "x");
    for (name, flood) in [
        ("braces", lines("{}")),
        ("noise", lines("DEBUG")),
        ("answers to nothing", lines(r#"{"jsonrpc":"2.0","id":5,"result":{}}"#)),
        ("short updates of a session without a name", lines(&short)),
        ("long updates of a session without a name", long),
    ] {
        let scene = Scene::new();
        let agent = shell(&format!("{says_ready}; {}", answers.replace("FLOOD", &flood)));
        let launch = Launch::proxy(&scene.store(), &[], &agent);
        let mut program = launch.command().stderr(Stdio::null()).spawn().expect("the program starts");
        let mut input = program.stdin.take().expect("its input");
        let mut output = BufReader::new(program.stdout.take().expect("its output"));
        input.write_all(request("init", "initialize", &json!({"protocolVersion": 1})).as_bytes()).expect("it reads");
        await_answer(&mut output, "init");
        let new = request("new", "session/new", &json!({"cwd": scene.cwd(), "mcpServers": []}));
        input.write_all(new.as_bytes()).expect("it reads");
        let answer = await_answer(&mut output, "new");
        assert_eq!(answer["result"]["sessionId"], "s1", "{name}: {answer}");
        let peak = peak(&program);
        assert!(peak < MOST, "{name}: {} MiB", peak / MIB);
        drop(input);
        program.wait().expect("its status");
    }
}
