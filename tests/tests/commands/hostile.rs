//! Stores that hold whatever an agent could put into one: nothing of it reaches a terminal as it is, and nothing of it keeps
//! a command from its work.

use std::io::{BufRead as _, BufReader, Write as _};

use acp_sessions_tests::launch::Launch;
use acp_sessions_tests::ran::Ran;
use acp_sessions_tests::scene::Scene;
use acp_sessions_tests::script::Script;
use serde_json::{Value, json};

use crate::run::{on, run};

/// Escape sequences, a row that nobody wrote, marks of direction, and what is not to be seen at all.
const HOSTILE: &str =
    "\x1b[2J\u{9b}31m\r\n\tfaked-row  x\u{7f}\u{202e}\u{2066}\u{200f}\u{200b}\u{feff}\u{2028}\u{e0041}\u{8}";

/// How many characters the longest id has: more than a row can be made wide.
const LONG: usize = 70_000;

/// Updates that many a parser of JSON cannot take.
fn awkward_updates() -> Vec<String> {
    let deep = format!("{}{}", "[".repeat(500), "]".repeat(500));
    let say = |more: &str, text: &str| {
        format!(r#"{{"sessionUpdate":"agent_message_chunk",{more}"content":{{"type":"text","text":"{text}"}}}}"#)
    };
    vec![
        say("", r"half of a pair \\ud800 here").replace(r"\\u", r"\u"),
        say(&format!(r#""_meta":{{"deep":{deep}}},"#), " and deep"),
        say(r#""_meta":{"n":1e999},"#, " and large"),
        say("", " and the end."),
    ]
}

/// A store in which everything that an agent or a client names is hostile, and the ids of its sessions.
fn hostile_store(scene: &Scene) -> Vec<String> {
    let long = "x".repeat(LONG);
    let ids = vec![format!("one{HOSTILE}"), long, "plain".to_owned()];
    for (number, id) in ids.iter().enumerate() {
        let name = format!("agent{HOSTILE}");
        let info = json!({"name": name, "title": name, "version": name});
        let mut script = Script::default()
            .answers("initialize", json!({"protocolVersion": 1, "agentInfo": info, "agentCapabilities": {}}))
            .answers("session/new", json!({"sessionId": id}));
        for kind in ["user_message_chunk", "agent_message_chunk", "agent_thought_chunk"] {
            let content = json!({"type": "text", "text": format!("needle {kind}{HOSTILE}")});
            script = script
                .tells(id, json!({"sessionUpdate": kind, "content": content, "_meta": {"x": HOSTILE}}))
                .tells(id, json!({"sessionUpdate": kind, "content": {"type": format!("kind{HOSTILE}")}}));
        }
        let call = json!({"sessionUpdate": "tool_call", "toolCallId": HOSTILE, "title": format!("tool{HOSTILE}")});
        let titled = json!({"sessionUpdate": "session_info_update", "title": format!("title{HOSTILE}"),
            "_meta": {"m": HOSTILE}});
        let used = json!({"sessionUpdate": "usage_update", "used": 1, "size": 2,
            "cost": {"amount": 1, "currency": format!("USD{HOSTILE}")}});
        script = script.tells(id, call).tells(id, titled).tells(id, used);
        if id == "plain" {
            script = awkward_updates().iter().fold(script, |script, update| script.tells(id, update));
        }
        let agent = script.ends_turns().agent(&scene.file(&format!("script-{number}")));
        converse(scene, &agent, id);
    }
    ids
}

/// One prompt in a new session. What the program sends is not all JSON that a client of the tests could read.
fn converse(scene: &Scene, agent: &Launch, session: &str) {
    let mut program = Launch::proxy(&scene.store(), &[], agent).command().spawn().expect("the program starts");
    let mut input = program.stdin.take().expect("its input");
    let mut output = BufReader::new(program.stdout.take().expect("its output")).lines();
    let place = json!({"cwd": format!("{}/{HOSTILE}", scene.cwd()), "mcpServers": []});
    let prompt = json!([{"type": "text", "text": format!("prompt{HOSTILE}")}]);
    for (id, method, params) in [
        (1, "initialize", json!({"protocolVersion": 1})),
        (2, "session/new", place),
        (3, "session/prompt", json!({"sessionId": session, "prompt": prompt})),
    ] {
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        input.write_all(format!("{request}\n").as_bytes()).expect("the program reads its input");
        let answer = output.find(|line| line.as_ref().is_ok_and(|line| line.contains(&format!("\"id\":{id},"))));
        let answer = answer.expect("an answer").expect("text");
        assert!(answer.contains("\"result\":"), "{method}: {answer}");
    }
    drop(input);
    assert_eq!(output.count(), 0, "nothing is left to be said");
    assert!(program.wait().expect("its status").success());
}

/// What is printed has nothing in it that a terminal would obey or hide, and no line that begins as the faked row does.
fn assert_harmless(words: &[&str], ran: &Ran) {
    for (stream, text) in [("output", &ran.out), ("complaint", &ran.complaint)] {
        let harmful = |character: &char| {
            (character.is_control() && !matches!(character, '\n' | '\t'))
                || matches!(
                    character,
                    '\u{200b}' | '\u{200f}' | '\u{2028}' | '\u{202e}' | '\u{2066}' | '\u{feff}' | '\u{e0041}'
                )
        };
        let found = text.chars().find(harmful);
        assert_eq!(found, None, "{words:?}: its {stream} has {found:?}");
    }
}

/// What a hostile store makes of a command: the words, whether it succeeds, and how many lines it prints; none where a
/// conversation is printed, whose lines are its own.
type Row = (Vec<String>, bool, Option<usize>);

fn row(words: &[&str], succeeds: bool, lines: Option<usize>) -> Row {
    (words.iter().map(|word| (*word).to_owned()).collect(), succeeds, lines)
}

/// What reads no store has nothing of others to print.
const WITHOUT_STORE: [&str; 2] = ["completions", "manual"];

/// Every command there is, by its own help.
fn commands() -> Vec<String> {
    let help = run(&["--help"]).printed();
    let list = help.split("Commands:\n").nth(1).and_then(|rest| rest.split("\n\n").next()).expect("its commands");
    let names = list.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    names.filter(|name| !name.is_empty() && *name != "help").map(str::to_owned).collect()
}

#[test]
fn no_command_prints_text_of_others_as_it_is() {
    let scene = Scene::new();
    let ids = hostile_store(&scene);
    let unknown = format!("unknown{HOSTILE}");
    let folder = format!("{}/{HOSTILE}", scene.cwd());
    let table = [
        row(&["list"], true, Some(4)),
        row(&["list", "--json"], true, Some(3)),
        row(&["list", "--cwd", &folder], true, Some(4)),
        row(&["list", "--search", "needle"], true, Some(7)),
        row(&["list", "--json", "--search", "needle"], true, Some(3)),
        row(&["show", &ids[0]], true, None),
        row(&["show", &ids[1]], true, None),
        row(&["show", "plain"], true, None),
        row(&["show", "--json", &ids[0]], true, None),
        row(&["show", "--json", "plain"], true, None),
        row(&["show", "--set-aside", &ids[0]], true, None),
        row(&["show", "--permissions", &ids[0]], true, Some(1)),
        row(&["show", &unknown], false, Some(1)),
        row(&["usage", "--by", "session"], true, Some(5)),
        row(&["usage", "--by", "session", "--json"], true, Some(3)),
        row(&["usage", "--by", "agent"], true, Some(2)),
        row(&["usage", "--by", "directory"], true, Some(2)),
        row(&["delete", &unknown], false, Some(1)),
        row(&["prune", "--older-than", "0m", "--dry-run"], true, Some(4)),
        row(&["move", "--dry-run", &scene.cwd(), &folder.replace("/project/", "/elsewhere/")], true, Some(4)),
        row(&["move", "--dry-run", "--json", &scene.cwd(), "/elsewhere"], true, Some(3)),
        row(&["move", &scene.cwd(), &folder], false, Some(1)),
        row(&["doctor"], true, Some(7)),
        row(&["doctor", "--rebuild"], true, Some(8)),
        row(&["delete", &ids[0]], true, Some(1)),
        row(&["prune", "--older-than", "0m"], true, Some(3)),
        row(&["list"], true, Some(1)),
        row(&["proxy", "--", &unknown], false, Some(1)),
        row(&["agent", "--exec", &unknown], true, Some(0)),
    ];
    for (words, succeeds, lines) in &table {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let ran = on(&scene, &words);
        assert_harmless(&words, &ran);
        assert_eq!(ran.code, Some(i32::from(!succeeds)), "{words:?}: {}{}", ran.out, ran.complaint);
        assert_eq!(ran.complaint.is_empty(), *succeeds, "{words:?}: {}", ran.complaint);
        let printed = format!("{}{}", ran.out, ran.complaint);
        if let Some(lines) = lines {
            assert_eq!(printed.lines().count(), *lines, "{words:?} prints rows that nobody wrote: {}", ran.out);
        }
    }
    for command in commands().into_iter().filter(|command| !WITHOUT_STORE.contains(&&**command)) {
        assert!(table.iter().any(|(words, ..)| words[0] == command), "`{command}` is not tried on a hostile store");
    }
}

#[test]
fn one_awkward_update_does_not_keep_the_others_from_being_shown() {
    let scene = Scene::new();
    hostile_store(&scene);
    let shown = on(&scene, &["show", "plain"]).printed();
    assert!(shown.contains("half of a pair �"), "{shown}");
    assert!(shown.ends_with(" and deep and large and the end.\n"), "{shown}");
    let json = on(&scene, &["show", "--json", "plain"]).printed();
    for awkward in [r"\ud800", "1e999", &"[".repeat(500)] {
        assert_eq!(json.matches(awkward).count(), 1, "{awkward} is not as it was said: {json}");
    }
}

#[test]
fn json_of_a_hostile_store_says_exactly_what_is_in_it() {
    let scene = Scene::new();
    let ids = hostile_store(&scene);
    let printed = on(&scene, &["list", "--json"]).printed();
    let rows: Vec<Value> = printed.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let mut listed: Vec<&str> = rows.iter().map(|row| row["sessionId"].as_str().expect("an id")).collect();
    listed.sort_by_key(|id| ids.iter().position(|known| known == id));
    assert_eq!(listed, ids);
    for row in &rows {
        assert_eq!(row["cwd"], format!("{}/{HOSTILE}", scene.cwd()));
    }
}
