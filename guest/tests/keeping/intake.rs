//! Rows of an agent's own list that are taken in together, in one commit, while other processes use the store.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use acp_sessions_guest::environment::Environment;
use acp_sessions_guest::sessions::discovered::{self, Found, Here, Row};
use acp_sessions_guest::sessions::list::{self, Agents, Options};
use acp_sessions_guest::sessions::{delete, rename};
use acp_sessions_guest::storage::{Durability, Memory, Storage, StorageError, Write};
use acp_sessions_guest::store::{Session, Store, Title, keys};
use serde_json::{Value, json};

use crate::between::Between;
use crate::shop::{NOW, is_there, put};

const AGENT: &str = "agent";

/// Random numbers of which no two are the same.
#[derive(Default)]
struct Counting(Cell<u64>);

impl Environment for Counting {
    fn now(&self) -> i64 {
        NOW
    }

    fn random(&self) -> u64 {
        self.0.set(self.0.get() + 1);
        self.0.get()
    }
}

fn row(id: &str, title: &str) -> Row {
    with_meta(id, title, &json!({}))
}

fn with_meta(id: &str, title: &str, meta: &Value) -> Row {
    let row = json!({"sessionId": id, "cwd": "/x", "title": title, "updatedAt": "2025-01-01T00:00:00Z", "_meta": meta});
    Row::read(&row.to_string(), NOW).expect("a row")
}

fn rows(ids: &[&str], title: &str) -> Vec<Row> {
    ids.iter().map(|id| row(id, title)).collect()
}

fn take_in<S: Storage>(store: &Store<S>, environment: &Counting, rows: &[Row]) -> Result<Vec<Found>, StorageError> {
    discovered::take_in(store, environment, AGENT, rows, |_| Here::Nothing, NOW).map(|(found, _)| found)
}

/// All of them, as often as it takes.
fn take_in_all<S: Storage>(store: &Store<S>, rows: &[Row]) -> Vec<Found> {
    let mut found = Vec::new();
    while found.len() < rows.len() {
        let next = take_in(store, &Counting::default(), &rows[found.len()..]).expect("a store that works");
        assert!(!next.is_empty());
        found.extend(next);
    }
    found
}

/// The sessions of the agent's by its ids of them.
fn sessions<S: Storage>(store: &Store<S>) -> BTreeMap<String, Session> {
    let bounds = acp_sessions_guest::storage::Bounds { limit: u32::MAX, max_bytes: u32::MAX };
    let page = store.storage().scan("s/", "s0", false, bounds).expect("a store that works");
    let sessions = page.entries.iter().map(|entry| Session::parse(&entry.value).expect("a session"));
    let of_agent = sessions.filter_map(|session| Some((session.id_at(AGENT)?.to_owned(), session)));
    let mut by_id = BTreeMap::new();
    for (id, session) in of_agent {
        assert!(by_id.insert(id, session).is_none(), "twins");
    }
    by_id
}

#[test]
fn a_page_is_one_commit_and_what_is_known_costs_none() {
    let store = Store::new(Between::default());
    let ids: Vec<String> = (0..50).map(|at| format!("o{at}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let calls = |changed: &[Row]| {
        store.storage().reset();
        let found = take_in(&store, &Counting::default(), changed).unwrap();
        assert_eq!(found.len(), changed.len());
        (store.storage().commits.get(), store.storage().calls.get())
    };
    let first = rows(&ids, "One");
    let (commits, of_fifty) = calls(&first);
    assert_eq!(commits, 1);
    assert_eq!(sessions(&store).len(), 50);
    let (commits, of_known) = calls(&first);
    assert_eq!(commits, 0);
    assert!(of_known < of_fifty && of_fifty <= 4, "{of_known} and {of_fifty} calls");
    let mut third = first.clone();
    third[7] = row("o7", "Another");
    third.push(row("new", "New"));
    assert_eq!(calls(&third).0, 1);
    assert_eq!(sessions(&store)["o7"].title, Title::Agent("Another".to_owned()));
}

#[test]
fn each_session_of_a_commit_has_a_place_of_its_own_among_the_changes() {
    let store = Store::new(Memory::new());
    take_in_all(&store, &rows(&["a", "b"], "One"));
    take_in_all(&store, &[row("b", "Two"), row("c", "One"), row("a", "One"), row("d", "One")]);
    let sessions = sessions(&store);
    let revisions: Vec<_> = ["a", "b", "c", "d"].map(|id| (sessions[id].born, sessions[id].revision)).into();
    assert_eq!(revisions, [(1, 1), (2, 3), (4, 4), (5, 5)]);
    assert_eq!(store.revision().unwrap(), 5);
    take_in_all(&store, &[row("e", "One")]);
    assert_eq!(store.session("e").unwrap().unwrap().born, 6);
}

#[test]
fn a_list_that_is_paged_through_meanwhile_has_each_session_once() {
    let ids: Vec<String> = (0..9).map(|at| format!("o{at}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    for size in 1..5 {
        for changes_at in 1..6 {
            let store = Store::new(Memory::new());
            take_in_all(&store, &rows(&ids, "One"));
            let options =
                Options { page_size: size, agents: Agents::All, agent: None, draft: false, extended: true, now: 0 };
            let (mut params, mut seen, mut pages) = (json!({}), Vec::new(), 0);
            loop {
                let page = list::list(&store, &options, Some(&params.to_string())).unwrap();
                let page: Value = serde_json::from_str(&page).unwrap();
                let shown = page["sessions"].as_array().unwrap();
                seen.extend(shown.iter().map(|row| row["sessionId"].as_str().unwrap().to_owned()));
                pages += 1;
                if pages == changes_at {
                    let mut news = rows(&["n1", "o1", "o3", "o5", "n2", "o7"], "Two");
                    for row in &mut news {
                        row.updated = Some(NOW);
                    }
                    take_in_all(&store, &news);
                }
                let Some(cursor) = page["nextCursor"].as_str() else { break };
                params = json!({ "cursor": cursor });
            }
            seen.retain(|id| id.starts_with('o'));
            seen.sort_unstable();
            // What was shown before it changed may be shown again as it is now; nothing else may.
            let shown: BTreeSet<&str> = seen.iter().map(String::as_str).collect();
            assert_eq!(shown, ids.iter().copied().collect(), "pages of {size}, changes at {changes_at}");
            let twice = seen.windows(2).filter(|two| two[0] == two[1]).map(|two| two[0].as_str());
            assert!(twice.clone().all(|id| ["o1", "o3", "o5", "o7"].contains(&id)), "{:?}", twice.collect::<Vec<_>>());
        }
    }
}

/// What happens in the store while rows are on their way in.
type Meanwhile = fn(&Store<&Memory>);
/// What is to be seen of it.
type Check = fn(&Store<Between<'_>>, &[Found]);

#[test]
fn what_another_process_does_meanwhile_to_one_of_them_counts() {
    let news = || rows(&["o1", "o2", "o3", "o4"], "News");
    let cases: [(&str, Meanwhile, Check); 6] = [
        (
            "takes in all of them",
            |store| {
                take_in_all(store, &rows(&["o4", "o3", "o2", "o1"], "News"));
            },
            |store, found| {
                assert!(found.iter().all(|found| *found == Found::Known), "{found:?}");
                assert!(sessions(store).keys().all(|id| is_there(store, id)), "no id was given for nothing");
            },
        ),
        (
            "deletes one that was known",
            |store| {
                delete::delete(store, "o2", NOW).unwrap();
            },
            |store, found| {
                assert_eq!(found[1], Found::Deleted);
                assert!(!is_there(store, "o2") && sessions(store).len() == 3);
            },
        ),
        (
            "deletes one that was not",
            |store| assert!(delete::unknown(store, AGENT, "o3", NOW).unwrap()),
            |store, found| {
                assert_eq!(found[2], Found::Deleted);
                assert!(!is_there(store, "o3") && sessions(store).len() == 3);
            },
        ),
        (
            "renames one",
            |store| {
                assert!(rename::rename(store, "o2", "Mine").is_ok());
            },
            |store, found| {
                let named = Some("Mine".to_owned());
                assert_eq!(found[1], Found::Behind { id: "o2".to_owned(), title: named, archived: None });
                assert_eq!(store.session("o2").unwrap().unwrap().title, Title::Set("Mine".to_owned()));
            },
        ),
        (
            "has a session of another agent by that id",
            |store| put(store, &Session::new("o3".to_owned(), "/y".to_owned(), NOW)),
            |store, found| {
                assert_eq!(found[2], Found::New);
                assert_eq!(store.session("o3").unwrap().unwrap().cwd, "/y");
                assert_ne!(sessions(store)["o3"].id, "o3");
            },
        ),
        (
            "changes another one",
            |store| put(store, &Session::new("other".to_owned(), "/y".to_owned(), NOW)),
            |store, found| assert_eq!((found[3].clone(), sessions(store).len()), (Found::New, 4)),
        ),
    ];
    for (what, meanwhile, check) in cases {
        let store = Store::new(Between::default());
        take_in_all(&store, &rows(&["o1", "o2"], "Old"));
        store.storage().before_commit(move |memory| meanwhile(&Store::new(memory)));
        let found = take_in_all(&store, &news());
        assert!(store.storage().has_happened());
        check(&store, &found);
        let known = sessions(&store);
        let others = ["o1", "o4"].map(|id| known[id].title.clone());
        assert!(others.iter().all(|title| *title == Title::Agent("News".to_owned())), "{what}: {others:?}");
        for (agent_id, session) in &known {
            let mapped = store.record(keys::agent_session(AGENT, agent_id)).unwrap();
            assert_eq!(mapped.as_ref(), Some(&session.id), "{what}");
        }
    }
}

#[test]
fn an_id_that_is_listed_twice_and_two_that_are_one_sessions_are_one_session() {
    let store = Store::new(Memory::new());
    let found = take_in_all(&store, &[row("o1", "One"), row("o1", "Two"), row("o1", "Two")]);
    assert_eq!(found, [Found::New, Found::Known, Found::Known]);
    assert_eq!(sessions(&store)["o1"].title, Title::Agent("Two".to_owned()));
    // The agent knows it by another id since.
    let mut session = store.session("o1").unwrap().unwrap();
    session.give_to(AGENT, "o2", 0);
    let mapping = Write::Put { key: keys::agent_session(AGENT, "o2"), value: "o1".to_owned() };
    store.commit(&[], vec![mapping], Durability::Relaxed).unwrap();
    put(&store, &session);
    for news in [[row("o1", "Of old"), row("o2", "Of now")], [row("o2", "Of now too"), row("o1", "Of old")]] {
        let title = news.iter().find(|row| row.agent_id == "o2").and_then(|row| row.title.clone());
        assert_eq!(take_in_all(&store, &news), [Found::Known, Found::Known]);
        let known = sessions(&store);
        assert_eq!(known.len(), 1);
        assert_eq!(known["o2"].title.text(), title.as_deref());
    }
}

#[test]
fn a_row_that_the_store_does_not_take_holds_up_no_other() {
    for at in 0..5 {
        let store = Store::new(Between::default());
        store.storage().most.set(Some(60_000));
        let mut news = rows(&["o0", "o1", "o2", "o3", "o4"], "One");
        news[at] = with_meta(&format!("o{at}"), "Large", &json!({"x": "x ".repeat(20_000)}));
        let mut expected = vec![Found::New; 5];
        expected[at] = Found::Refused(StorageError::TooLarge);
        assert_eq!(take_in_all(&store, &news), expected);
        assert_eq!(sessions(&store).len(), 4);
        store.storage().most.set(None);
        take_in_all(&store, &news);
        assert_eq!(sessions(&store).len(), 5);
    }
}

#[test]
fn a_record_that_cannot_be_read_holds_up_no_other_row() {
    for at in 0..5 {
        let store = Store::new(Memory::new());
        let ids = ["o0", "o1", "o2", "o3", "o4"];
        take_in_all(&store, &rows(&ids, "One"));
        let damage = Write::Put { key: keys::session(ids[at]), value: "{".to_owned() };
        store.commit(&[], vec![damage], Durability::Relaxed).unwrap();
        let found = take_in_all(&store, &rows(&ids, "Two"));
        for (nth, (id, found)) in ids.iter().zip(found).enumerate() {
            let is_damaged = matches!(found, Found::Refused(StorageError::Corrupt(_)));
            assert_eq!(is_damaged, nth == at, "{id}");
            assert!(is_damaged || store.session(id).unwrap().unwrap().title.text() == Some("Two"));
        }
    }
}

#[test]
fn a_commit_holds_no_more_large_metadata_than_one_row_too_many() {
    let store = Store::new(Between::default());
    let large = json!({"x": "x ".repeat(200_000)});
    let news: Vec<Row> = (0..8).map(|at| with_meta(&format!("o{at}"), "Large", &large)).collect();
    let found = take_in(&store, &Counting::default(), &news).unwrap();
    assert_eq!(found.len(), 3, "of 400,000 bytes each");
    assert_eq!(sessions(&store).len(), 3);
    take_in_all(&store, &news[3..]);
    assert_eq!(sessions(&store).len(), 8);
}

#[test]
fn nothing_half_is_left_where_the_store_fails() {
    let store = Store::new(Between::default());
    take_in_all(&store, &rows(&["o1"], "One"));
    let before = store.storage().memory.counts();
    store.storage().most.set(Some(0));
    // Each of them alone is too large for it now.
    let found = take_in_all(&store, &rows(&["o1", "o2", "o3"], "Two"));
    assert_eq!(found, vec![Found::Refused(StorageError::TooLarge); 3]);
    assert_eq!(store.storage().memory.counts(), before);
    assert_eq!(store.revision().unwrap(), 1);
}
