//! A client that measures: raw lines, and next to no work of its own.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

const BUFFER: usize = 256 << 10;

/// A connection to a process.
pub(super) struct Client {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    line: Vec<u8>,
    last_id: u64,
}

/// How an answer came.
#[derive(Debug)]
pub(super) struct Answered {
    pub(super) result: Value,
    /// From the request.
    pub(super) took: Duration,
    /// From the request to the first notification before the answer.
    pub(super) first: Option<Duration>,
    /// Notifications before the answer.
    pub(super) notifications: usize,
    /// Bytes of them.
    pub(super) bytes: usize,
}

impl Client {
    /// Starts the process and initialises it.
    pub(super) fn start(command: &mut Command) -> Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let name = command.get_program().to_string_lossy().into_owned();
        let mut child = command.spawn().with_context(|| format!("cannot start {name}"))?;
        let stdin = child.stdin.take().context("no stdin")?;
        let stdout = BufReader::with_capacity(BUFFER, child.stdout.take().context("no stdout")?);
        let mut client = Self { child, stdin, stdout, line: Vec::new(), last_id: 0 };
        client
            .request("initialize", r#"{"protocolVersion":1,"clientCapabilities":{}}"#)
            .with_context(|| format!("{name} cannot be initialised"))?;
        Ok(client)
    }

    /// Opens a session and returns its id.
    pub(super) fn open_session(&mut self) -> Result<String> {
        let opened = self.request("session/new", r#"{"cwd":"/bench","mcpServers":[]}"#)?;
        Ok(opened.result["sessionId"].as_str().context("no session id")?.to_owned())
    }

    /// Has `fast_agent` send updates.
    pub(super) fn stream(&mut self, session: &str, count: usize, bytes: usize, kind: &str) -> Result<Answered> {
        self.request(
            "session/prompt",
            &format!(
                r#"{{"sessionId":"{session}","prompt":[{{"type":"text","text":"stream {count} {bytes} {kind}"}}]}}"#
            ),
        )
    }

    /// Asks, and reads up to the answer.
    pub(super) fn request(&mut self, method: &str, params: &str) -> Result<Answered> {
        self.last_id += 1;
        let request =
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"{method}\",\"params\":{params}}}\n", self.last_id);
        let (mut first, mut notifications, mut bytes) = (None, 0, 0);
        let start = Instant::now();
        self.stdin.write_all(request.as_bytes()).context("the program does not read")?;
        loop {
            self.read()?;
            if is_notification(&self.line) {
                first.get_or_insert_with(|| start.elapsed());
                notifications += 1;
                bytes += self.line.len();
                continue;
            }
            let took = start.elapsed();
            let mut answer: Value = serde_json::from_slice(&self.line).context("an answer is not JSON")?;
            ensure!(answer["id"] == self.last_id && answer["error"].is_null(), "unexpected answer: {answer}");
            return Ok(Answered { result: answer["result"].take(), took, first, notifications, bytes });
        }
    }

    /// Sends a notification that is answered with one, and returns how long that took.
    pub(super) fn poke(&mut self, session: &str) -> Result<Duration> {
        let poke =
            format!("{{\"jsonrpc\":\"2.0\",\"method\":\"_bench/poke\",\"params\":{{\"sessionId\":\"{session}\"}}}}\n");
        let start = Instant::now();
        self.stdin.write_all(poke.as_bytes()).context("the program does not read")?;
        self.read()?;
        ensure!(is_notification(&self.line), "unexpected: {}", String::from_utf8_lossy(&self.line));
        Ok(start.elapsed())
    }

    /// The process that was started.
    pub(super) fn process(&self) -> u32 {
        self.child.id()
    }

    /// Asks without waiting for an answer.
    pub(super) fn send(&mut self, method: &str, params: &str) -> Result<()> {
        self.last_id += 1;
        let id = self.last_id;
        writeln!(self.stdin, "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{params}}}")
            .context("the program does not read")
    }

    /// Closes its input and waits for its end.
    pub(super) fn stop(self) -> Result<()> {
        let Self { mut child, stdin, stdout, .. } = self;
        drop((stdin, stdout));
        child.wait().context("cannot wait for the program")?;
        Ok(())
    }

    fn read(&mut self) -> Result<()> {
        self.line.clear();
        let length = self.stdout.read_until(b'\n', &mut self.line).context("the program does not write")?;
        ensure!(length > 0, "the program has ended");
        Ok(())
    }
}

/// Everything but an answer; the agent of the benches asks nothing.
fn is_notification(line: &[u8]) -> bool {
    let holds_method = |part: &[u8]| part.windows(9).any(|window| window == b"\"method\":");
    // It stands near the front, or, where members were sorted, somewhere behind the params.
    holds_method(&line[..line.len().min(64)]) || (line.len() > 64 && holds_method(line))
}
