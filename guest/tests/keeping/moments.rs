//! A row says what was being done in its session when that was as the row has it, whatever happens while it is read.

use std::cell::Cell;

use acp_sessions_guest::sessions::changes::{Follower, Scope};
use acp_sessions_guest::sessions::filter::Request;
use acp_sessions_guest::sessions::list::{self, Agents, Options};
use acp_sessions_guest::sessions::open_marks::{BELIEVED_FOR, Written, beat, mark_written};
use acp_sessions_guest::sessions::states::AgentsWords;
use acp_sessions_guest::storage::{Memory, Storage};
use acp_sessions_guest::store::{ActivityState, Decision, Store, Title};
use serde_json::Value;

use crate::between::Between;
use crate::shop::{NOW, prompted, put};

/// Begins or ends a turn in the session: its record and its mark say so in one commit, the record by the title.
fn goes_on<S: Storage>(store: &Store<S>, nth: u64) {
    let (title, state) = match nth % 2 {
        0 => ("idle", ActivityState::Idle),
        _ => ("running", ActivityState::Running),
    };
    let written = Written { times: nth, arrivals: 1 };
    store
        .change("s")
        .commit(|before, _, writes| {
            let mut session = before.cloned().unwrap_or_else(|| prompted("s", NOW));
            session.title = Title::Set(format!("{title} {nth}"));
            writes.push(mark_written("s", "one", written, state));
            Ok(Decision::put(session))
        })
        .unwrap();
}

/// The session, in which something has been done so often, with this going on before the scans that `is_due` says.
fn going_on<'a>(turns: &'a Cell<u64>, is_due: impl Fn(u64) -> bool + 'a) -> Store<Between<'a>> {
    let store = Store::new(Between::default());
    put(&store, &prompted("s", NOW));
    beat(&store, "one", NOW + BELIEVED_FOR).unwrap();
    turns.set(0);
    goes_on(&store, 0);
    let scans = Cell::new(0);
    store.storage().before_scans(move |memory: &Memory| {
        scans.set(scans.get() + 1);
        if is_due(scans.get()) {
            turns.set(turns.get() + 1);
            goes_on(&Store::new(memory), turns.get());
        }
    });
    store
}

/// What a row says is being done, which its title says too.
fn state(row: &str) -> Option<String> {
    let row: Value = serde_json::from_str(row).unwrap();
    let state = row.get("state")?.as_str().unwrap().to_owned();
    assert!(row["title"].as_str().unwrap().starts_with(&state), "{row}");
    Some(state)
}

fn request() -> Request {
    let options = Options { page_size: 10, agents: Agents::All, agent: None, draft: false, extended: true, now: NOW };
    Request::read_for(Some("{}"), &options).unwrap()
}

#[test]
fn a_row_of_a_list_says_nothing_that_was_not_so() {
    let turns = Cell::new(0);
    for scan in 1..12 {
        let store = going_on(&turns, move |nth| nth == scan);
        let page = list::page(&store, &request()).unwrap();
        // What changes while a page is read comes once more at its end.
        assert!(!page.rows.is_empty() && page.rows.iter().all(|row| state(row).is_some()), "{scan}");
    }
    let store = going_on(&turns, |_| true);
    for _ in 0..4 {
        // What is being done need not be said where it never stays the same.
        list::page(&store, &request()).unwrap().rows.iter().for_each(|row| drop(state(row)));
    }
}

#[test]
fn a_change_says_nothing_that_was_not_so() {
    let turns = Cell::new(0);
    for scan in 1..12 {
        let store = going_on(&turns, move |nth| nth == scan || nth == scan + 1);
        let mut follower = Follower::begin(&store, NOW, &AgentsWords::new()).unwrap();
        let scope = Scope::of(&request()).unwrap();
        let (mut last, mut looks) = (None, 0);
        while looks < 20 {
            let step = follower.step(&store, NOW, &AgentsWords::new(), 10).unwrap();
            for row in scope.news(&step).rows {
                last = state(&row.json);
            }
            looks += usize::from(step.is_over);
            if looks == 2 {
                goes_on(&Store::new(&store.storage().memory), turns.get() + 2);
            }
        }
        assert!(last.is_some(), "{scan}");
    }
}
