//! Sessions of repositories that have moved, with Git itself.

use std::fs;
use std::path::Path;

use acp_sessions_tests::client::Client;
use acp_sessions_tests::git::{git, repository};
use acp_sessions_tests::launch::{Launch, built};
use acp_sessions_tests::ran::Ran;
use acp_sessions_tests::scene::Scene;
use acp_sessions_tests::until;

fn text(path: &Path) -> &str {
    path.to_str().expect("a path that is text")
}

fn on(scene: &Scene, words: &[&str]) -> Ran {
    let (command, rest) = words.split_first().expect("a command");
    Ran::of(&Launch::new(&built("acp-sessions")).arg(*command).arg("--store").arg(scene.store()).args(rest))
}

/// How many folders the store has notes of.
fn noted(scene: &Scene) -> u32 {
    let store = rusqlite::Connection::open(scene.store()).expect("the store");
    let count = store.query_row("SELECT count(*) FROM records WHERE key LIKE 'f/%'", [], |row| row.get(0));
    count.expect("its records")
}

/// A session in each of these folders, all of which are of repositories if there are to be as many notes.
fn sessions_in(scene: &Scene, folders: &[&Path], notes: u32) -> Vec<String> {
    let mut client = Client::ready(&scene.builtin(&[]));
    let ids = folders.iter().map(|folder| {
        let id = client.new_session(text(folder));
        client.prompt(&id, "Hello");
        id
    });
    let ids = ids.collect();
    until("it is noted which repositories they are of", || noted(scene) == notes);
    assert!(client.close().success());
    ids
}

#[test]
fn who_lists_in_a_repository_that_has_moved_is_told_which_sessions_stayed_behind() {
    let scene = Scene::new();
    let (old, new) = (scene.file("old place"), scene.file("new"));
    repository(&old);
    let ids = sessions_in(&scene, &[&old, &old.join("sub")], 2);
    let list = |folder: &Path| on(&scene, &["list", "--json", "--cwd", text(folder)]);
    assert_eq!(list(&old).printed().lines().count(), 1, "nothing has moved yet");
    fs::rename(&old, &new).expect("renamed");
    let command = format!("acp-sessions move --store {} '{}' {}", text(&scene.store()), text(&old), text(&new));
    let told = format!("Sessions of this repository are still listed under {}, which is gone: {command}\n", text(&old));
    for folder in [new.clone(), new.join("sub")] {
        let listed = list(&folder);
        assert_eq!((listed.out.as_str(), listed.warned()), ("", told.clone()));
    }
    // It does what it says.
    assert!(
        Ran::of(&Launch::new(Path::new("sh")).args(&[
            "-c",
            &format!(
                "'{}' {}",
                text(&built("acp-sessions")),
                command.strip_prefix("acp-sessions ").expect("the program")
            )
        ]))
        .printed()
        .ends_with("2 sessions moved.\n")
    );
    assert!(list(&new).printed().contains(&ids[0]));
    assert!(list(&new.join("sub")).printed().contains(&ids[1]));
}

#[test]
fn nobody_is_told_of_what_is_there_or_is_of_another_repository() {
    let scene = Scene::new();
    let (here, other, linked) = (scene.file("here"), scene.file("other"), scene.file("linked"));
    repository(&here);
    repository(&other);
    let clone = scene.file("clone");
    git(scene.folder(), &["clone", "--quiet", text(&here), text(&clone)]);
    git(&here, &["worktree", "add", "--quiet", text(&linked)]);
    let plain = scene.file("plain");
    fs::create_dir(&plain).expect("a folder");
    sessions_in(&scene, &[&here, &other, &linked, &plain], 2);
    // Removed worktrees are nothing to move.
    fs::remove_dir_all(&linked).expect("it was there");
    fs::remove_dir_all(&other).expect("it was there");
    for folder in [&here, &clone, &plain] {
        on(&scene, &["list", "--cwd", text(folder)]).printed();
    }
    fs::remove_dir_all(&here).expect("it was there");
    assert!(on(&scene, &["list", "--cwd", text(&clone)]).warned().contains(text(&here)));
}
