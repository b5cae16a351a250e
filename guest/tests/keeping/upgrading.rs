//! Stores of the version before: lists lack nothing at any time, and the store is brought up to date whatever happens.

use std::cell::Cell;
use std::collections::BTreeSet;

use acp_sessions_guest::engine::{Arrival, Content, Engine, Output, Peer};
use acp_sessions_guest::environment::Environment;
use acp_sessions_guest::sessions::archive::set_archived;
use acp_sessions_guest::sessions::checkup::{Mending, check};
use acp_sessions_guest::sessions::delete::delete;
use acp_sessions_guest::sessions::list::{Agents, Options, list};
use acp_sessions_guest::sessions::rename::rename;
use acp_sessions_guest::sessions::retention::{Prune, prune};
use acp_sessions_guest::sessions::upgrade;
use acp_sessions_guest::storage::{Bounds, Durability, Memory, Storage, Write};
use acp_sessions_guest::store::{Decision, Layout, Session, Store, Title, keys};
use chrono::DateTime;
use serde_json::{Value, json};

use crate::before::{self, Before};
use crate::between::Between;
use crate::shop::{NOW, put};

const ALL: Bounds = Bounds { limit: u32::MAX, max_bytes: u32::MAX };

/// Sessions of every kind: of two agents and of none, in two directories, archived, empty, sub-agents', some at the same
/// moment.
fn sessions(count: i64) -> Vec<Before> {
    let session = |nth: i64| {
        let agent = if nth % 3 == 0 { "b" } else { "a" };
        let mut session = Before::of(agent, &format!("s/{nth}"), NOW - nth / 2);
        session.cwd = if nth % 5 == 0 { "/y" } else { "/x" };
        session.archived = nth % 7 == 0;
        session.parent = (nth % 11 == 1).then(|| "s/2".to_owned());
        if nth % 13 == 0 {
            session.agent = None;
        }
        session.prompts = u64::from(nth % 17 > 0);
        session
    };
    (0..count).map(session).collect()
}

fn filled(count: i64) -> Memory {
    let memory = Memory::new();
    before::write(&memory, &sessions(count));
    memory
}

/// The ids of a whole list, page by page.
fn listed<S: Storage>(store: &Store<S>, agents: &Agents, params: &Value, page_size: u32) -> Vec<String> {
    let options = Options { page_size, agents: agents.clone(), agent: None, draft: false, extended: true, now: 0 };
    let (mut ids, mut params) = (Vec::new(), params.clone());
    loop {
        let page: Value = serde_json::from_str(&list(store, &options, Some(&params.to_string())).unwrap()).unwrap();
        let rows = page["sessions"].as_array().unwrap();
        ids.extend(rows.iter().map(|row| row["sessionId"].as_str().unwrap().to_owned()));
        match page.get("nextCursor") {
            Some(cursor) => params["cursor"] = cursor.clone(),
            None => return ids,
        }
    }
}

/// What lists of every kind show, by the records alone.
fn expected(records: &[Session], agents: &Agents, params: &Value) -> Vec<String> {
    let is_shown = |session: &&Session| {
        let archived = match params["archived"].as_str() {
            Some("include") => true,
            Some("only") => session.archived,
            _ => !session.archived,
        };
        let subagents = params["_meta"]["acp-sessions"]["subagents"] == true || session.parent.is_none();
        let cwd = params["cwd"].as_str().is_none_or(|cwd| cwd == session.cwd);
        let agent = match agents {
            Agents::Own(agent) => session.agents.contains_key(agent),
            Agents::All => true,
        };
        let before = params["_meta"]["acp-sessions"]["createdBefore"].as_str();
        let before = before.map(|before| DateTime::parse_from_rfc3339(before).unwrap().timestamp_millis());
        let created = before.is_none_or(|before| session.created < before);
        archived && subagents && cwd && agent && created
    };
    let mut shown: Vec<&Session> = records.iter().filter(is_shown).collect();
    shown.sort_by_key(|session| std::cmp::Reverse(keys::row_place(session.updated, &session.id)));
    shown.into_iter().map(|session| session.id.clone()).collect()
}

fn records(memory: &Memory) -> Vec<Session> {
    let page = memory.scan("s/", &keys::range_end("s/"), false, ALL).unwrap();
    page.entries.iter().map(|entry| Session::parse(&entry.value).unwrap()).collect()
}

fn check_lists(memory: &Memory, when: &str) {
    // Nothing is remembered from before.
    let store = Store::new(memory);
    let records = records(memory);
    // What half of the sessions were created before.
    let mut created: Vec<i64> = records.iter().map(|session| session.created).collect();
    created.sort_unstable();
    let before = created.get(created.len() / 2).copied().unwrap_or_default();
    let before = DateTime::from_timestamp_millis(before).unwrap().to_rfc3339();
    for agents in [Agents::Own("a".to_owned()), Agents::Own("b".to_owned()), Agents::Own("c".to_owned()), Agents::All] {
        for params in [
            json!({}),
            json!({"cwd": "/y"}),
            json!({"archived": "include", "_meta": {"acp-sessions": {"subagents": true}}}),
            json!({"archived": "only", "cwd": "/x"}),
            json!({"_meta": {"acp-sessions": {"search": "title"}}}),
            json!({"_meta": {"acp-sessions": {"createdBefore": before}}}),
        ] {
            let shown = listed(&store, &agents, &params, 9);
            assert_eq!(shown, expected(&records, &agents, &params), "{when}: {agents:?} {params}");
        }
    }
}

/// Everything that is derived is as the records say.
fn check_finished(memory: &Memory) {
    assert_eq!(Store::new(memory).layout().unwrap(), Layout::Present);
    assert!(!upgrade::is_due(&Store::new(memory)).unwrap());
    let records = records(memory);
    let should = records.iter().flat_map(Session::index_entries).map(|write| match write {
        Write::Put { key, value } => (key, value),
        other => panic!("{other:?}"),
    });
    let should: BTreeSet<(String, String)> = should.collect();
    let are = ["e/", "i/", "p/", "t/"]
        .into_iter()
        .flat_map(|prefix| memory.scan(prefix, &keys::range_end(prefix), false, ALL).unwrap().entries);
    let are: BTreeSet<(String, String)> = are.map(|entry| (entry.key, entry.value)).collect();
    assert_eq!(are.difference(&should).next(), None);
    assert_eq!(should.difference(&are).next(), None);
    check_lists(memory, "at the end");
}

/// Looks at every list after each step, of which there are several, and at all there is in the end.
fn check_every_step(memory: &Memory) {
    for step in 0.. {
        check_lists(memory, &format!("after {step} steps"));
        if !upgrade::step(&Store::new(memory)).unwrap() {
            assert!(step > 4, "{step}");
            break;
        }
    }
    check_finished(memory);
}

/// Each step by a process that knows nothing of the one before.
fn finish(memory: &Memory) {
    while upgrade::step(&Store::new(memory)).unwrap() {}
}

#[test]
fn lists_lack_nothing_at_any_step_wherever_it_is_left_off() {
    let memory = filled(300);
    check_every_step(&memory);
}

/// As the version before left it: nothing by how long there was activity, and rows that do not say which texts are a
/// session's.
fn without_spans(memory: &Memory) {
    let rows = memory.scan("i/", &keys::range_end("i/"), false, ALL).unwrap().entries;
    let mut writes: Vec<Write> = rows
        .into_iter()
        .map(|row| {
            if row.key.split('/').nth(3) == Some("b") {
                return Write::Remove { key: row.key };
            }
            let value = row.value.replacen(" D ", " d ", 1).replacen(" U ", " u ", 1);
            Write::Put { key: row.key, value }
        })
        .collect();
    writes.push(Write::Put { key: keys::LAYOUT.to_owned(), value: "2".to_owned() });
    Store::new(memory).commit(&[], writes, Durability::Relaxed).unwrap();
}

#[test]
fn a_store_of_the_second_layout_lacks_nothing_at_any_step() {
    let memory = filled(300);
    finish(&memory);
    without_spans(&memory);
    assert!(upgrade::is_due(&Store::new(&memory)).unwrap());
    check_every_step(&memory);
}

#[test]
fn a_list_lacks_nothing_while_another_process_moves_the_rows() {
    for every in [1, 2, 3, 7, 20] {
        let memory = filled(300);
        let records = records(&memory);
        let scans = Cell::new(0);
        let moving = Between::on(memory);
        moving.before_scans(|memory| {
            scans.set(scans.get() + 1);
            if scans.get() % every == 0 {
                upgrade::step(&Store::new(memory)).unwrap();
            }
        });
        let params = json!({"archived": "include", "_meta": {"acp-sessions": {"subagents": true}}});
        for agents in [Agents::All, Agents::Own("a".to_owned())] {
            let shown = listed(&Store::new(&moving), &agents, &params, 100);
            assert_eq!(shown, expected(&records, &agents, &params), "every {every}");
        }
        assert!(scans.get() > 4, "it did move");
    }
}

#[test]
fn what_changes_meanwhile_is_not_lost() {
    type Meanwhile = fn(&Store<&Memory>);
    let changes: [(&str, Meanwhile); 7] = [
        ("a title", |store| drop(rename(store, "s/150", "another title").unwrap())),
        ("a delete", |store| drop(delete(store, "s/150", NOW).unwrap())),
        ("archiving", |store| assert!(set_archived(store, "s/150", true).unwrap())),
        ("activity", |store| {
            let changed = store.change("s/150").commit(|before, _, _| {
                let Some(mut session) = before.cloned() else { return Ok(Decision::Keep) };
                session.touch(NOW + 7);
                Ok(Decision::put(session))
            });
            drop(changed.unwrap());
        }),
        ("a new session", |store| {
            let mut session = Session::new("new".to_owned(), "/y".to_owned(), NOW + 1);
            session.title = Title::Set("A new title".to_owned());
            put(store, &session);
        }),
        ("all of it by another process", |store| while upgrade::step(store).unwrap() {}),
        ("a part of it by another process", |store| {
            upgrade::step(store).unwrap();
        }),
    ];
    for (what, meanwhile) in changes {
        for nth in 0.. {
            let storage = Between::on(filled(160));
            storage.before_nth_commit(nth, |memory| {
                meanwhile(&Store::new(memory));
                check_lists(memory, what);
            });
            while upgrade::step(&Store::new(&storage)).unwrap() {
                check_lists(&storage.memory, what);
            }
            check_finished(&storage.memory);
            if !storage.has_happened() {
                assert!(nth > 3, "{what}: {nth} commits");
                break;
            }
        }
    }
}

#[test]
fn a_step_takes_what_it_takes_however_many_sessions_there_are() {
    let worst = |count: i64| {
        let memory = Memory::new();
        let mut all = sessions(count);
        for session in all.iter_mut().step_by(50) {
            session.meta = json!({ "x": "x".repeat(100_000) });
        }
        before::write(&memory, &all);
        let storage = Between::on(memory);
        let (mut steps, mut calls, mut bytes) = (0, 0, 0);
        loop {
            storage.reset();
            let more = upgrade::step(&Store::new(&storage)).unwrap();
            (steps, calls, bytes) = (steps + 1, calls.max(storage.calls.get()), bytes.max(storage.bytes.get()));
            if !more {
                return (steps, calls, bytes);
            }
        }
    };
    let (few, many) = (worst(1_000), worst(20_000));
    assert!(many.0 >= 15 * few.0, "{few:?} {many:?}");
    assert_eq!((few.1, many.1), (many.1, few.1), "calls");
    assert!(many.1 < 20 && many.2 < 2 * 1024 * 1024, "{many:?}");
    assert!(many.2 < few.2 + few.2 / 4, "{few:?} {many:?}");
}

#[test]
fn what_a_window_of_the_version_before_still_writes_is_found_by_whoever_starts_next() {
    let memory = filled(20);
    finish(&memory);
    let mut stale = sessions(20)[4].clone();
    stale.updated = NOW + 5;
    before::write(&memory, &[Before::of("a", "late", NOW + 9), stale]);
    let store = Store::new(&memory);
    assert_eq!(store.layout().unwrap(), Layout::Present);
    assert!(upgrade::is_due(&store).unwrap());
    check_lists_of(&memory, &["late", "s/4"]);
    finish(&memory);
    check_lists_of(&memory, &["late", "s/4"]);
    assert!(!upgrade::is_due(&store).unwrap());
}

/// These come first in the list of the agent `a`.
fn check_lists_of(memory: &Memory, first: &[&str]) {
    let shown = listed(&Store::new(memory), &Agents::Own("a".to_owned()), &json!({}), 9);
    assert_eq!(shown[..first.len()], *first);
}

#[test]
fn a_new_store_is_up_to_date_from_its_first_session() {
    let memory = Memory::new();
    let store = Store::new(&memory);
    assert!(!upgrade::is_due(&store).unwrap());
    put(&store, &Session::new("s".to_owned(), "/x".to_owned(), NOW));
    assert_eq!(Store::new(&memory).layout().unwrap(), Layout::Present);
    assert!(!upgrade::is_due(&store).unwrap());
}

#[test]
fn a_rebuild_of_such_a_store_takes_nothing_from_lists_on_its_way() {
    let memory = filled(150);
    let mut cursor = None;
    loop {
        let part = check(&Store::new(&memory), Mending::Derived, cursor.as_deref(), 40, NOW).unwrap();
        assert!(part.findings.iter().all(|finding| finding.is_mended), "{:?}", part.findings);
        check_lists(&memory, &format!("{cursor:?}"));
        cursor = part.next;
        if cursor.is_none() {
            break;
        }
    }
    check_finished(&memory);
}

#[test]
fn a_record_that_cannot_be_read_keeps_nothing_from_being_brought_up_to_date() {
    let memory = filled(100);
    let broken = Write::Put { key: keys::session("s/50"), value: "{".to_owned() };
    memory.commit(&[], vec![broken], acp_sessions_guest::storage::Durability::Relaxed).unwrap();
    finish(&memory);
    assert!(!upgrade::is_due(&Store::new(&memory)).unwrap());
    let shown = listed(&Store::new(&memory), &Agents::All, &json!({"archived": "include"}), 100);
    let mut all = sessions(100);
    all.retain(|session| session.parent.is_none() && session.id != "s/50");
    assert_eq!(shown.len(), all.len());
}

#[test]
fn removing_by_hand_sees_all_of_such_a_store() {
    for dry_run in [true, false] {
        let memory = filled(150);
        let (mut removed, mut after) = (BTreeSet::new(), None);
        loop {
            let by_hand = Prune { idle_since: NOW + 1, cwd: None, limit: 10, dry_run, after };
            let page = prune(&Store::new(&memory), &by_hand, NOW + 2).unwrap();
            removed.extend(page.rows);
            after = page.next_cursor;
            if after.is_none() {
                break;
            }
        }
        let subagents = sessions(150).iter().filter(|session| session.parent.is_some()).count();
        assert!(removed.len() >= 150 - subagents, "{}", removed.len());
    }
}

/// A clock and randomness of a connection.
struct Ticking(Cell<u64>);

impl Environment for Ticking {
    fn now(&self) -> i64 {
        NOW + 100
    }

    fn random(&self) -> u64 {
        self.0.set(self.0.get() + 1);
        self.0.get()
    }
}

fn open(memory: &Memory, nth: u64) -> Engine<&Memory, Ticking> {
    Engine::connect(memory, Ticking(Cell::new(1000 * nth)), [], Vec::new(), Vec::new()).unwrap()
}

fn said(engine: &mut Engine<&Memory, Ticking>, peer: Peer, line: &Value) -> Vec<Value> {
    engine.receive([Arrival { peer, content: Content::Line(line.to_string()) }]);
    let outputs = engine.pull(u32::MAX).into_iter();
    let lines = outputs.filter_map(|output| match output {
        Output::ToClient(line) => Some(serde_json::from_str(&line).unwrap()),
        Output::Warn(text) => panic!("{text}"),
        _ => None,
    });
    lines.collect()
}

fn initialize(engine: &mut Engine<&Memory, Ticking>) {
    let request = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1}});
    said(engine, Peer::Client, &request);
    let info = json!({"name": "a", "version": "1"});
    let result = json!({"protocolVersion": 1, "agentCapabilities": {}, "agentInfo": info});
    let answers = said(engine, Peer::Agent, &json!({"jsonrpc": "2.0", "id": 0, "result": result}));
    assert_eq!(answers[0]["result"]["protocolVersion"], 1);
}

#[test]
fn engines_bring_it_up_to_date_together_behind_initialize() {
    let memory = filled(400);
    let records = records(&memory);
    let mut engines = [1, 2].map(|nth| open(&memory, nth));
    for engine in &mut engines {
        for _ in 0..3 {
            assert_ne!(engine.idle(), Some(0));
        }
    }
    assert_eq!(Store::new(&memory).layout().unwrap(), Layout::Records(String::new()), "not before `initialize`");
    for engine in &mut engines {
        initialize(engine);
    }
    assert_eq!(Store::new(&memory).layout().unwrap(), Layout::Records(String::new()), "nor with it");
    let expected = expected(&records, &Agents::Own("a".to_owned()), &json!({}));
    let mut under_way = 0;
    for _ in 0..1000 {
        let is_over = engines.each_mut().map(|engine| engine.idle() != Some(0)) == [true; 2];
        for engine in &mut engines {
            let request = json!({"jsonrpc": "2.0", "id": 1, "method": "session/list"});
            let answer = &said(engine, Peer::Client, &request)[0];
            let rows = answer["result"]["sessions"].as_array().unwrap();
            let ids: Vec<&str> = rows.iter().map(|row| row["sessionId"].as_str().unwrap()).collect();
            assert_eq!(ids, expected[..100]);
        }
        // One is lost in the middle.
        under_way += 1;
        if under_way == 2 {
            engines[0] = open(&memory, 3);
            initialize(&mut engines[0]);
        }
        if is_over {
            check_finished(&memory);
            assert!(under_way > 3, "{under_way}");
            return;
        }
    }
    panic!("it does not come to an end");
}
