//! A driver at work: the process of a package's that plays what it is told on its input.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::workload::Part;

/// The process. It ends with its input.
pub(super) struct Player {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

/// What has come of a part.
#[derive(Debug)]
pub(super) struct Played {
    /// How long it took, in milliseconds.
    pub(super) millis: f64,
    /// How many lines came out.
    pub(super) lines: usize,
    /// The last one for the client.
    pub(super) last: Value,
}

impl Player {
    pub(super) fn start(command: &mut Command) -> Result<Self> {
        let name = command.get_program().to_string_lossy().into_owned();
        let spawned = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = spawned.with_context(|| format!("cannot start {name}"))?;
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().context("no stdout")?);
        Ok(Self { child, input, output })
    }

    pub(super) fn play(&mut self, part: &Part) -> Result<Played> {
        let input = self.input.as_mut().context("it has ended")?;
        // At once: it reads a line and then plays.
        input.write_all(format!("{}\n", part.0).as_bytes()).context("a driver does not read")?;
        let mut answer = String::new();
        let length = self.output.read_line(&mut answer).context("a driver does not write")?;
        ensure!(length > 0, "a driver has ended");
        let answer: Value = serde_json::from_str(&answer).context("what a driver says is no JSON")?;
        let last = answer["last"].as_str().map(serde_json::from_str).transpose();
        Ok(Played {
            millis: answer["ms"].as_f64().context("a driver does not say how long it took")?,
            lines: answer["lines"].as_u64().context("a driver does not say what came")?.try_into()?,
            last: last.context("a line for the client is no JSON")?.unwrap_or_default(),
        })
    }

    /// Ends its input and waits for its end.
    pub(super) fn stop(mut self) -> Result<()> {
        drop(self.input.take());
        let status = self.child.wait().context("cannot wait for a driver")?;
        ensure!(status.success(), "a driver failed ({status})");
        Ok(())
    }
}

impl Drop for Player {
    /// Where something else has failed, it is not left behind.
    fn drop(&mut self) {
        drop(self.input.take());
        // Its end is of no interest any more.
        let _ = self.child.wait();
    }
}
