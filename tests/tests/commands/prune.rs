//! `acp-sessions prune`

use std::fs;
use std::time::Instant;

use crate::run::{on, with_sessions};
use acp_sessions_tests::client::Client;
use acp_sessions_tests::ran::Ran;
use rusqlite::Connection;

/// The ids of the sessions it names, and what it says in the end.
fn named(ran: Ran) -> (Vec<String>, String) {
    let printed = ran.printed();
    let mut lines: Vec<&str> = printed.lines().collect();
    let last = lines.pop().expect("it says how many").to_owned();
    let mut ids: Vec<String> = lines.iter().map(|line| line.split("  ").next().expect("an id").to_owned()).collect();
    ids.sort();
    (ids, last)
}

#[test]
fn prune_takes_what_is_old_enough_and_names_it() {
    let (scene, mut ids) = with_sessions(&["Mend the roof", "Paint the fence"]);
    ids.sort();
    let young = on(&scene, &["prune", "--older-than", "1h"]);
    assert_eq!(named(young), (vec![], "0 sessions deleted.".to_owned()));
    let elsewhere = on(&scene, &["prune", "--older-than", "0m", "--cwd", "/no/such/folder"]);
    assert_eq!(named(elsewhere), (vec![], "0 sessions deleted.".to_owned()));
    let only_said = on(&scene, &["prune", "--older-than", "0m", "--dry-run"]);
    assert_eq!(named(only_said), (ids.clone(), "2 sessions would be deleted.".to_owned()));
    assert_eq!(on(&scene, &["list", "--json"]).printed().lines().count(), 2);
    let done = on(&scene, &["prune", "--older-than", "0m", "--cwd", &scene.cwd()]);
    assert_eq!(named(done), (ids, "2 sessions deleted.".to_owned()));
    assert_eq!(on(&scene, &["list"]).printed(), "No sessions.\n");
}

#[test]
fn a_window_that_was_killed_long_ago_is_waited_for_once() {
    let (scene, _) = with_sessions(&["Mend the roof"]);
    // Nobody has had the store open since then but commands.
    let store = Connection::open(scene.store()).expect("a database");
    store.execute("INSERT INTO records (key, value) VALUES ('c/gone', '1700000000000')", []).expect("a heartbeat");
    drop(store);
    let mut waited = Vec::new();
    for words in [
        &["prune", "--older-than", "1h", "--dry-run"][..],
        &["prune", "--older-than", "1h"],
        &["prune", "--older-than", "0m"],
    ] {
        let begun = Instant::now();
        on(&scene, words).printed();
        waited.push(begun.elapsed().as_secs() >= 5);
    }
    assert_eq!(waited, [true, true, false]);
    assert_eq!(on(&scene, &["list"]).printed(), "No sessions.\n");
}

#[test]
fn room_that_was_used_is_given_back_to_the_disk() {
    const LONG: usize = 6 << 20;
    let (scene, _) = with_sessions(&["Mend the roof"]);
    let mut client = Client::ready(&scene.builtin(&[])).unchecked();
    let long = client.new_session(&scene.cwd());
    for letter in ["a", "b", "c"] {
        client.prompt(&long, &letter.repeat(LONG));
    }
    assert!(client.close().success());
    let size = || fs::metadata(scene.store()).expect("the store").len();
    let before = size();
    assert!(before > 32 << 20, "{before}: too little to tell");
    let printed = on(&scene, &["delete", &long]).printed();
    let said = printed.lines().last().expect("a line");
    let given: u64 = said.strip_suffix(" MiB given back to the disk.").expect(said).parse().expect("a number");
    assert_eq!((before - size()) >> 20, given);
    assert!(size() < 2 << 20, "{} of {before}", size());
    // What is not worth it is not spoken of.
    let printed = on(&scene, &["prune", "--older-than", "0m"]).printed();
    assert!(printed.ends_with("\n1 session deleted.\n"), "{printed}");
}

#[test]
fn a_time_before_all_time_is_refused() {
    let (scene, _) = with_sessions(&["Mend the roof"]);
    let ran = on(&scene, &["prune", "--older-than", "99999999w"]);
    assert_eq!(ran.complained(), "--older-than goes back further than time does");
}
