//! A log that nobody reads: whoever has started the program may hold its standard error and never look at it.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Stdio};
use std::thread;

use acp_sessions_tests::PATIENCE;
use acp_sessions_tests::launch::Launch;
use acp_sessions_tests::scene::Scene;
use acp_sessions_tests::script::Script;
use serde_json::{Value, json};
use wait_timeout::ChildExt as _;

/// How many lines the agent sends that are no messages, each of which is logged: more than a pipe holds, and more than is kept for
/// it.
const NOISE: usize = 60_000;

const LEFT_OUT: &str = " more lines were left out";

/// The program, with all that noise said and logged, and everything answered.
fn after_noise(scene: &Scene) -> (Child, ChildStdin) {
    let noise = (0..NOISE).fold(Script::new("one"), |script, _| script.says("session/prompt", "Compiling the agent"));
    let agent = noise.ends_turns().agent(&scene.file("script"));
    let mut command = Launch::proxy(&scene.store(), &[], &agent).command();
    let mut program = command.stderr(Stdio::piped()).spawn().expect("the program starts");
    let mut input = program.stdin.take().expect("its input");
    let mut output = BufReader::new(program.stdout.take().expect("its output"));
    let prompt = json!([{"type": "text", "text": "Hello"}]);
    let requests = [
        ("initialize", json!({"protocolVersion": 1})),
        ("session/new", json!({"cwd": scene.cwd(), "mcpServers": []})),
        ("session/prompt", json!({"sessionId": "one", "prompt": prompt})),
        ("session/list", json!({})),
    ];
    for (id, (method, params)) in requests.into_iter().enumerate() {
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        input.write_all(format!("{request}\n").as_bytes()).expect("the program reads its input");
        loop {
            let mut line = String::new();
            assert!(output.read_line(&mut line).expect("text") > 0, "the program has ended");
            let message: Value = serde_json::from_str(&line).expect("JSON");
            if message["id"] == id {
                assert!(message["error"].is_null(), "{message}");
                break;
            }
        }
    }
    (program, input)
}

#[test]
fn it_keeps_nobody_from_an_answer_nor_the_program_from_ending() {
    let scene = Scene::new();
    let (mut program, input) = after_noise(&scene);
    drop(input);
    let status = program.wait_timeout(PATIENCE).expect("its status").expect("it has ended though nobody reads the log");
    assert!(status.success(), "{status}");
}

#[test]
fn who_reads_it_after_all_is_told_how_much_is_missing() {
    let scene = Scene::new();
    let (mut program, input) = after_noise(&scene);
    let log = BufReader::new(program.stderr.take().expect("its log"));
    let log = thread::spawn(move || log.lines().map(|line| line.expect("text")).collect::<Vec<_>>());
    drop(input);
    assert!(program.wait().expect("its status").success());
    let log = log.join().expect("the log is read");
    let left_out = log.iter().filter_map(|line| line.split_once(LEFT_OUT)?.0.parse::<usize>().ok()).sum::<usize>();
    let written = log.iter().filter(|line| line.contains("cannot be taken")).count();
    assert!(left_out > 0 && written > 0, "{left_out} {written}");
    assert_eq!(left_out + written, NOISE);
}
