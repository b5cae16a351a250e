//! `acp-sessions move`

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use acp_sessions_tests::client::Client;
use acp_sessions_tests::launch::{Launch, built};
use acp_sessions_tests::ran::Ran;
use acp_sessions_tests::scene::Scene;
use serde_json::{Value, json};

use crate::run::on;

fn text(path: &Path) -> &str {
    path.to_str().expect("a path that is text")
}

/// Three sessions: in the folder `old`, below it and beside it, and their ids.
fn with_folders() -> (Scene, Vec<String>) {
    let scene = Scene::new();
    let mut client = Client::ready(&scene.builtin(&[]));
    let ids = ["old", "old/deep", "older"].map(|name| {
        let folder = scene.file(name);
        fs::create_dir_all(&folder).expect("a folder");
        let id = client.new_session(text(&folder));
        client.prompt(&id, name);
        id
    });
    assert!(client.close().success());
    (scene, ids.into())
}

/// The rows of a list in their order.
fn listed(scene: &Scene) -> Vec<Value> {
    let printed = on(scene, &["list", "--json"]).printed();
    printed.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn sessions_follow_a_folder_that_was_renamed() {
    let (scene, ids) = with_folders();
    let before = listed(&scene);
    let (old, new) = (scene.file("old"), scene.file("new"));
    fs::rename(&old, &new).expect("renamed");
    let (old, new) = (text(&old), text(&new));
    let dry = on(&scene, &["move", "--dry-run", old, new]).printed();
    assert!(dry.ends_with("2 sessions would be moved.\n"), "{dry}");
    assert!(dry.contains(&format!("{}  {old} -> {new}  old\n", ids[0])), "{dry}");
    assert!(dry.contains(&format!("{}  {old}/deep -> {new}/deep  old/deep\n", ids[1])), "{dry}");
    assert_eq!(listed(&scene), before);
    let done = on(&scene, &["move", old, new]).printed();
    assert_eq!(done, dry.replace("would be moved", "moved"));
    let mut after = listed(&scene);
    for row in &mut after {
        let cwd = row["cwd"].as_str().expect("a folder").replace(new, old);
        row["cwd"] = json!(cwd);
    }
    assert_eq!(after, before, "in the same order and with the same times");
    assert_eq!(on(&scene, &["move", old, new]).printed(), "0 sessions moved.\n");
    // It can be gone on with where it is.
    let mut client = Client::ready(&scene.builtin(&[]));
    let (replayed, _) = client.load(&ids[1], &format!("{new}/deep"));
    assert!(!replayed.is_empty());
    client.prompt(&ids[1], "More");
    assert!(client.close().success());
    assert_eq!(listed(&scene)[0]["cwd"], format!("{new}/deep"));
}

#[test]
fn folders_may_be_named_from_where_one_is_and_programs_get_json() {
    let (scene, ids) = with_folders();
    let here = std::env::current_dir().expect("a folder");
    let up = "../".repeat(here.components().count());
    let relative = format!("{up}{}/./old/", text(scene.folder()).trim_start_matches('/'));
    let printed = on(&scene, &["move", "--json", &relative, "/somewhere/else"]).printed();
    let rows: Vec<Value> = printed.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(rows.len(), 2, "{printed}");
    let row = rows.iter().find(|row| row["sessionId"] == ids[0]).expect("its row");
    let old = scene.file("old");
    let expected = json!({"sessionId": ids[0], "title": "old", "oldCwd": text(&old), "cwd": "/somewhere/else",
        "additionalDirectoriesMoved": 0});
    assert_eq!(*row, expected);
}

#[test]
fn a_folder_is_not_moved_into_itself() {
    let (scene, _) = with_folders();
    let old = scene.file("old");
    let ran = on(&scene, &["move", text(&old), text(&old.join("deep"))]);
    assert!(ran.complained().contains("to itself or to a folder below it"));
}

#[test]
fn a_folder_whose_name_is_not_text_is_refused_by_whatever_name() {
    let (scene, _) = with_folders();
    let before = listed(&scene);
    let folder = scene.folder().join(OsStr::from_bytes(b"n\xff"));
    fs::create_dir(&folder).expect("a folder");
    let script = "cd \"$1\" && exec \"$2\" move --store \"$3\" \"$4\" .";
    let mut launch = Launch::new(Path::new("sh")).args(&["-c", script, "sh"]);
    for word in [&folder, &built("acp-sessions"), &scene.store(), &scene.file("old")] {
        launch = launch.arg(word);
    }
    let complaint = Ran::of(&launch).complained();
    assert!(complaint.contains("is not text"), "{complaint}");
    assert_eq!(listed(&scene), before);
}
