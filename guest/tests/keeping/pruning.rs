//! Removing by hand.

use acp_sessions_guest::sessions::open_marks;
use acp_sessions_guest::sessions::retention::{Prune, PruneError, prune};
use acp_sessions_guest::storage::Memory;
use acp_sessions_guest::store::{Origin, Session, Store};

use crate::shop::{NOW, is_there, open, prompted, put, with};

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
    let waking = NOW + 3 * 86_400_000;
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
