//! Stores that cannot be written: what is in them can be listed, searched and read, and nothing of them is changed.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use acp_sessions_tests::client::Client;
use acp_sessions_tests::ran::Ran;
use acp_sessions_tests::scene::Scene;
use acp_sessions_tests::transcript::text_of;
use acp_sessions_tests::unprivileged::{Unprivileged, set_mode};
use serde_json::json;

/// What cannot be written.
#[derive(Debug, Clone, Copy)]
enum Closed {
    File,
    Folder,
    Both,
}

/// How the last program that used the store has ended.
#[derive(Debug, Clone, Copy)]
enum Left {
    Tidy,
    /// With a part of what was said still in the journal.
    Killed,
}

const KINDS: [(Closed, Left); 6] = [
    (Closed::File, Left::Tidy),
    (Closed::Folder, Left::Tidy),
    (Closed::Both, Left::Tidy),
    (Closed::File, Left::Killed),
    (Closed::Folder, Left::Killed),
    (Closed::Both, Left::Killed),
];

/// A store with one session, whose files or folder somebody may not write.
fn closed(scene: &Scene, user: &Unprivileged, closed: Closed, left: Left) -> String {
    let mut client = Client::ready(&scene.builtin(&[]));
    let id = client.new_session(&scene.cwd());
    client.prompt(&id, "Mend the roof");
    match left {
        Left::Tidy => assert!(client.close().success()),
        Left::Killed => client.kill(),
    }
    let store = scene.store();
    let folder = store.parent().expect("a folder");
    assert_eq!(folder.join("sessions.db-wal").exists(), matches!(left, Left::Killed));
    if matches!(closed, Closed::File) {
        user.own(folder);
    }
    for file in fs::read_dir(folder).expect("a folder") {
        let file = file.expect("a file").path();
        if matches!(closed, Closed::Folder) {
            user.own(&file);
            set_mode(&file, 0o600);
        } else {
            set_mode(&file, 0o444);
        }
    }
    set_mode(folder, if matches!(closed, Closed::File) { 0o700 } else { 0o555 });
    id
}

fn contents(scene: &Scene) -> BTreeMap<PathBuf, Vec<u8>> {
    let store = scene.store();
    let files = fs::read_dir(store.parent().expect("a folder")).expect("a folder");
    let paths = files.map(|file| file.expect("a file").path());
    // The index of the journal is no part of what is stored.
    let paths = paths.filter(|path| !path.to_string_lossy().ends_with("-shm"));
    paths.map(|path| (path.clone(), fs::read(path).expect("root, or the owner, may read it"))).collect()
}

/// Lets the folder be removed.
fn open_again(scene: &Scene) {
    set_mode(scene.store().parent().expect("a folder"), 0o700);
}

#[test]
fn commands_read_it_and_those_that_change_it_say_that_it_is_not_possible() {
    for (kind, left) in KINDS {
        let scene = Scene::new();
        let user = Unprivileged::in_scene(&scene);
        let id = closed(&scene, &user, kind, left);
        let before = contents(&scene);
        let on = |command: &str, words: &[&str]| Ran::of(&user.launch(command, &scene.store()).args(words));
        let cwd = scene.cwd();
        for (command, words, says) in [
            ("list", &[][..], id.as_str()),
            ("list", &["--search", "roof"], &id),
            ("show", &[&id], "Mend the roof"),
            ("doctor", &[], "Health:      good"),
            ("prune", &["--older-than", "0m", "--dry-run"], " would be deleted."),
            ("move", &["--dry-run", &cwd, "/elsewhere"], "1 session would be moved."),
        ] {
            let ran = on(command, words);
            assert!(ran.code == Some(0) && ran.out.contains(says), "{kind:?}, {left:?}: {command} {words:?}: {ran:?}");
        }
        if matches!((kind, left), (Closed::Folder, Left::Killed)) {
            // All that there is to be written can be.
            open_again(&scene);
            continue;
        }
        for (command, words) in [
            ("delete", &[id.as_str()][..]),
            ("prune", &["--older-than", "0m"]),
            ("move", &[&cwd, "/elsewhere"]),
            ("doctor", &["--rebuild"]),
        ] {
            if command == "prune" && matches!(left, Left::Killed) {
                // A session that was open a moment ago counts as open: there is nothing to prune.
                continue;
            }
            let ran = on(command, words);
            assert_eq!(ran.code, Some(1), "{kind:?}, {left:?}: {command}: {ran:?}");
            assert!(ran.complaint.contains("read-only"), "{kind:?}, {left:?}: {command}: {ran:?}");
            assert_eq!(ran.complaint.lines().count(), 1, "{ran:?}");
        }
        assert!(contents(&scene) == before, "{kind:?}, {left:?}: something was changed");
        open_again(&scene);
    }
}

#[test]
fn a_host_lists_searches_and_loads_and_says_that_nothing_is_stored() {
    for (kind, left) in KINDS {
        let scene = Scene::new();
        let user = Unprivileged::in_scene(&scene);
        let id = closed(&scene, &user, kind, left);
        let mut client = Client::ready(&user.launch("agent", &scene.store()));
        assert_eq!(client.listed(), [id.as_str()], "{kind:?}, {left:?}");
        let found = client.result("session/list", json!({"_meta": {"acp-sessions": {"search": "roof"}}}));
        assert_eq!(found["sessions"][0]["sessionId"], id.as_str(), "{kind:?}, {left:?}: {found}");
        let (replay, _) = client.load(&id, &scene.cwd());
        assert_eq!(text_of(&replay, "user_message_chunk"), "Mend the roof", "{kind:?}, {left:?}");
        let is_prompted = !matches!((kind, left), (Closed::Folder, Left::Killed));
        if is_prompted {
            let prompt = json!({"sessionId": id, "prompt": [{"type": "text", "text": "Paint the fence"}]});
            let turn = client.result("session/prompt", prompt);
            let told = &turn["_meta"]["acp-sessions"];
            assert_eq!(told["stored"], false, "{kind:?}, {left:?}: {turn}");
            assert!(told["reason"].as_str().is_some_and(|reason| reason.contains("read-only")), "{turn}");
        }
        assert_eq!(client.close().code(), Some(i32::from(is_prompted)), "what was said is lost, if anything was");
        open_again(&scene);
    }
}

#[test]
fn an_empty_file_that_cannot_be_written_is_named() {
    let scene = Scene::new();
    let user = Unprivileged::in_scene(&scene);
    let store = scene.file("empty.db");
    fs::write(&store, "").expect("a file");
    set_mode(&store, 0o444);
    set_mode(scene.folder(), 0o555);
    let ran = Ran::of(&user.launch("list", &store));
    set_mode(scene.folder(), 0o755);
    assert!(ran.complaint.ends_with(&format!("{} is empty and cannot be written\n", Path::display(&store))), "{ran:?}");
}
