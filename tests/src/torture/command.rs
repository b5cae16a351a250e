//! Commands of the program on a store.

use std::process::{Command, Stdio};

use crate::launch::built;
use crate::scene::Scene;

/// What the program prints with these words, or how it ended and what it complained of.
pub(super) fn run(scene: &Scene, words: &[&str]) -> Result<String, String> {
    let mut command = Command::new(built("acp-sessions"));
    command.args(words).arg("--store").arg(scene.store()).stdin(Stdio::null());
    let output = command.output().expect("the program starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() {
        Ok(text(&output.stdout))
    } else {
        Err(format!("{} {}{}", output.status, text(&output.stderr), text(&output.stdout)))
    }
}
