//! The process that performs steps with an official client.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use wait_timeout::ChildExt;

use super::step::{Report, Step};
use crate::PATIENCE;

/// A running driver. Dropping it kills it.
pub(super) struct Driver {
    child: Child,
    stdin: Option<ChildStdin>,
    reports: Receiver<String>,
    complaints: PathBuf,
}

impl Driver {
    /// Starts it. What it complains about goes to this file, and is told if the test fails for it.
    pub(super) fn start(mut command: Command, complaints: PathBuf) -> Self {
        let stderr = File::create(&complaints).expect("the scene's folder is writable");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(stderr);
        let mut child = command.spawn().unwrap_or_else(|error| panic!("{command:?} does not start: {error}"));
        let stdout = child.stdout.take().expect("its output is piped");
        let (sender, reports) = channel();
        thread::spawn(move || {
            BufReader::new(stdout).lines().map_while(Result::ok).try_for_each(|line| sender.send(line)).ok()
        });
        Self { stdin: child.stdin.take(), child, reports, complaints }
    }

    /// Has a step performed.
    pub(super) fn perform(&mut self, step: &Step) -> Report {
        let line = serde_json::to_string(step).expect("a step is JSON");
        let stdin = self.stdin.as_mut().expect("the story is not over");
        let told = writeln!(stdin, "{line}").and_then(|()| stdin.flush());
        told.unwrap_or_else(|error| panic!("{step:?} cannot be told: {error}\n{}", self.complained()));
        let report = self.reports.recv_timeout(PATIENCE);
        let report = report.unwrap_or_else(|error| panic!("no report of {step:?}: {error}\n{}", self.complained()));
        serde_json::from_str(&report).unwrap_or_else(|error| panic!("{step:?}: no report ({error}): {report}"))
    }

    /// There are no more steps: waits for its end.
    pub(super) fn end(mut self) {
        self.stdin = None;
        let status = self.child.wait_timeout(PATIENCE).expect("its status");
        let status = status.unwrap_or_else(|| panic!("the client does not end\n{}", self.complained()));
        assert!(status.success(), "the client: {status}\n{}", self.complained());
    }

    fn complained(&self) -> String {
        fs::read_to_string(&self.complaints).unwrap_or_else(|error| error.to_string())
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // It may have ended by itself.
        self.child.kill().unwrap_or_default();
        self.child.wait().ok();
    }
}
