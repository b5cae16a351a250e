//! Stores that are damaged in every way that was thought of: `doctor` sees it, says what can be done, and does it.

mod content;
mod kinds;

use std::fs;
use std::path::Path;
use std::process::Stdio;

use acp_sessions_tests::client::Client;
use acp_sessions_tests::launch::{Launch, built};
use acp_sessions_tests::process::signal;
use acp_sessions_tests::ran::Ran;
use acp_sessions_tests::scene::Scene;
use acp_sessions_tests::torture::chance::Chance;
use acp_sessions_tests::until;
use serde_json::{Value, json};

use crate::run::{on, run};
use content::Content;
use kinds::{Damage, all, open};

/// What stood behind the last turn is lost, the mark of a fork, and search does not know it: nothing else tells of it.
const UNTOLD: &str = "DELETE FROM entries WHERE id = (SELECT max(id) FROM entries WHERE id >> 32 = 1)";

/// A word that only a session holds that was deleted.
const DELETED: &str = "okapi";

/// A store with sessions of every kind, and the id of one that was deleted.
struct Whole {
    scene: Scene,
    deleted: String,
}

impl Whole {
    fn new() -> Self {
        let scene = Scene::new();
        let mut client = Client::ready(&scene.builtin(&[]));
        let mut ids = Vec::new();
        for nth in 0..14 {
            let id = client.new_session(&scene.cwd());
            for turn in 0..3 {
                client.prompt(&id, &format!("session{nth} turn{turn} walrus {}", "many words ".repeat(20 + 40 * nth)));
            }
            ids.push(id);
        }
        client.new_session(&scene.cwd());
        for id in &ids[..2] {
            let forked = client.result("session/fork", json!({"sessionId": id, "cwd": scene.cwd(), "mcpServers": []}));
            client.prompt(forked["sessionId"].as_str().expect("an id"), "in the fork");
        }
        client.result("session/archive", json!({"sessionId": ids[3]}));
        let deleted = client.new_session(&scene.cwd());
        client.prompt(&deleted, DELETED);
        assert!(client.close().success());
        // To the last byte.
        on(&scene, &["delete", &deleted]).printed();
        let whole = Self { scene, deleted };
        assert_eq!(doctor(&whole.scene.store(), &[]).code, Some(0), "a store that nothing was done to");
        whole
    }

    /// A copy that is damaged.
    fn damaged(&self, damage: &Damage) -> Scene {
        let scene = Scene::new();
        let store = scene.store();
        fs::create_dir_all(store.parent().expect("a folder")).expect("a folder");
        fs::copy(self.scene.store(), &store).expect("a copy");
        damage.deal(&store);
        scene
    }
}

fn doctor(store: &Path, words: &[&str]) -> Ran {
    run(&[&["doctor", "--store", store.to_str().expect("text")], words].concat())
}

/// The last line, as JSON; what was complained of where there is none.
fn last(ran: &Ran) -> Value {
    ran.out.lines().last().and_then(|line| serde_json::from_str(line).ok()).unwrap_or_else(|| json!(ran.complaint))
}

#[test]
fn every_damage_is_seen_and_said() {
    let whole = Whole::new();
    let before = Content::of(&whole.scene.store()).expect("a whole store");
    let (mut seen, mut harmless, mut unseen) = (0, Vec::new(), Vec::new());
    let damages = all(&mut Chance::new(9));
    for damage in &damages {
        let scene = whole.damaged(damage);
        let ran = doctor(&scene.store(), &["--json"]);
        let told = last(&ran);
        if ran.code == Some(0) {
            // What nobody stores and nobody reads may be damaged.
            let is_same = Content::of(&scene.store()).is_ok_and(|content| content == before);
            if is_same {
                harmless.push(damage.to_string());
            } else {
                unseen.push(damage.to_string());
            }
            continue;
        }
        assert_eq!(ran.code, Some(1), "{damage}: {ran:?}");
        let is_said = told.as_str().is_some_and(|complaint| !complaint.is_empty())
            || told["good"] == false
                && [&told["faults"], &told["findings"]]
                    .iter()
                    .any(|list| list.as_array().is_some_and(|list| !list.is_empty()));
        assert!(is_said, "{damage}: {ran:?}");
        seen += 1;
        let words = doctor(&scene.store(), &[]);
        let advice = format!("{}{}", words.out, words.complaint);
        assert!(
            ["--rebuild", "--salvage", "newer acp-sessions"].iter().any(|word| advice.contains(word)),
            "{damage}: {words:?}"
        );
    }
    println!("{} damaged stores: {seen} seen, {} harmless, {} not seen", damages.len(), harmless.len(), unseen.len());
    println!("harmless: {harmless:?}");
    assert!(damages.len() >= 120 && seen >= 120, "{} damaged stores, {seen} of them seen", damages.len());
    assert_eq!(unseen, [UNTOLD]);
}

#[test]
fn what_follows_from_the_rest_is_made_anew_and_what_is_not_is_said() {
    let whole = Whole::new();
    let before = Content::of(&whole.scene.store()).expect("a whole store");
    let (mut mended, mut left) = (0, Vec::new());
    for damage in all(&mut Chance::new(10)).into_iter().filter(|damage| damage.to_string() != UNTOLD) {
        let scene = whole.damaged(&damage);
        let ran = doctor(&scene.store(), &["--rebuild", "--json"]);
        let again = doctor(&scene.store(), &["--json"]);
        assert_eq!(ran.code, again.code, "{damage}: it is as it says, {ran:?}, {again:?}");
        if ran.code == Some(0) {
            let now = Content::of(&scene.store()).expect("it can be read");
            assert_eq!(now.kept(), before.kept(), "{damage}: nothing but what follows from the rest has changed");
            assert_eq!(now.texts(), before.texts(), "{damage}");
            mended += 1;
        } else {
            assert!(!damage.is_derived(), "{damage}: {ran:?}");
            left.push(damage.to_string());
        }
    }
    println!("{mended} mended or harmless, {} left", left.len());
    assert!(mended >= 80, "{mended} mended, {left:?} left");
}

#[test]
fn what_can_be_read_is_written_into_a_new_store_and_the_damaged_one_stays_as_it_is() {
    let whole = Whole::new();
    let before = Content::of(&whole.scene.store()).expect("a whole store");
    let sessions = before.sessions();
    let (mut all_saved, mut some, mut none) = (0, 0, Vec::new());
    for damage in all(&mut Chance::new(11)) {
        let scene = whole.damaged(&damage);
        let bytes = fs::read(scene.store()).expect("the file");
        let target = scene.file("saved.db");
        let ran = doctor(&scene.store(), &["--json", "--salvage", target.to_str().expect("text")]);
        assert!(fs::read(scene.store()).expect("the file") == bytes, "{damage}: the damaged store was written to");
        let told = last(&ran);
        if told["ended"] != "done" {
            assert!(!target.exists() && !scene.file("saved.db.unfinished").exists(), "{damage}: {ran:?}");
            none.push(format!("{damage}: {told}"));
            continue;
        }
        assert_eq!(ran.code, Some(0), "{damage}: {ran:?}, {:?}", doctor(&target, &["--json"]));
        check_saved(&target, &damage, &whole.deleted);
        let saved = told["sessions"].as_u64().expect("how many");
        if saved == sessions { all_saved += 1 } else { some += 1 }
    }
    println!("all sessions saved of {all_saved}, some of {some}, nothing to be read in {}: {none:?}", none.len());
    assert!(all_saved > 100, "{all_saved} with all sessions, {some} with some, {none:?}");
    assert!(none.len() < 12, "{none:?}");
}

/// A new store is a good one, in which one can list, search and show, and from which nothing comes back that was deleted.
fn check_saved(target: &Path, damage: &Damage, deleted: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = fs::metadata(target).expect("it is there").permissions().mode() & 0o777;
    assert_eq!(mode, 0o600, "{damage}");
    let again = doctor(target, &["--json"]);
    assert_eq!(again.code, Some(0), "{damage}: {again:?}");
    let store = target.to_str().expect("text");
    let listed = run(&["list", "--json", "--store", store]).printed();
    assert!(!listed.contains(deleted), "{damage}: {listed}");
    assert_eq!(run(&["list", "--json", "--store", store, "--search", DELETED]).printed(), "", "{damage}");
    let found = run(&["list", "--json", "--store", store, "--search", "walrus"]).printed();
    let rows: Vec<Value> = listed.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert!(found.lines().count() <= rows.len(), "{damage}");
    if let Some(id) = rows.first().and_then(|row| row["id"].as_str().or(row["sessionId"].as_str())) {
        run(&["show", "--store", store, id]).printed();
    }
}

#[test]
fn what_shows_only_once_something_else_is_mended_is_mended_as_well() {
    let scene = Scene::new();
    let mut client = Client::ready(&scene.builtin(&[]));
    let id = client.new_session(&scene.cwd());
    for turn in 0..3 {
        client.prompt(&id, &format!("turn{turn} walrus"));
    }
    assert!(client.close().success());
    let connection = open(&scene.store());
    let record = "SELECT value FROM records WHERE key GLOB 's/*'";
    let record: String = connection.query_row(record, [], |row| row.get(0)).expect("a record");
    assert!(record.contains("\"settled\":9,"), "the last turn ended with the ninth entry: {record}");
    // Two entries are left, and the last one under a number that none can have. As long as it stands there, the log seems to
    // be no shorter than its record says.
    connection
        .execute_batch(
            "DELETE FROM entries WHERE id & 4294967295 BETWEEN 3 AND 8;
             UPDATE entries SET id = id | (1 << 31) WHERE id & 4294967295 = 9",
        )
        .expect("damaged");
    drop(connection);
    let findings = |ran: &Ran| last(ran)["findings"].as_array().cloned().unwrap_or_else(|| panic!("{ran:?}"));
    let ran = doctor(&scene.store(), &["--json"]);
    assert_eq!((ran.code, findings(&ran).len()), (Some(1), 1), "{ran:?}");
    let target = scene.file("saved.db");
    let ran = doctor(&scene.store(), &["--json", "--salvage", target.to_str().expect("text")]);
    // The first pass closes the gap before the last entry; the log has four then, and the second one marks what is missing.
    assert_eq!((ran.code, findings(&ran).len()), (Some(0), 2), "{ran:?}");
    let told = last(&ran);
    assert_eq!((&told["good"], &told["entries"]), (&json!(true), &json!(9)), "{ran:?}");
    assert!(findings(&ran).iter().all(|finding| finding["mended"] == true), "{ran:?}");
    let again = doctor(&target, &["--json"]);
    assert_eq!((again.code, findings(&again).len()), (Some(0), 0), "{again:?}");
    let shown = run(&["show", "--store", target.to_str().expect("text"), &id]).printed();
    assert!(shown.contains("turn0 walrus"), "{shown}");
}

/// Does something to a journal, in its middle or elsewhere.
type Harm = fn(&mut Vec<u8>, usize);

#[test]
fn a_damaged_journal_is_seen_and_what_stands_before_the_damage_is_saved() {
    let scene = Scene::new();
    let mut client = Client::ready(&scene.builtin(&[]));
    // As long as somebody reads, nobody empties the journal.
    let reader = open(&scene.store());
    reader.execute_batch("BEGIN; SELECT count(*) FROM records").expect("read");
    let mut ids = Vec::new();
    for nth in 0..3 {
        ids.push(client.new_session(&scene.cwd()));
        client.prompt(&ids[nth], &format!("number{nth} {}", "walrus ".repeat(900)));
    }
    let journal = |store: &Path| store.with_extension("db-wal");
    let (file, wal) = (fs::read(scene.store()).expect("a file"), fs::read(journal(&scene.store())).expect("a journal"));
    assert!(wal.len() > 40_000, "{} bytes are not in the file yet", wal.len());
    drop(reader);
    client.close();
    let middle = wal.len() / 2;
    let harms: [(&str, Harm, bool); 5] = [
        ("none", |_, _| (), true),
        ("a byte of its beginning", |wal, _| wal[20] ^= 0x55, false),
        ("a byte in its midst", |wal, middle| wal[middle] ^= 0x55, false),
        ("a page in its midst", |wal, middle| wal[middle..middle + 4096].fill(0), false),
        // As when a process was killed as it wrote.
        ("its end is missing", |wal, _| wal.truncate(wal.len() - 9), true),
    ];
    for (what, harm, is_good) in harms {
        let other = Scene::new();
        let store = other.store();
        fs::create_dir_all(store.parent().expect("a folder")).expect("a folder");
        let mut wal = wal.clone();
        harm(&mut wal, middle);
        fs::write(&store, &file).and_then(|()| fs::write(journal(&store), &wal)).expect("written");
        let ran = doctor(&store, &["--json"]);
        assert_eq!(ran.code, Some(i32::from(!is_good)), "{what}: {ran:?}");
        assert_eq!(ran.out.contains("journal"), !is_good, "{what}: {ran:?}");
        let target = other.file("saved.db");
        let ran = doctor(&store, &["--json", "--salvage", target.to_str().expect("text")]);
        let is_as_it_was =
            fs::read(&store).is_ok_and(|now| now == file) && fs::read(journal(&store)).is_ok_and(|now| now == wal);
        assert!(is_as_it_was, "{what}: the damaged store was written to");
        if ran.code == Some(0) {
            let listed = run(&["list", "--json", "--store", target.to_str().expect("text")]).printed();
            assert!(!is_good || listed.lines().count() == ids.len(), "{what}: {listed}");
        } else {
            // Hardly anything was in the file itself.
            assert!(!is_good && !target.exists(), "{what}: {ran:?}");
        }
    }
}

#[test]
fn a_salvage_takes_no_file_that_is_there_and_leaves_none_that_is_unfinished() {
    let whole = Whole::new();
    let target = whole.scene.file("saved.db");
    fs::write(&target, "somebody's").expect("written");
    let words = ["--salvage", target.to_str().expect("text")];
    let complaint = doctor(&whole.scene.store(), &words).complained();
    assert!(complaint.contains("saved.db"), "{complaint}");
    assert_eq!(fs::read(&target).expect("it is there"), b"somebody's");
    fs::remove_file(&target).expect("removed");
    for name in ["INT", "TERM", "HUP"] {
        let launch = Launch::new(&built("acp-sessions")).args(&["doctor", "--store"]).arg(whole.scene.store());
        let mut program = launch.args(&words).command().stdin(Stdio::null()).spawn().expect("it starts");
        until("the new store is begun", || {
            whole.scene.file("saved.db.unfinished").exists() || program.try_wait().is_ok_and(|ended| ended.is_some())
        });
        signal(name, program.id());
        let code = program.wait().expect("its status").code();
        // It may have been at its end.
        assert!(code == Some(130) && !target.exists() || code == Some(0) && target.exists(), "{name}: {code:?}");
        assert!(!whole.scene.file("saved.db.unfinished").exists(), "{name}");
        let _ = fs::remove_file(&target);
    }
}
