//! The official clients that tell the story, and how to run them.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use crate::launch::{Launch, built};
use crate::scene::Scene;
use crate::schema::Role;
use crate::tap;

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

/// Who is behind the program in a telling of the story.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cast {
    /// The program's own agent, with a command that answers.
    Builtin,
    /// The test agent with these flags.
    Agent(&'static [&'static str]),
}

/// What the built-in agent runs: it says the prompt back, or waits if that is the end of the prompt, which may begin
/// with what was said earlier.
const ANSWER: &str = r#"prompt=$(cat)
case "$prompt" in
    *wait) echo waiting; exec sleep 600 ;;
    *) echo "You said:"; echo "$prompt" ;;
esac
"#;

/// Tells the story and judges every line that the program said, to the client and to the agent. Returns the client's
/// report.
pub fn tell(sdk: Sdk, cast: Cast) -> Value {
    let scene = Scene::new();
    let (front, back) = (scene.file("front.tap"), scene.file("back.tap"));
    let program = match cast {
        Cast::Builtin => {
            let script = scene.file("answer.sh");
            std::fs::write(&script, ANSWER).expect("the scene's folder is writable");
            scene.builtin(&["--exec", &format!("sh {}", script.display())])
        }
        Cast::Agent(flags) => Launch::proxy(&scene.store(), &[], &scene.agent(flags).tapped(&back)),
    };
    let report = sdk.tell(&scene.cwd(), "wait", &program.tapped(&front));
    assert_eq!(report["stopReason"], "cancelled", "{report}");
    let said = tap::check(&front, Role::Agent);
    assert!(said > 20, "only {said} messages were seen");
    if let Cast::Agent(_) = cast {
        tap::check_peer(&back, Role::Client);
    }
    report
}

impl Sdk {
    /// Runs the client's script: sessions in `cwd`, a prompt whose turn is `endless`, and the command that is the
    /// agent.
    fn tell(self, cwd: &str, endless: &str, agent: &Launch) -> Value {
        let mut command = self.command();
        command.arg(cwd).arg(endless).args(agent.argv());
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
