//! Sessions and their logs, made and read.

use acp_sessions_guest::environment::Environment;
use acp_sessions_guest::index::{self, Owner};
use acp_sessions_guest::sessions::checkup::{Checkup, Finding, Mending, check};
use acp_sessions_guest::sessions::fork::{Fork, fork};
use acp_sessions_guest::sessions::{list, open_marks, removal};
use acp_sessions_guest::storage::{Bounds, Durability, Storage, Write};
use acp_sessions_guest::store::{ActivityState, Decision, Session, Store, keys};
use acp_sessions_guest::transcript::{Entry, Kind, Progress, Replay, Start};
use serde_json::json;

pub(crate) const HOUR: i64 = 3_600_000;
pub(crate) const DAY: i64 = 24 * HOUR;
pub(crate) const NOW: i64 = 1000 * DAY;

/// A clock and randomness that nothing here asks for.
pub(crate) struct Still;

impl Environment for Still {
    fn now(&self) -> i64 {
        NOW
    }

    fn random(&self) -> u64 {
        7
    }
}

/// A session with one prompt, last active at this time.
pub(crate) fn prompted(id: &str, at: i64) -> Session {
    let mut session = Session::new(id.to_owned(), "/x".to_owned(), at);
    session.prompts = 1;
    session
}

/// The session with something else in it.
pub(crate) fn with(mut session: Session, change: impl FnOnce(&mut Session)) -> Session {
    change(&mut session);
    session
}

pub(crate) fn put<S: Storage>(store: &Store<S>, session: &Session) {
    store.change(&session.id).commit(|_, _, _| Ok(Decision::put(session.clone()))).unwrap();
}

/// What has been let go of is removed.
pub(crate) fn remove_all<S: Storage>(store: &Store<S>) {
    while removal::step(store).unwrap() {}
}

pub(crate) fn is_there<S: Storage>(store: &Store<S>, id: &str) -> bool {
    store.session(id).unwrap().is_some()
}

/// Adds an entry to a log as the recorder does, with its text.
pub(crate) fn say<S: Storage>(store: &Store<S>, log: &str, at: i64, text: &str) {
    let seq = store.storage().log_end(log).unwrap() + 1;
    let value = entry(at, text);
    let tokens = index::tokenise(text);
    let writes = vec![
        Write::IndexText { owner: Owner::Log(log).name(), part: seq, tokens },
        Write::Append { log: log.to_owned(), seq, value },
    ];
    store.commit(&[], writes, Durability::Relaxed).unwrap();
}

/// An entry as a log holds it.
pub(crate) fn entry(at: i64, text: &str) -> String {
    let content = json!({"type": "text", "text": text});
    let update = json!({"sessionUpdate": "agent_message_chunk", "content": content});
    Entry::text(Kind::Update, at, &json!({ "update": update }).to_string())
}

/// Forks a session under this id.
pub(crate) fn fork_of<S: Storage>(store: &Store<S>, parent: &str, id: &str) -> Session {
    let wanted = Fork {
        parent,
        wanted_id: id.to_owned(),
        cwd: "/x".to_owned(),
        agent: Some("agent".to_owned()),
        agent_id: Some(id.to_owned()),
        lineage: Vec::new(),
        asked_at: None,
        told: None,
        open: Vec::new(),
        directories: Vec::new(),
        heard: u64::MAX,
        now: NOW,
    };
    let session = fork(store, &Still, &wanted).unwrap().expect("a parent");
    assert_eq!(session.id, id);
    session
}

/// A transcript as the logs hold it.
pub(crate) fn transcript<S: Storage>(store: &Store<S>, id: &str) -> Vec<String> {
    let session = store.session(id).unwrap().expect("a session");
    let mut replay = Replay::open(store.storage(), &session, Start::Beginning).unwrap();
    let mut said = Vec::new();
    while let Progress::Entries(entries) = replay.next(store.storage(), u32::MAX).unwrap() {
        said.extend(entries.into_iter().map(|(_, value)| value));
    }
    said
}

/// Whether an entry is the mark of a fork.
pub(crate) fn is_mark(value: &str) -> bool {
    Entry::parse(value).is_some_and(|entry| entry.kind == Kind::Fork)
}

/// A whole log.
pub(crate) fn log<S: Storage>(store: &Store<S>, log: &str) -> Vec<String> {
    let mut values = Vec::new();
    loop {
        let bounds = Bounds { limit: 1000, max_bytes: u32::MAX };
        let start = u32::try_from(values.len()).unwrap() + 1;
        let page = store.storage().read_log(log, start, bounds).unwrap();
        values.extend(page.entries.into_iter().map(|entry| entry.value));
        if !page.more {
            return values;
        }
    }
}

/// The sessions whose title, metadata or conversation has this word.
pub(crate) fn found<S: Storage>(store: &Store<S>, word: &str) -> Vec<String> {
    let params = json!({"_meta": {"acp-sessions": {"search": word, "subagents": true, "archived": "include"}}});
    let page = list::list(
        store,
        &list::Options {
            page_size: 1000,
            agents: list::Agents::All,
            agent: None,
            draft: false,
            extended: true,
            now: 0,
        },
        Some(&params.to_string()),
    )
    .unwrap();
    let page: serde_json::Value = serde_json::from_str(&page).unwrap();
    let rows = page["sessions"].as_array().unwrap();
    let mut ids: Vec<String> = rows.iter().map(|row| row["sessionId"].as_str().unwrap().to_owned()).collect();
    ids.sort();
    ids
}

/// The connection is there and has the session open.
pub(crate) fn open<S: Storage>(store: &Store<S>, id: &str, connection: &str, now: i64) {
    open_marks::beat(store, connection, now + open_marks::BELIEVED_FOR).unwrap();
    store.commit(&[], vec![open_marks::mark(id, connection, ActivityState::Idle)], Durability::Relaxed).unwrap();
}

/// A checkup to its end, with what is done after each of its parts.
pub(crate) fn check_all<S: Storage>(
    store: &Store<S>,
    mending: Mending,
    limit: u32,
    mut after_each: impl FnMut(),
) -> (u32, Vec<Finding>) {
    let (mut sessions, mut found, mut cursor) = (0, Vec::new(), None);
    for _ in 0..10_000 {
        let Checkup { done, findings, next, .. } = check(store, mending, cursor.as_deref(), limit, NOW).unwrap();
        after_each();
        sessions += done;
        found.extend(findings);
        cursor = next;
        if cursor.is_none() {
            return (sessions, found);
        }
    }
    panic!("a checkup that does not end");
}

/// What a checkup could not put right.
pub(crate) fn left(findings: &[Finding]) -> Vec<&str> {
    findings.iter().filter(|finding| !finding.is_mended).map(|finding| finding.subject.as_str()).collect()
}

/// Every index entry says something else, and so does every text, beside what it should: a checkup has it all to write again.
pub(crate) fn spoil<S: Storage>(store: &Store<S>) {
    let storage = store.storage();
    let all = Bounds { limit: 100_000, max_bytes: u32::MAX };
    let mut writes = Vec::new();
    for prefix in ["e/", "i/", "p/", "t/"] {
        let entries = storage.scan(prefix, &keys::range_end(prefix), false, all).unwrap().entries;
        // A row that cannot be read is passed over, so it is only made to say less of itself.
        let spoilt = |value: &str| value.replace("\"archived\":false", "\"archived\":false ");
        writes.extend(entries.into_iter().map(|entry| Write::Put { value: spoilt(&entry.value), key: entry.key }));
    }
    for owner in storage.text_owners(None, 10_000).unwrap() {
        for text in storage.read_texts(&owner, 0, all).unwrap().texts {
            let tokens = format!("{} spoilt", text.tokens);
            writes.push(Write::IndexText { owner: owner.clone(), part: text.part, tokens });
        }
    }
    storage.commit(&[], writes, Durability::Relaxed).unwrap();
}

/// An index entry and a text of a log that are to go: the one says what `x` is not, the other is nobody's.
pub(crate) fn stray<S: Storage>(store: &Store<S>) {
    let tokens = index::tokenise("walrus of nobody");
    let writes = vec![
        Write::Put { key: keys::unprompted(7, "x"), value: String::new() },
        Write::IndexText { owner: Owner::Log("nobody").name(), part: 0, tokens },
    ];
    store.commit(&[], writes, Durability::Relaxed).unwrap();
}
