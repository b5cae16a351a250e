//! A log that nobody reads: whoever has started the program may hold its standard error and never look at it.

use std::io::BufRead as _;
use std::path::Path;
use std::process::Stdio;
use std::thread;

use acp_sessions_tests::launch::Launch;
use acp_sessions_tests::reader::Reader;
use acp_sessions_tests::scene::Scene;
use acp_sessions_tests::script::Script;
use serde_json::json;

/// How many lines the agent sends that are no messages, each of which is logged: more than a pipe holds, and more than is kept for
/// it.
const NOISE: usize = 60_000;

const LEFT_OUT: &str = " more lines were left out";

/// The program's client, with all that noise said and logged, and everything answered.
fn after_noise(scene: &Scene) -> Reader {
    let noise = (0..NOISE).fold(Script::new("one"), |script, _| script.says("session/prompt", "Compiling the agent"));
    let agent = noise.ends_turns().agent(&scene.file("script"));
    let mut command = Launch::proxy(&scene.store(), &[], &agent).command();
    command.stderr(Stdio::piped());
    let mut reader = Reader::start(command);
    let prompt = json!([{"type": "text", "text": "Hello"}]);
    reader.result("session/new", &json!({"cwd": scene.cwd(), "mcpServers": []}));
    reader.result("session/prompt", &json!({"sessionId": "one", "prompt": prompt}));
    reader.result("session/list", &json!({}));
    reader
}

#[test]
fn an_unread_log_keeps_nobody_from_an_answer_nor_the_program_from_ending() {
    let scene = Scene::new();
    let mut reader = after_noise(&scene);
    let unread = reader.take_log();
    reader.close_input();
    let status = reader.wait().expect("it has ended though nobody reads the log");
    assert!(status.success(), "{status}");
    drop(unread);
}

#[test]
fn an_unread_log_keeps_the_agent_from_no_word_of_its_own_there() {
    /// How often the agent says something on standard error once the log is full.
    const WORDS: usize = 50;
    // With the first prompt it says what is logged, with the others something on standard error.
    let agent = r#"
        answer() { id=${line#*'"id":'}; printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "${id%%,*}" "$1"; }
        while read -r line; do case $line in
            *'"initialize"'*) answer '{"protocolVersion":1}' ;;
            *'"session/new"'*) answer '{"sessionId":"one"}' ;;
            *'"First"'*) yes 'Compiling the agent' | head -n 3000; answer '{"stopReason":"end_turn"}' ;;
            *'"session/prompt"'*) echo 'a word of the agent' >&2; answer '{"stopReason":"end_turn"}' ;;
        esac; done"#;
    let scene = Scene::new();
    let agent = Launch::new(Path::new("/bin/sh")).args(&["-c", agent]);
    let mut command = Launch::proxy(&scene.store(), &[], &agent).command();
    command.stderr(Stdio::piped());
    let mut reader = Reader::start(command);
    let unread = reader.take_log();
    reader.result("session/new", &json!({"cwd": scene.cwd(), "mcpServers": []}));
    for text in ["First"].into_iter().chain([" and more"; WORDS]) {
        let prompt = json!([{"type": "text", "text": text}]);
        reader.result("session/prompt", &json!({"sessionId": "one", "prompt": prompt}));
    }
    reader.close_input();
    assert!(reader.wait().is_some_and(|status| status.success()), "it has not ended");
    drop(unread);
}

#[test]
fn who_reads_it_after_all_is_told_how_much_is_missing() {
    let scene = Scene::new();
    let mut reader = after_noise(&scene);
    let log = reader.take_log().expect("its log");
    let log = thread::spawn(move || log.lines().map(|line| line.expect("text")).collect::<Vec<_>>());
    reader.close_input();
    assert!(reader.wait().expect("its status").success());
    let log = log.join().expect("the log is read");
    let left_out = log.iter().filter_map(|line| line.split_once(LEFT_OUT)?.0.parse::<usize>().ok()).sum::<usize>();
    let written = log.iter().filter(|line| line.contains("cannot be taken")).count();
    assert!(left_out > 0 && written > 0, "{left_out} {written}");
    assert_eq!(left_out + written, NOISE);
}
