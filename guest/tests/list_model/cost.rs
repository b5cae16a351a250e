//! What lists and commits cost, counted at the storage.

use std::cell::Cell;

use acp_sessions_guest::sessions::list::{self, Agents, Options};
use acp_sessions_guest::sessions::rebuild;
use acp_sessions_guest::storage::{
    Bounds, Durability, Expectation, LogPage, Memory, RecordPage, Result, Storage, TextHit, TextScope, TextTerm, Write,
};
use acp_sessions_guest::store::{Decision, Session, Store, keys};
use serde_json::Value;

/// A storage that counts.
#[derive(Debug, Default)]
struct Counting {
    memory: Memory,
    calls: Cell<usize>,
    /// Entries of scans.
    read: Cell<usize>,
    /// Writes of commits.
    written: Cell<usize>,
}

fn add(to: &Cell<usize>, number: usize) {
    to.set(to.get() + number);
}

impl Storage for Counting {
    fn get(&self, keys: &[String]) -> Result<Vec<Option<String>>> {
        add(&self.calls, 1);
        self.memory.get(keys)
    }

    fn scan(&self, start: &str, end: &str, descending: bool, bounds: Bounds) -> Result<RecordPage> {
        add(&self.calls, 1);
        let page = self.memory.scan(start, end, descending, bounds)?;
        add(&self.read, page.entries.len());
        Ok(page)
    }

    fn log_end(&self, log: &str) -> Result<u32> {
        self.memory.log_end(log)
    }

    fn read_log(&self, log: &str, start: u32, bounds: Bounds) -> Result<LogPage> {
        self.memory.read_log(log, start, bounds)
    }

    fn search_text(&self, term: &TextTerm, after: Option<&TextHit>, limit: u32) -> Result<Vec<TextHit>> {
        self.memory.search_text(term, after, limit)
    }

    fn find_text(&self, term: &TextTerm, scopes: &[TextScope]) -> Result<Vec<Option<u32>>> {
        self.memory.find_text(term, scopes)
    }

    fn commit(&self, expected: &[Expectation], writes: Vec<Write>, durability: Durability) -> Result<()> {
        add(&self.written, writes.len());
        self.memory.commit(expected, writes, durability)
    }
}

fn agent(nth: usize) -> String {
    format!("agent-{}", nth % 10)
}

fn session(nth: usize, agents: impl IntoIterator<Item = String>) -> Session {
    let id = format!("s{nth:05}");
    let mut session = Session::new(id.clone(), "/x".to_owned(), i64::try_from(nth).expect("a small number"));
    for agent in agents {
        session.give_to(&agent, &id, 0);
    }
    session
}

fn put(store: &Store<Counting>, session: &Session) {
    let changed = store.change(&session.id).commit(|_, _, _| Ok(Decision::put(session.clone())));
    changed.expect("a commit");
}

/// Of sessions of ten agents each, one in ten nobody's.
fn store(sessions: usize) -> Store<Counting> {
    let store = Store::new(Counting::default());
    for nth in 0..sessions {
        put(&store, &session(nth, (!nth.is_multiple_of(10)).then(|| agent(nth))));
    }
    store
}

/// How many calls and entries a page of ten costs, and its rows.
fn page(store: &Store<Counting>, agents: Agents) -> (usize, usize, Vec<String>) {
    let counting = store.storage();
    counting.calls.set(0);
    counting.read.set(0);
    let page = list::list(store, &Options { page_size: 10, agents, agent: None, draft: false }, None).expect("a page");
    let page: Value = serde_json::from_str(&page).expect("JSON");
    let rows = page["sessions"].as_array().expect("rows");
    let ids = rows.iter().filter_map(|row| row["sessionId"].as_str()).map(str::to_owned).collect();
    (counting.calls.get(), counting.read.get(), ids)
}

#[test]
fn a_page_costs_the_page_and_not_the_store() {
    for sessions in [1_000, 5_000] {
        let store = store(sessions);
        let (calls, read, ids) = page(&store, Agents::Own(agent(3)));
        let expected: Vec<String> = (0..10).map(|nth| format!("s{:05}", sessions - 7 - nth * 10)).collect();
        assert_eq!((calls, read, ids), (2, 11, expected), "the revision, and one scan of ready rows");
        let (calls, read, ids) = page(&store, Agents::All);
        let expected: Vec<String> = (0..10).map(|nth| format!("s{:05}", sessions - 1 - nth)).collect();
        assert_eq!((calls, ids), (2 + 10, expected), "the revision, the agents' names, and one scan each");
        assert!(read <= 10 * 11, "{read} entries for ten rows");
    }
}

#[test]
fn a_commit_writes_two_rows_for_each_agent_and_the_names_only_once() {
    let store = Store::new(Counting::default());
    let mut known: Vec<String> = Vec::new();
    let mut writes = |nth: usize, agents: &[&str]| {
        known.extend(agents.iter().map(|agent| (*agent).to_owned()));
        store.storage().written.set(0);
        put(&store, &session(nth, agents.iter().map(|agent| (*agent).to_owned())));
        store.storage().written.get()
    };
    // The revision, the record, its place among changes and among sessions without a prompt, and its heading.
    let besides = 5;
    // The first of all says which layout the store has.
    assert_eq!(writes(0, &[]), besides + 2 + 1);
    assert_eq!(writes(1, &["a"]), besides + 2 + 1);
    assert_eq!(writes(2, &["a"]), besides + 2);
    assert_eq!(writes(3, &["a", "b"]), besides + 4 + 1);
    assert_eq!(writes(4, &["b"]), besides + 2);
    let roster = store.roster().expect("names");
    assert_eq!(roster.row_sets().collect::<Vec<_>>(), [None, Some("a"), Some("b")]);
}

#[test]
fn a_session_leaves_no_row_behind_when_its_agents_change_or_it_goes() {
    let store = Store::new(Counting::default());
    let rows = || {
        let bounds = Bounds { limit: 100, max_bytes: 1 << 20 };
        store.storage().scan("i/", &keys::range_end("i/"), false, bounds).expect("rows").entries.len()
    };
    for (agents, expected) in
        [(vec![], 2), (vec!["a"], 2), (vec!["a", "b", "c"], 6), (vec!["c"], 2), (vec!["", "-"], 4), (vec![], 2)]
    {
        put(&store, &session(0, agents.iter().map(|agent| (*agent).to_owned())));
        assert_eq!(rows(), expected, "{agents:?}");
    }
    store.change("s00000").commit(|_, _, _| Ok(Decision::Remove)).expect("a commit");
    assert_eq!(rows(), 0);
}

#[test]
fn a_rebuild_writes_rows_and_names_from_the_records() {
    let store = store(50);
    let before = page(&store, Agents::All);
    let bounds = Bounds { limit: 1000, max_bytes: 1 << 20 };
    let rows = store.storage().scan("i/", &keys::range_end("i/"), false, bounds).expect("rows").entries;
    let mut damage: Vec<Write> = rows.iter().map(|row| Write::Remove { key: row.key.clone() }).collect();
    damage.push(Write::Remove { key: keys::ROSTER.to_owned() });
    // A row as an earlier version kept it, and one of an agent that does not know its session.
    for key in ["i/m/u/000000000000001/s00001".to_owned(), keys::rows('m', Some("x"), None) + "000000000000001/s00001"]
    {
        damage.push(Write::Put { key, value: rows[0].value.clone() });
    }
    store.commit(&[], damage, Durability::Relaxed).expect("a commit");
    assert_eq!(page(&store, Agents::All).2, Vec::<String>::new());
    let mut cursor = None;
    for round in 0.. {
        assert!(round < 20, "the rebuild does not end");
        cursor = rebuild::rebuild(&store, cursor.as_deref(), 20).expect("a part of it").next;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(page(&store, Agents::All), before);
    let mended = store.storage().scan("i/", &keys::range_end("i/"), false, bounds).expect("rows").entries;
    let keys = |rows: &[acp_sessions_guest::storage::Entry]| rows.iter().map(|row| row.key.clone()).collect::<Vec<_>>();
    assert_eq!(keys(&mended), keys(&rows));
}
