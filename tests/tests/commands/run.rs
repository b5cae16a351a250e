//! Runs a command to its end.

use std::process::Stdio;

use acp_sessions_tests::client::Client;
use acp_sessions_tests::launch::{Launch, built};
use acp_sessions_tests::scene::Scene;

/// What a command has printed and how it ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) complaint: String,
}

impl Ran {
    /// What it printed; it must have done what it was told, without a complaint.
    pub(crate) fn printed(self) -> String {
        assert_eq!((self.code, self.complaint.as_str()), (Some(0), ""), "{self:?}");
        self.out
    }

    /// What it complained of, in one sentence; it must have printed nothing else.
    pub(crate) fn complained(self) -> String {
        assert_eq!((self.code, self.out.as_str()), (Some(1), ""), "{self:?}");
        let complaint = self.complaint.strip_prefix("acp-sessions: ").and_then(|text| text.strip_suffix('\n'));
        let complaint = complaint.unwrap_or_else(|| panic!("not one plain line: {self:?}"));
        assert!(!complaint.contains('\n'), "not one line: {complaint}");
        complaint.to_owned()
    }
}

/// The program with these words.
pub(crate) fn run(words: &[&str]) -> Ran {
    let mut command = Launch::new(&built("acp-sessions")).args(words).command();
    let output = command.stdin(Stdio::null()).stderr(Stdio::piped()).output().expect("the program starts");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    Ran { code: output.status.code(), out: text(output.stdout), complaint: text(output.stderr) }
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
