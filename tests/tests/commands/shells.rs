//! What shells and the manual know of the command line.

use std::fs;
use std::process::Command;

use acp_sessions_tests::scene::Scene;

use crate::run::run;

const COMMANDS: [&str; 11] =
    ["proxy", "agent", "list", "show", "usage", "delete", "prune", "move", "doctor", "completions", "manual"];

#[test]
fn bash_completes_commands_and_options() {
    let scene = Scene::new();
    let script = scene.file("completions");
    fs::write(&script, run(&["completions", "bash"]).printed()).expect("a file");
    for (typed, expected) in [
        (&["pr"][..], &["proxy", "prune"][..]),
        (&["prune", "--old"], &["--older-than"]),
        (&["proxy", "--list", ""], &["own", "all"]),
        (&["completions", "z"], &["zsh"]),
    ] {
        let words = ["acp-sessions"].iter().chain(typed).map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" ");
        let (at, last) = (typed.len(), typed[typed.len() - 1]);
        let before = if at > 1 { typed[at - 2] } else { "acp-sessions" };
        let complete = format!(
            "source '{}'; COMP_WORDS=({words}); COMP_CWORD={at}; \
             made=$(complete -p acp-sessions); made=${{made##* -F }}; ${{made%% *}} acp-sessions '{last}' '{before}'; \
             printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            script.display()
        );
        let ran = Command::new("bash").args(["--norc", "-c", &complete]).output().expect("bash");
        let offered = String::from_utf8_lossy(&ran.stdout).into_owned();
        assert_eq!(
            offered.lines().collect::<Vec<_>>(),
            expected,
            "{typed:?}: {}",
            String::from_utf8_lossy(&ran.stderr)
        );
    }
}

#[test]
fn every_shell_is_told_of_every_command() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = run(&["completions", shell]).printed();
        let missing: Vec<_> = COMMANDS.iter().filter(|command| !script.contains(**command)).collect();
        assert!(missing.is_empty() && script.contains("older-than"), "{shell} does not know {missing:?}");
    }
}

#[test]
fn the_manual_has_a_page_for_each_command() {
    let scene = Scene::new();
    let folder = scene.file("man/man1");
    let text = folder.to_str().expect("a path that is text");
    assert_eq!(run(&["manual", text]).printed(), "");
    let page = |name: &str| fs::read_to_string(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    let overview = page("acp-sessions.1");
    for command in COMMANDS {
        assert!(overview.contains(&format!("acp\\-sessions\\-{command}(1)")), "{command} is not in {overview}");
        let its_own = page(&format!("acp-sessions-{command}.1"));
        assert!(its_own.starts_with(".ie") || its_own.contains(".TH"), "{its_own}");
    }
    assert!(page("acp-sessions-prune.1").contains("\\-\\-older\\-than"));

    fs::write(scene.file("file"), "").expect("a file");
    let ran = run(&["manual", scene.file("file").to_str().expect("a path that is text")]);
    assert!(ran.code == Some(1) && ran.complaint.contains("/file"), "{ran:?}");
}
