//! The files of a store: whose they are, whatever the umask and whoever made them, and what happens when they are taken away.

use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use acp_sessions_tests::client::Client;
use acp_sessions_tests::launch::{Launch, built};
use acp_sessions_tests::ran::Ran;
use acp_sessions_tests::scene::Scene;
use acp_sessions_tests::transcript::text_of;
use acp_sessions_tests::unprivileged::{mode, set_mode};
use serde_json::json;

/// The program, started with this umask, in a home of its own.
fn with_umask(umask: &str, home: &Path) -> Launch {
    let script = format!("umask {umask}; exec \"$0\" \"$@\"");
    let launch = Launch::new(Path::new("sh")).args(&["-c", &script]).arg(built("acp-sessions"));
    launch.env("HOME", home).env("XDG_DATA_HOME", home.join("data"))
}

fn assert_narrow(folder: &Path, when: &str) {
    let mut seen = 0;
    for file in fs::read_dir(folder).expect("a folder") {
        let file = file.expect("a file").path();
        assert_eq!(mode(&file), 0o600, "{when}: {}", file.display());
        seen += 1;
    }
    assert_eq!(seen, 3, "{when}: the store, its journal and the journal's index");
}

#[test]
fn the_umask_plays_no_part() {
    for umask in ["0", "077", "0277", "0777"] {
        let scene = Scene::new();
        let home = scene.file("home");
        fs::create_dir(&home).expect("a home");
        let mut client = Client::ready(&with_umask(umask, &home).arg("agent"));
        client.new_session(&scene.cwd());
        let folder = home.join("data/acp-sessions");
        assert_eq!((mode(&home.join("data")), mode(&folder)), (0o700, 0o700), "umask {umask}");
        assert_narrow(&folder, umask);
        client.close();
    }
}

#[test]
fn rights_of_others_on_what_is_there_are_taken_from_them() {
    let scene = Scene::new();
    let home = scene.file("home");
    let launch = with_umask("022", &home).arg("agent");
    fs::create_dir(&home).expect("a home");
    let mut client = Client::ready(&launch);
    let id = client.new_session(&scene.cwd());
    client.kill();
    let folder = home.join("data/acp-sessions");
    for file in fs::read_dir(&folder).expect("a folder") {
        set_mode(&file.expect("a file").path(), 0o666);
    }
    set_mode(&folder, 0o755);
    let mut client = Client::ready(&launch);
    assert_eq!(client.listed(), [id]);
    assert_narrow(&folder, "again");
    assert_eq!(mode(&folder), 0o700, "the folder of the program's own");
    client.close();
}

#[test]
fn a_folder_that_somebody_has_named_stays_as_it_is() {
    let scene = Scene::new();
    let folder = scene.file("shared");
    fs::create_dir(&folder).expect("a folder");
    set_mode(&folder, 0o755);
    let mut client = Client::ready(&Launch::builtin(&folder.join("sessions.db"), &[]));
    client.new_session(&scene.cwd());
    assert_eq!(mode(&folder), 0o755);
    assert_narrow(&folder, "in a folder for all");
    client.close();
}

#[test]
fn a_variable_that_is_empty_is_not_set() {
    let scene = Scene::new();
    let home = scene.file("home");
    fs::create_dir(&home).expect("a home");
    let launch = with_umask("022", &home).arg("agent").env("ACP_SESSIONS_STORE", "");
    assert!(Client::ready(&launch).close().success());
    assert!(home.join("data/acp-sessions/sessions.db").exists(), "the default takes its place");
}

#[test]
fn a_store_that_is_taken_away_from_under_a_host_is_noticed() {
    for is_replaced in [false, true] {
        let scene = Scene::new();
        let mut client = Client::ready(&scene.proxy(&[], &[]));
        let id = client.new_session(&scene.cwd());
        client.prompt(&id, "Mend the roof");
        let store = scene.store();
        let folder = store.parent().expect("a folder");
        fs::remove_dir_all(folder).expect("removed");
        if is_replaced {
            // Another window has begun a new one.
            assert!(Client::ready(&scene.builtin(&[])).close().success());
        }
        let prompt = json!({"sessionId": id, "prompt": [{"type": "text", "text": "Paint the fence"}]});
        let turn = client.result("session/prompt", prompt);
        let told = &turn["_meta"]["acp-sessions"];
        assert_eq!(told["stored"], false, "{turn}");
        assert!(
            told["reason"].as_str().is_some_and(|reason| reason.contains("was removed or replaced: put it back")),
            "{turn}"
        );
        let place = json!({"cwd": scene.cwd(), "mcpServers": []});
        let error = client.error("session/new", place);
        assert!(error.names("was removed or replaced"), "{error:?}");
        assert_eq!(folder.exists(), is_replaced, "nothing is made anew");
        assert_eq!(client.close().code(), Some(1), "what was said last is lost");
    }
}

/// Spoils a store that is in use.
type Spoil = fn(&Path);

#[test]
fn a_store_that_is_damaged_under_a_host_is_named_with_what_helps() {
    let cut = |store: &Path| {
        let file = File::options().write(true).open(store).expect("the store");
        file.set_len(0).expect("cut");
    };
    let garble = |store: &Path| {
        let length = usize::try_from(fs::metadata(store).expect("the store").len()).expect("a length");
        let file = File::options().write(true).open(store).expect("the store");
        file.write_all_at(&vec![0x5a; length], 0).expect("written");
    };
    let spoils: [(&str, Spoil); 2] = [("cut to nothing", cut), ("garbled", garble)];
    for (how, spoil) in spoils {
        let scene = Scene::new();
        let mut client = Client::ready(&scene.proxy(&[], &[]));
        let id = client.new_session(&scene.cwd());
        client.prompt(&id, "Mend the roof");
        // Its journal is written back, and nothing of the store is anywhere else.
        let store = scene.store();
        let other = rusqlite::Connection::open(&store).expect("a database");
        other.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).expect("written back");
        spoil(&store);
        let remedy = format!("acp-sessions doctor --store {}", store.display());
        let error = client.error("session/list", json!({}));
        assert!(error.names("the store is damaged: ") && error.names(&remedy), "{how}: {error:?}");
        client.kill();
        // The same on the command line, where a file of no bytes is one in which there is nothing yet.
        let words = ["list", "--store", store.to_str().expect("text")];
        let ran = Ran::of(&Launch::new(&built("acp-sessions")).args(&words));
        if how == "garbled" {
            assert!(ran.complained().contains(&store.display().to_string()));
        } else {
            assert_eq!(ran.printed(), "No sessions.\n");
        }
    }
}

/// Writes the first page back as the journal has it, as one that is being written back begins to.
fn write_back_first_page(store: &Path) {
    const HEADER: usize = 32;
    const FRAME: usize = 24;
    const PAGE: usize = 4096;
    let journal = fs::read(store.with_extension("db-wal")).expect("the journal");
    let mut frames = journal[HEADER..].chunks_exact(FRAME + PAGE).rev();
    let first = frames.find(|frame| frame[..4] == [0, 0, 0, 1]).expect("a first page");
    let mut file = fs::read(store).expect("the store");
    file.splice(..PAGE.min(file.len()), first[FRAME..].iter().copied());
    fs::write(store, file).expect("written");
}

#[test]
fn a_store_that_lost_power_while_its_journal_was_written_back_is_whole() {
    let scene = Scene::new();
    let mut client = Client::ready(&scene.builtin(&[]));
    let id = client.new_session(&scene.cwd());
    // As long as somebody reads an old state what follows it stays in the journal.
    let reader = rusqlite::Connection::open(scene.store()).expect("the store");
    reader.execute_batch("BEGIN; SELECT count(*) FROM records").expect("a state that is read");
    client.prompt(&id, &"walrus ".repeat(5000));
    let after = Scene::new();
    fs::create_dir(after.store().parent().expect("a folder")).expect("a folder");
    // The journal's index is never put on disk.
    for extension in ["db", "db-wal"] {
        let file = |scene: &Scene| scene.store().with_extension(extension);
        fs::copy(file(&scene), file(&after)).expect("a copy");
    }
    write_back_first_page(&after.store());
    let mut client = Client::ready(&after.builtin(&[]));
    assert_eq!(client.listed(), std::slice::from_ref(&id));
    let (replay, _) = client.load(&id, &after.cwd());
    assert!(text_of(&replay, "user_message_chunk").contains("walrus walrus"));
}
