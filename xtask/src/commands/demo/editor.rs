//! An editor in a few lines: starts an agent, sends requests, keeps the updates that come with them.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Value, json};

/// Longer than anything takes; what takes longer hangs.
const PATIENCE: Duration = Duration::from_mins(1);

/// A running agent, and the editor's end of the line to it.
pub(super) struct Editor {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    next_id: u64,
}

/// What came for a request.
#[derive(Debug)]
pub(super) struct Reply {
    /// The result, or the error object.
    pub(super) outcome: Result<Value, Value>,
    /// The `update` of each `session/update` that came before the response.
    pub(super) updates: Vec<Value>,
}

impl Editor {
    /// Starts the agent.
    pub(super) fn start(command: &mut Command) -> Result<Self> {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().context("cannot start acp-sessions")?;
        let stdout = BufReader::new(child.stdout.take().context("no stdout")?);
        let (sender, lines) = channel();
        thread::spawn(move || stdout.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Ok(Self { stdin: child.stdin.take(), child, lines, next_id: 1 })
    }

    /// Sends a request and waits for its response.
    pub(super) fn request(&mut self, method: &str, params: &Value) -> Result<Reply> {
        let id = self.next_id;
        self.next_id += 1;
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let stdin = self.stdin.as_mut().context("the agent's input is closed")?;
        writeln!(stdin, "{request}").with_context(|| format!("the agent does not read {method}"))?;
        let mut updates = Vec::new();
        loop {
            let mut message = self.receive().with_context(|| format!("no response to {method}"))?;
            if message["method"] == "session/update" {
                updates.push(message["params"]["update"].take());
            } else if message["id"] == id {
                let outcome = match message.get_mut("error") {
                    Some(error) => Err(error.take()),
                    None => Ok(message["result"].take()),
                };
                return Ok(Reply { outcome, updates });
            } else {
                bail!("unexpected message while waiting for {method}: {message}");
            }
        }
    }

    fn receive(&self) -> Result<Value> {
        let line = self.lines.recv_timeout(PATIENCE).map_err(|error| match error {
            RecvTimeoutError::Timeout => anyhow::anyhow!("nothing came for {} s", PATIENCE.as_secs()),
            RecvTimeoutError::Disconnected => anyhow::anyhow!("the agent closed its output"),
        })?;
        serde_json::from_str(&line).with_context(|| format!("not JSON: {line}"))
    }

    /// Closes the agent's input, as an editor does that is closed, and waits for the agent to end.
    pub(super) fn leave(mut self) -> Result<()> {
        self.stdin = None;
        // Its output ends when it does.
        while self.receive().is_ok() {}
        let status = self.child.wait().context("cannot wait for acp-sessions")?;
        ensure!(status.success(), "acp-sessions ended with {status}");
        Ok(())
    }
}

impl Drop for Editor {
    /// After a failure nothing goes on running.
    fn drop(&mut self) {
        if !matches!(self.child.try_wait(), Ok(Some(_))) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

impl Reply {
    /// The result; an error where the agent answered with one.
    pub(super) fn result(&self) -> Result<&Value> {
        self.outcome.as_ref().map_err(|error| anyhow::anyhow!("the agent answered with an error: {error}"))
    }

    /// What was said, joined as a reader sees it: who said it, and the text.
    pub(super) fn conversation(&self) -> Vec<(Speaker, String)> {
        let mut said: Vec<(Speaker, String)> = Vec::new();
        for update in &self.updates {
            let speaker = match update["sessionUpdate"].as_str() {
                Some("user_message_chunk") => Speaker::User,
                Some("agent_message_chunk") => Speaker::Agent,
                _ => continue,
            };
            let text = update["content"]["text"].as_str().unwrap_or_default();
            match said.last_mut() {
                Some((last, whole)) if *last == speaker => whole.push_str(text),
                _ => said.push((speaker, text.to_owned())),
            }
        }
        said
    }
}

/// One side of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Speaker {
    /// Who uses the editor.
    User,
    /// The agent.
    Agent,
}
