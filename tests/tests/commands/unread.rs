//! Commands whose output is not read to its end: `show … | head`.

use std::io::pipe;
use std::process::Stdio;

use acp_sessions_tests::launch::{Launch, built};
use acp_sessions_tests::scene::Scene;

use crate::run::{on, with_sessions};

/// How a command on this store ends that nobody listens to, and what it complains of.
fn unread(scene: &Scene, words: &[&str]) -> (Option<i32>, String) {
    let (reader, writer) = pipe().expect("a pipe");
    drop(reader);
    let (command, rest) = words.split_first().expect("a command");
    let launch = Launch::new(&built("acp-sessions")).arg(command).arg("--store").arg(scene.store()).args(rest);
    let mut command = launch.command();
    let output = command.stdin(Stdio::null()).stdout(writer).stderr(Stdio::piped()).output().expect("it starts");
    (output.status.code(), String::from_utf8(output.stderr).expect("text"))
}

#[test]
fn whoever_has_read_enough_is_no_mistake() {
    let (scene, ids) = with_sessions(&["Mend the roof", &"word ".repeat(10_000)]);
    for words in [
        &["show", ids[0].as_str()][..],
        &["show", ids[1].as_str()],
        &["show", "--json", ids[1].as_str()],
        &["show", "--permissions", ids[0].as_str()],
        &["list"],
        &["list", "--json"],
        &["list", "--search", "roof"],
        &["usage"],
        &["doctor"],
        &["doctor", "--json"],
    ] {
        assert_eq!(unread(&scene, words), (Some(0), String::new()), "{words:?}");
    }
    let (code, complaint) = unread(&scene, &["show", "no-such-id"]);
    assert_eq!((code, complaint.as_str()), (Some(1), "acp-sessions: there is no session no-such-id\n"));
}

#[test]
fn what_is_left_undone_is_said() {
    let (scene, ids) = with_sessions(&["Mend the roof", "Paint the fence"]);
    let (code, complaint) = unread(&scene, &["delete", &ids[0], &ids[1]]);
    assert_eq!(code, Some(1));
    assert_eq!(
        complaint,
        "acp-sessions: nobody reads the output any more, so not all was done: run the command again\n"
    );
    let listed = on(&scene, &["list"]).printed();
    assert!(!listed.contains(&ids[0]) && listed.contains(&ids[1]), "{listed}");
}
