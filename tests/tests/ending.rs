//! Every way a conversation can end, at every moment: what was said is stored, the agent is gone, and the exit code is the
//! one that docs/commands.md states.

use acp_sessions_tests::client::Client;
use acp_sessions_tests::process::is_running;
use acp_sessions_tests::reader::Reader;
use acp_sessions_tests::scene::Scene;
use acp_sessions_tests::transcript::text_of;
use acp_sessions_tests::until;
use serde_json::{Value, json};

/// How it ends.
#[derive(Debug, Clone, Copy)]
enum Way {
    /// The client closes the program's input.
    Eof,
    /// The client stops reading and closes the pipe; it keeps the other one open.
    ClosedOutput,
    /// The program is sent a signal.
    Signal(&'static str),
}

/// Each with the exit code.
const WAYS: [(Way, i32); 5] =
    [(Way::Eof, 0), (Way::ClosedOutput, 0), (Way::Signal("TERM"), 0), (Way::Signal("INT"), 0), (Way::Signal("HUP"), 0)];

/// Ends the conversation in this way and returns the exit code.
fn end(mut reader: Reader, way: Way) -> Option<i32> {
    match way {
        Way::Eof => reader.close_input(),
        Way::ClosedOutput => reader.close_output(),
        Way::Signal(name) => reader.signal(name),
    }
    reader.wait()?.code()
}

fn prompt(session: &str, text: &str) -> Value {
    json!({"sessionId": session, "prompt": [{"type": "text", "text": text}]})
}

/// Ends a conversation in each way, at the moment to which `bring` brings it, and checks what is left: the code, the agent, and
/// what `left` wants of what a later process replays of the session.
fn at(flags: &[&str], past: &[&str], bring: impl Fn(&Scene, &mut Reader, &str), left: impl Fn(&[Value])) {
    for (way, code) in WAYS {
        let scene = Scene::new();
        let id = scene.past(&scene.proxy(&[], flags), past);
        scene.forget_heard();
        let gate = scene.file("gate");
        let gated = ["--load-gate", gate.to_str().expect("text")];
        let gated = if flags.contains(&"--load") { &gated[..] } else { &[] };
        let launch = scene.proxy(&["--agent-grace", "1"], &[flags, gated].concat());
        let mut reader = Reader::start(launch.command());
        bring(&scene, &mut reader, &id);
        assert_eq!(end(reader, way), Some(code), "{way:?}");
        for agent in scene.agent_pids() {
            assert!(!is_running(agent), "{way:?}: the agent is an orphan");
        }
        let (replay, _) = Client::ready(&scene.builtin(&[])).load(&id, &scene.cwd());
        left(&replay);
    }
}

#[test]
fn every_end_at_rest() {
    let bring = |scene: &Scene, reader: &mut Reader, id: &str| {
        reader.result("session/load", &scene.place(id));
        reader.result("session/prompt", &prompt(id, "and now"));
    };
    at(&[], &["hello"], bring, |replay| {
        assert_eq!(text_of(replay, "agent_message_chunk"), "You said: helloYou said: and now");
    });
}

#[test]
fn every_end_in_mid_turn() {
    let bring = |scene: &Scene, reader: &mut Reader, id: &str| {
        reader.result("session/load", &scene.place(id));
        reader.ask("session/prompt", &prompt(id, "wait"));
        reader.read_until(|message| message["params"]["update"]["content"]["text"] == "waiting");
    };
    at(&[], &["hello"], bring, |replay| {
        assert_eq!(text_of(replay, "user_message_chunk"), "hellowait");
        assert_eq!(text_of(replay, "agent_message_chunk"), "You said: hellowaiting");
    });
}

#[test]
fn every_end_in_mid_replay() {
    const MANY: usize = 20_000;
    let bring = |scene: &Scene, reader: &mut Reader, id: &str| {
        reader.ask("session/load", &scene.place(id));
        // Far more is to come than a pipe holds.
        reader.read_until(|message| message["params"]["update"]["toolCallId"] == "call-0");
    };
    at(&[], &["many 20000"], bring, |replay| {
        let calls = replay.iter().filter(|update| update["sessionUpdate"] == "tool_call");
        assert_eq!(calls.count(), MANY);
    });
}

#[test]
fn every_end_in_mid_open() {
    let bring = |scene: &Scene, reader: &mut Reader, id: &str| {
        reader.ask("session/load", &scene.place(id));
        until("the agent is asked", || !scene.heard_of("session/load").is_empty());
    };
    at(&["--load"], &["hello"], bring, |replay| {
        assert_eq!(text_of(replay, "agent_message_chunk"), "You said: hello");
    });
}

#[test]
fn where_the_agent_ends_by_itself_that_is_a_failure() {
    let scene = Scene::new();
    let mut client = Client::ready(&scene.proxy(&["--restart", "off"], &[]));
    let id = client.new_session(&scene.cwd());
    client.start_prompt(&id, "crash");
    assert_eq!(client.wait().code(), Some(1));
}
