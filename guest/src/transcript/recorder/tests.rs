use std::cell::RefCell;

use super::*;
use crate::index;
use crate::storage::{
    Bounds, Durability, Expectation, LAST_PART, LAST_SEQ, LogPage, Memory, RecordPage, Result, Storage, StorageError,
    TextHit, TextHits, TextPage, TextScope, TextTerm, Write,
};
use crate::store::{Changed, Decision, Session, Store, keys};

fn chunk(kind: &str, text: &str, id: Option<&str>) -> String {
    let mut update = serde_json::json!({"sessionUpdate": kind, "content": {"type": "text", "text": text}});
    if let Some(id) = id {
        update["messageId"] = id.into();
    }
    update.to_string()
}

fn push(recorder: &mut Recorder, update: &str) {
    let params = format!("{{\"update\":{update}}}");
    recorder.push_chunk(1, update, &Object::parse(&params).unwrap(), || "\"minted\"".to_owned());
}

fn rows(store: &Store<Memory>, log: &str) -> Vec<String> {
    let bounds = Bounds { limit: 1000, max_bytes: u32::MAX };
    store.storage().read_log(log, 1, bounds).unwrap().entries.into_iter().map(|entry| entry.value).collect()
}

#[test]
fn adjacent_text_of_one_message_is_one_row_across_batches() {
    let store = Store::new(Memory::new());
    let mut recorder = Recorder::new("s");
    for (at, text) in ["Hel", "lo \"w", "orld\"\n", "é"].iter().enumerate() {
        push(&mut recorder, &chunk("agent_message_chunk", text, None));
        if at % 2 == 0 {
            recorder.flush(&store, &[], Durability::Relaxed).unwrap();
        }
    }
    push(&mut recorder, &chunk("agent_thought_chunk", "hm", None));
    recorder.close_run();
    recorder.flush(&store, &[], Durability::Relaxed).unwrap();
    let rows = rows(&store, "s");
    assert_eq!(rows.len(), 2);
    let update: serde_json::Value = serde_json::from_str(Entry::parse(&rows[0]).unwrap().json).unwrap();
    assert_eq!(update["update"]["content"]["text"], "Hello \"world\"\né");
    assert_eq!(update["update"]["messageId"], "minted");
}

#[test]
fn other_messages_and_anything_but_plain_text_stay_apart() {
    let store = Store::new(Memory::new());
    let mut recorder = Recorder::new("s");
    push(&mut recorder, &chunk("agent_message_chunk", "a", Some("1")));
    push(&mut recorder, &chunk("agent_message_chunk", "b", Some("2")));
    let annotated = r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"c","_meta":{}}}"#;
    push(&mut recorder, annotated);
    recorder.flush(&store, &[], Durability::Relaxed).unwrap();
    let rows = rows(&store, "s");
    assert_eq!(rows.len(), 3);
    assert!(rows[2].ends_with(&format!("{{\"update\":{annotated}}}")));
}

#[test]
fn two_writers_on_one_log_lose_nothing_and_keep_one_order() {
    let store = Store::new(Memory::new());
    let (mut one, mut two) = (Recorder::new("s"), Recorder::new("s"));
    let mut texts = (String::new(), String::new());
    for round in 0..50 {
        let text = format!("{round} ");
        push(&mut one, &chunk("agent_message_chunk", &text, Some("1")));
        push(&mut two, &chunk("agent_message_chunk", &text, Some("2")));
        texts.0 += &text;
        texts.1 += &text;
        one.flush(&store, &[], Durability::Relaxed).unwrap();
        if round % 3 == 0 {
            two.flush(&store, &[], Durability::Relaxed).unwrap();
        }
    }
    two.flush(&store, &[], Durability::Relaxed).unwrap();
    let mut read = (String::new(), String::new());
    for row in rows(&store, "s") {
        let update: serde_json::Value = serde_json::from_str(Entry::parse(&row).unwrap().json).unwrap();
        let text = update["update"]["content"]["text"].as_str().unwrap().to_owned();
        if update["update"]["messageId"] == "1" { read.0 += &text } else { read.1 += &text }
    }
    assert_eq!(read, texts);
}

#[test]
fn what_stands_in_the_log_leaves_nothing_behind_what_others_write_to_it() {
    for is_open in [true, false] {
        let store = Store::new(Memory::new());
        let (mut one, mut two) = (Recorder::new("s"), Recorder::new("s"));
        push(&mut one, &chunk("agent_message_chunk", "all", None));
        one.flush(&store, &[], Durability::Relaxed).unwrap();
        if !is_open {
            one.close_run();
            assert!(!one.is_dirty());
        }
        push(&mut two, &chunk("agent_message_chunk", "theirs", None));
        two.flush(&store, &[], Durability::Relaxed).unwrap();
        one.flush(&store, &[Write::Remove { key: "k".to_owned() }], Durability::Relaxed).unwrap();
        let mut whole = vec!["all", "theirs"];
        one.take_overtaken(&store).unwrap();
        one.push(Kind::TurnEnd, 1, "{}");
        one.flush(&store, &[], Durability::Relaxed).unwrap();
        whole.push("");
        let said = rows(&store, "s").iter().map(|row| text::of_entry(row)).collect::<Vec<_>>();
        assert_eq!(said, whole, "{is_open}");
    }
}

#[test]
fn a_message_goes_on_behind_what_others_have_written_meanwhile() {
    let store = Store::new(Memory::new());
    let (mut one, mut two) = (Recorder::new("s"), Recorder::new("s"));
    let mut ids = ["\"first\"", "\"second\""].into_iter();
    let mut says = |recorder: &mut Recorder, text: &str| {
        let update = chunk("agent_message_chunk", text, None);
        recorder.push_chunk_alone(1, &update, || ids.next().unwrap().to_owned());
        recorder.flush(&store, &[], Durability::Relaxed).unwrap();
    };
    says(&mut one, "be");
    says(&mut two, "theirs");
    for part in ["gun", " and", " ended"] {
        says(&mut one, part);
    }
    let said = rows(&store, "s").iter().map(|row| text::of_entry(row)).collect::<Vec<_>>();
    assert_eq!(said, ["be", "theirs", "gun and ended"]);
    assert_eq!(rows(&store, "s").iter().filter(|row| row.contains("first")).count(), 2);
}

#[test]
fn a_deleted_session_records_nothing() {
    let store = Store::new(Memory::new());
    let mut recorder = Recorder::new("s");
    push(&mut recorder, &chunk("agent_message_chunk", "a", None));
    let mark = Write::Put { key: keys::tombstone("s"), value: "1".to_owned() };
    store.commit(&[], vec![mark], Durability::Relaxed).unwrap();
    assert_eq!(recorder.flush(&store, &[], Durability::Relaxed).unwrap(), Flushed::Deleted);
    assert!(rows(&store, "s").is_empty());
}

/// What a store does with the next commits.
enum Next {
    Fail(StorageError),
    /// Somebody else commits this first.
    Race(Vec<Write>),
}

/// A store in memory that fails, or is changed by others, as a test wants it.
#[derive(Default)]
struct Scripted {
    memory: Memory,
    next: RefCell<Vec<Next>>,
    /// No value may be longer; 0: any may.
    longest: usize,
    /// The bytes of log entries and tokens each commit was asked to write.
    commits: RefCell<Vec<usize>>,
}

impl Storage for Scripted {
    fn get(&self, keys: &[String]) -> Result<Vec<Option<String>>> {
        self.memory.get(keys)
    }

    fn scan(&self, start: &str, end: &str, descending: bool, bounds: Bounds) -> Result<RecordPage> {
        self.memory.scan(start, end, descending, bounds)
    }

    fn log_end(&self, log: &str) -> Result<u32> {
        self.memory.log_end(log)
    }

    fn read_log(&self, log: &str, start: u32, bounds: Bounds) -> Result<LogPage> {
        self.memory.read_log(log, start, bounds)
    }

    fn search_text(&self, term: &TextTerm, after: Option<&TextHit>, limit: u32) -> Result<TextHits> {
        self.memory.search_text(term, after, limit)
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
        self.memory.find_text(term, scopes)
    }

    fn commit(&self, expected: &[Expectation], writes: Vec<Write>, durability: Durability) -> Result<()> {
        let sizes = writes.iter().map(|write| match write {
            Write::Append { value, .. } | Write::Amend { value, .. } => value.len(),
            Write::IndexText { tokens, .. } => tokens.len(),
            _ => 0,
        });
        self.commits.borrow_mut().push(sizes.clone().sum());
        if self.longest > 0 && sizes.max().is_some_and(|longest| longest > self.longest) {
            return Err(StorageError::TooLarge);
        }
        match self.next.borrow_mut().pop() {
            Some(Next::Fail(error)) => return Err(error),
            Some(Next::Race(theirs)) => self.memory.commit(&[], theirs, durability)?,
            None => {}
        }
        self.memory.commit(expected, writes, durability)
    }
}

fn scripted(next: Vec<Next>) -> Store<Scripted> {
    Store::new(Scripted { next: RefCell::new(next), ..Scripted::default() })
}

fn texts(store: &Store<Scripted>) -> Vec<String> {
    let bounds = Bounds { limit: 10_000, max_bytes: u32::MAX };
    store.storage().read_log("s", 1, bounds).unwrap().entries.into_iter().map(|entry| entry.value).collect()
}

fn session(store: &Store<Scripted>) {
    store.change("s").commit(|_, _, _| Ok(Decision::put(Session::new("s".into(), "/w".into(), 1)))).unwrap();
    store.storage().commits.borrow_mut().clear();
}

/// What the end of a turn does to the record.
fn count_prompt(before: Option<&Session>) -> Option<Session> {
    let mut session = before.cloned()?;
    session.prompts += 1;
    Some(session)
}

#[test]
fn a_message_is_found_while_it_still_grows() {
    let store = Store::new(Memory::new());
    let mut recorder = Recorder::new("s");
    let found = |word: &str| {
        let term = TextTerm { tokens: vec![word.to_owned()], prefix: false };
        let scope = TextScope { owner: index::Owner::Log("s").name(), until: u32::MAX };
        store.storage().find_text(&term, &[scope]).unwrap()[0]
    };
    for (text, word) in [("Behold the head", "head"), ("line of it", "headline"), (" and more", "more")] {
        push(&mut recorder, &chunk("agent_message_chunk", text, None));
        recorder.flush(&store, &[], Durability::Relaxed).unwrap();
        assert_eq!(found(word), Some(1), "{word}");
    }
    assert_eq!(found("head"), None, "a word that went on is no word of its own");
    assert_eq!(found("behold"), Some(1));
}

#[test]
fn a_turns_tag_is_kept_and_ends_a_run() {
    let store = scripted(Vec::new());
    let mut recorder = Recorder::new("s");
    recorder.set_turn(Some("3f#1 ".to_owned()));
    push(&mut recorder, &chunk("agent_message_chunk", "a", None));
    recorder.flush(&store, &[], Durability::Relaxed).unwrap();
    recorder.set_turn(Some("31".to_owned()));
    push(&mut recorder, &chunk("agent_message_chunk", "b", None));
    recorder.push(Kind::TurnEnd, 2, "{}");
    recorder.push(Kind::Update, 3, "{}");
    recorder.flush(&store, &[], Durability::Relaxed).unwrap();
    let turns: Vec<_> = texts(&store).iter().map(|row| Entry::parse(row).unwrap().turn.map(str::to_owned)).collect();
    assert_eq!(turns, [Some("3f1".to_owned()), Some("31".to_owned()), Some("31".to_owned()), None]);
}

#[test]
fn a_store_that_fails_is_asked_again_only_when_as_much_has_come_and_given_a_piece_at_a_time() {
    let store = scripted((0..100).map(|_| Next::Fail(StorageError::Full)).collect());
    let mut recorder = Recorder::new("s");
    let text = format!("{{\"update\":\"{}\"}}", "word ".repeat(2000));
    let (mut pushed, mut attempts) = (0, 0);
    while pushed < 4 * 1024 * 1024 {
        recorder.push(Kind::Update, 1, &text);
        pushed += text.len();
        if recorder.is_full() {
            assert_eq!(recorder.flush(&store, &[], Durability::Relaxed), Err(StorageError::Full));
            assert!(!recorder.is_full());
            attempts += 1;
        }
    }
    assert!(attempts <= pushed / FULL, "{attempts} attempts for {pushed} bytes");
    let commits = store.storage().commits.borrow();
    assert!(commits.iter().all(|bytes| *bytes <= 1024 * 1024 + 64 * 1024), "{commits:?}");
    drop(commits);
    store.storage().next.borrow_mut().clear();
    recorder.flush(&store, &[], Durability::Relaxed).unwrap();
    assert_eq!(texts(&store).len(), pushed / text.len());
}

#[test]
fn what_a_full_store_could_not_take_is_bounded_and_its_lack_is_told() {
    let store = scripted((0..1000).map(|_| Next::Fail(StorageError::Full)).collect());
    let mut recorder = Recorder::new("s");
    let pushed = 3000;
    for number in 0..pushed {
        recorder.push(Kind::Update, number, &format!("{{\"update\":\"{}\"}}", "x".repeat(10_000)));
        if recorder.is_full() {
            assert!(recorder.flush(&store, &[], Durability::Relaxed).is_err());
        }
        assert!(recorder.backlog.bytes() <= backlog::LIMIT + 11_000);
    }
    store.storage().next.borrow_mut().clear();
    assert_eq!(recorder.flush(&store, &[], Durability::Relaxed), Ok(Flushed::Written));
    let rows = texts(&store);
    let gap = Entry::parse(&rows[0]).unwrap();
    let told: serde_json::Value = serde_json::from_str(gap.json).unwrap();
    assert_eq!((gap.kind, gap.time), (Kind::Gap, 0));
    assert_eq!(told["reason"], StorageError::Full.to_string());
    let kept: Vec<i64> = rows[1..].iter().map(|row| Entry::parse(row).unwrap().time).collect();
    let dropped = told["entries"].as_i64().unwrap();
    assert_eq!(kept, (dropped..pushed).collect::<Vec<_>>());
    assert!(gap.updates().is_empty(), "it is nothing that anybody said");
}

#[test]
fn a_store_that_works_takes_any_amount_at_once() {
    let store = scripted(Vec::new());
    let mut recorder = Recorder::new("s");
    for number in 0..20 {
        recorder.push(Kind::Update, number, &format!("\"{}\"", "x".repeat(1_000_000)));
    }
    recorder.flush(&store, &[], Durability::Relaxed).unwrap();
    let times: Vec<i64> = texts(&store).iter().map(|row| Entry::parse(row).unwrap().time).collect();
    assert_eq!(times, (0..20).collect::<Vec<_>>());
}

#[test]
fn an_entry_that_is_too_large_for_the_store_holds_up_no_other() {
    let store = Store::new(Scripted { longest: 2_000_000, ..Scripted::default() });
    let mut recorder = Recorder::new("s");
    for (number, length) in [(0, 10), (1, 10), (2, 3_000_000), (3, 10)] {
        recorder.push(Kind::Update, number, &format!("\"{}\"", "x".repeat(length)));
    }
    recorder.flush(&store, &[], Durability::Relaxed).unwrap();
    let rows = texts(&store);
    let kinds: Vec<_> = rows.iter().map(|row| Entry::parse(row).unwrap()).map(|row| (row.kind, row.time)).collect();
    assert_eq!(kinds, [(Kind::Update, 0), (Kind::Update, 1), (Kind::Gap, 2), (Kind::Update, 3)]);
}

#[test]
fn a_turns_end_is_one_commit() {
    let store = scripted(Vec::new());
    session(&store);
    let mut recorder = Recorder::new("s");
    recorder.push(Kind::Prompt, 1, "{\"prompt\":[],\"messageId\":\"1\"}");
    push(&mut recorder, &chunk("agent_message_chunk", "a", None));
    recorder.flush(&store, &[], Durability::Relaxed).unwrap();
    push(&mut recorder, &chunk("agent_message_chunk", "b", None));
    recorder.push(Kind::TurnEnd, 2, "{}");
    store.storage().next.borrow_mut().push(Next::Fail(StorageError::Full));
    let before = store.storage().commits.borrow().len();
    let mut end = |store: &Store<Scripted>| {
        recorder.flush_with_end(store, Durability::Durable, |before, end, _, writes| {
            writes.push(Write::Put { key: "g/s".into(), value: end.last.to_string() });
            Ok(count_prompt(before).map_or(Decision::Keep, Decision::put))
        })
    };
    assert!(end(&store).is_err());
    assert_eq!((texts(&store).len(), store.session("s").unwrap().unwrap().prompts), (2, 0));
    let (flushed, changed) = end(&store).unwrap();
    assert_eq!(flushed, Flushed::Written);
    assert!(matches!(changed, Changed::Done { after: Some(after), .. } if after.prompts == 1));
    assert_eq!(store.storage().commits.borrow().len(), before + 2);
    assert_eq!(texts(&store).len(), 3);
    assert_eq!(store.record("g/s".into()).unwrap().as_deref(), Some("3"));
    assert!(!recorder.is_dirty());
}

#[test]
fn a_turns_end_finds_its_place_again_whoever_was_faster() {
    let revision = || Write::Put { key: keys::REVISION.to_owned(), value: "77".to_owned() };
    let entry = |seq| Write::Append { log: "s".into(), seq, value: Entry::text(Kind::Fork, 1, "{}") };
    for (theirs, rows) in [(vec![revision()], 2), (vec![revision(), entry(2)], 4), (vec![entry(2)], 4)] {
        let store = scripted(Vec::new());
        session(&store);
        let mut recorder = Recorder::new("s");
        push(&mut recorder, &chunk("agent_message_chunk", "one ", Some("1")));
        recorder.flush(&store, &[], Durability::Relaxed).unwrap();
        push(&mut recorder, &chunk("agent_message_chunk", "two", Some("1")));
        recorder.push(Kind::TurnEnd, 2, "{}");
        store.storage().next.borrow_mut().push(Next::Race(theirs));
        let decide = |before: Option<&Session>, _: &mut Vec<_>, _: &mut Vec<_>| {
            Ok(count_prompt(before).map_or(Decision::Keep, Decision::put))
        };
        recorder.flush_with(&store, Durability::Relaxed, decide).unwrap();
        let found = texts(&store);
        assert_eq!(found.len(), rows, "{found:?}");
        let said: String = found
            .iter()
            .flat_map(|row| Entry::parse(row).unwrap().updates())
            .map(|update| {
                let update: serde_json::Value = serde_json::from_str(&update).unwrap();
                update["content"]["text"].as_str().unwrap().to_owned()
            })
            .collect();
        assert_eq!(said, "one two");
        assert_eq!(store.session("s").unwrap().unwrap().prompts, 1);
    }
}

#[test]
fn entries_are_written_where_the_record_stays_as_it_is() {
    let entry = Write::Append { log: "s".into(), seq: 1, value: Entry::text(Kind::Fork, 1, "{}") };
    for next in [Vec::new(), vec![Next::Race(vec![entry])]] {
        let store = scripted(next);
        let mut recorder = Recorder::new("s");
        recorder.push(Kind::TurnEnd, 2, "{}");
        let (flushed, changed) = recorder
            .flush_with(&store, Durability::Relaxed, |_, _, writes| {
                writes.push(Write::Put { key: "g/s".into(), value: "state".into() });
                Ok(Decision::Keep)
            })
            .unwrap();
        assert!(matches!((flushed, changed), (Flushed::Written, Changed::Nothing)));
        assert_eq!(Entry::parse(texts(&store).last().unwrap()).unwrap().kind, Kind::TurnEnd);
        assert_eq!(store.record("g/s".into()).unwrap().as_deref(), Some("state"));
        assert!(!recorder.is_dirty());
    }
}

#[test]
fn the_turn_of_a_session_that_was_deleted_meanwhile_leaves_nothing() {
    let mark = || Write::Put { key: keys::tombstone("s"), value: "1".to_owned() };
    for is_early in [true, false] {
        let store = scripted(Vec::new());
        session(&store);
        if is_early {
            store.commit(&[], vec![mark()], Durability::Relaxed).unwrap();
        } else {
            store.storage().next.borrow_mut().push(Next::Race(vec![mark()]));
        }
        let mut recorder = Recorder::new("s");
        recorder.push(Kind::TurnEnd, 2, "{}");
        let decide = |before: Option<&Session>, _: &mut Vec<_>, _: &mut Vec<_>| {
            Ok(count_prompt(before).map_or(Decision::Keep, Decision::put))
        };
        let (flushed, changed) = recorder.flush_with(&store, Durability::Relaxed, decide).unwrap();
        assert!(matches!((flushed, changed), (Flushed::Deleted, Changed::Nothing)));
        assert!(texts(&store).is_empty() && !recorder.is_dirty());
    }
}

#[test]
fn numbers_that_run_out_are_refused_and_never_begin_anew() {
    for (end, written, texts) in [
        (LAST_PART - 1, Ok(Flushed::Written), 1),
        (LAST_PART, Ok(Flushed::Written), 0),
        (LAST_SEQ - 1, Ok(Flushed::Written), 0),
        (LAST_SEQ, Err(StorageError::TooLarge), 0),
    ] {
        let store = Store::new(Memory::with_log_end("s", end));
        let mut recorder = Recorder::new("s");
        push(&mut recorder, &chunk("agent_message_chunk", "words", None));
        assert_eq!(recorder.flush(&store, &[], Durability::Relaxed), written, "{end}");
        assert_eq!(store.storage().log_end("s"), Ok(end + u32::from(written.is_ok())));
        assert_eq!(store.storage().counts().2, texts, "{end}");
    }
}
