//! `acp-sessions list`

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use acp_sessions_tests::client::Client;
use acp_sessions_tests::launch::{Launch, built};
use acp_sessions_tests::ran::Ran;
use acp_sessions_tests::scene::Scene;
use serde_json::{Value, json};

use crate::run::{on, with_sessions};

/// The rows of `list --json` with these options.
fn rows(printed: &str) -> Vec<Value> {
    printed.lines().map(|line| serde_json::from_str(line).expect("one JSON object a line")).collect()
}

fn ids(printed: &str) -> Vec<String> {
    rows(printed).iter().map(|row| row["sessionId"].as_str().expect("an id").to_owned()).collect()
}

#[test]
fn a_table_has_the_last_active_session_first() {
    let (scene, ids) = with_sessions(&["Mend the roof", "Paint the fence"]);
    let printed = on(&scene, &["list"]).printed();
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(lines.len(), 3, "{printed}");
    assert_eq!(lines[0].split_whitespace().collect::<Vec<_>>(), ["ID", "LAST", "ACTIVE", "TITLE", "FOLDER"]);
    for (line, (id, title)) in lines[1..].iter().zip([(&ids[1], "Paint the fence"), (&ids[0], "Mend the roof")]) {
        assert!(line.starts_with(id.as_str()) && line.contains(title) && line.ends_with(&scene.cwd()), "{line}");
    }
}

#[test]
fn json_has_what_a_program_needs() {
    let (scene, ids) = with_sessions(&["Mend the roof"]);
    let rows = rows(&on(&scene, &["list", "--json"]).printed());
    assert_eq!(rows.len(), 1);
    for (member, value) in [
        ("sessionId", json!(ids[0])),
        ("cwd", json!(scene.cwd())),
        ("title", json!("Mend the roof")),
        ("archived", json!(false)),
        ("snippet", json!(null)),
    ] {
        assert_eq!(rows[0][member], value, "{member}");
    }
    for time in ["createdAt", "updatedAt"] {
        assert!(rows[0][time].as_str().is_some_and(|time| time.ends_with('Z')), "{time}: {}", rows[0]);
    }
}

#[test]
fn options_choose_among_them() {
    let (scene, all) = with_sessions(&["Mend the roof", "Paint the fence", "Paint the roof"]);
    let mut client = Client::ready(&scene.builtin(&[]));
    client.result("session/archive", json!({"sessionId": all[0]}));
    client.close();
    let cwd = scene.cwd();
    for (options, expected) in [
        (&[][..], &[2, 1][..]),
        (&["--limit", "1"], &[2]),
        (&["--search", "paint"], &[2, 1]),
        (&["--search", "paint roof"], &[2]),
        (&["--search", "\"the fence\""], &[1]),
        (&["--search", "nothing like it"], &[]),
        (&["--archived"], &[0]),
        (&["--archived", "only"], &[0]),
        (&["--archived", "include"], &[2, 1, 0]),
        (&["--archived", "exclude"], &[2, 1]),
        (&["--subagents"], &[2, 1]),
        (&["--cwd", cwd.as_str()], &[2, 1]),
        (&["--cwd", "/no/such/folder"], &[]),
        (&["--cwd", "."], &[]),
    ] {
        let expected: Vec<String> = expected.iter().map(|place: &usize| all[*place].clone()).collect();
        let printed = on(&scene, &[&["list", "--json"], options].concat()).printed();
        assert_eq!(ids(&printed), expected, "{options:?}");
    }
}

#[test]
fn a_table_says_what_it_leaves_out_and_what_was_found() {
    let (scene, all) = with_sessions(&["Mend the roof", "Paint the fence"]);
    let printed = on(&scene, &["list", "--limit", "1"]).printed();
    assert!(printed.ends_with("There are more; --limit N shows them.\n"), "{printed}");
    let printed = on(&scene, &["list", "--search", "fence"]).printed();
    assert!(printed.lines().any(|line| line.trim_start().starts_with('…') && line.contains("fence")), "{printed}");
    let mut client = Client::ready(&scene.builtin(&[]));
    client.result("session/archive", json!({"sessionId": all[0]}));
    client.close();
    let printed = on(&scene, &["list", "--archived"]).printed();
    assert!(printed.ends_with(" (archived)\n"), "{printed}");
}

#[test]
fn a_folder_that_its_user_has_come_to_by_a_link_is_both() {
    let scene = Scene::new();
    let own = fs::canonicalize(scene.cwd()).expect("a folder");
    let link = scene.file("link");
    symlink(&own, &link).expect("a link");
    let mut client = Client::ready(&scene.builtin(&[]));
    let made = [own.as_path(), link.as_path(), own.as_path(), scene.folder()].map(|folder| {
        let id = client.new_session(folder.to_str().expect("text"));
        client.prompt(&id, "Mend the roof");
        id
    });
    assert!(client.close().success());
    let shown = |folder: &Path, cwd: &str, limit: &str| {
        let script = r#"cd "$1" && exec "$0" list --json --store "$2" --cwd "$3" --limit "$4""#;
        let launch = Launch::new(Path::new("sh")).args(&["-c", script]).arg(built("acp-sessions")).arg(folder);
        ids(&Ran::of(&launch.arg(scene.store()).args(&[cwd, limit])).printed())
    };
    let [oldest, by_link, newest, _] = made;
    assert_eq!(shown(&link, ".", "50"), [newest.clone(), by_link.clone(), oldest.clone()]);
    assert_eq!(shown(&link, ".", "2"), [newest.clone(), by_link.clone()]);
    // From the folder itself no links are known, and whoever names a path means that one.
    assert_eq!(shown(&own, ".", "50"), [newest, oldest]);
    assert_eq!(shown(&own, link.to_str().expect("text"), "50"), [by_link]);
}

#[test]
fn a_program_gets_all_rows_and_a_person_some() {
    let (scene, mut all) = with_sessions(&["Mend the roof"; 53]);
    all.reverse();
    assert_eq!(ids(&on(&scene, &["list", "--json"]).printed()), all);
    assert_eq!(ids(&on(&scene, &["list", "--json", "--search", "roof"]).printed()), all);
    assert_eq!(ids(&on(&scene, &["list", "--json", "--limit", "52"]).printed()), all[..52]);
    let table = on(&scene, &["list"]).printed();
    assert!(table.lines().count() == 52 && table.ends_with("There are more; --limit N shows them.\n"), "{table}");
}
