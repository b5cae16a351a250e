//! Misdeeds in what the commands use.

use std::path::Path;

use acp_sessions_tests::engines::{hostile, with_cache};
use acp_sessions_tests::launch::{Launch, built};
use acp_sessions_tests::ran::Ran;
use acp_sessions_tests::scene::Scene;

/// A command on a store, with an engine that does what it should not. Returns what it complains of.
fn complaint(scene: &Scene, words: &[&str]) -> String {
    let limits = ["--engine-memory", "64", "--engine-seconds", "1", "--engine-store-calls", "10000"];
    let launch = Launch::new(&built("acp-sessions")).args(words).arg("--store").arg(scene.store());
    let launch = with_cache(launch.arg("--component").arg(hostile()).args(&limits), scene);
    // What some print is what they have found until then.
    let ran = Ran::of(&launch);
    assert_eq!((ran.code, ran.complaint.lines().count()), (Some(1), 1), "{words:?}: {ran:?}");
    ran.complaint
}

#[test]
fn every_command_ends_with_a_sentence() {
    let scene = Scene::new();
    scene.past(&scene.builtin(&[]), &["Hello"]);
    for (what, why) in [
        ("trap", "`unreachable` instruction executed"),
        ("loop", "interrupt"),
        ("memory", "`unreachable` instruction executed"),
        ("recursion", "call stack exhausted"),
        ("calls", "one call used the storage 10000 times"),
        ("hits", "things were asked of the storage at once"),
    ] {
        let folder = Path::new("/").join(what);
        let folder = folder.to_str().expect("text");
        for words in [
            &["list", "--search", what][..],
            &["show", what],
            &["show", "--set-aside", what],
            &["show", "--permissions", what],
            &["delete", what],
            &["prune", "--older-than", "1d", "--cwd", folder],
            &["move", folder, "/elsewhere"],
        ] {
            let complaint = complaint(&scene, words);
            assert!(complaint.contains(why), "{words:?}: {complaint}");
        }
    }
    for words in [&["usage"][..], &["doctor"], &["doctor", "--rebuild"]] {
        assert!(complaint(&scene, words).contains("`unreachable` instruction executed"), "{words:?}");
    }
}
