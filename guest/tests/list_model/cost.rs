//! What lists and commits cost, counted at the storage.

use std::cell::Cell;

use acp_sessions_guest::sessions::changes::Follower;
use acp_sessions_guest::sessions::checkup::{self, Mending};
use acp_sessions_guest::sessions::list::{self, Agents, Options};
use acp_sessions_guest::sessions::open_marks;
use acp_sessions_guest::sessions::states::AgentsWords;
use acp_sessions_guest::storage::{
    Bounds, Durability, Expectation, LogPage, Memory, RecordPage, Result, Storage, StorageError, TextHit, TextHits,
    TextPage, TextScope, TextTerm, Write,
};
use acp_sessions_guest::store::{ActivityState, Decision, Session, Store, keys};
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
    /// Scopes in which texts were looked for.
    tried: Cell<usize>,
    /// Hits of searches.
    hits: Cell<usize>,
    /// Records asked for.
    asked: Cell<usize>,
    /// The call that fails, counted from 1; 0: none does.
    fails_at: Cell<usize>,
}

impl Counting {
    /// Notes a call; fails where it is to.
    fn call(&self) -> Result<()> {
        add(&self.calls, 1);
        let fails = self.calls.get() == self.fails_at.get();
        if fails { Err(StorageError::Unavailable("busy".to_owned())) } else { Ok(()) }
    }
}

fn add(to: &Cell<usize>, number: usize) {
    to.set(to.get() + number);
}

impl Storage for Counting {
    fn get(&self, keys: &[String]) -> Result<Vec<Option<String>>> {
        self.call()?;
        add(&self.asked, keys.len());
        self.memory.get(keys)
    }

    fn scan(&self, start: &str, end: &str, descending: bool, bounds: Bounds) -> Result<RecordPage> {
        self.call()?;
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

    fn search_text(&self, term: &TextTerm, after: Option<&TextHit>, limit: u32) -> Result<TextHits> {
        let hits = self.memory.search_text(term, after, limit)?;
        add(&self.hits, hits.len());
        Ok(hits)
    }

    fn text_owners(&self, after: Option<&str>, limit: u32) -> Result<Vec<String>> {
        self.memory.text_owners(after, limit)
    }

    fn read_texts(&self, owner: &str, start: u32, bounds: Bounds) -> Result<TextPage> {
        self.memory.read_texts(owner, start, bounds)
    }

    fn log_names(&self, after: Option<&str>, limit: u32) -> Result<Vec<String>> {
        self.memory.log_names(after, limit)
    }

    fn find_text(&self, term: &TextTerm, scopes: &[TextScope]) -> Result<Vec<Option<u32>>> {
        add(&self.tried, scopes.len());
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

/// How many calls and entries a page of ten costs, and its rows; `extended`: with what the draft of list extensions adds.
fn page(store: &Store<Counting>, agents: Agents, extended: bool) -> (usize, usize, Vec<String>) {
    let counting = store.storage();
    counting.calls.set(0);
    counting.read.set(0);
    let page = list::list(store, &Options { page_size: 10, agents, agent: None, draft: false, extended, now: 0 }, None)
        .expect("a page");
    let page: Value = serde_json::from_str(&page).expect("JSON");
    let rows = page["sessions"].as_array().expect("rows");
    let ids = rows.iter().filter_map(|row| row["sessionId"].as_str()).map(str::to_owned).collect();
    (counting.calls.get(), counting.read.get(), ids)
}

#[test]
fn a_page_costs_the_page_and_not_the_store() {
    for sessions in [1_000, 5_000] {
        let store = store(sessions);
        let expected: Vec<String> = (0..10).map(|nth| format!("s{:05}", sessions - 7 - nth * 10)).collect();
        let (calls, read, ids) = page(&store, Agents::Own(agent(3)), false);
        assert_eq!((calls, read, &ids), (2, 11, &expected), "the revision, and one scan of ready rows");
        let (calls, read, ids) = page(&store, Agents::Own(agent(3)), true);
        assert_eq!(
            (calls, read, ids),
            (3, 11, expected),
            "and one of the open marks, where rows say what is being done"
        );
        let (calls, read, ids) = page(&store, Agents::All, false);
        let expected: Vec<String> = (0..10).map(|nth| format!("s{:05}", sessions - 1 - nth)).collect();
        assert_eq!((calls, ids), (2 + 10, expected), "the revision, the agents' names, and one scan each");
        assert!(read <= 10 * 11, "{read} entries for ten rows");
    }
}

#[test]
fn a_page_that_says_what_is_being_done_costs_the_page_however_many_sessions_are_open() {
    let (store, mut costs) = (store(1_000), Vec::new());
    open_marks::beat(&store, "window", open_marks::BELIEVED_FOR).expect("a heartbeat");
    for more in [5_000, 15_000] {
        let marks = (0..more).map(|nth| open_marks::mark(&format!("a{nth:05}"), "window", ActivityState::Idle));
        store.commit(&[], marks.collect(), Durability::Relaxed).expect("marks");
        let (calls, read, ids) = page(&store, Agents::Own(agent(3)), true);
        assert_eq!(ids.len(), 10);
        costs.push((calls, read));
    }
    assert_eq!(costs[0], costs[1]);
    // Some marks, and what those of each row say, if the store has not changed meanwhile.
    assert!(costs[0].0 < 30 && costs[0].1 < 300, "{costs:?}");
}

/// Renames a session.
fn rename(store: &Store<Counting>, nth: usize, title: &str) {
    acp_sessions_guest::sessions::rename::rename(store, &format!("s{nth:05}"), title).expect("a title");
}

#[test]
fn to_follow_lists_costs_what_has_changed_and_not_the_store() {
    for sessions in [1_000, 5_000] {
        let store = store(sessions);
        let mut follower = Follower::begin(&store, 0, &AgentsWords::new()).expect("a place");
        for (changes, calls) in [(0, 2), (1, 5), (30, 5), (40, 6)] {
            (0..changes).for_each(|nth| rename(&store, nth, &format!("{changes} at once")));
            store.storage().calls.set(0);
            let step = follower.step(&store, 0, &AgentsWords::new(), 256).expect("a step");
            assert_eq!((step.changed.len(), step.is_over), (changes, true), "{changes} of {sessions}");
            assert_eq!(store.storage().calls.get(), calls, "{changes} of {sessions}");
        }
    }
}

#[test]
fn what_could_not_be_read_of_a_change_is_told_later() {
    let mut fails_at = 1;
    loop {
        let store = store(100);
        let mut follower = Follower::begin(&store, 0, &AgentsWords::new()).expect("a place");
        (0..80).for_each(|nth| rename(&store, nth, "The roof"));
        (90..93).for_each(|nth| {
            acp_sessions_guest::sessions::delete::delete(&store, &format!("s{nth:05}"), 0).expect("it goes");
        });
        // One is opened, too, in which nothing else has changed.
        open_marks::beat(&store, "window", open_marks::BELIEVED_FOR).expect("a heartbeat");
        let mark = open_marks::mark("s00099", "window", ActivityState::Running);
        store.commit(&[], vec![mark], Durability::Relaxed).expect("a mark");
        let (mut changed, mut departed, mut failed) = (Vec::new(), Vec::new(), 0);
        store.storage().calls.set(0);
        store.storage().fails_at.set(fails_at);
        loop {
            match follower.step(&store, 0, &AgentsWords::new(), 50) {
                Ok(step) => {
                    changed.extend(step.changed.into_iter().map(|changed| changed.session.id));
                    departed.extend(step.departed.into_iter().map(|departed| departed.id));
                    if step.is_over {
                        break;
                    }
                }
                Err(_) => failed += 1,
            }
        }
        changed.sort_unstable();
        let expected: Vec<String> = (0..80).chain([99]).map(|nth| format!("s{nth:05}")).collect();
        assert_eq!(changed, expected, "the call {fails_at} fails");
        assert_eq!(departed, ["s00090", "s00091", "s00092"], "the call {fails_at} fails");
        if failed == 0 {
            assert!(fails_at > 8);
            return;
        }
        fails_at += 1;
    }
}

/// A page of ten of all agents' sessions; what it costs, its ids, and its cursor.
fn asked(store: &Store<Counting>, params: &Value) -> (Cost, Vec<String>, Value) {
    let counting = store.storage();
    for count in [&counting.calls, &counting.read, &counting.tried, &counting.hits, &counting.asked] {
        count.set(0);
    }
    let options = Options {
        page_size: 10,
        agents: Agents::Own("a".to_owned()),
        agent: None,
        draft: false,
        extended: true,
        now: 0,
    };
    let page: Value = serde_json::from_str(&list::list(store, &options, Some(&params.to_string())).unwrap()).unwrap();
    let ids = page["sessions"].as_array().unwrap().iter().map(|row| row["sessionId"].as_str().unwrap().to_owned());
    let cost = Cost {
        read: counting.read.get(),
        tried: counting.tried.get(),
        hits: counting.hits.get(),
        asked: counting.asked.get(),
    };
    (cost, ids.collect(), page["nextCursor"].clone())
}

#[derive(Debug)]
struct Cost {
    read: usize,
    tried: usize,
    hits: usize,
    asked: usize,
}

/// The ids of the whole list, and the most that a page of it costs.
fn all_asked(store: &Store<Counting>, params: &Value) -> (Vec<String>, Cost, usize) {
    let (mut ids, mut most) = (Vec::new(), Cost { read: 0, tried: 0, hits: 0, asked: 0 });
    let mut params = params.clone();
    for pages in 1.. {
        let (cost, of_page, next) = asked(store, &params);
        ids.extend(of_page);
        most.read = most.read.max(cost.read);
        most.tried = most.tried.max(cost.tried);
        most.hits = most.hits.max(cost.hits);
        most.asked = most.asked.max(cost.asked);
        if next.is_null() {
            return (ids, most, pages);
        }
        params["cursor"] = next;
    }
    unreachable!("the list ends")
}

/// One session a minute, some of which go on for hours and one in a hundred for weeks.
fn over_time(sessions: i64) -> Store<Counting> {
    let store = Store::new(Counting::default());
    for nth in 0..sessions {
        let id = format!("s{nth:05}");
        let mut session = Session::new(id.clone(), "/x".to_owned(), nth * 60_000);
        let goes_on = [0, 30, 200][usize::try_from(nth % 3).unwrap()] + if nth % 100 == 7 { 30_000 } else { 0 };
        session.touch((nth + goes_on) * 60_000);
        session.give_to("a", &id, 0);
        put(&store, &session);
    }
    store
}

#[test]
fn what_was_created_before_a_time_costs_its_page_and_not_the_store() {
    for sessions in [2_000, 8_000] {
        let store = over_time(sessions);
        for before in [0, 3, sessions / 2, sessions - 1, sessions] {
            let time = chrono::DateTime::from_timestamp_millis(before * 60_000 + 1).unwrap().to_rfc3339();
            let params = serde_json::json!({"createdBefore": time, "limit": 10});
            let (mut ids, cost, _) = all_asked(&store, &params);
            // Few a span, and those of its own length that were created after.
            assert!(cost.read < 700 && cost.asked < 20, "{cost:?} of {sessions} before {before}");
            ids.sort();
            let expected: Vec<String> = (0..=before.min(sessions - 1)).map(|nth| format!("s{nth:05}")).collect();
            assert_eq!(ids, expected);
        }
    }
}

/// Sessions whose titles hold: one word that all hold, others that every second, fourth, two hundredth and so on does, one that
/// the older half holds and one that the newer does.
fn with_words(sessions: usize) -> Store<Counting> {
    let store = Store::new(Counting::default());
    for nth in 0..sessions {
        let mut session = session(nth, ["a".to_owned()]);
        let mut title = "all".to_owned();
        for every in [2, 4, 500].into_iter().filter(|every| nth % every == 0) {
            title = format!("{title} every{every}");
        }
        if nth % 200 == 0 {
            title.push_str(" some");
        }
        title.push_str(if nth < sessions / 2 { " old" } else { " new" });
        session.title = acp_sessions_guest::store::Title::Set(title);
        put(&store, &session);
    }
    store
}

#[test]
fn a_page_of_what_many_hold_tries_no_more_than_fill_it() {
    let store = with_words(6_000);
    for (search, every) in [("all", 1), ("every2", 2), ("al every4", 4), ("\"all every2\"", 2)] {
        let (cost, ids, _) = asked(&store, &serde_json::json!({"search": search, "limit": 10}));
        let expected: Vec<String> =
            (0..6_000).rev().filter(|nth| nth % every == 0).take(10).map(|nth| format!("s{nth:05}")).collect();
        assert_eq!(ids, expected, "{search}");
        // Two scopes a session, for each word.
        assert!(cost.tried <= 2 * 2 * 64 && cost.read <= 128 && cost.hits <= 2 * 64, "{search}: {cost:?}");
    }
}

#[test]
fn a_page_of_what_few_hold_reads_those_few() {
    let store = with_words(6_000);
    let (cost, ids, next) = asked(&store, &serde_json::json!({"search": "every500 all", "limit": 10}));
    assert_eq!((ids.len(), next.is_null()), (10, false));
    assert!(cost.tried <= 2 * 2 * 12 && cost.asked <= 60, "{cost:?}");
    // Nobody holds both, which the index tells without a look at anybody.
    let (cost, ids, next) = asked(&store, &serde_json::json!({"search": "every500 \"nobody\""}));
    assert_eq!((cost.tried, ids.len(), next.is_null()), (0, 0, true));
}

#[test]
fn later_pages_of_what_some_hold_do_not_look_for_them_again() {
    let store = with_words(20_000);
    // Every two hundredth does: too few to find a page of them among those that are tried first.
    let params = |cursor: &Value| serde_json::json!({"search": "some", "limit": 10, "cursor": cursor});
    let (first, mut ids, mut next) = asked(&store, &params(&Value::Null));
    assert!(first.hits > 100, "{first:?}");
    while !next.is_null() {
        let (cost, of_page, cursor) = asked(&store, &params(&next));
        assert!(cost.hits == 0 && cost.tried <= 2 * 32 && cost.asked <= 40, "{cost:?}");
        ids.extend(of_page);
        next = cursor;
    }
    let expected: Vec<String> =
        (0..20_000).rev().filter(|nth| nth % 200 == 0).map(|nth| format!("s{nth:05}")).collect();
    assert_eq!(ids, expected);
}

#[test]
fn a_search_that_would_take_long_ends_its_page_and_goes_on_behind_it() {
    let store = with_words(24_000);
    let params = serde_json::json!({"search": "old", "limit": 1000});
    let (first, ids, next) = asked(&store, &params);
    assert!(!ids.is_empty() && !next.is_null(), "a page with a row as long as that takes not too long");
    assert!(first.tried <= 2 * 15_100, "{first:?}");
    let (ids, _, pages) = all_asked(&store, &params);
    let expected: Vec<String> = (0..12_000).rev().map(|nth| format!("s{nth:05}")).collect();
    assert_eq!(ids, expected);
    assert!((12..16).contains(&pages), "{pages} pages");
    // None holds both: every page is empty, and the last has no cursor.
    let (ids, cost, pages) = all_asked(&store, &serde_json::json!({"search": "old new", "limit": 10}));
    assert_eq!((ids.len(), pages), (0, 2));
    assert!(cost.tried <= 4 * 20_100, "{cost:?}");
}

#[test]
fn a_commit_writes_three_entries_for_each_agent_and_the_names_only_once() {
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
    assert_eq!(writes(0, &[]), besides + 3 + 1);
    assert_eq!(writes(1, &["a"]), besides + 3 + 1);
    assert_eq!(writes(2, &["a"]), besides + 3);
    assert_eq!(writes(3, &["a", "b"]), besides + 6 + 1);
    assert_eq!(writes(4, &["b"]), besides + 3);
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
        [(vec![], 3), (vec!["a"], 3), (vec!["a", "b", "c"], 9), (vec!["c"], 3), (vec!["", "-"], 6), (vec![], 3)]
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
    let before = page(&store, Agents::All, false);
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
    assert_eq!(page(&store, Agents::All, false).2, Vec::<String>::new());
    let mut cursor = None;
    for round in 0.. {
        assert!(round < 20, "the rebuild does not end");
        cursor = checkup::check(&store, Mending::Derived, cursor.as_deref(), 20, 0).expect("a part of it").next;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(page(&store, Agents::All, false), before);
    let mended = store.storage().scan("i/", &keys::range_end("i/"), false, bounds).expect("rows").entries;
    let keys = |rows: &[acp_sessions_guest::storage::Entry]| rows.iter().map(|row| row.key.clone()).collect::<Vec<_>>();
    assert_eq!(keys(&mended), keys(&rows));
}
