//! The official clients, and the story that each of them plays.
//!
//! A client is a thin driver around its SDK: it is told one [`step::Step`] after the other and reports what the SDK gave.
//! The story, and all that must be seen in it, is written once, in `story`.

mod driver;
mod run;
pub mod step;
mod story;

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::launch::{Launch, built};
use crate::scene::Scene;
use crate::schema::Role;
use crate::tap;
use driver::Driver;

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
    /// An agent that cannot find sessions again.
    KeepsNothing,
    /// An agent that loads.
    Loads,
    /// An agent that loads and resumes.
    LoadsAndResumes,
    /// An agent that does all the program does, and sends the user's words back.
    HasEverything,
}

/// A prompt whose turn goes on until it is cancelled.
const ENDLESS: &str = "wait";

/// What the built-in agent runs: it says the prompt back, or waits if that is the end of the prompt, which may begin
/// with what was said earlier.
const ANSWER: &str = r#"prompt=$(cat)
case "$prompt" in
    *wait) echo waiting; exec sleep 600 ;;
    *) echo "You said:"; echo "$prompt" ;;
esac
"#;

/// Has this client play the story and judges every line that the program said, to the client and to the agent.
pub fn tell(sdk: Sdk, cast: Cast) {
    tell_with(sdk, cast, Launch::proxy);
}

/// The same with the program as a proxy in the chain of the Rust SDK's conductor, and the agent at its end.
pub fn tell_in_a_chain(sdk: Sdk, cast: Cast) {
    assert!(cast.flags().is_some(), "the program's own agent is in no chain");
    tell_with(sdk, cast, Launch::chain);
}

fn tell_with(sdk: Sdk, cast: Cast, between: fn(&Path, &[&str], &Launch) -> Launch) {
    let scene = Scene::new();
    let (front, back) = (scene.file("front.tap"), scene.file("back.tap"));
    let program = match cast.flags() {
        None => {
            let script = scene.file("answer.sh");
            std::fs::write(&script, ANSWER).expect("the scene's folder is writable");
            scene.builtin(&["--exec", &format!("sh {}", script.display())])
        }
        Some(flags) => between(&scene.store(), &[], &scene.agent(flags).tapped(&back)),
    };
    let mut command = sdk.command();
    command.args(program.tapped(&front).argv());
    let mut driver = Driver::start(command, scene.file("complaints"));
    story::play(sdk, &mut driver, &scene.cwd());
    driver.end();

    let said = tap::check(&front, Role::Agent);
    assert!(said > 20, "only {said} messages were seen");
    if cast.flags().is_some() {
        tap::check_peer(&back, Role::Client);
    }
}

impl Cast {
    /// The test agent's flags; none if it is not the test agent.
    fn flags(self) -> Option<&'static [&'static str]> {
        match self {
            Self::Builtin => None,
            Self::KeepsNothing => Some(&["--modes"]),
            Self::Loads => Some(&["--modes", "--load"]),
            Self::LoadsAndResumes => Some(&["--modes", "--load", "--resume"]),
            Self::HasEverything => Some(&[
                "--modes",
                "--config",
                "--load",
                "--resume",
                "--list",
                "--fork",
                "--delete",
                "--close",
                "--echo-user",
            ]),
        }
    }
}

impl Sdk {
    /// Whether it starts the agent itself and waits for its end, which is an error unless it is good.
    fn waits_itself(self) -> bool {
        self == Self::Rust
    }

    /// Its driver; the agent's command line is to follow.
    fn command(self) -> Command {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("clients");
        match self {
            Self::TypeScript => {
                installed(folder.join("ts/node_modules/@agentclientprotocol/sdk/package.json"));
                let mut command = Command::new("node");
                command.arg(folder.join("ts/driver.mjs"));
                command
            }
            Self::Python => {
                let interpreter = if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" };
                let mut command = Command::new(installed(folder.join("python/.venv").join(interpreter)));
                command.arg(folder.join("python/driver.py"));
                command
            }
            Self::Rust => Command::new(built("story_driver")),
        }
    }
}

/// A file that `cargo xtask test` installs.
pub(crate) fn installed(path: PathBuf) -> PathBuf {
    assert!(path.exists(), "{} is missing: run `cargo xtask test`, which installs it", path.display());
    path
}
