//! A log, what its agent replays, and what becomes of the two.

use crate::scene::{Said, Scene};

pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) log: &'static [&'static str],
    /// How many turns of it the agent has heard.
    pub(crate) heard: usize,
    pub(crate) replay: &'static [&'static str],
    pub(crate) moved_on: bool,
    pub(crate) visible: &'static [&'static str],
    pub(crate) aside: &'static [&'static str],
    /// How many turns of what is visible the agent has heard then.
    pub(crate) told: usize,
}

/// An agent that has heard all of a log in which nothing was said.
pub(crate) const CASE: Case =
    Case { name: "", log: &[], heard: usize::MAX, replay: &[], moved_on: false, visible: &[], aside: &[], told: 0 };

impl Case {
    /// The session before its agent replays anything, with the turns of the log.
    pub(crate) fn scene(&self, log: &[Said]) -> Scene {
        let scene = Scene::new();
        for turn in log {
            scene.say(turn);
        }
        scene.tell("agent", self.heard);
        scene
    }
}

/// What was said in each turn.
pub(crate) fn texts(turns: &[Said]) -> Vec<String> {
    turns.iter().map(Said::text).collect()
}
