//! A client that speaks raw lines, so that a test decides every byte. What the program sends is checked against the
//! official schema as it comes.

#![expect(clippy::needless_pass_by_value, reason = "params are written where they are used")]

mod exchange;
mod notified;
mod sessions;

use std::collections::VecDeque;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::AsRawFd as _;
use std::process::{Child, ChildStdin, ExitStatus};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;

use serde_json::{Value, json};
use wait_timeout::ChildExt;

use crate::PATIENCE;
use crate::launch::Launch;
use crate::schema::{Checker, Role};

pub use exchange::{Outcome, RpcError};

/// A running program and this test's side of the conversation. Dropping it kills the program.
pub struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    output_pipe: Option<String>,
    lines: Receiver<String>,
    next_id: i64,
    checker: Option<Checker>,
    /// Responses that came before somebody asked for them.
    responses: Vec<Value>,
    /// Notifications, and requests of the agent, in the order they came.
    inbox: VecDeque<Value>,
    permission: &'static str,
    /// Requests for permission wait for [`Self::answer_held`].
    holds: bool,
    held: Vec<Value>,
}

impl Client {
    /// Starts the program.
    pub fn start(launch: &Launch) -> Self {
        let mut child = launch.command().spawn().unwrap_or_else(|error| panic!("{launch:?} does not start: {error}"));
        let stdout = child.stdout.take().expect("its output is piped");
        let output_pipe = fs::read_link(format!("/proc/self/fd/{}", stdout.as_raw_fd())).ok();
        // Nearly nothing is read ahead: while a test does not read, the program is stalled, as with a real client.
        let (sender, lines) = sync_channel(2);
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Self {
            stdin: child.stdin.take(),
            output_pipe: output_pipe.and_then(|pipe| pipe.into_os_string().into_string().ok()),
            child,
            lines,
            next_id: 0,
            checker: Some(Checker::new(Role::Agent)),
            responses: Vec::new(),
            inbox: VecDeque::new(),
            permission: "yes",
            holds: false,
            held: Vec::new(),
        }
    }

    /// Starts the program and says hello.
    pub fn ready(launch: &Launch) -> Self {
        let mut client = Self::start(launch);
        client.initialize();
        client
    }

    /// Does not judge what comes by the schema: for agents that do not keep to it themselves.
    #[must_use]
    pub fn unchecked(mut self) -> Self {
        self.checker = None;
        self
    }

    /// Which option to choose when the agent asks for permission from now on.
    pub fn answer_permission(&mut self, option: &'static str) {
        self.permission = option;
    }

    /// Lets the agent wait when it asks for permission from now on.
    pub fn hold_permissions(&mut self) {
        self.holds = true;
    }

    /// Answers what was held.
    pub fn answer_held(&mut self) {
        self.holds = false;
        for message in std::mem::take(&mut self.held) {
            self.send(&exchange::answer(&message["id"], &message, self.permission));
        }
    }

    /// The program's process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What Linux calls the pipe through which the program's output comes.
    pub fn output_pipe(&self) -> Option<&str> {
        self.output_pipe.as_deref()
    }

    /// Sends `initialize` and returns its result.
    pub fn initialize(&mut self) -> Value {
        self.initialize_with(json!({}))
    }

    /// The same with these capabilities that concern sessions.
    pub fn initialize_with(&mut self, session: Value) -> Value {
        let params = json!({"protocolVersion": 1,
            "clientCapabilities":
                {"fs": {"readTextFile": true, "writeTextFile": true}, "terminal": false, "session": session},
            "clientInfo": {"name": "raw-client", "version": "1.0.0"}});
        self.result("initialize", params)
    }

    /// Sends a request and returns its result; fails the test on an error.
    pub fn result(&mut self, method: &str, params: Value) -> Value {
        self.request(method, params).unwrap_or_else(|error| panic!("{method} failed: {error:?}"))
    }

    /// Sends a request and returns its error; fails the test on a result.
    pub fn error(&mut self, method: &str, params: Value) -> RpcError {
        match self.request(method, params) {
            Ok(result) => panic!("{method} succeeded: {result}"),
            Err(error) => error,
        }
    }

    /// Sends a request and waits for its response.
    pub fn request(&mut self, method: &str, params: Value) -> Outcome {
        let id = self.send_request(method, params);
        self.finish(&id)
    }

    /// Sends a request and returns its id.
    pub fn send_request(&mut self, method: &str, params: Value) -> Value {
        self.next_id += 1;
        let id = json!(self.next_id);
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// Sends a notification.
    pub fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Sends a message.
    pub fn send(&mut self, message: &Value) {
        if let Some(checker) = &mut self.checker {
            checker.heard(message);
        }
        self.send_bytes(format!("{message}\n").as_bytes());
    }

    /// Sends bytes as they are: the line end is the caller's.
    pub fn send_bytes(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().expect("the conversation is not over");
        stdin.write_all(bytes).and_then(|()| stdin.flush()).expect("the program reads its input");
    }

    /// Waits for the response with this id. Everything else that comes goes to the inbox; requests of the agent are
    /// answered.
    pub fn finish(&mut self, id: &Value) -> Outcome {
        loop {
            if let Some(place) = self.responses.iter().position(|response| response["id"] == *id) {
                return exchange::outcome(self.responses.remove(place));
            }
            self.take_in();
        }
    }

    /// The requests of the agent that came so far.
    pub fn agent_requests(&self) -> Vec<Value> {
        self.inbox.iter().filter(|message| !message["id"].is_null()).cloned().collect()
    }

    /// Reads the next message, whatever it is.
    pub fn read(&mut self) -> Value {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => self.accept(&line),
            Err(RecvTimeoutError::Timeout) => panic!("nothing came for {PATIENCE:?}"),
            Err(RecvTimeoutError::Disconnected) => panic!("the program has ended its output"),
        }
    }

    /// Closes the program's input, reads what it still says, and waits for its end.
    pub fn close(&mut self) -> ExitStatus {
        self.stdin = None;
        self.wait()
    }

    /// Closes the program's input and reads what it still says, to the end of its output. It may still run.
    pub fn hang_up(&mut self) {
        self.stdin = None;
        self.drain();
    }

    /// Reads what the program still says and waits for its end.
    pub fn wait(&mut self) -> ExitStatus {
        self.drain();
        let status = self.child.wait_timeout(PATIENCE).expect("its status");
        status.expect("the program ends when it has closed its output")
    }

    fn drain(&mut self) {
        loop {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) => {
                    let message = self.accept(&line);
                    self.sort_in(message);
                }
                Err(RecvTimeoutError::Timeout) => panic!("the program does not end its output"),
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// Ends the program as a power cut would.
    pub fn kill(mut self) {
        self.child.kill().expect("the program was still there");
        self.child.wait().expect("its status");
    }

    fn accept(&mut self, line: &str) -> Value {
        let message: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("not JSON ({error}): {line}"));
        if let Some(checker) = &mut self.checker {
            checker.said(&message);
        }
        message
    }

    fn take_in(&mut self) {
        let message = self.read();
        self.sort_in(message);
    }

    fn sort_in(&mut self, message: Value) {
        if message.get("method").is_none() {
            self.responses.push(message);
            return;
        }
        if self.holds && message["method"] == "session/request_permission" {
            self.held.push(message.clone());
        } else if let Some(id) = message.get("id") {
            let answer = exchange::answer(id, &message, self.permission);
            // The input may be closed already.
            if self.stdin.is_some() {
                self.send(&answer);
            }
        }
        self.inbox.push_back(message);
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // It may have ended by itself.
        self.child.kill().unwrap_or_default();
        self.child.wait().ok();
    }
}
