//! A client that reads no more than it wants to: what it leaves unread stays in the pipe.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus};

use serde_json::{Value, json};
use wait_timeout::ChildExt as _;

use crate::PATIENCE;
use crate::process::signal;

/// The program and the client's ends of its pipes.
#[derive(Debug)]
pub struct Reader {
    program: Child,
    input: Option<ChildStdin>,
    output: Option<BufReader<ChildStdout>>,
    last_id: u64,
}

impl Reader {
    /// Starts the program, its input and output piped, and initializes it.
    pub fn start(mut command: Command) -> Self {
        let mut program = command.spawn().expect("the program starts");
        let (input, output) = (program.stdin.take(), program.stdout.take().map(BufReader::new));
        let mut reader = Self { program, input, output, last_id: 0 };
        reader.result("initialize", &json!({"protocolVersion": 1}));
        reader
    }

    /// Sends a request and returns its id.
    pub fn ask(&mut self, method: &str, params: &Value) -> u64 {
        self.last_id += 1;
        let request = json!({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params});
        let input = self.input.as_mut().expect("its input is open");
        input.write_all(format!("{request}\n").as_bytes()).expect("the program reads its input");
        self.last_id
    }

    /// Reads up to the first message that is wanted.
    pub fn read_until(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
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

    /// Sends a request and returns its result.
    pub fn result(&mut self, method: &str, params: &Value) -> Value {
        let id = self.ask(method, params);
        let answer = self.read_until(|message| message["id"] == id);
        assert!(answer["error"].is_null(), "{answer}");
        answer["result"].clone()
    }

    /// The program's log, if that is piped.
    pub fn take_log(&mut self) -> Option<BufReader<ChildStderr>> {
        self.program.stderr.take().map(BufReader::new)
    }

    /// Closes the program's input.
    pub fn close_input(&mut self) {
        self.input = None;
    }

    /// Closes the program's output.
    pub fn close_output(&mut self) {
        self.output = None;
    }

    /// Sends the program a signal, by its name without `SIG`.
    pub fn signal(&self, name: &str) {
        signal(name, self.program.id());
    }

    /// Waits until the program has ended by itself; none where it has to be killed after a long time.
    pub fn wait(mut self) -> Option<ExitStatus> {
        let status = self.program.wait_timeout(PATIENCE).expect("its status");
        if status.is_none() {
            self.program.kill().expect("it still runs");
        }
        status
    }
}
