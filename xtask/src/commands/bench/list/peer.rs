//! A process that answers lines.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

/// The process, with both ends of its pipes.
pub(super) struct Peer {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    answer: String,
}

impl Peer {
    pub(super) fn start(command: &mut Command) -> Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().context("cannot start the program")?;
        let stdin = child.stdin.take().context("no stdin")?;
        let stdout = BufReader::with_capacity(1 << 20, child.stdout.take().context("no stdout")?);
        Ok(Self { child, stdin, stdout, answer: String::new() })
    }

    /// Sends a line; how long its answer took.
    pub(super) fn time(&mut self, line: &str) -> Result<Duration> {
        let start = Instant::now();
        self.stdin.write_all(line.as_bytes()).context("the program does not read")?;
        self.read()?;
        Ok(start.elapsed())
    }

    /// Reads the next line, which is then the last answer.
    pub(super) fn read(&mut self) -> Result<()> {
        self.answer.clear();
        self.stdout.read_line(&mut self.answer).context("the program does not write")?;
        ensure!(!self.answer.is_empty(), "the program has ended");
        Ok(())
    }

    /// How long its threads have been running; zero on systems without `/proc`.
    pub(super) fn processor_time(&self) -> Result<Duration> {
        let Ok(threads) = fs::read_dir(format!("/proc/{}/task", self.child.id())) else { return Ok(Duration::ZERO) };
        let mut nanoseconds = 0;
        for thread in threads {
            let text = fs::read_to_string(thread?.path().join("schedstat")).unwrap_or_default();
            nanoseconds += text.split(' ').next().and_then(|first| first.parse::<u64>().ok()).unwrap_or(0);
        }
        Ok(Duration::from_nanos(nanoseconds))
    }

    /// The last answer.
    pub(super) fn answer(&self) -> Result<Value> {
        serde_json::from_str(&self.answer).context("an answer that is not JSON")
    }

    /// The last answer as it came.
    pub(super) fn answer_line(&self) -> &str {
        &self.answer
    }

    /// The most memory it has had, in KiB; `None` on systems without `/proc`.
    pub(super) fn peak_memory(&self) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        line.trim().strip_suffix(" kB")?.parse().ok()
    }

    /// Closes its input and waits for its end.
    pub(super) fn stop(self) -> Result<()> {
        let Self { mut child, stdin, stdout, .. } = self;
        drop((stdin, stdout));
        child.wait().context("cannot wait for the program")?;
        Ok(())
    }
}

/// A request as a line.
pub(super) fn request(method: &str, params: &Value) -> String {
    format!("{}\n", json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))
}
