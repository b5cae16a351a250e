//! A fork at any depth costs what it costs at one.

use acp_sessions_guest::storage::{Durability, Write};
use acp_sessions_guest::store::Store;

use crate::between::Between;
use crate::shop::{NOW, entry, fork_of, found, prompted, put, say, transcript};

/// What forks cost on average, and how many parts they have at most.
#[derive(Debug)]
struct Cost {
    calls: usize,
    writes: usize,
    bytes: usize,
    parts: usize,
}

/// Forks of forks, each with some entries of its own; the cost of `few` of them from each of these depths on.
fn costs(depths: [usize; 3], few: usize, entries_each: usize, text: &str) -> [Cost; 3] {
    let storage = Between::default();
    let store = Store::new(&storage);
    put(&store, &prompted("0", NOW));
    let mut expected: Vec<String> = Vec::new();
    let mut costs = Vec::new();
    let mut sum = Cost { calls: 0, writes: 0, bytes: 0, parts: 0 };
    for depth in 1..depths[2] + few {
        for nth in 0..entries_each {
            let said = format!("{text} {depth} {nth}");
            say(&store, &(depth - 1).to_string(), NOW, &said);
            expected.push(entry(NOW, &said));
        }
        storage.reset();
        let session = fork_of(&store, &(depth - 1).to_string(), &depth.to_string());
        if depths.iter().any(|first| (*first..first + few).contains(&depth)) {
            sum.calls += storage.calls.get();
            sum.writes += storage.writes.get();
            sum.bytes += storage.bytes.get();
            sum.parts = sum.parts.max(session.segments.len());
        }
        if (depth + 1).checked_sub(few).is_some_and(|first| depths.contains(&first)) {
            costs.push(Cost {
                calls: sum.calls / few,
                writes: sum.writes / few,
                bytes: sum.bytes / few,
                parts: sum.parts,
            });
            sum = Cost { calls: 0, writes: 0, bytes: 0, parts: 0 };
        }
    }
    let said: Vec<String> = transcript(&store, &(depths[2] + few - 1).to_string());
    assert_eq!(said, expected);
    costs.try_into().expect("three depths")
}

#[test]
fn short_turns_at_any_depth() {
    let [one, fifty, four_hundred] = costs([1, 50, 400], 32, 5, "word");
    for deep in [&fifty, &four_hundred] {
        assert!(deep.calls <= one.calls + 4, "{one:?} {deep:?}");
        assert!(deep.writes <= one.writes + 32, "{one:?} {deep:?}");
        // What grows are the lists of who shares the few logs.
        assert!(deep.bytes <= 48 * 1024, "{one:?} {deep:?}");
    }
    assert!(fifty.parts <= 8 && four_hundred.parts <= 12, "{fifty:?} {four_hundred:?}");
}

#[test]
fn long_turns_have_parts_that_grow_with_the_logarithm() {
    for (entries, text) in [(300, "word".to_owned()), (2, "-".repeat(100_000))] {
        let said = entries * entry(NOW, &text).len();
        let [one, some, many] = costs([1, 17, 64], 16, entries, &text);
        assert!(some.parts <= 14 && many.parts <= 20, "{entries} each: {some:?} {many:?}");
        for (deep, logarithm) in [(&some, 5), (&many, 7)] {
            assert!(deep.calls <= one.calls + 4, "{entries} each: {one:?} {deep:?}");
            // What parts are merged into is written again, each entry once for each doubling.
            assert!(deep.bytes <= logarithm * said, "{entries} each, {said} bytes: {one:?} {deep:?}");
        }
    }
}

#[test]
fn a_long_history_is_not_copied() {
    let storage = Between::default();
    let store = Store::new(&storage);
    put(&store, &prompted("long", NOW));
    let append = |seq| Write::Append { log: "long".to_owned(), seq, value: entry(NOW, "word") };
    store.commit(&[], (1..=100_000).map(append).collect(), Durability::Relaxed).unwrap();
    for nth in 0..50 {
        storage.reset();
        let session = fork_of(&store, "long", &format!("wide {nth}"));
        assert_eq!(session.segments.len(), 1);
        assert!(storage.writes.get() < 20 && storage.bytes.get() < 16 * 1024, "fork {nth}");
    }
}

/// Calls, bytes and scopes that a search takes among so many sessions: each a fork of the one before, or all of the first.
fn search_costs(sessions: usize, is_chain: bool, word: &str) -> [usize; 3] {
    let storage = Between::default();
    let store = Store::new(&storage);
    put(&store, &prompted("0", NOW));
    say(&store, "0", NOW, "needle in the first");
    for nth in 1..sessions {
        let parent = if is_chain { nth - 1 } else { 0 };
        fork_of(&store, &parent.to_string(), &nth.to_string());
        for entry in 0..5 {
            say(&store, &nth.to_string(), NOW, &format!("word {nth} {entry}"));
        }
    }
    say(&store, &(sessions - 1).to_string(), NOW, "straw in the last");
    storage.reset();
    let expected = match word {
        "needle" => sessions.min(50),
        "straw" => 1,
        _ => 0,
    };
    assert_eq!(found(&store, word).len(), expected, "{word}");
    [storage.calls.get(), storage.bytes.get(), storage.scopes.get()]
}

#[test]
fn a_search_among_forks_of_forks_costs_what_it_costs_among_forks() {
    for word in ["needle", "straw", "absent"] {
        let [wide, deep] = [false, true].map(|is_chain| search_costs(300, is_chain, word));
        let [calls, bytes, scopes] = deep;
        assert!(calls <= wide[0], "{word}: {wide:?} {deep:?}");
        assert!(bytes <= 2 * wide[1] && scopes <= 4 * wide[2], "{word}: {wide:?} {deep:?}");
    }
}
