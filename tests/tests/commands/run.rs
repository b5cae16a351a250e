//! Runs a command to its end.

use acp_sessions_tests::client::Client;
use acp_sessions_tests::launch::{Launch, built};
use acp_sessions_tests::ran::Ran;
use acp_sessions_tests::scene::Scene;

/// The program with these words.
pub(crate) fn run(words: &[&str]) -> Ran {
    Ran::of(&Launch::new(&built("acp-sessions")).args(words))
}

/// A command on the store of this scene.
pub(crate) fn on(scene: &Scene, words: &[&str]) -> Ran {
    let store = scene.store();
    let (command, rest) = words.split_first().expect("a command");
    run(&[&[*command, "--store", store.to_str().expect("a path that is text")], rest].concat())
}

/// A store in which nothing was ever said.
pub(crate) fn empty() -> Scene {
    let scene = Scene::new();
    assert!(Client::ready(&scene.builtin(&[])).close().success());
    scene
}

/// A store with a session for each of these prompts, the last one the most recent, and their ids.
pub(crate) fn with_sessions(prompts: &[&str]) -> (Scene, Vec<String>) {
    let scene = Scene::new();
    let mut client = Client::ready(&scene.builtin(&[]));
    let ids = prompts.iter().map(|prompt| {
        let id = client.new_session(&scene.cwd());
        client.prompt(&id, prompt);
        id
    });
    let ids = ids.collect();
    assert!(client.close().success());
    (scene, ids)
}
