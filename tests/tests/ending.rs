//! Every way a conversation can end, at every moment: what was said is stored, the agent is gone, and the exit code is the
//! one that docs/commands.md states.

use std::io::{BufRead as _, BufReader, PipeReader, Write as _, pipe};
use std::process::{Child, ChildStdin};

use acp_sessions_tests::client::Client;
use acp_sessions_tests::launch::Launch;
use acp_sessions_tests::process::{is_running, signal};
use acp_sessions_tests::scene::Scene;
use acp_sessions_tests::transcript::text_of;
use acp_sessions_tests::{PATIENCE, until};
use serde_json::{Value, json};
use wait_timeout::ChildExt as _;

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

/// A client that reads no more than it wants to.
struct Reader {
    program: Child,
    input: Option<ChildStdin>,
    output: Option<BufReader<PipeReader>>,
    last_id: u64,
}

impl Reader {
    fn start(launch: &Launch) -> Self {
        let (output, its_output) = pipe().expect("a pipe");
        let mut command = launch.command();
        let mut program = command.stdout(its_output).spawn().expect("the program starts");
        let input = program.stdin.take();
        let mut reader = Self { program, input, output: Some(BufReader::new(output)), last_id: 0 };
        reader.ask("initialize", &json!({"protocolVersion": 1}));
        reader.read_until(|message| message["id"] == 1);
        reader
    }

    fn ask(&mut self, method: &str, params: &Value) -> u64 {
        self.last_id += 1;
        let request = json!({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params});
        let input = self.input.as_mut().expect("its input is open");
        input.write_all(format!("{request}\n").as_bytes()).expect("the program reads its input");
        self.last_id
    }

    fn read_until(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        let output = self.output.as_mut().expect("its output is open");
        loop {
            let mut line = String::new();
            assert!(output.read_line(&mut line).expect("text") > 0, "the program has ended its output");
            let message = serde_json::from_str(&line).expect("JSON");
            if is_it(&message) {
                return message;
            }
        }
    }

    fn result(&mut self, method: &str, params: &Value) -> Value {
        let id = self.ask(method, params);
        self.read_until(|message| message["id"] == id)["result"].clone()
    }

    /// Ends the conversation and returns the exit code.
    fn end(mut self, way: Way) -> Option<i32> {
        match way {
            Way::Eof => self.input = None,
            Way::ClosedOutput => self.output = None,
            Way::Signal(name) => signal(name, self.program.id()),
        }
        let status = self.program.wait_timeout(PATIENCE).expect("its status");
        if status.is_none() {
            self.program.kill().expect("it still runs");
        }
        status.and_then(|status| status.code())
    }
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
        let mut reader = Reader::start(&launch);
        bring(&scene, &mut reader, &id);
        assert_eq!(reader.end(way), Some(code), "{way:?}");
        for agent in scene.agent_pids() {
            assert!(!is_running(agent), "{way:?}: the agent is an orphan");
        }
        let (replay, _) = Client::ready(&scene.builtin(&[])).load(&id, &scene.cwd());
        left(&replay);
    }
}

#[test]
fn idle() {
    let bring = |scene: &Scene, reader: &mut Reader, id: &str| {
        reader.result("session/load", &scene.place(id));
        reader.result("session/prompt", &prompt(id, "and now"));
    };
    at(&[], &["hello"], bring, |replay| {
        assert_eq!(text_of(replay, "agent_message_chunk"), "You said: helloYou said: and now");
    });
}

#[test]
fn in_mid_turn() {
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
fn in_mid_replay() {
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
fn in_mid_open() {
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
