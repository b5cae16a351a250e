//! Stores that are not there, that cannot be opened, and that hold nothing.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::{FileExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;

use acp_sessions_tests::launch::{Launch, built};
use acp_sessions_tests::ran::Ran;
use acp_sessions_tests::scene::Scene;

use crate::run::{empty, on, run};

/// Every command that reads a store.
pub(crate) const COMMANDS: [&[&str]; 10] = [
    &["list"],
    &["list", "--json"],
    &["show", "some-id"],
    &["show", "--json", "some-id"],
    &["delete", "some-id"],
    &["prune", "--older-than", "1d"],
    &["move", "/old", "/new"],
    &["move", "--json", "--dry-run", "/old", "/new"],
    &["doctor"],
    &["doctor", "--rebuild"],
];

#[test]
fn a_store_that_is_not_there_is_not_made() {
    for words in COMMANDS {
        let scene = Scene::new();
        let expected = format!("there are no sessions yet: {} does not exist", scene.store().display());
        assert_eq!(on(&scene, words).complained(), expected, "{words:?}");
        assert!(!scene.store().exists(), "{words:?}");
    }
}

/// Puts a store that cannot be opened in this place.
type Make = fn(&Path);

/// Where SQLite keeps the number of a file's format.
const USER_VERSION: u64 = 60;

#[test]
fn a_store_that_cannot_be_opened_is_named_with_the_reason() {
    let make_folder = |path: &Path| fs::create_dir_all(path).expect("a folder");
    let make_newer = |path: &Path| {
        fs::copy(empty().store(), path).expect("a copy");
        let file = OpenOptions::new().write(true).open(path).expect("the file");
        file.write_all_at(&99_u32.to_be_bytes(), USER_VERSION).expect("written");
    };
    // Whoever opens one of these waits for somebody else, or is given bytes for ever.
    let make_pipe = |path: &Path| {
        assert!(Command::new("mkfifo").arg(path).status().expect("it is part of every system").success());
    };
    let make_socket = |path: &Path| drop(UnixListener::bind(path).expect("a socket"));
    let make_device = |path: &Path| symlink("/dev/zero", path).expect("a link");
    let kinds: [(Make, &str, &str); 5] = [
        (make_pipe, "{} is no session store: ", "it is not a file"),
        (make_socket, "{} is no session store: ", "it is not a file"),
        (make_device, "{} is no session store: ", "it is not a file"),
        (make_folder, "{} is no session store: ", "it is not a file"),
        (make_newer, "the session store {} has format 99, ", "use a newer acp-sessions"),
    ];
    for (make, beginning, reason) in kinds {
        let scene = Scene::new();
        fs::create_dir_all(scene.store().parent().expect("a folder")).expect("a folder");
        make(&scene.store());
        let beginning = beginning.replace("{}", &scene.store().display().to_string());
        let target = scene.file("salvaged");
        let salvage: &[&str] = &["doctor", "--salvage", target.to_str().expect("text")];
        // What can be salvaged of a store of a later version is another matter.
        let salvage = Some(salvage).filter(|_| reason == "it is not a file");
        for words in COMMANDS.into_iter().chain(salvage).chain([&["agent"][..], &["proxy", "--", "cat"]]) {
            let complaint = on(&scene, words).complained();
            assert!(complaint.starts_with(&beginning), "{words:?}: {complaint}");
            assert_eq!(complaint.matches(reason).count(), 1, "{words:?} says it once: {complaint}");
        }
    }
}

#[test]
fn an_empty_store_is_no_mistake() {
    for (words, expected) in [
        (&["list"][..], "No sessions.\n"),
        (&["list", "--search", "anything"], "No sessions.\n"),
        (&["list", "--json"], ""),
        (&["prune", "--older-than", "0m"], "0 sessions deleted.\n"),
        (&["prune", "--older-than", "0m", "--dry-run"], "0 sessions would be deleted.\n"),
        (&["move", "/old", "/new"], "0 sessions moved.\n"),
        (&["move", "/old", "/new", "--dry-run"], "0 sessions would be moved.\n"),
        (&["move", "/old", "/new", "--json"], ""),
    ] {
        assert_eq!(on(&empty(), words).printed(), expected, "{words:?}");
    }
    assert!(
        on(&empty(), &["doctor", "--rebuild"]).printed().ends_with("Compared 0 sessions: nothing had to be rebuilt.\n")
    );
}

#[test]
fn an_unknown_session_is_named() {
    let scene = empty();
    for words in [&["show", "no-such-id"][..], &["show", "--json", "no-such-id"], &["delete", "no-such-id"]] {
        assert_eq!(on(&scene, words).complained(), "there is no session no-such-id", "{words:?}");
    }
}

#[test]
fn the_store_can_be_named_by_a_relative_path() {
    let ran = run(&["list", "--store", "no/such/store.db"]);
    assert_eq!(ran.complained(), "there are no sessions yet: no/such/store.db does not exist");
}

#[test]
fn a_tilde_that_no_shell_has_seen_is_the_home_folder() {
    let scene = empty();
    let (home, store) = (scene.folder(), scene.store());
    let below = store.strip_prefix(home).expect("it is in the scene's folder").display();
    let listing = Launch::new(&built("acp-sessions")).arg("list").env("HOME", home);
    let by_option = listing.clone().arg("--store").arg(format!("~/{below}"));
    let by_variable = listing.env("ACP_SESSIONS_STORE", format!("~/{below}"));
    for launch in [by_option, by_variable] {
        assert_eq!(Ran::of(&launch).printed(), "No sessions.\n");
    }
}

#[test]
fn a_folder_that_is_not_named_is_told_of() {
    for words in [&["list", "--cwd", ""][..], &["move", "", "/new"], &["move", "/old", ""]] {
        let complaint = on(&empty(), words).complained();
        assert_eq!(complaint, "no folder is named: `.` is the one that the command is run in", "{words:?}");
    }
}

#[test]
fn what_sqlite_says_is_said_once() {
    let scene = empty();
    let dropped = rusqlite::Connection::open(scene.store()).and_then(|store| store.execute_batch("DROP TABLE records"));
    dropped.expect("a table less");
    for words in COMMANDS {
        let ran = on(&scene, words);
        let said = format!("{}{}", ran.out, ran.complaint);
        let what = if words[0] == "doctor" { "the table records is missing" } else { "no such table" };
        assert_eq!(said.matches(what).count(), 1, "{words:?}: {said}");
        assert!(!said.contains("Error code"), "{words:?} says it again by a number: {said}");
    }
}
