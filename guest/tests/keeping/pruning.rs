//! Removing by hand.

use acp_sessions_guest::sessions::open_marks::{self, Beat};
use acp_sessions_guest::sessions::retention::{Prune, PruneError, prune};
use acp_sessions_guest::storage::{Bounds, Memory, Storage as _};
use acp_sessions_guest::store::{Origin, Session, Store, keys};

use crate::shop::{DAY, HOUR, NOW, is_there, open, prompted, put, with};

const ALL: [&str; 9] = ["old", "new", "archived", "empty", "open", "listed", "family", "child", "elsewhere"];

fn store() -> Store<Memory> {
    let store = Store::new(Memory::new());
    put(&store, &prompted("old", 10));
    put(&store, &prompted("new", 900));
    put(&store, &with(prompted("archived", 20), |session| session.archived = true));
    put(&store, &Session::new("empty".to_owned(), "/x".to_owned(), 30));
    put(&store, &prompted("open", 5));
    put(&store, &with(prompted("listed", 5), |session| session.origin = Origin::Agent));
    put(&store, &prompted("family", 40));
    put(&store, &with(prompted("child", 1), |session| session.parent = Some("family".to_owned())));
    put(&store, &with(prompted("elsewhere", 7), |session| session.cwd.replace_range(.., "/y")));
    open(&store, "open", "window", NOW);
    store
}

fn prune_all(store: &Store<Memory>, limit: u32, cwd: Option<&str>, dry_run: bool) -> Vec<String> {
    let cwd = cwd.map(str::to_owned);
    let mut request = Prune { idle_since: 500, cwd, limit, dry_run, after: None };
    let mut named = Vec::new();
    for _ in 0..20 {
        let page = prune(store, &request, NOW).unwrap();
        // A session comes with its sub-agents'.
        assert!(page.rows.len() <= limit as usize + 1);
        named.extend(page.rows.iter().map(|row| {
            let row: serde_json::Value = serde_json::from_str(row).unwrap();
            row["sessionId"].as_str().unwrap().to_owned()
        }));
        request.after = page.next_cursor;
        if request.after.is_none() {
            return named;
        }
    }
    panic!("no end");
}

#[test]
fn a_dry_run_names_what_would_go_and_what_goes_is_what_it_named() {
    for limit in [1, 2, 100] {
        let store = store();
        let named = prune_all(&store, limit, None, true);
        assert_eq!(named, ["elsewhere", "old", "empty", "family", "child", "archived"]);
        assert!(ALL.iter().all(|id| is_there(&store, id)));
        assert_eq!(prune_all(&store, limit, None, false), named);
        let left: Vec<&str> = ALL.into_iter().filter(|id| is_there(&store, id)).collect();
        assert_eq!(left, ["new", "open", "listed"]);
    }
}

#[test]
fn a_window_that_was_silent_is_given_time_to_say_that_it_is_there() {
    let waking = NOW + 3 * DAY;
    for wakes in [true, false] {
        let store = store();
        let mut request = Prune { idle_since: 500, cwd: None, limit: 100, dry_run: false, after: None };
        for passed in [0, 100, 5_900] {
            let page = prune(&store, &request, waking + passed).unwrap();
            assert!(page.rows.is_empty() && page.next_cursor.is_some(), "{passed}");
            assert!(request.after.is_none() || request.after == page.next_cursor, "{passed}");
            request.after = page.next_cursor;
        }
        let later = if wakes {
            open_marks::beat(&store, "window", waking + 5_950 + open_marks::BELIEVED_FOR).unwrap();
            waking + 5_950
        } else {
            waking + 6_000
        };
        let page = prune(&store, &request, later).unwrap();
        assert_eq!(page.rows.len(), if wakes { 6 } else { 7 });
        assert_eq!(is_there(&store, "open"), wakes);
    }
}

/// Calls as who prunes does, every 100 ms, until it ends; what has gone, and how long it was waited.
fn prune_from(store: &Store<Memory>, begun: i64, dry_run: bool) -> (usize, i64) {
    let mut request = Prune { idle_since: 500, cwd: None, limit: 100, dry_run, after: None };
    for passed in (0..10_000).step_by(100) {
        let page = prune(store, &request, begun + passed).unwrap();
        if page.next_cursor.is_none() {
            return (page.rows.len(), passed);
        }
        assert!(page.rows.is_empty());
        request.after = page.next_cursor;
    }
    panic!("no end");
}

fn heartbeats(store: &Store<Memory>) -> usize {
    let all = Bounds { limit: 100, max_bytes: u32::MAX };
    store.storage().scan("c/", "c0", false, all).unwrap().entries.len()
}

#[test]
fn a_window_that_was_killed_long_ago_is_waited_for_once() {
    let store = store();
    let later = NOW + 3 * DAY;
    assert_eq!(prune_from(&store, later, true), (7, 6_000));
    assert_eq!(heartbeats(&store), 1, "a dry run takes nothing away");
    assert_eq!(prune_from(&store, later + 10_000, false), (7, 6_000));
    assert_eq!(heartbeats(&store), 0);
    put(&store, &prompted("another", 10));
    assert_eq!(prune_from(&store, later + 20_000, false), (1, 0));
    // So is one whose clock was days ahead.
    put(&store, &prompted("ahead", 5));
    open(&store, "ahead", "ahead", later + 3 * DAY);
    assert_eq!(prune_from(&store, later + 30_000, false), (1, 6_000));
    assert_eq!((heartbeats(&store), prune_from(&store, later + 40_000, false)), (0, (0, 0)));
}

#[test]
fn of_a_window_that_was_killed_a_moment_ago_it_stays_known_when_that_was() {
    let store = store();
    assert_eq!(prune_from(&store, NOW + HOUR / 2, false), (7, 6_000));
    assert_eq!(heartbeats(&store), 1);
    let before = store.record(keys::heartbeat("window")).unwrap();
    assert_eq!(open_marks::renew(&store, "window", NOW + open_marks::BELIEVED_FOR, NOW + HOUR), Ok(Beat::Renewed));
    assert_eq!(before, Some((NOW + open_marks::BELIEVED_FOR).to_string()));
}

#[test]
fn where_the_computer_falls_asleep_or_its_clock_is_set_it_is_waited_anew() {
    for (waited, jump) in [(0, DAY), (5_900, 20_000), (3_000, -DAY), (100, -1_000)] {
        for wakes in [true, false] {
            let store = store();
            let waking = NOW + 3 * DAY;
            let mut request = Prune { idle_since: 500, cwd: None, limit: 100, dry_run: false, after: None };
            let mut look = |now: i64| {
                let page = prune(&store, &request, now).unwrap();
                request.after.clone_from(&page.next_cursor);
                (page.rows.len(), page.next_cursor)
            };
            let until = [0, waited].map(|passed| look(waking + passed));
            let again = waking + waited + jump;
            let anew = [0, 100, 5_900].map(|passed| look(again + passed));
            assert!(until.iter().chain(&anew).all(|(gone, next)| *gone == 0 && next.is_some()), "{waited} {jump}");
            assert!(until[0] == until[1] && until[1] != anew[0] && anew[0] == anew[2], "{waited} {jump}");
            if wakes {
                open_marks::beat(&store, "window", again + 5_950 + open_marks::BELIEVED_FOR).unwrap();
            }
            assert_eq!(look(again + 6_000), (if wakes { 6 } else { 7 }, None), "{waited} {jump}");
            assert_eq!(is_there(&store, "open"), wakes, "{waited} {jump}");
        }
    }
}

#[test]
fn where_the_computer_falls_asleep_between_two_sessions_windows_have_time_to_say_that_they_are_there() {
    let store = store();
    let mut request = Prune { idle_since: 500, cwd: None, limit: 1, dry_run: false, after: None };
    let mut gone = Vec::new();
    let mut look = |now: i64| {
        let page = prune(&store, &request, now).unwrap();
        gone.extend(page.rows.len().checked_sub(1).map(|_| now));
        request.after = page.next_cursor;
        request.after.is_some()
    };
    assert!(look(NOW) && look(NOW + 100));
    let waking = NOW + DAY;
    assert!([0, 100, 5_900].iter().all(|passed| look(waking + passed)));
    open_marks::beat(&store, "window", waking + 5_950 + open_marks::BELIEVED_FOR).unwrap();
    while look(waking + 6_000) {}
    assert_eq!(gone[..3], [NOW, NOW + 100, waking + 6_000]);
    assert_eq!(ALL.into_iter().filter(|id| is_there(&store, id)).collect::<Vec<_>>(), ["new", "open", "listed"]);
}

#[test]
fn who_calls_seldom_comes_to_an_end() {
    for between in [1_000, 5_000, 9_000, 20_000, HOUR] {
        let store = store();
        let mut request = Prune { idle_since: 500, cwd: None, limit: 1, dry_run: false, after: None };
        let mut gone = 0;
        for nth in 0..60 {
            let page = prune(&store, &request, NOW + DAY + nth * between).unwrap();
            gone += page.rows.len();
            request.after = page.next_cursor;
            if request.after.is_none() {
                break;
            }
        }
        assert_eq!((request.after, gone), (None, 7), "{between}");
    }
}

#[test]
fn only_what_is_in_the_directory_goes() {
    let store = store();
    assert_eq!(prune_all(&store, 10, Some("/y"), false), ["elsewhere"]);
}

#[test]
fn a_limit_of_nothing_removes_nothing_and_ends() {
    let store = store();
    for after in [None, Some("i/m/-/u/".to_owned())] {
        let request = Prune { idle_since: 500, cwd: None, limit: 0, dry_run: false, after };
        let page = prune(&store, &request, NOW).unwrap();
        assert_eq!((page.rows.len(), page.next_cursor), (0, None));
    }
    assert!(ALL.iter().all(|id| is_there(&store, id)));
}

#[test]
fn a_cursor_that_no_removal_gave_is_refused() {
    let store = Store::new(Memory::new());
    for nth in 0..3 {
        put(&store, &Session::new(format!("s{nth}"), "/w".to_owned(), nth));
    }
    let request = |cwd: Option<&str>, after: Option<String>| Prune {
        idle_since: NOW,
        cwd: cwd.map(str::to_owned),
        limit: 1,
        dry_run: true,
        after,
    };
    for cwd in [None, Some("/w")] {
        let cursor = prune(&store, &request(cwd, None), NOW).unwrap().next_cursor;
        assert_eq!(prune(&store, &request(cwd, cursor.clone()), NOW).unwrap().rows.len(), 1);
        let other = if cwd.is_none() { Some("/w") } else { None };
        for (cwd, after) in [(other, cursor), (cwd, Some(String::new())), (cwd, Some("s1".to_owned()))] {
            let refused = prune(&store, &request(cwd, after.clone()), NOW);
            assert!(matches!(refused, Err(PruneError::Cursor)), "{cwd:?} {after:?}");
        }
    }
}
