//! The official clients that tell the story, and how to run them.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use crate::launch::{Launch, built};

/// An official SDK in the client's seat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sdk {
    /// `@agentclientprotocol/sdk`.
    TypeScript,
    /// `agent-client-protocol` of the Python package index.
    Python,
    /// `agent-client-protocol` of the Rust registry.
    Rust,
}

/// What the story needs to know.
pub struct Story<'a> {
    /// The directory of its sessions.
    pub cwd: &'a Path,
    /// A prompt whose turn goes on until it is cancelled.
    pub endless: &'a str,
    /// The command that is the agent.
    pub agent: &'a Launch,
}

impl Sdk {
    /// Tells the story and returns the client's report.
    ///
    /// # Panics
    /// If the client saw something that it should not have seen, or is not installed.
    pub fn tell(self, story: &Story<'_>) -> Value {
        let mut command = self.command();
        command.arg(story.cwd).arg(story.endless).args(story.agent.argv());
        let Output { status, stdout, stderr } = command.output().expect("the client runs");
        let (said, complaints) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
        assert!(status.success(), "{self:?} client: {status}\n{said}\n{complaints}");
        let report = said.lines().last().unwrap_or_default();
        serde_json::from_str(report).unwrap_or_else(|error| panic!("no report ({error}): {said}\n{complaints}"))
    }

    fn command(self) -> Command {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("clients");
        match self {
            Self::TypeScript => {
                installed(folder.join("ts/node_modules/@agentclientprotocol/sdk/package.json"));
                let mut command = Command::new("node");
                command.arg(folder.join("ts/story.mjs"));
                command
            }
            Self::Python => {
                let interpreter = if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" };
                let mut command = Command::new(installed(folder.join("python/.venv").join(interpreter)));
                command.arg(folder.join("python/story.py"));
                command
            }
            Self::Rust => Command::new(built("story_client")),
        }
    }
}

/// A file that `cargo xtask test` installs.
pub(crate) fn installed(path: PathBuf) -> PathBuf {
    assert!(path.exists(), "{} is missing: run `cargo xtask test`, which installs it", path.display());
    path
}
