//! What the host tells of the folders of sessions: their worktrees, and of which repository they are.

use acp_sessions_corpus::Call;
use acp_sessions_guest::engine::Peer;
use acp_sessions_guest::environment::Repository;
use acp_sessions_guest::storage::{Bounds, Memory, Storage as _};
use serde_json::{Value, json};

use crate::desk::{Desk, World};
use crate::scenes::{CWD, TOLD, ask_fork, leave, load, oblige, told};

const COMMIT: &str = "348dcb1d1b532210e00035f2756ecb78eaceb666";

fn knows(world: &World, cwd: &str, depth: u32) {
    let repository = Repository { first_commit: COMMIT.to_owned(), depth };
    world.repositories.borrow_mut().insert(cwd.to_owned(), repository);
}

fn folders(store: &Memory, world: &World, first_commit: &str) -> Value {
    let call = Call::FoldersOf { first_commit: first_commit.to_owned() };
    world.recorder.typed(store, world.time(), call)["ok"].clone()
}

fn notes(store: &Memory) -> Vec<String> {
    let bounds = Bounds { limit: 100, max_bytes: u32::MAX };
    store.scan("f/", "f/~", false, bounds).unwrap().entries.into_iter().map(|entry| entry.value).collect()
}

#[test]
fn a_folder_is_noted_when_a_session_is_made() {
    let (store, world) = (Memory::new(), World::with_folders());
    knows(&world, CWD, 1);
    let mut desk = Desk::ready(&store, &world, &json!({}));
    desk.new_session("s1", CWD);
    desk.new_session("s2", "/elsewhere");
    assert_eq!(world.folder_calls.get(), 0, "nobody waits for it");
    desk.wait(0);
    desk.wait(100);
    assert_eq!(folders(&store, &world, COMMIT), json!([{"cwd": CWD, "root": "/home"}]));
    assert_eq!(folders(&store, &world, "another"), json!([]));
}

#[test]
fn a_folder_is_noted_however_a_session_is_opened() {
    type Way = fn(&mut Desk<'_>);
    let ways: [(&str, Way); 3] = [
        ("loaded", |desk| drop(load(desk, "s1", TOLD))),
        ("resumed", |desk| {
            let params = json!({"sessionId": "s1", "mcpServers": []});
            let out = desk.client(json!({"id": "resume", "method": "session/resume", "params": params}));
            oblige(desk, out, TOLD, "fresh");
        }),
        ("forked", |desk| {
            let out = ask_fork(desk, "s1");
            oblige(desk, out, TOLD, "fresh");
        }),
    ];
    for (way, open) in ways {
        let (store, world) = (Memory::new(), World::with_folders());
        told(&store, &world, &json!({}));
        knows(&world, CWD, 0);
        let mut desk = Desk::ready(&store, &world, &json!({}));
        open(&mut desk);
        desk.wait(0);
        assert_eq!(folders(&store, &world, COMMIT), json!([{"cwd": CWD, "root": CWD}]), "{way}");
    }
}

#[test]
fn what_takes_long_to_find_out_is_asked_for_again() {
    let (store, world) = (Memory::new(), World::with_folders());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    desk.new_session("s1", CWD);
    // At first with each `idle`.
    for (wait, asked) in [(0, 1), (500, 2), (499, 3), (1, 4)] {
        desk.wait(wait);
        assert_eq!(world.folder_calls.get(), asked, "{wait}");
    }
    desk.wait(999);
    assert_eq!(world.folder_calls.get(), 4);
    desk.wait(1);
    assert_eq!(world.folder_calls.get(), 5);
    knows(&world, CWD, 0);
    desk.wait(1000);
    assert_eq!(notes(&store), [""; 0], "each time a little later");
    desk.wait(1000);
    assert_eq!(notes(&store), [format!("{COMMIT} 0")]);
    // What nobody ever finds out is given up.
    desk.new_session("s2", "/nowhere");
    for _ in 0..600 {
        desk.wait(1000);
    }
    assert_eq!(world.folder_calls.get(), 6 + 7);
}

#[test]
fn several_folders_are_asked_for_side_by_side() {
    let (store, world) = (Memory::new(), World::with_folders());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    let folders: Vec<String> = (0..100).map(|nth| format!("/home/repo{nth}")).collect();
    for (nth, cwd) in folders.iter().enumerate() {
        desk.new_session(&format!("s{nth}"), cwd);
    }
    desk.wait(0);
    assert_eq!(world.folder_calls.get(), 16);
    for cwd in &folders {
        knows(&world, cwd, 0);
    }
    for _ in 0..7 {
        desk.wait(5);
    }
    assert_eq!(notes(&store).len(), 100);
}

#[test]
fn what_is_known_as_a_window_closes_is_noted() {
    // When it comes to be known: before anybody was asked, after that, and between the ends of the two sides.
    for known in 0..3 {
        let (store, world) = (Memory::new(), World::with_folders());
        let mut desk = Desk::ready(&store, &world, &json!({}));
        desk.new_session("s1", CWD);
        if known == 1 {
            for _ in 0..3 {
                desk.wait(1000);
            }
        }
        if known < 2 {
            knows(&world, CWD, 0);
        }
        desk.engine.peer_closed(Peer::Client);
        desk.pull();
        assert_eq!(notes(&store).len(), usize::from(known < 2), "{known}");
        knows(&world, CWD, 0);
        desk.engine.peer_closed(Peer::Agent);
        desk.pull();
        assert_eq!(notes(&store).len(), 1, "{known}");
    }
}

#[test]
fn a_clock_that_is_set_back_holds_nothing_up() {
    let (store, world) = (Memory::new(), World::with_folders());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    desk.new_session("s1", CWD);
    desk.wait(0);
    knows(&world, CWD, 0);
    desk.wait(-3_600_000);
    assert_eq!(notes(&store).len(), 1);
}

#[test]
fn a_window_asks_once_which_repository_a_folder_is_of() {
    let (store, world) = (Memory::new(), World::with_folders());
    knows(&world, CWD, 0);
    for (nth, id) in (1..).zip(["s1", "s2"]) {
        let mut desk = Desk::ready(&store, &world, &json!({}));
        desk.new_session(id, CWD);
        desk.new_session(&format!("{id}-beside"), CWD);
        for _ in 0..3 {
            desk.wait(1000);
        }
        leave(desk);
        assert_eq!(world.folder_calls.get(), nth);
    }
}

#[test]
fn a_folder_whose_repository_has_another_first_commit_since_is_noted_to_be_of_that() {
    let (store, world) = (Memory::new(), World::with_folders());
    for (id, first_commit) in [("s1", COMMIT), ("s2", "another")] {
        let repository = Repository { first_commit: first_commit.to_owned(), depth: 0 };
        world.repositories.borrow_mut().insert(CWD.to_owned(), repository);
        let mut desk = Desk::ready(&store, &world, &json!({}));
        desk.new_session(id, CWD);
        desk.wait(100);
        leave(desk);
        assert_eq!(folders(&store, &world, first_commit), json!([{"cwd": CWD, "root": CWD}]), "{first_commit}");
    }
    assert_eq!(folders(&store, &world, COMMIT), json!([]));
}

#[test]
fn what_is_no_hash_is_not_noted() {
    for first_commit in ["", "a b", "a/b", "\u{1F980}", &"a".repeat(1000)] {
        let (store, world) = (Memory::new(), World::with_folders());
        let repository = Repository { first_commit: first_commit.to_owned(), depth: 0 };
        world.repositories.borrow_mut().insert(CWD.to_owned(), repository);
        let mut desk = Desk::ready(&store, &world, &json!({}));
        desk.new_session("s1", CWD);
        desk.wait(0);
        assert_eq!(notes(&store), [""; 0], "{first_commit}");
    }
}

#[test]
fn a_note_tells_nothing_once_no_session_is_there() {
    let (store, world) = (Memory::new(), World::with_folders());
    for cwd in ["/home/secret-x", "/home/y/z", "/"] {
        // One that is deeper than its path is long is none.
        knows(&world, cwd, 1);
        let mut desk = Desk::ready(&store, &world, &json!({}));
        let id = desk.new_session(&format!("at {cwd}"), cwd);
        desk.turn(&id, "Hello", &["Hi"]);
        desk.wait(0);
        leave(desk);
    }
    let mut told = folders(&store, &world, COMMIT).as_array().unwrap().clone();
    told.sort_by_key(|folder| folder["cwd"].to_string());
    let expected = [json!({"cwd": "/home/secret-x", "root": "/home"}), json!({"cwd": "/home/y/z", "root": "/home/y"})];
    assert_eq!(told, expected);
    let ask = |call| world.recorder.typed(&store, world.time(), call);
    ask(Call::DeleteSession { session_id: "at /home/secret-x".to_owned() });
    assert!(notes(&store).iter().all(|note| !note.contains("secret")));
    let (old_cwd, new_cwd) = ("/home/y".to_owned(), "/srv".to_owned());
    ask(Call::MoveSessions { old_cwd, new_cwd, limit: 10, cursor: None, dry_run: false });
    assert_eq!(folders(&store, &world, COMMIT), json!([{"cwd": "/srv/z", "root": "/srv"}]));
    assert_eq!(notes(&store).len(), 2, "the two of before are forgotten");
    let check = |mending: &str| ask(Call::CheckStore { mending: mending.to_owned(), cursor: None, limit: 256 });
    assert_eq!(check("nothing")["ok"]["findings"], json!([]));
}

#[test]
fn what_is_noted_goes_with_a_folder_that_is_moved_and_with_all_below_it() {
    let (store, world) = (Memory::new(), World::with_folders());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    for (cwd, depth) in [("/home/repo", 0), ("/home/repo/a/b", 2), ("/srv/other/c", 1)] {
        knows(&world, cwd, depth);
        // Two in each: what the first has taken along is there for the second.
        desk.new_session(&format!("first at {cwd}"), cwd);
        desk.new_session(&format!("second at {cwd}"), cwd);
        desk.wait(0);
    }
    let moved = |old: &str, new: &str| {
        let (old_cwd, new_cwd) = (old.to_owned(), new.to_owned());
        let call = Call::MoveSessions { old_cwd, new_cwd, limit: 10, cursor: None, dry_run: false };
        world.recorder.typed(&store, world.time(), call);
        let told = folders(&store, &world, COMMIT);
        let pair = |folder: &Value| format!("{} {}", folder["cwd"].as_str().unwrap(), folder["root"].as_str().unwrap());
        let mut told: Vec<String> = told.as_array().unwrap().iter().map(pair).collect();
        told.sort();
        told
    };
    let other = "/srv/other/c /srv/other";
    let twice = [("/home/repo", "/srv/repo"), ("/srv/repo", "/opt/deep/repo"), ("/opt/deep", "/home")];
    for ((old, new), root) in twice.into_iter().zip(["/srv/repo", "/opt/deep/repo", "/home/repo"]) {
        let mut expected = [format!("{root} {root}"), format!("{root}/a/b {root}"), other.to_owned()];
        expected.sort();
        assert_eq!(moved(old, new), expected, "{old} {new}");
    }
    // A part of a repository that stays in it, and one that leaves it: of what that is then nobody knows.
    let within = moved("/home/repo/a", "/home/repo/c/d/a");
    assert_eq!(within, ["/home/repo /home/repo", "/home/repo/c/d/a/b /home/repo", other]);
    assert_eq!(moved("/home/repo/c", "/away/c"), ["/home/repo /home/repo", other]);
    let check = Call::CheckStore { mending: "nothing".to_owned(), cursor: None, limit: 256 };
    assert_eq!(world.recorder.typed(&store, world.time(), check)["ok"]["findings"], json!([]));
}

#[test]
fn what_was_found_out_of_a_directory_stands_whatever_is_moved_there() {
    let (store, world) = (Memory::new(), World::with_folders());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    knows(&world, "/home/old", 0);
    let repository = Repository { first_commit: "another".to_owned(), depth: 1 };
    world.repositories.borrow_mut().insert("/home/new".to_owned(), repository);
    for cwd in ["/home/old", "/home/new"] {
        desk.new_session(&format!("at {cwd}"), cwd);
        desk.wait(0);
    }
    let (old_cwd, new_cwd) = ("/home/old".to_owned(), "/home/new".to_owned());
    let call = Call::MoveSessions { old_cwd, new_cwd, limit: 10, cursor: None, dry_run: false };
    world.recorder.typed(&store, world.time(), call);
    assert_eq!(folders(&store, &world, COMMIT), json!([]));
    assert_eq!(folders(&store, &world, "another"), json!([{"cwd": "/home/new", "root": "/home"}]));
}

/// Sessions in three worktrees and beside them, a second apart.
fn in_worktrees<'a>(store: &'a Memory, world: &'a World) -> Desk<'a> {
    let worktrees = ["/wt/one/sub/", "/wt/two/sub", CWD, "/wt/one/sub"].map(str::to_owned);
    world.worktrees.borrow_mut().insert(CWD.to_owned(), worktrees.to_vec());
    let mut desk = Desk::ready(store, world, &json!({}));
    for (id, cwd) in [
        ("s1", CWD),
        ("s2", "/wt/one/sub"),
        ("s3", "/wt/two/sub/"),
        ("s4", "/wt/one"),
        ("s5", CWD),
        ("s6", "/wt/one/./sub"),
    ] {
        desk.new_session(id, cwd);
        desk.turn(id, id, &["Yes"]);
        desk.wait(1000);
    }
    world.folder_calls.set(0);
    desk
}

/// The ids and directories that a list shows, page by page.
fn pages(desk: &mut Desk<'_>, params: &Value) -> Vec<Vec<(String, String)>> {
    let (mut pages, mut params) = (Vec::new(), params.clone());
    loop {
        let answer = desk.ask("session/list", params.clone());
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let rows = answer["result"]["sessions"].as_array().unwrap_or_else(|| panic!("{answer}"));
        pages.push(rows.iter().map(|row| (text(&row["sessionId"]), text(&row["cwd"]))).collect());
        let Some(cursor) = answer["result"].get("nextCursor") else { return pages };
        params["cursor"] = cursor.clone();
    }
}

#[test]
fn worktrees_are_listed_together_in_one_order_each_row_with_its_own_directory() {
    let (store, world) = (Memory::new(), World::with_folders());
    let mut desk = in_worktrees(&store, &world);
    let all = [("s6", "/wt/one/./sub"), ("s5", CWD), ("s3", "/wt/two/sub/"), ("s2", "/wt/one/sub"), ("s1", CWD)];
    let all = all.map(|(id, cwd)| (id.to_owned(), cwd.to_owned()));
    for params in [
        json!({"cwd": CWD, "includeWorktrees": true}),
        json!({"cwd": "/home/./x/", "_meta": {"acp-sessions": {"includeWorktrees": true}}}),
    ] {
        assert_eq!(pages(&mut desk, &params).concat(), all, "{params}");
    }
    for limit in 1..6 {
        let paged = pages(&mut desk, &json!({"cwd": CWD, "includeWorktrees": true, "limit": limit}));
        assert!(paged.iter().all(|page| !page.is_empty() && page.len() <= limit), "{paged:?}");
        assert_eq!(paged.concat(), all, "{limit}");
    }
    let found = pages(&mut desk, &json!({"cwd": CWD, "includeWorktrees": true, "search": "s2"}));
    assert_eq!(found.concat(), all[3..4]);
}

#[test]
fn a_list_waits_for_worktrees_that_are_being_found_out_and_nobody_else_does() {
    let (store, world) = (Memory::new(), World::with_folders());
    let mut desk = in_worktrees(&store, &world);
    let list = json!({"cwd": CWD, "includeWorktrees": true});
    let here = json!({ "cwd": CWD });
    world.finds_out.set(true);
    let ask = |id: &str| json!({"id": id, "method": "session/list", "params": list});
    assert!(desk.client(ask("waits")).client.is_empty());
    assert_eq!(pages(&mut desk, &here).concat().len(), 2, "what follows is answered");
    let again = desk.engine.idle().unwrap();
    assert!(again <= 10, "it is asked again soon: {again}");
    assert!(desk.wait(100).client.is_empty() && desk.engine.has_held());
    world.finds_out.set(false);
    let answers = desk.wait(2).client;
    assert_eq!(answers[0]["result"]["sessions"].as_array().unwrap().len(), 5, "{answers:?}");
    assert!(!desk.engine.has_held());
    // One that is taken back is not answered twice.
    world.finds_out.set(true);
    desk.client(ask("withdrawn"));
    let cancelled = desk.client(json!({"method": "$/cancel_request", "params": {"requestId": "withdrawn"}})).client;
    assert_eq!(cancelled[0]["error"]["code"], -32800, "{cancelled:?}");
    world.finds_out.set(false);
    assert!(desk.wait(10).client.is_empty());
}

#[test]
fn a_host_that_never_knows_keeps_a_list_no_longer_than_a_second() {
    let (store, world) = (Memory::new(), World::with_folders());
    let mut desk = in_worktrees(&store, &world);
    world.finds_out.set(true);
    let params = json!({"cwd": CWD, "includeWorktrees": true});
    desk.client(json!({"id": "waits", "method": "session/list", "params": params}));
    assert!(desk.wait(900).client.is_empty());
    let answers = desk.wait(200).client;
    assert_eq!(answers[0]["result"]["sessions"].as_array().unwrap().len(), 2, "{answers:?}");
}

#[test]
fn without_being_asked_for_them_nobody_looks_for_worktrees() {
    let (store, world) = (Memory::new(), World::with_folders());
    let mut desk = in_worktrees(&store, &world);
    for asked in [None, Some(json!(null)), Some(json!(false))] {
        let mut params = json!({ "cwd": CWD });
        if let Some(asked) = asked {
            params["includeWorktrees"] = asked;
        }
        assert_eq!(pages(&mut desk, &params).concat().len(), 2, "{params}");
    }
    // All directories are listed already.
    assert_eq!(pages(&mut desk, &json!({"includeWorktrees": true})).concat().len(), 6);
    assert_eq!(world.folder_calls.get(), 0);
    assert_eq!(pages(&mut desk, &json!({"cwd": "/wt/one", "includeWorktrees": true})).concat().len(), 1);
    assert_eq!(world.folder_calls.get(), 1);
}

#[test]
fn a_cursor_holds_for_one_value_and_a_wrong_one_is_refused() {
    let (store, world) = (Memory::new(), World::with_folders());
    let mut desk = in_worktrees(&store, &world);
    for params in [json!({"limit": 1}), json!({"limit": 1, "cwd": CWD})] {
        for (asked, other) in [(true, json!(false)), (true, json!(null)), (false, json!(true))] {
            let mut params = params.clone();
            params["includeWorktrees"] = json!(asked);
            params["cursor"] = desk.ask("session/list", params.clone())["result"]["nextCursor"].clone();
            assert!(desk.ask("session/list", params.clone())["result"].is_object());
            params["includeWorktrees"] = other;
            let refused = &desk.ask("session/list", params.clone())["error"];
            assert_eq!(refused["code"], -32602, "{params}");
            assert!(refused["message"].as_str().unwrap().contains("`cursor`"), "{refused}");
        }
    }
    for wrong in [json!("true"), json!(1), json!([]), json!({})] {
        let refused = &desk.ask("session/list", json!({"cwd": CWD, "includeWorktrees": wrong}))["error"];
        assert_eq!(refused["code"], -32602, "{wrong}");
        assert!(refused["message"].as_str().unwrap().contains("`includeWorktrees`"), "{refused}");
    }
}

#[test]
fn a_cursor_outlives_the_worktrees_that_it_was_made_with() {
    let (store, world) = (Memory::new(), World::with_folders());
    let mut desk = in_worktrees(&store, &world);
    let mut params = json!({"cwd": CWD, "includeWorktrees": true, "limit": 2});
    params["cursor"] = desk.ask("session/list", params.clone())["result"]["nextCursor"].clone();
    world.worktrees.borrow_mut().insert(CWD.to_owned(), vec!["/wt/one/sub".to_owned()]);
    let ids: Vec<String> = pages(&mut desk, &params).concat().into_iter().map(|(id, _)| id).collect();
    assert_eq!(ids, ["s2", "s1"]);
}
