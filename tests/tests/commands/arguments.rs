//! Words that are not understood, and the help that they lead to.

use std::process::{Command, Stdio};

use acp_sessions_tests::launch::built;

use crate::run::run;

#[test]
fn what_is_not_understood_is_named() {
    for (words, named) in [
        (&["frobnicate"][..], "frobnicate"),
        (&["list", "--limit", "many"], "--limit"),
        (&["list", "--limit", "0"], "--limit"),
        (&["list", "--archived", "perhaps"], "--archived"),
        (&["list", "stray"], "stray"),
        (&["show"], "<ID>"),
        (&["show", "one", "two"], "two"),
        (&["show", "--permissions", "--set-aside", "one"], "--set-aside"),
        (&["usage", "--by", "year"], "--by"),
        (&["delete"], "<ID>"),
        (&["prune"], "--older-than"),
        (&["prune", "--older-than", "soon"], "`soon` is not a length of time"),
        (&["prune", "--older-than", "30"], "`30` is not a length of time"),
        (&["prune", "--older-than=-1d"], "`-1d` is not a length of time"),
        (&["move", "/old"], "<NEW>"),
        (&["move", "/old", "/new", "/other"], "/other"),
        (&["doctor", "--repair"], "--repair"),
        (&["proxy", "--list", "mine", "--", "agent"], "--list"),
        (&["proxy", "--agent-timeout", "0", "--", "agent"], "--agent-timeout"),
        (&["proxy", "--agent-grace=-1", "--", "agent"], "--agent-grace"),
        (&["agent", "--page-size", "1001"], "--page-size"),
        (&["agent", "--flush-ms", "0"], "--flush-ms"),
        (&["agent", "--rehydrate", "maybe"], "--rehydrate"),
    ] {
        let ran = run(words);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{words:?}: {ran:?}");
        assert!(ran.complaint.contains(named), "{words:?} does not name {named}: {}", ran.complaint);
    }
}

#[test]
fn at_a_terminal_a_proxy_wants_the_agents_command() {
    let program = built("acp-sessions");
    // `script` gives it a terminal.
    let mut script = Command::new("script");
    script.args(["--quiet", "--return", "--command", &format!("'{}' proxy", program.display()), "/dev/null"]);
    let ran = script.stdin(Stdio::null()).output().expect("it is part of every Debian");
    let shown = String::from_utf8_lossy(&ran.stdout);
    assert!(!ran.status.success() && shown.contains("-- COMMAND"), "{shown}");
}

#[test]
fn without_a_command_there_is_help() {
    let ran = run(&[]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""));
    let asked = run(&["--help"]).printed();
    for command in ["proxy", "agent", "list", "show", "usage", "delete", "prune", "move", "doctor"] {
        assert!(ran.complaint.contains(&format!("\n  {command} ")), "{command}: {}", ran.complaint);
        assert!(asked.contains(&format!("\n  {command} ")), "{command}: {asked}");
        assert!(run(&[command, "--help"]).printed().contains("--store <PATH>"), "{command}");
    }
    assert!(run(&["--version"]).printed().starts_with("acp-sessions "));
}
