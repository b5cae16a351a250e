//! Lists of a directory and its worktrees that are followed, while worktrees come and go.

use std::collections::BTreeMap;

use acp_sessions_guest::sessions::panel::{self, ListCriteria, SessionError};
use acp_sessions_guest::storage::Memory;
use acp_sessions_guest::store::Store;
use serde_json::{Value, json};

use crate::desk::World;
use crate::follower::{SOON, hinted, members, notified, one, rows_of, subscribe, told, window};
use crate::scenes::CWD;

const ELSEWHERE: &str = "/home/y";

#[test]
fn a_worktree_that_is_made_later_is_of_the_list_once_a_session_has_begun_there() {
    let (store, world) = (Memory::new(), World::with_folders());
    let list = json!({"cwd": CWD, "includeWorktrees": true});
    let mut follower = window(&store, &world);
    let (subscription, _) = subscribe(&mut follower, list.clone());
    let mut watcher = hinted(&store, &world);
    assert_eq!(rows_of(&mut watcher, list.clone()), Vec::<Value>::new());
    let mut other = window(&store, &world);
    other.new_session("s1", ELSEWHERE);
    // The host goes on for a while with what it knew.
    assert!(follower.wait(SOON).client.is_empty() && watcher.wait(0).client.is_empty());
    world.worktrees.borrow_mut().insert(CWD.to_owned(), vec![ELSEWHERE.to_owned()]);
    let out = follower.wait(SOON);
    assert_eq!(notified(&out, "session/list/resync"), [json!({ "subscriptionId": subscription })]);
    assert_eq!(notified(&watcher.wait(0), "session/list_changed"), [json!({ "cwd": CWD })]);
    assert_eq!(rows_of(&mut follower, list).len(), 1);
    other.new_session("s2", ELSEWHERE);
    assert_eq!(members(&told(&follower.wait(SOON), &subscription).0, "cwd"), one("s2", ELSEWHERE));
    // Nobody asks the host again and again.
    for _ in 0..20 {
        follower.wait(SOON);
    }
    let asked = world.folder_calls.get();
    other.turn("s1", "Hello", &["Hi"]);
    assert!(!told(&follower.wait(SOON), &subscription).0.is_empty());
    assert_eq!(world.folder_calls.get(), asked);
}

#[test]
fn worktrees_that_come_and_go_quietly_are_told_of_within_a_minute() {
    let (store, world) = (Memory::new(), World::with_folders());
    let list = json!({"cwd": CWD, "includeWorktrees": true});
    let mut other = window(&store, &world);
    other.new_session("s1", ELSEWHERE);
    let mut follower = window(&store, &world);
    let (subscription, page) = subscribe(&mut follower, list.clone());
    assert_eq!(page, Vec::<Value>::new());
    let mut watcher = hinted(&store, &world);
    watcher.ask("session/list", list.clone());
    let worktrees = [vec![ELSEWHERE.to_owned()], Vec::new(), vec![ELSEWHERE.to_owned()]];
    for (present, finds_out) in worktrees.into_iter().zip([false, false, true]) {
        let rows = present.len();
        world.worktrees.borrow_mut().insert(CWD.to_owned(), present);
        world.finds_out.set(finds_out);
        world.folder_calls.set(0);
        let (mut resyncs, mut hints) = (Vec::new(), Vec::new());
        for second in 0..65 {
            // Git takes its time.
            world.finds_out.set(finds_out && second < 62);
            resyncs.extend(notified(&follower.wait(SOON), "session/list/resync"));
            hints.extend(notified(&watcher.wait(0), "session/list_changed"));
        }
        assert_eq!(resyncs, [json!({ "subscriptionId": subscription })]);
        assert_eq!(hints, [json!({ "cwd": CWD })]);
        let most = if finds_out { 2 * 65 } else { 2 * 2 };
        assert!(world.folder_calls.get() <= most, "{}", world.folder_calls.get());
        assert_eq!(rows_of(&mut follower, list.clone()).len(), rows);
    }
    // Where nothing changes nothing is told.
    for _ in 0..130 {
        assert!(follower.wait(SOON).client.is_empty());
    }
}

#[test]
fn what_a_subscription_covers_is_not_hinted_at_though_it_does_not_know_a_worktree_yet() {
    for cwd in [CWD, ELSEWHERE] {
        let (store, world) = (Memory::new(), World::with_folders());
        let mut desk = hinted(&store, &world);
        let (subscription, _) = subscribe(&mut desk, json!({"cwd": CWD, "includeWorktrees": true}));
        desk.wait(SOON);
        world.worktrees.borrow_mut().insert(CWD.to_owned(), vec![ELSEWHERE.to_owned()]);
        world.worktrees.borrow_mut().insert(ELSEWHERE.to_owned(), vec![CWD.to_owned()]);
        // The page knows the worktree, and so does what is to be hinted at since.
        let list = json!({"cwd": cwd, "includeWorktrees": true});
        assert_eq!(rows_of(&mut desk, list.clone()), Vec::<Value>::new());
        world.finds_out.set(true);
        let mut other = window(&store, &world);
        other.new_session("s1", ELSEWHERE);
        for _ in 0..3 {
            assert!(desk.wait(SOON).client.is_empty(), "{cwd}");
        }
        world.finds_out.set(false);
        let out = desk.wait(SOON);
        assert_eq!(notified(&out, "session/list/resync"), [json!({ "subscriptionId": subscription })], "{cwd}");
        assert!(notified(&out, "session/list_changed").is_empty(), "{cwd}");
        assert_eq!(rows_of(&mut desk, list).len(), 1);
        other.turn("s1", "Hello", &["Hi"]);
        let out = desk.wait(SOON);
        assert_eq!(told(&out, &subscription).0.len(), 1);
        assert!(notified(&out, "session/list_changed").is_empty(), "{cwd}");
    }
}

#[test]
fn a_page_that_shows_a_worktree_has_those_told_who_follow_the_list_without_it() {
    let (store, world) = (Memory::new(), World::with_folders());
    let mut other = window(&store, &world);
    other.new_session("s1", ELSEWHERE);
    let mut desk = window(&store, &world);
    let list = json!({"cwd": CWD, "includeWorktrees": true});
    let (subscription, _) = subscribe(&mut desk, list.clone());
    let (alone, _) = subscribe(&mut desk, json!({ "cwd": CWD }));
    assert!(desk.wait(SOON).client.is_empty());
    world.worktrees.borrow_mut().insert(CWD.to_owned(), vec![ELSEWHERE.to_owned()]);
    assert_eq!(rows_of(&mut desk, list.clone()).len(), 1);
    let resync = notified(&desk.wait(SOON), "session/list/resync");
    assert_eq!(resync, [json!({ "subscriptionId": subscription })], "and not {alone}");
    // A page that shows what is known already is no reason to ask.
    world.folder_calls.set(0);
    assert_eq!(rows_of(&mut desk, list).len(), 1);
    desk.wait(SOON);
    assert_eq!(world.folder_calls.get(), 1);
}

#[test]
fn of_each_directory_it_is_asked_once_a_minute_which_worktrees_there_are() {
    let (store, world) = (Memory::new(), World::with_folders());
    let mut follower = window(&store, &world);
    for _ in 0..3 {
        subscribe(&mut follower, json!({"cwd": CWD, "includeWorktrees": true}));
    }
    subscribe(&mut follower, json!({"cwd": ELSEWHERE, "includeWorktrees": true}));
    subscribe(&mut follower, json!({"cwd": CWD}));
    world.folder_calls.set(0);
    for _ in 0..150 {
        follower.wait(SOON);
    }
    assert_eq!(world.folder_calls.get(), 2 * 2);
    // Nobody is asked on behalf of somebody who has gone.
    follower.wait(-3_600_000);
    assert_eq!(world.folder_calls.get(), 3 * 2, "by a clock that was set back");
}

#[test]
fn who_subscribes_before_the_host_knows_the_worktrees_is_told_when_it_does() {
    let (store, world) = (Memory::new(), World::with_folders());
    world.worktrees.borrow_mut().insert(CWD.to_owned(), vec![ELSEWHERE.to_owned()]);
    world.finds_out.set(true);
    let mut follower = window(&store, &world);
    follower.new_session("s1", ELSEWHERE);
    let list = json!({"cwd": CWD, "includeWorktrees": true});
    let asked = follower.client(json!({"id": "late", "method": "session/list/subscribe", "params": list}));
    assert!(asked.is_open("late"));
    // It does not wait for ever, and goes on with what there is.
    let answer = follower.wait(SOON).answer("late")["result"].clone();
    assert_eq!(answer["sessions"], json!([]));
    // Git may take its time.
    for _ in 0..9 {
        assert_eq!(notified(&follower.wait(SOON), "session/list/resync"), Vec::<Value>::new());
    }
    world.finds_out.set(false);
    let resync = notified(&follower.wait(SOON), "session/list/resync");
    assert_eq!(resync, [json!({ "subscriptionId": answer["subscriptionId"] })]);
    assert_eq!(rows_of(&mut follower, list).len(), 1);
}

/// A page without a connection that shows a directory with its worktrees, as it was told.
struct Page<'a> {
    store: &'a Memory,
    criteria: ListCriteria,
    /// The directories of the sessions that it shows, by their ids.
    shown: BTreeMap<String, String>,
    position: Option<String>,
}

impl<'a> Page<'a> {
    fn new(store: &'a Memory, include_worktrees: bool) -> Self {
        let criteria = ListCriteria { cwds: vec![CWD.to_owned()], include_worktrees, ..ListCriteria::default() };
        Self { store, criteria, shown: BTreeMap::new(), position: None }
    }

    /// What a fresh list gives, while these worktrees are there.
    fn list(&self, worktrees: &[&str], now: i64) -> BTreeMap<String, String> {
        let mut shown = BTreeMap::new();
        let mut cursor = None;
        loop {
            let found = |_: &str| Some(worktrees.iter().map(|path| (*path).to_owned()).collect());
            let store = Store::new(self.store);
            let page = panel::list_sessions(&store, &found, &self.criteria, 1, cursor.as_deref(), now).expect("a page");
            shown.extend(page.sessions.into_iter().map(|session| (session.id, session.cwd)));
            cursor = page.next_cursor;
            if cursor.is_none() {
                return shown;
            }
        }
    }

    /// Asks what has changed, while these worktrees are there; says whether it had to read the list anew for that.
    fn follow(&mut self, worktrees: &[&str], now: i64) -> bool {
        let (store, mut has_read) = (Store::new(self.store), self.position.is_none());
        loop {
            let found = |_: &str| Some(worktrees.iter().map(|path| (*path).to_owned()).collect());
            let changes = panel::changes_since(&store, &found, &self.criteria, self.position.as_deref(), now);
            let changes = changes.expect("changes");
            if changes.read_again || self.position.is_none() {
                self.shown = self.list(worktrees, now);
            }
            has_read |= changes.read_again;
            self.position = Some(changes.position);
            self.shown.extend(changes.sessions.into_iter().map(|session| (session.id, session.cwd)));
            changes.removed.iter().for_each(|id| drop(self.shown.remove(id)));
            if !changes.more {
                return has_read;
            }
        }
    }
}

#[test]
fn a_page_without_a_connection_reads_its_list_again_when_worktrees_have_come_or_gone() {
    let (store, world) = (Memory::new(), World::with_folders());
    let mut desk = window(&store, &world);
    let mut page = Page::new(&store, true);
    assert!(page.follow(&[], world.time()));
    for (id, cwd) in [("s1", CWD), ("s2", ELSEWHERE), ("s3", "/home/z")] {
        desk.new_session(id, cwd);
    }
    let all: [(&[&str], bool); 9] = [
        (&[], false),
        (&[ELSEWHERE], true),
        (&[ELSEWHERE], false),
        (&[ELSEWHERE, "/home/z"], true),
        // However the host names them.
        (&["/home/z/", ELSEWHERE, CWD], false),
        (&["/home/z"], true),
        (&["/home/empty"], true),
        (&[], true),
        (&[], false),
    ];
    for (nth, (worktrees, is_read)) in all.into_iter().enumerate() {
        desk.turn("s2", "Hello", &["Hi"]);
        assert_eq!(page.follow(worktrees, world.time()), is_read, "{nth}");
        assert_eq!(page.shown, page.list(worktrees, world.time()), "{nth}");
    }
    let found = |_: &str| None;
    let unknown = panel::changes_since(&Store::new(&store), &found, &page.criteria, page.position.as_deref(), 0);
    assert!(matches!(unknown, Err(SessionError::NotYet(_))), "{unknown:?}");
}

#[test]
fn a_position_that_knows_of_no_worktrees_is_gone_on_from() {
    for include_worktrees in [false, true] {
        let (store, world) = (Memory::new(), World::with_folders());
        let mut desk = window(&store, &world);
        let mut page = Page::new(&store, include_worktrees);
        // As it was given out before positions knew of worktrees.
        page.position = Some("0.0".to_owned());
        for (id, cwd) in [("s1", CWD), ("s2", ELSEWHERE)] {
            desk.new_session(id, cwd);
        }
        assert_eq!(page.follow(&[ELSEWHERE], world.time()), include_worktrees, "which there were is not known");
        assert_eq!(page.shown, page.list(&[ELSEWHERE], world.time()));
        assert!(!page.follow(&[ELSEWHERE], world.time()));
        // What is asked with others than before is another list.
        page.criteria.include_worktrees = !include_worktrees;
        assert!(page.follow(&[ELSEWHERE], world.time()));
        assert_eq!(page.shown, page.list(&[ELSEWHERE], world.time()));
        for damaged in ["w/0.0", "wx/0.0", "w0", "w0/", "w0/5.4"] {
            page.position = Some(damaged.to_owned());
            let found = |_: &str| Some(Vec::new());
            let answer = panel::changes_since(&Store::new(&store), &found, &page.criteria, page.position.as_deref(), 0);
            assert!(matches!(answer, Err(SessionError::Invalid(_))), "{damaged}: {answer:?}");
        }
    }
}
