//! What a call costs whose cost the contract bounds (`tests/storage/cost`), in steps of SQLite's virtual machine: those of the
//! statements that its text index runs by itself are counted with the others.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use acp_sessions_corpus::contract::{Call, LARGE, SMALL, Scope, costs};
use acp_sessions_guest::storage as native;
use serde_json::{Value, json};

use super::Sqlite;
use crate::component::storage::{Durability, Entry, Host as _, LogRow, TextPart, TextScope, TextTerm, Write};

/// An empty store, and how many steps it has taken.
fn counted() -> (Sqlite, Arc<AtomicU64>) {
    let store = Sqlite::builder().in_memory().build().expect("a store");
    let steps = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&steps);
    let step = move || {
        count.fetch_add(1, Ordering::Relaxed);
        false
    };
    let mut store = store;
    store.connection.progress_handler(1, Some(step)).expect("it counts");
    (store, steps)
}

fn write(write: native::Write) -> Write {
    match write {
        native::Write::Put { key, value } => Write::Put(Entry { key, value }),
        native::Write::Append { log, seq, value } => Write::Append(LogRow { log, seq, value }),
        native::Write::IndexText { owner, part, tokens } => Write::IndexText(TextPart { owner, part, tokens }),
        other => panic!("no case measures a store with {other:?} in it"),
    }
}

fn scopes(scopes: Vec<Scope>) -> Vec<TextScope> {
    scopes.into_iter().map(|scope| TextScope { owner: scope.owner, until: scope.until }).collect()
}

/// As a case writes it.
fn answer(store: &mut Sqlite, call: Call) -> Value {
    match call {
        Call::FindText { term, scopes: within } => {
            let term = TextTerm { tokens: term.tokens, prefix: term.prefix };
            let found = store.find_text(term, scopes(within)).expect("no trap").expect("found");
            json!({ "ok": found })
        }
        Call::Scan { start, end, descending, limit, max_bytes } => {
            let page = store.scan(start, end, descending, limit, max_bytes).expect("no trap").expect("read");
            let entries = page.entries.iter().map(|entry| json!({ "key": entry.key, "value": entry.value }));
            json!({ "ok": { "entries": entries.collect::<Vec<_>>(), "more": page.more } })
        }
        Call::ReadLog { log, start, limit, max_bytes } => {
            let page = store.read_log(log, start, limit, max_bytes).expect("no trap").expect("read");
            let entries = page.entries.iter().map(|entry| json!({ "seq": entry.seq, "value": entry.value }));
            json!({ "ok": { "entries": entries.collect::<Vec<_>>(), "more": page.more } })
        }
        other => panic!("no case measures {other:?}"),
    }
}

/// What is wrong with what these calls cost.
fn costly(answer: impl Fn(&mut Sqlite, Call) -> Value) -> Vec<String> {
    let mut found = Vec::new();
    for (name, measured) in costs(&[]).expect("the cases") {
        let both = [SMALL, LARGE].map(|size| {
            let (mut store, steps) = counted();
            for writes in measured.writes(size) {
                let writes = writes.into_iter().map(write).collect();
                store.commit(Vec::new(), writes, Durability::Relaxed).expect("no trap").expect("written");
            }
            let before = steps.load(Ordering::Relaxed);
            let answer = answer(&mut store, measured.call().clone());
            (steps.load(Ordering::Relaxed) - before, answer)
        });
        found.extend(measured.verdict(&name, both));
    }
    found
}

#[test]
fn a_call_costs_what_it_asks_for_not_what_the_store_holds() {
    let found = costly(answer);
    assert!(found.is_empty(), "{} calls cost too much, the first: {}", found.len(), found[0]);
}

#[test]
fn a_look_up_that_searches_the_index_for_each_scope_is_found() {
    let found = costly(|store, call| match call {
        Call::FindText { term, scopes: within } if term.prefix => {
            let first = |scope: &TextScope| {
                let term = TextTerm { tokens: term.tokens.clone(), prefix: true };
                let hits = store.search_text(term, None, u32::MAX).expect("no trap").expect("found");
                let found = native::TextHits::from_raw(hits.owners, hits.ends, hits.parts).expect("found");
                let within = found.iter().filter(|(owner, part)| *owner == scope.owner && *part <= scope.until);
                within.map(|(_, part)| part).min()
            };
            let found: Vec<_> = scopes(within).iter().map(first).collect();
            json!({ "ok": found })
        }
        call => answer(store, call),
    });
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("cost/find-prefix.json"), "{found:?}");
}
