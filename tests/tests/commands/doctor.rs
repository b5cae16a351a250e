//! `acp-sessions doctor`

use std::fs::{self, OpenOptions};
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::FileExt as _;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use acp_sessions_tests::client::Client;
use acp_sessions_tests::launch::{Launch, built};
use acp_sessions_tests::process::signal;
use acp_sessions_tests::ran::Ran;
use acp_sessions_tests::scene::Scene;
use rusqlite::Connection;
use serde_json::Value;

use crate::run::{on, with_sessions};

/// How many updates there are in a store that takes many steps to index: each is an entry of its own.
const MANY: usize = 6000;

/// A store that takes many steps to index.
fn large() -> Scene {
    let scene = Scene::new();
    let agent = Launch::new(&built("fast_agent"));
    let mut client = Client::ready(&Launch::proxy(&scene.store(), &[], &agent)).unchecked();
    let id = client.new_session(&scene.cwd());
    client.prompt(&id, &format!("stream {MANY} 1000 mixed"));
    assert!(client.close().success());
    scene
}

#[test]
fn a_healthy_store_is_counted() {
    let (scene, _) = with_sessions(&["Mend the roof", "Paint the fence"]);
    let printed = on(&scene, &["doctor"]).printed();
    assert!(printed.starts_with(&format!("Store:       {}\n", scene.store().display())), "{printed}");
    for line in ["Logs:        2 with ", "Health:      good"] {
        assert!(printed.lines().any(|found| found.starts_with(line)), "no `{line}` in {printed}");
    }
}

#[test]
fn whoever_is_just_writing_the_head_of_the_journals_index_keeps_nobody_from_looking() {
    let (scene, _) = with_sessions(&["Mend the roof", "Paint the fence"]);
    let writer = Connection::open(scene.store()).expect("a database");
    writer.execute("UPDATE records SET value = value", []).expect("the journal has something in it");
    // It stands there twice, and is read again where the two are not the same.
    let place = 48 + 8;
    let index = scene.store().with_extension("db-shm");
    let index = OpenOptions::new().read(true).write(true).open(index).expect("the index");
    let mut byte = [0];
    index.read_exact_at(&mut byte, place).expect("read");
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                for byte in [!byte[0], byte[0]] {
                    index.write_all_at(&[byte], place).expect("written");
                    thread::sleep(Duration::from_millis(1));
                }
            }
        });
        let looks: Vec<Ran> = (0..5).map(|_| on(&scene, &["doctor"])).collect();
        is_over.store(true, Ordering::Relaxed);
        for look in looks {
            assert!(look.printed().ends_with("\nHealth:      good\n"));
        }
    });
    // To close it any earlier would drop the locks that this process has on it.
    drop((writer, index));
}

#[test]
fn a_file_of_no_bytes_is_empty_and_not_damaged() {
    for words in [&["doctor"][..], &["doctor", "--rebuild"]] {
        let scene = Scene::new();
        fs::create_dir_all(scene.store().parent().expect("a folder")).expect("a folder");
        fs::write(scene.store(), "").expect("written");
        let ran = on(&scene, words);
        assert!(ran.out.contains("\nHealth:      empty: no sessions yet\n"), "{ran:?}");
        assert!(!ran.out.contains("amaged") && ran.complaint.is_empty(), "{ran:?}");
        // It may have been a store that is lost.
        assert_eq!(ran.code, Some(1));
        assert_eq!(fs::read(scene.store()).expect("the file"), b"", "nothing was written into it");
    }
}

#[test]
fn what_is_salvaged_goes_into_no_file_that_is_there() {
    let (scene, _) = with_sessions(&["Mend the roof"]);
    let (store, there) = (scene.store(), scene.file("there"));
    fs::write(&there, "mine").expect("written");
    for target in [&store, &there] {
        let complaint = on(&scene, &["doctor", "--salvage", target.to_str().expect("text")]).complained();
        let expected = format!("{} is there already: name a file that is not", target.display());
        assert!(complaint.starts_with(&expected), "{complaint}");
    }
    assert_eq!(fs::read(there).expect("the file"), b"mine");
}

#[test]
fn what_a_killed_salvage_has_left_is_said_to_be_that() {
    let (scene, _) = with_sessions(&["Mend the roof"]);
    let (target, left) = (scene.file("new.db"), scene.file("new.db.unfinished"));
    fs::write(&left, "").expect("written");
    let complaint = on(&scene, &["doctor", "--salvage", target.to_str().expect("text")]).complained();
    let there = left.display();
    assert!(
        complaint.starts_with(&format!("{there} is there already: a salvage into the same file is")),
        "{complaint}"
    );
    assert!(
        complaint.contains(&format!("remove {there}, {there}-wal and {there}-shm; or name another")),
        "{complaint}"
    );
    assert!(left.exists() && !target.exists());
    fs::remove_file(left).expect("removed");
    on(&scene, &["doctor", "--salvage", target.to_str().expect("text")]).printed();
}

#[test]
fn room_is_given_back_that_a_doctor_finds_free() {
    let (scene, _) = with_sessions(&["Mend the roof"]);
    let other = Connection::open(scene.store()).expect("a database");
    let filled = "CREATE TABLE filling (x); INSERT INTO filling VALUES (zeroblob(40 << 20)); DROP TABLE filling";
    other.execute_batch(filled).expect("it has been full");
    drop(other);
    let size = || fs::metadata(scene.store()).expect("the store").len();
    assert!(size() > 40 << 20);
    let free = " MiB of the file are free. acp-sessions doctor --rebuild gives them back to the disk.\n";
    let printed = on(&scene, &["doctor"]).printed();
    assert!(printed.contains("Health:      good\n") && printed.ends_with(free), "{printed}");
    let printed = on(&scene, &["doctor", "--rebuild"]).printed();
    assert!(printed.ends_with(" MiB given back to the disk.\n") && printed.contains("\nCompared"), "{printed}");
    assert!(size() < 2 << 20, "{}", size());
    assert!(on(&scene, &["doctor"]).printed().ends_with("Health:      good\n"));
}

#[test]
fn indexes_are_made_anew_and_say_the_same() {
    let (scene, _) = with_sessions(&["Mend the roof", "Paint the fence"]);
    let lists = [&["list", "--json"][..], &["list", "--json", "--search", "roof"]];
    let before = lists.map(|words| on(&scene, words).printed());
    assert_eq!(before.each_ref().map(|list| list.lines().count()), [2, 1]);
    let printed = on(&scene, &["doctor", "--rebuild"]).printed();
    assert!(printed.ends_with("Health:      good\nCompared 2 sessions: nothing had to be rebuilt.\n"), "{printed}");
    assert_eq!(lists.map(|words| on(&scene, words).printed()), before);
}

#[test]
fn a_record_that_cannot_be_read_is_named_and_the_others_are_indexed() {
    let (scene, ids) = with_sessions(&["Mend the roof", "Paint the fence"]);
    let mut bytes = fs::read(scene.store()).expect("the store");
    let record = format!("{{\"id\":\"{}\",\"cwd\":", ids[0]);
    let places: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at..].starts_with(record.as_bytes())).collect();
    assert!(!places.is_empty(), "there is a record");
    for at in places {
        bytes[at] = b'?';
    }
    fs::write(scene.store(), bytes).expect("written");
    let ran = on(&scene, &["doctor", "--rebuild"]);
    assert_eq!((ran.code, ran.complaint.as_str()), (Some(1), ""), "{ran:?}");
    let wrong = format!("Wrong:\n  sessions' records cannot be read: 1 (s/{})\nHealth:      damaged\n", ids[0]);
    assert!(ran.out.contains(&wrong) && ran.out.contains("doctor --salvage FILE\n"), "{ran:?}");
    assert!(ran.out.ends_with("Compared 1 session: what is wrong with it cannot be rebuilt.\n"), "{ran:?}");
    let found = on(&scene, &["list", "--json", "--search", "fence"]).printed();
    assert_eq!(found.lines().count(), 1, "{found}");
}

#[test]
fn a_damaged_store_is_not_touched() {
    const PAGE: u64 = 4096;
    let (scene, _) = with_sessions(&["Mend the roof", "Paint the fence"]);
    let file = OpenOptions::new().write(true).open(scene.store()).expect("the store");
    let pages = file.metadata().expect("its size").len() / PAGE;
    // The first page says what the others are.
    for page in 1..pages {
        file.write_all_at(&[0x5a; 64], page * PAGE).expect("written");
    }
    for words in [&["doctor"][..], &["doctor", "--rebuild"]] {
        let ran = on(&scene, words);
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.out.contains("Damaged:\n") && !ran.out.contains("Compared"), "{ran:?}");
        assert!(ran.out.ends_with("Make a copy of the file before anything else uses it.\n"), "{ran:?}");
        assert_eq!(ran.out.starts_with("Not rebuilt: "), words.contains(&"--rebuild"), "{ran:?}");
        assert_eq!(ran.complaint, "");
    }
}

#[test]
fn a_pipe_is_told_in_lines_how_far_it_is() {
    let printed = on(&large(), &["doctor", "--rebuild"]).printed();
    let lines: Vec<&str> = printed.lines().filter(|line| line.starts_with("Checked ")).collect();
    assert!(lines.len() > 1 && lines.len() < 11, "{printed}");
    let percent = |line: &&str| line.split(' ').nth(1).and_then(|number| number.parse::<u32>().ok()).expect("a number");
    assert!(lines.iter().map(percent).is_sorted_by(|one, next| next >= &(one + 10)), "{printed}");
    assert!(printed.ends_with("Compared 1 session: nothing had to be rebuilt.\n"), "{printed}");
}

#[test]
fn a_terminal_is_shown_a_bar() {
    let scene = large();
    let command =
        format!("'{}' doctor --rebuild --store '{}'", built("acp-sessions").display(), scene.store().display());
    let mut script = Command::new("script");
    script.args(["--quiet", "--return", "--command", &command, "/dev/null"]);
    let ran = script.stdin(Stdio::null()).output().expect("it is part of every Debian");
    let shown = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success() && shown.contains("\r[") && shown.contains("#-"), "{shown}");
    assert!(
        shown.ends_with("entries\r\nHealth:      good\r\nCompared 1 session: nothing had to be rebuilt.\r\n"),
        "{shown}"
    );
}

#[test]
fn programs_are_told_in_json() {
    let printed = on(&large(), &["doctor", "--rebuild", "--json"]).printed();
    let lines: Vec<Value> = printed.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let (first, last) = (&lines[0], lines.last().expect("a line"));
    assert!(first["entries"].as_u64().is_some_and(|entries| entries >= MANY as u64 / 2), "{first}");
    assert_eq!(first["faults"], Value::Array(Vec::new()));
    let steps: Vec<u64> = lines[1..].iter().map(|line| line["entries"].as_u64().expect("how many")).collect();
    assert!(steps.len() > 3 && steps.is_sorted(), "{printed}");
    assert_eq!((&last["ended"], &last["entries"], &last["sessions"]), (&"done".into(), &first["entries"], &1.into()));
}

#[test]
fn interrupted_it_says_how_far_it_was_and_leaves_all_as_it_was() {
    for name in ["INT", "TERM", "HUP"] {
        let scene = large();
        let lists = [&["list", "--json"][..], &["list", "--json", "--search", "output"]];
        let before = lists.map(|words| on(&scene, words).printed());
        let mut launch = Launch::new(&built("acp-sessions")).args(&["doctor", "--rebuild", "--json", "--store"]);
        launch = launch.arg(scene.store());
        let mut program = launch.command().stdin(Stdio::null()).spawn().expect("it starts");
        let mut output = BufReader::new(program.stdout.take().expect("its output"));
        let mut line = String::new();
        for _ in 0..2 {
            line.clear();
            output.read_line(&mut line).expect("text");
        }
        // It cannot take another step to its end before it has been interrupted.
        let other = Connection::open(scene.store()).expect("a database");
        other.busy_timeout(acp_sessions_tests::PATIENCE).expect("set");
        other.execute_batch("BEGIN IMMEDIATE").expect("locked");
        signal(name, program.id());
        other.execute_batch("ROLLBACK").expect("unlocked");
        let mut rest = String::new();
        output.read_to_string(&mut rest).expect("text");
        assert_eq!(program.wait().expect("its status").code(), Some(130), "{name}: {rest}");
        let last: Value = serde_json::from_str(rest.lines().last().expect("a line")).expect("JSON");
        assert_eq!(last["ended"], "interrupted", "{name}: {rest}");
        assert!(last["entries"].as_u64() < last["of"].as_u64(), "{name}: {last}");
        assert_eq!(lists.map(|words| on(&scene, words).printed()), before, "{name}");
        assert!(
            on(&scene, &["doctor", "--rebuild"])
                .printed()
                .ends_with("Compared 1 session: nothing had to be rebuilt.\n")
        );
        assert_eq!(lists.map(|words| on(&scene, words).printed()), before, "{name}");
    }
}
