//! Whatever either side sends, what the program holds of it stays bounded: 128 MiB above the line that it is at.

use std::fs;
use std::io::{BufRead, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use acp_sessions_tests::launch::{Launch, built};
use acp_sessions_tests::process::{memory, peak};
use acp_sessions_tests::scene::Scene;
use acp_sessions_tests::until;
use serde_json::{Value, json};

const MIB: usize = 1 << 20;
/// What the program may hold, itself included.
const MOST: usize = 128 * MIB;
/// How much is sent.
const FLOOD: usize = 3 * MIB;

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

/// The program in front of this agent, which `initialize` has been sent to under the id `init`.
fn started(scene: &Scene, agent: &Launch) -> (Child, ChildStdin, BufReader<ChildStdout>) {
    let launch = Launch::proxy(&scene.store(), &[], agent);
    let mut program = launch.command().stderr(Stdio::null()).spawn().expect("the program starts");
    let mut input = program.stdin.take().expect("its input");
    let output = BufReader::new(program.stdout.take().expect("its output"));
    input.write_all(request("init", "initialize", &json!({"protocolVersion": 1})).as_bytes()).expect("it reads");
    (program, input, output)
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
        let (mut program, mut input, mut output) = started(&scene, &Launch::new(&built("fast_agent")));
        let reader = thread::spawn(move || await_answer(&mut output, "after"));
        let flood = line.repeat(FLOOD / line.len());
        input.write_all(&flood).expect("the program reads");
        input.write_all(request("after", "session/list", &json!({})).as_bytes()).expect("the program reads");
        let answer = reader.join().expect("an answer");
        assert!(answer["result"].is_object(), "{answer}");
        let peak = peak(program.id());
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
        let (mut program, mut input, mut output) = started(&scene, &agent);
        await_answer(&mut output, "init");
        let new = request("new", "session/new", &json!({"cwd": scene.cwd(), "mcpServers": []}));
        input.write_all(new.as_bytes()).expect("it reads");
        let answer = await_answer(&mut output, "new");
        assert_eq!(answer["result"]["sessionId"], "s1", "{name}: {answer}");
        let peak = peak(program.id());
        assert!(peak < MOST, "{name}: {} MiB", peak / MIB);
        drop(input);
        program.wait().expect("its status");
    }
}

/// Writes all of it from a thread of its own, and says after each part how far it is.
fn write_in_parts(mut input: ChildStdin, parts: impl Iterator<Item = Vec<u8>> + Send + 'static) -> Receiver<usize> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for (nth, part) in parts.enumerate() {
            // The program may be stopped meanwhile, or the test be over.
            if input.write_all(&part).is_err() || sender.send(nth + 1).is_err() {
                return;
            }
        }
    });
    receiver
}

/// How far it comes before the pipe is full for a while.
fn stalled(parts: &Receiver<usize>) -> usize {
    let mut done = 0;
    while let Ok(part) = parts.recv_timeout(Duration::from_secs(2)) {
        done = part;
    }
    done
}

#[test]
fn what_a_client_says_before_the_agent_is_there_waits_in_its_pipe() {
    let scene = Scene::new();
    let gate = scene.file("gate");
    assert!(Command::new("mkfifo").arg(&gate).status().expect("mkfifo runs").success());
    let script = format!(
        r#"read -r line; read -r gate < '{}'; printf '{{"jsonrpc":"2.0","id":"init","result":{{"protocolVersion":1}}}}\n'; cat > /dev/null"#,
        gate.display()
    );
    let (mut program, input, mut output) = started(&scene, &shell(&script));
    let told = json!({"jsonrpc": "2.0", "method": "x/tell", "params": {"text": "x".repeat(MIB)}});
    let told = format!("{told}\n").into_bytes();
    let last = request("after", "session/list", &json!({})).into_bytes();
    let parts = write_in_parts(input, std::iter::repeat_n(told, 200).chain([last]));
    let before = stalled(&parts);
    assert!(before < 200, "all was taken");
    fs::write(&gate, "open\n").expect("the agent waits for it");
    await_answer(&mut output, "init");
    await_answer(&mut output, "after");
    assert_eq!(parts.iter().last(), Some(201));
    let peak = peak(program.id());
    assert!(peak < MOST, "{} MiB", peak / MIB);
    program.wait().expect("its status");
}

#[test]
fn requests_that_nobody_answers_wait_in_the_clients_pipe() {
    let scene = Scene::new();
    let script =
        r#"read -r line; printf '{"jsonrpc":"2.0","id":"init","result":{"protocolVersion":1}}\n'; cat > /dev/null"#;
    let (mut program, input, mut output) = started(&scene, &shell(script));
    await_answer(&mut output, "init");
    let asked = |part: usize| {
        let ids = part * 1000..(part + 1) * 1000;
        ids.flat_map(|id| request(&id.to_string(), "x/ask", &json!({})).into_bytes()).collect()
    };
    let parts = write_in_parts(input, (0..1000).map(asked));
    let before = stalled(&parts);
    assert!(before < 1000, "all was taken");
    let peak = peak(program.id());
    assert!(peak < MOST, "{} MiB", peak / MIB);
    program.kill().expect("it runs");
    program.wait().expect("its status");
}

#[test]
fn what_a_large_image_took_is_given_back_when_nothing_is_under_way() {
    let scene = Scene::new();
    let (mut program, mut input, mut output) = started(&scene, &Launch::new(&built("fast_agent")));
    let pid = program.id();
    await_answer(&mut output, "init");
    let mut ask = |id: &str, method: &str, params: &Value| {
        input.write_all(request(id, method, params).as_bytes()).expect("it reads");
        await_answer(&mut output, id)["result"].clone()
    };
    let session = ask("new", "session/new", &json!({"cwd": scene.cwd(), "mcpServers": []}))["sessionId"].clone();
    let mut prompt = |id: &str, block: Value| {
        let answer = ask(id, "session/prompt", &json!({"sessionId": session, "prompt": [block]}));
        assert_eq!(answer["stopReason"], "end_turn", "{answer}");
    };
    prompt("small", json!({"type": "text", "text": "x"}));
    let before = memory(pid);
    let data = "A".repeat(12 * MIB);
    prompt("large", json!({"type": "image", "mimeType": "image/png", "data": data}));
    // Its copies take more than this for good where nothing gives them back.
    let most = before + 32 * MIB as u64;
    until("the program has given the memory back", || memory(pid) <= most);
    prompt("behind", json!({"type": "text", "text": "y"}));
    drop(input);
    program.wait().expect("its status");
}
