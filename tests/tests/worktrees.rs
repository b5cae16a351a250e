//! Sessions of worktrees, and of repositories that have moved, with Git itself.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use acp_sessions_tests::client::Client;
use acp_sessions_tests::followed::Followed;
use acp_sessions_tests::git::{git, repository};
use acp_sessions_tests::launch::{Launch, built};
use acp_sessions_tests::ran::Ran;
use acp_sessions_tests::scene::Scene;
use acp_sessions_tests::until;
use serde_json::{Value, json};

fn text(path: &Path) -> &str {
    path.to_str().expect("a path that is text")
}

fn on(scene: &Scene, words: &[&str]) -> Ran {
    let (command, rest) = words.split_first().expect("a command");
    Ran::of(&Launch::new(&built("acp-sessions")).arg(*command).arg("--store").arg(scene.store()).args(rest))
}

/// How many folders the store has notes of.
fn noted(scene: &Scene) -> u32 {
    let store = rusqlite::Connection::open(scene.store()).expect("the store");
    let count = store.query_row("SELECT count(*) FROM records WHERE key LIKE 'f/%'", [], |row| row.get(0));
    count.expect("its records")
}

/// A session in each of these folders, all of which are of repositories if there are to be as many notes.
fn sessions_in(scene: &Scene, folders: &[&Path], notes: u32) -> Vec<String> {
    let mut client = Client::ready(&scene.builtin(&[]));
    let ids = folders.iter().map(|folder| {
        let id = client.new_session(text(folder));
        client.prompt(&id, "Hello");
        id
    });
    let ids = ids.collect();
    until("it is noted which repositories they are of", || noted(scene) == notes);
    assert!(client.close().success());
    ids
}

/// The folders of the sessions that are listed with those of worktrees, by name: what is made within a millisecond has no order.
fn listed(client: &mut Client, cwd: &Path) -> Vec<String> {
    let answer = client.result("session/list", json!({"cwd": text(cwd), "includeWorktrees": true}));
    folders_of(answer["sessions"].as_array().expect("rows"))
}

fn folders_of(rows: &[Value]) -> Vec<String> {
    let mut folders: Vec<_> = rows.iter().map(|row| row["cwd"].as_str().expect("a folder").to_owned()).collect();
    folders.sort();
    folders
}

/// Adds a linked worktree to a repository.
fn with_worktree(main: &Path, linked: &Path) -> PathBuf {
    git(main, &["worktree", "add", "--quiet", "--detach", text(linked)]);
    linked.to_owned()
}

/// A repository with linked worktrees of these names, all beside each other.
fn with_worktrees(scene: &Scene, names: &[&str]) -> Vec<PathBuf> {
    let main = scene.file("main");
    repository(&main);
    let linked = names.iter().map(|name| with_worktree(&main, &scene.file(name)));
    [main.clone()].into_iter().chain(linked).collect()
}

#[test]
fn sessions_of_corresponding_folders_are_listed_together() {
    let scene = Scene::new();
    let folders = with_worktrees(&scene, &["one", "two words", "gone", "bare"]);
    fs::remove_dir_all(folders[4].join("sub")).expect("it was there");
    let mut client = Client::ready(&scene.builtin(&[]));
    for folder in &folders {
        for place in [folder.clone(), folder.join("sub"), folder.join("other")] {
            client.new_session(text(&place));
        }
    }
    fs::remove_dir_all(&folders[3]).expect("it was there");
    // A folder that is not there corresponds to none.
    let of = |places: &[usize], below: &str| -> Vec<String> {
        let path = |at: &usize| text(&folders[*at].join(below)).trim_end_matches('/').to_owned();
        let mut paths: Vec<String> = places.iter().map(path).collect();
        paths.sort();
        paths
    };
    for at in [0, 1, 2] {
        assert_eq!(listed(&mut client, &folders[at]), of(&[4, 2, 1, 0], ""), "{at}");
        assert_eq!(listed(&mut client, &folders[at].join("sub")), of(&[2, 1, 0], "sub"), "{at}");
    }
    assert_eq!(listed(&mut client, &folders[0].join("other")), of(&[0], "other"));
    assert_eq!(listed(&mut client, scene.folder()), [""; 0], "it is in no repository");
    let only = client.result("session/list", json!({"cwd": text(&folders[0])}));
    assert_eq!(only["sessions"].as_array().expect("rows").len(), 1);
    assert!(client.close().success());
    let printed = on(&scene, &["list", "--json", "--worktrees", "--cwd", text(&folders[1].join("sub"))]).printed();
    let rows: Vec<Value> = printed.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(folders_of(&rows), of(&[2, 1, 0], "sub"));
}

#[test]
fn a_worktree_that_is_added_is_there_within_seconds() {
    let scene = Scene::new();
    let folders = with_worktrees(&scene, &[]);
    let later = scene.file("later");
    let mut client = Client::ready(&scene.builtin(&[]));
    client.new_session(text(&later));
    assert_eq!(listed(&mut client, &folders[0]), [""; 0]);
    with_worktree(&folders[0], &later);
    until("it is seen", || listed(&mut client, &folders[0]) == [text(&later)]);
    assert!(client.close().success());
}

#[test]
fn who_follows_a_list_is_shown_the_sessions_of_a_worktree_that_is_added() {
    let scene = Scene::new();
    let folders = with_worktrees(&scene, &[]);
    let later = scene.file("later");
    let mut follower = Client::ready(&scene.builtin(&[]));
    let params = json!({"cwd": text(&folders[0]), "includeWorktrees": true});
    let mut list = Followed::begin(&mut follower, params);
    with_worktree(&folders[0], &later);
    let mut client = Client::ready(&scene.builtin(&[]));
    let id = client.new_session(text(&later));
    list.wait(&mut follower, "a session has begun there", |list| list.row(&id)["cwd"] == text(&later));
    list.settle(&mut follower);
    for mut client in [follower, client] {
        assert!(client.close().success());
    }
}

#[test]
fn a_folder_that_is_reached_by_a_link_corresponds_to_what_is_reached_by_it_and_to_what_that_is() {
    let scene = Scene::new();
    let real = scene.file("real");
    fs::create_dir(&real).expect("a folder");
    let link = scene.file("link");
    symlink(&real, &link).expect("a link");
    repository(&real.join("main"));
    with_worktree(&real.join("main"), &real.join("one"));
    let mut client = Client::ready(&scene.builtin(&[]));
    let folders: Vec<PathBuf> =
        [&link, &real].into_iter().flat_map(|above| ["main/sub", "one/sub"].map(|name| above.join(name))).collect();
    for folder in &folders {
        client.new_session(text(folder));
    }
    let all: Vec<&str> = folders.iter().map(|folder| text(folder)).collect();
    for folder in &folders[..2] {
        assert_eq!(listed(&mut client, folder), all, "{folder:?}");
    }
    // Nobody knows which links lead there.
    for folder in &folders[2..] {
        assert_eq!(listed(&mut client, folder), all[2..], "{folder:?}");
    }
    let only = client.result("session/list", json!({"cwd": text(&folders[0])}));
    assert_eq!(folders_of(only["sessions"].as_array().expect("rows")), [all[0]], "worktrees are not asked for");
    assert!(client.close().success());
}

#[test]
fn a_link_in_a_repository_corresponds_to_the_link_and_to_where_it_leads() {
    let scene = Scene::new();
    let (main, linked) = (scene.file("main"), scene.file("linked"));
    repository(&main);
    symlink("sub", main.join("link")).expect("a link");
    git(&main, &["add", "."]);
    git(&main, &["commit", "--quiet", "--message", "A link"]);
    with_worktree(&main, &linked);
    let mut client = Client::ready(&scene.builtin(&[]));
    let all = [linked.join("link"), linked.join("sub"), main.join("link"), main.join("sub")];
    for folder in &all {
        client.new_session(text(folder));
    }
    assert_eq!(listed(&mut client, &main.join("link")), all.each_ref().map(|folder| text(folder)));
    assert!(client.close().success());
}

#[test]
fn worktrees_are_found_wherever_the_repository_itself_is() {
    type Make = fn(&Scene, &Path);
    let ways: [(&str, Make, bool); 3] = [
        (
            "elsewhere",
            |scene, main| {
                repository(main);
                git(main, &["init", "--quiet", "--separate-git-dir", text(&scene.file("elsewhere.git"))]);
            },
            false,
        ),
        (
            "by a link",
            |scene, main| {
                repository(main);
                fs::rename(main.join(".git"), scene.file("link.git")).expect("renamed");
                symlink(scene.file("link.git"), main.join(".git")).expect("a link");
            },
            false,
        ),
        (
            "in that which it is a module of",
            |scene, main| {
                let (origin, above) = (scene.file("origin"), main.parent().expect("a folder"));
                repository(&origin);
                repository(above);
                let origin = text(&origin).to_owned();
                git(above, &["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &origin, "main"]);
            },
            true,
        ),
    ];
    for (way, make, is_found_from_linked) in ways {
        let scene = Scene::new();
        let (main, linked) = (scene.file("above/main"), scene.file("linked"));
        make(&scene, &main);
        with_worktree(&main, &linked);
        let mut client = Client::ready(&scene.builtin(&[]));
        for folder in [&main, &linked] {
            client.new_session(text(folder));
        }
        let both = [text(&main), text(&linked)];
        assert_eq!(listed(&mut client, &main), both, "{way}");
        // Git does not know where the main one is otherwise.
        let known = if is_found_from_linked { &both[..] } else { &both[1..] };
        assert_eq!(listed(&mut client, &linked), known, "{way}");
        assert!(client.close().success());
    }
}

#[test]
fn worktrees_of_any_name_are_found_and_one_that_is_no_text_hides_no_other() {
    let scene = Scene::new();
    let folders = with_worktrees(&scene, &["line\nfeed", "return\r"]);
    let unnamed = scene.folder().join(OsStr::from_bytes(b"n\xff"));
    fs::rename(with_worktree(&folders[0], &scene.file("unnamed")), &unnamed).expect("renamed");
    fs::write(folders[0].join(".git/worktrees/unnamed/gitdir"), [unnamed.as_os_str().as_bytes(), b"/.git\n"].concat())
        .expect("a file");
    let mut client = Client::ready(&scene.builtin(&[]));
    for folder in &folders {
        client.new_session(text(folder));
    }
    let mut all: Vec<&str> = folders.iter().map(|folder| text(folder)).collect();
    all.sort_unstable();
    for folder in &folders {
        assert_eq!(listed(&mut client, folder), all, "{folder:?}");
    }
    assert!(client.close().success());
}

/// A window for which this script is Git.
fn with_git(scene: &Scene, script: &str) -> Client {
    let programs = scene.file("programs");
    fs::create_dir_all(&programs).expect("a folder");
    let git = programs.join("git");
    fs::write(&git, script).expect("a file");
    fs::set_permissions(&git, fs::Permissions::from_mode(0o755)).expect("it can be run");
    Client::ready(&scene.builtin(&[]).env("PATH", format!("{}:/usr/bin:/bin", text(&programs))))
}

/// A Git that does not answer.
const SILENT: &str = "#!/bin/sh\nexec sleep 60\n";

#[test]
fn a_git_that_does_not_answer_ends_with_the_program() {
    let scene = Scene::new();
    let folders = with_worktrees(&scene, &["one"]);
    let told = scene.file("pid");
    let mut client =
        with_git(&scene, &format!("#!/bin/sh\necho $$ > '{0}.new'; mv '{0}.new' '{0}'; exec sleep 60\n", text(&told)));
    client.new_session(text(&folders[0]));
    until("Git is asked", || told.exists());
    let asked = fs::read_to_string(&told).expect("a process id");
    assert!(client.close().success());
    let process = Path::new("/proc").join(asked.trim());
    until("it has ended", || !process.join("exe").exists());
}

#[test]
fn a_list_that_waits_for_git_holds_up_nothing_else() {
    let scene = Scene::new();
    let folders = with_worktrees(&scene, &["one"]);
    let mut client = with_git(&scene, SILENT);
    client.new_session(text(&folders[0]));
    let waits = client.send_request("session/list", json!({"cwd": text(&folders[0]), "includeWorktrees": true}));
    let next = client.send_request("session/list", json!({}));
    let mut answered = Vec::new();
    while answered.len() < 2 {
        let message = client.read();
        answered.extend(message["result"]["sessions"].as_array().map(|rows| (message["id"].clone(), rows.len())));
    }
    assert_eq!(answered, [(next, 1), (waits, 1)]);
    assert!(client.close().success());
}

#[test]
fn a_git_that_does_not_answer_or_is_not_there_holds_nobody_up() {
    let scene = Scene::new();
    let folders = with_worktrees(&scene, &["one"]);
    for script in [SILENT, "#!/bin/sh\necho nonsense\n", "#!/no/such/shell\n"] {
        let mut client = with_git(&scene, script);
        client.new_session(text(&folders[0]));
        let begun = Instant::now();
        for _ in 0..20 {
            assert!(!listed(&mut client, &folders[0]).is_empty());
        }
        assert!(begun.elapsed() < Duration::from_secs(10), "{script}: it took {:?}", begun.elapsed());
        assert!(client.close().success());
    }
}

#[test]
fn who_lists_in_a_repository_that_has_moved_is_told_which_sessions_stayed_behind() {
    let scene = Scene::new();
    let (old, new) = (scene.file("old place"), scene.file("new"));
    repository(&old);
    let ids = sessions_in(&scene, &[&old, &old.join("sub")], 2);
    let list = |folder: &Path| on(&scene, &["list", "--json", "--cwd", text(folder)]);
    assert_eq!(list(&old).printed().lines().count(), 1, "nothing has moved yet");
    fs::rename(&old, &new).expect("renamed");
    let command = format!("acp-sessions move --store {} '{}' {}", text(&scene.store()), text(&old), text(&new));
    let told = format!("Sessions of this repository are still listed under {}, which is gone: {command}\n", text(&old));
    for folder in [new.clone(), new.join("sub")] {
        let listed = list(&folder);
        assert_eq!(listed.out, "", "nothing is listed there yet");
        assert_eq!(listed.warned(), told);
    }
    // It does what it says.
    assert!(
        Ran::of(&Launch::new(Path::new("sh")).args(&[
            "-c",
            &format!(
                "'{}' {}",
                text(&built("acp-sessions")),
                command.strip_prefix("acp-sessions ").expect("the program")
            )
        ]))
        .printed()
        .ends_with("2 sessions moved.\n")
    );
    assert!(list(&new).printed().contains(&ids[0]));
    assert!(list(&new.join("sub")).printed().contains(&ids[1]));
}

#[test]
fn a_repository_whose_first_commit_was_made_anew_is_known_by_that_once_a_session_was_opened_there() {
    let scene = Scene::new();
    let (old, new) = (scene.file("old"), scene.file("new"));
    repository(&old);
    sessions_in(&scene, &[&old], 1);
    let note = || -> String {
        let store = rusqlite::Connection::open(scene.store()).expect("the store");
        store.query_row("SELECT value FROM records WHERE key LIKE 'f/%'", [], |row| row.get(0)).expect("a note")
    };
    let before = note();
    git(&old, &["commit", "--quiet", "--amend", "--message", "Better words"]);
    let mut client = Client::ready(&scene.builtin(&[]));
    client.new_session(text(&old));
    until("it is noted", || note() != before);
    assert!(client.close().success());
    fs::rename(&old, &new).expect("renamed");
    assert!(on(&scene, &["list", "--cwd", text(&new)]).warned().contains(text(&old)));
}

#[test]
fn nobody_is_told_of_what_is_there_or_is_of_another_repository() {
    let scene = Scene::new();
    let (here, other, linked) = (scene.file("here"), scene.file("other"), scene.file("linked"));
    repository(&here);
    repository(&other);
    let clone = scene.file("clone");
    git(scene.folder(), &["clone", "--quiet", text(&here), text(&clone)]);
    with_worktree(&here, &linked);
    let plain = scene.file("plain");
    fs::create_dir(&plain).expect("a folder");
    sessions_in(&scene, &[&here, &other, &linked, &plain], 2);
    // Removed worktrees are nothing to move.
    fs::remove_dir_all(&linked).expect("it was there");
    fs::remove_dir_all(&other).expect("it was there");
    for folder in [&here, &clone, &plain] {
        on(&scene, &["list", "--cwd", text(folder)]).printed();
    }
    fs::remove_dir_all(&here).expect("it was there");
    assert!(on(&scene, &["list", "--cwd", text(&clone)]).warned().contains(text(&here)));
}
