//! Commands of the program on a store.

use crate::launch::{Launch, built};
use crate::ran::Ran;
use crate::scene::Scene;

/// What the program prints with these words, or how it ended and what it complained of.
pub(super) fn run(scene: &Scene, words: &[&str]) -> Result<String, String> {
    let ran = Ran::of(&Launch::new(&built("acp-sessions")).args(words).arg("--store").arg(scene.store()));
    if ran.code == Some(0) { Ok(ran.out) } else { Err(format!("{ran:?}")) }
}
