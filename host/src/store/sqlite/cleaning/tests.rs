//! What is left of what was removed.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use proptest::prelude::*;
use rusqlite::Connection;

use super::{LOOKED_AT, LOOKED_EVERY, MERGED, OVERWRITTEN, Pace, Stage, State, Step, Work, milliseconds};
use crate::component::storage::{Host as _, LogCut, LogRow, TextCut, Write};
use crate::store::sqlite::scene::{append, commit, open, put, term, text};
use crate::store::{Sqlite, Upkeep as _};

const LONG: Duration = Duration::from_mins(1);

/// A word that nobody else says. Words that begin alike share their beginnings in the index: the end tells.
fn word(number: u32) -> String {
    let mut state = u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d;
    let letters = (0..14).map(|_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(b'a' + u8::try_from((state >> 33) % 26).unwrap_or(0))
    });
    letters.collect()
}

/// Those of these words that are anywhere in the files of the store.
fn found<'a>(folder: &Path, words: impl IntoIterator<Item = &'a String>) -> Vec<&'a str> {
    let files: Vec<Vec<u8>> = fs::read_dir(folder)
        .expect("a folder")
        .map(|file| fs::read(file.expect("a file").path()).expect("read"))
        .collect();
    let is_there =
        |word: &&String| files.iter().any(|file| memchr::memmem::find(file, &word.as_bytes()[5..]).is_some());
    words.into_iter().filter(is_there).map(String::as_str).collect()
}

/// An entry and its text, of a few words that nobody else says and as many others as make it so long.
fn said(log: &str, seq: u32, words: &[String], more: usize) -> Vec<Write> {
    let all = format!("{} {}", words.join(" "), "again and again ".repeat(more));
    vec![text(log, seq, all.trim()), append(log, seq, &all)]
}

fn removed(log: &str) -> Vec<Write> {
    vec![Write::CutLog(LogCut { log: log.into(), start: 1 }), Write::DropText(TextCut { owner: log.into(), start: 0 })]
}

/// So many logs, each of which says so many words that nobody else says.
fn fill(store: &mut Sqlite, logs: u32, words: u32) -> BTreeMap<String, Vec<String>> {
    let mut all = BTreeMap::new();
    for log in 0..logs {
        let words: Vec<String> = (0..words).map(|at| word(log * 1000 + at)).collect();
        let name = format!("log-{log}");
        for (seq, some) in (1..).zip(words.chunks(5)) {
            commit(store, said(&name, seq, some, (log % 7) as usize * 3));
        }
        all.insert(name, words);
    }
    all
}

/// Does every slice as it comes; returns what each did.
fn slices(store: &mut Sqlite) -> Vec<Work> {
    let mut slices = Vec::new();
    loop {
        match store.clean(Pace::AtOnce, milliseconds()).expect("cleaned") {
            Step::Clean => return slices,
            Step::Done(work) => slices.push(work),
            Step::Wait(_) => {}
        }
    }
}

#[test]
fn no_slice_does_much_however_much_there_is_to_do() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut store = open(&folder.path().join("s.db"));
    let words = fill(&mut store, 120, 400);
    for log in words.keys().step_by(2) {
        commit(&mut store, removed(log));
    }
    let slices = slices(&mut store);
    let overwritten: usize = slices.iter().map(|work| work.overwritten).sum();
    let looked: u32 = slices.iter().map(|work| work.looked_at).sum();
    let merging = slices.iter().filter(|work| work.merged > 0).count();
    assert!(
        overwritten > 0 && looked > LOOKED_AT && merging > 2,
        "{overwritten} {looked} {merging}: too little to tell"
    );
    for work in &slices {
        assert!(work.looked_at <= LOOKED_AT && work.overwritten <= OVERWRITTEN, "{work:?}");
    }
    // As many pages again are dropped of those that are merged, and there is a little besides for each. What says where the
    // words are in the merged parts goes with the last slice, a short row for each page.
    let large = slices.iter().filter(|work| work.merged > 16 * MERGED.unsigned_abs());
    assert!(large.count() <= 1, "{slices:?}");
    let dead = words.iter().step_by(2).flat_map(|(_, words)| words);
    assert_eq!(found(folder.path(), dead), Vec::<&str>::new());
}

#[test]
fn what_a_reader_keeps_in_the_journal_goes_when_it_has_gone() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut store = open(&folder.path().join("s.db"));
    let words = fill(&mut store, 10, 20);
    let reader = Connection::open(folder.path().join("s.db")).expect("a database");
    reader.execute_batch("BEGIN; SELECT * FROM records").expect("a snapshot");
    commit(&mut store, removed("log-3"));
    assert!(!store.clean_all(Duration::from_millis(100)).expect("cleaned"));
    assert_ne!(found(folder.path(), &words["log-3"]), Vec::<&str>::new(), "the reader can still read it");
    reader.execute_batch("COMMIT").expect("over");
    // Another process goes on with it.
    drop(store);
    let mut store = open(&folder.path().join("s.db"));
    assert!(store.clean_all(LONG).expect("cleaned"));
    assert_eq!(found(folder.path(), &words["log-3"]), Vec::<&str>::new());
}

#[test]
fn nothing_begins_before_it_has_been_quiet_and_many_removals_share_a_pass() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut store = open(&folder.path().join("s.db"));
    assert!(store.clean_all(LONG).expect("cleaned"));
    fill(&mut store, 3, 5);
    assert_eq!(store.clean_some().expect("cleaned"), None, "nothing was removed");
    for log in ["log-0", "log-1"] {
        commit(&mut store, removed(log));
        let wait = store.clean_some().expect("cleaned").expect("there is something to do");
        assert!(wait > Duration::ZERO);
    }
    let later = milliseconds() + 2_000;
    assert!(matches!(store.clean(Pace::Due, later).expect("cleaned"), Step::Done(_)));
    assert!(store.clean_all(LONG).expect("cleaned"));
    let state = State::read(&store.connection).expect("read");
    assert_eq!((state.covered, state.stage), (state.removed, Stage::Rest));
}

#[test]
fn a_store_in_which_nothing_was_ever_removed_is_not_looked_through() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut store = open(&folder.path().join("s.db"));
    fill(&mut store, 2, 5);
    assert_eq!(store.clean_some().expect("cleaned"), None);
    commit(&mut store, removed("log-1"));
    assert!(store.clean_some().expect("cleaned").is_some());
}

#[test]
fn at_rest_it_is_looked_once_a_minute_whether_others_have_left_anything() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut store, mut other) = (open(&folder.path().join("s.db")), open(&folder.path().join("s.db")));
    fill(&mut store, 3, 5);
    assert_eq!(store.keep_up(), None, "nothing was removed");
    commit(&mut other, removed("log-0"));
    assert_eq!(store.keep_up(), None, "it does not look so soon");
    assert!(other.keep_up().is_some(), "who has removed it sees to it");
    store.found_clean = store.found_clean.and_then(|found| found.checked_sub(LOOKED_EVERY));
    assert!(store.keep_up().is_some(), "a minute later it has looked");
    assert!(store.keep_up().is_some(), "and goes on with it as it is due");
    assert!(store.clean_all(LONG).expect("cleaned"));
    assert_eq!(store.keep_up(), None);
    commit(&mut store, removed("log-1"));
    assert!(store.keep_up().is_some(), "it knows what it has removed itself");
}

#[test]
fn what_is_removed_while_a_pass_is_under_way_has_another() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut store = open(&folder.path().join("s.db"));
    let words = fill(&mut store, 40, 100);
    for round in 0..4 {
        commit(&mut store, removed(&format!("log-{round}")));
        // Each time the pass is a step further on.
        for _ in 0..=round * 2 {
            store.clean(Pace::AtOnce, milliseconds()).expect("cleaned");
        }
    }
    assert!(store.clean_all(LONG).expect("cleaned"));
    let dead = (0..4).flat_map(|log| &words[&format!("log-{log}")]);
    assert_eq!(found(folder.path(), dead), Vec::<&str>::new());
}

/// Something that happens to a store.
#[derive(Debug, Clone)]
enum Deed {
    /// A log says so many words, among so many others, by one of the connections.
    Say(u8, u8, u8, u8),
    /// The last that it said is said in other words.
    Amend(u8, u8, u8),
    /// A log is removed.
    Drop(u8, u8),
    /// A record gets another value.
    Put(u8, u8, u8),
    Remove(u8, u8),
    /// A few slices.
    Clean(u8, u8),
}

fn deed() -> impl Strategy<Value = Deed> {
    let any = any::<u8>;
    prop_oneof![
        6 => (any(), any(), any(), any()).prop_map(|(by, log, words, more)| Deed::Say(by, log, words, more)),
        2 => (any(), any(), any()).prop_map(|(by, log, words)| Deed::Amend(by, log, words)),
        2 => (any(), any()).prop_map(|(by, log)| Deed::Drop(by, log)),
        3 => (any(), any(), any()).prop_map(|(by, key, words)| Deed::Put(by, key, words)),
        1 => (any(), any()).prop_map(|(by, key)| Deed::Remove(by, key)),
        1 => (any(), any()).prop_map(|(by, slices)| Deed::Clean(by, slices)),
    ]
}

/// What a store should hold, and what it should not.
#[derive(Default)]
struct World {
    words: u32,
    /// By log, and by entry.
    logs: BTreeMap<String, Vec<(Vec<String>, String)>>,
    records: BTreeMap<String, Vec<String>>,
    dead: Vec<String>,
}

impl World {
    fn words(&mut self, count: u8) -> Vec<String> {
        let count = u32::from(count % 40) + 1;
        self.words += count;
        (self.words - count..self.words).map(word).collect()
    }

    fn happen(&mut self, stores: &mut [Sqlite], deed: &Deed) {
        let count = stores.len();
        let by = |by: u8| usize::from(by) % count;
        match *deed {
            Deed::Say(who, log, words, more) => {
                let (log, words) = (format!("log-{}", log % 12), self.words(words));
                let entries = self.logs.entry(log.clone()).or_default();
                let seq = u32::try_from(entries.len()).expect("few") + 1;
                let writes = said(&log, seq, &words, usize::from(more));
                let Write::Append(row) = &writes[1] else { unreachable!() };
                entries.push((words, row.value.clone()));
                commit(&mut stores[by(who)], writes);
            }
            Deed::Amend(who, log, words) => {
                let log = format!("log-{}", log % 12);
                let new = self.words(words);
                let Some((seq, last)) = self.logs.get_mut(&log).and_then(|log| Some((log.len(), log.last_mut()?)))
                else {
                    return;
                };
                let (seq, value) = (u32::try_from(seq).expect("few"), new.join(" "));
                let old = std::mem::replace(last, (new, value.clone()));
                // Of what was said otherwise nothing may be left either once something is removed.
                self.dead.extend(old.0);
                commit(&mut stores[by(who)], vec![text(&log, seq, &value), Write::Amend(LogRow { log, seq, value })]);
            }
            Deed::Drop(who, log) => {
                let log = format!("log-{}", log % 12);
                let entries = self.logs.remove(&log).unwrap_or_default();
                self.dead.extend(entries.into_iter().flat_map(|(words, _)| words));
                commit(&mut stores[by(who)], removed(&log));
            }
            Deed::Put(who, key, words) => {
                let (key, words) = (format!("record-{}", key % 30), self.words(words));
                let value = words.join(" ");
                self.dead.extend(self.records.insert(key.clone(), words).unwrap_or_default());
                commit(&mut stores[by(who)], vec![put(&key, &value)]);
            }
            Deed::Remove(who, key) => {
                let key = format!("record-{}", key % 30);
                self.dead.extend(self.records.remove(&key).unwrap_or_default());
                commit(&mut stores[by(who)], vec![Write::Remove(key)]);
            }
            Deed::Clean(who, slices) => {
                for _ in 0..slices % 8 {
                    stores[by(who)].clean(Pace::AtOnce, milliseconds()).expect("cleaned");
                }
            }
        }
    }

    /// Whether the store holds what it should.
    fn check(&self, store: &mut Sqlite) {
        for (log, entries) in &self.logs {
            let page = store.read_log(log.clone(), 1, 1000, u32::MAX).expect("no trap").expect("read");
            assert!(page.entries.iter().map(|entry| &entry.value).eq(entries.iter().map(|(_, value)| value)), "{log}");
            for ((words, _), seq) in entries.iter().zip(1..) {
                let hits = store.search_text(term(&words[0]), None, 9).expect("no trap").expect("searched");
                assert_eq!((&hits.owners, &hits.parts[..]), (log, &[seq][..]));
            }
        }
        for (key, words) in &self.records {
            let value = store.get(vec![key.clone()]).expect("no trap").expect("read");
            assert_eq!(value, [Some(words.join(" "))]);
        }
        for word in &self.dead {
            assert!(store.search_text(term(word), None, 9).expect("no trap").expect("searched").parts.is_empty());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happened_nothing_that_was_removed_is_left_and_the_rest_is_as_it_was(
        deeds in prop::collection::vec(deed(), 1..160)
    ) {
        let folder = tempfile::tempdir().expect("a folder");
        let mut stores: Vec<Sqlite> = (0..3).map(|_| open(&folder.path().join("s.db"))).collect();
        let mut world = World::default();
        for deed in &deeds {
            world.happen(&mut stores, deed);
        }
        // The last removal: what was said otherwise before goes with it.
        commit(&mut stores[0], removed("nobody's"));
        prop_assert!(stores[1].clean_all(LONG).expect("cleaned"));
        prop_assert_eq!(found(folder.path(), &world.dead), Vec::<&str>::new());
        for store in &mut stores {
            world.check(store);
        }
        // By a connection that has nothing in mind: FTS5 compares with what the others know of its index.
        let connection = Connection::open(folder.path().join("s.db")).expect("a database");
        let integrity: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).expect("checked");
        prop_assert_eq!(integrity, "ok");
    }
}
