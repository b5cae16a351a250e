//! Lists that are followed, as clients of several programs on one store see it (draft: session list extensions).

mod burst;
mod elsewhere;
mod hints;
mod killed;
mod layered;
mod stalled;

use std::path::Path;

use acp_sessions_tests::launch::{Launch, built};
use acp_sessions_tests::ran::Ran;
use acp_sessions_tests::scene::Scene;

/// A command on the store of this scene, which does what it is told.
fn on(scene: &Scene, words: &[&str]) -> String {
    let (command, rest) = words.split_first().expect("a command");
    let launch = Launch::new(&built("acp-sessions")).arg(*command).arg("--store").arg(scene.store()).args(rest);
    Ran::of(&launch).printed()
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path that is text")
}
