//! Turns that a crash cut off: their tool calls would be replayed as pending for ever.
//!
//! A turn that another process is still working on looks the same; whoever mends has to know that there is none.

use super::entry::{Entry, Kind};
use super::open_calls::{CallChange, OpenCalls};
use super::spans::{BATCH, Spans};
use crate::rpc::Object;
use crate::storage::{Result, Storage};
use crate::store::Session;

/// How far back is looked, in entries and, about, in bytes.
const LOOK_BACK: u64 = 4000;
const LOOK_BACK_BYTES: usize = 16 * 1024 * 1024;

/// The end of a turn whose window is taken for gone, as JSON.
const END: &str = r#"{"error":{"message":"interrupted"}}"#;

/// A turn that began and did not end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfinished {
    /// Its tag, for what is appended to bear it as well; `None` for a turn of a log without tags.
    pub turn: Option<String>,
    /// Its tool calls that did not end.
    pub calls: OpenCalls,
}

/// What of an entry matters here.
#[derive(Debug)]
struct Fact {
    tag: Option<String>,
    what: What,
}

#[derive(Debug)]
enum What {
    Begins,
    Ends,
    Call(CallChange),
    Other,
}

/// The unfinished turns near the end of a session's transcript, in the order they began in. What the record says has
/// ended is not looked at.
pub fn unfinished<S: Storage>(storage: &S, session: &Session) -> Result<Vec<Unfinished>> {
    let mut turns: Vec<Turn> = Vec::new();
    for fact in facts(storage, &Spans::of(storage, session)?, session.settled)? {
        let is_prompt = matches!(fact.what, What::Begins);
        if is_prompt {
            turns.retain(|turn| turn.is_open || turn.tag != fact.tag);
        }
        let known = turns.iter().position(|turn| turn.tag == fact.tag);
        // Without a tag only a prompt shows that a turn began: an agent's own history has neither it nor an end.
        if known.is_none() && !is_prompt && fact.tag.is_none() {
            continue;
        }
        let at = known.unwrap_or_else(|| {
            turns.push(Turn { tag: fact.tag, is_open: true, calls: OpenCalls::default() });
            turns.len() - 1
        });
        turns[at].take_in(fact.what);
    }
    let unfinished = turns.into_iter().filter(|turn| turn.is_open);
    Ok(unfinished.map(|Turn { tag, calls, .. }| Unfinished { turn: tag, calls }).collect())
}

/// What to append to the log, with the turn's tag: an end for each of its calls, and its own.
pub fn entries(unfinished: &Unfinished) -> Vec<(Kind, String)> {
    let calls = unfinished.calls.failed().into_iter();
    let calls = calls.map(|update| (Kind::Update, format!("{{\"update\":{update}}}")));
    calls.chain([(Kind::TurnEnd, END.to_owned())]).collect()
}

/// Whether this is such an end of a turn: its window was taken for gone.
pub fn is_end_of_turn(entry: &Entry<'_>) -> bool {
    entry.kind == Kind::TurnEnd && entry.json == END
}

/// Whether this is such an end of a call: nothing but that it has failed.
pub(super) fn is_end_of_call(entry: &Entry<'_>) -> bool {
    let update = Object::parse(entry.json).and_then(|params| params.get("update").map(str::to_owned));
    entry.kind == Kind::Update && update.is_some_and(|update| OpenCalls::is_failed(&update))
}

#[derive(Debug)]
struct Turn {
    tag: Option<String>,
    is_open: bool,
    calls: OpenCalls,
}

impl Turn {
    fn take_in(&mut self, what: What) {
        match what {
            What::Ends => self.is_open = false,
            What::Call(change) if self.is_open => self.calls.change(change),
            // What comes behind the end changes nothing about it.
            What::Call(_) | What::Begins | What::Other => {}
        }
    }
}

/// The facts of the last entries behind this place, in their order.
fn facts<S: Storage>(storage: &S, spans: &Spans, settled: u64) -> Result<Vec<Fact>> {
    let mut windows: Vec<Vec<Fact>> = Vec::new();
    let (mut end, mut bytes) = (spans.length(), 0);
    let last = end.saturating_sub(LOOK_BACK).max(settled);
    while end > last && bytes < LOOK_BACK_BYTES {
        let start = end.saturating_sub(u64::from(BATCH.limit)).max(last);
        let mut window = Vec::new();
        spans.each(storage, start, end, |_, text| {
            bytes += text.len();
            window.extend(Entry::parse(text).map(|entry| fact(&entry)));
        })?;
        windows.push(window);
        end = start;
    }
    Ok(windows.into_iter().rev().flatten().collect())
}

fn fact(entry: &Entry<'_>) -> Fact {
    let what = match entry.kind {
        Kind::Prompt => What::Begins,
        Kind::TurnEnd => What::Ends,
        Kind::Update if entry.json.contains("toolCallId") => {
            let params = Object::parse_or_empty(entry.json);
            params.get("update").and_then(CallChange::of).map_or(What::Other, What::Call)
        }
        _ => What::Other,
    };
    Fact { tag: entry.turn.map(str::to_owned), what }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::storage::{Durability, Memory};
    use crate::store::{Segment, Store};
    use crate::transcript::{Progress, Recorder, Replay, Start};

    /// Records a conversation: `P` a prompt, `E` its end, `(` and `)` a call's, `.` a message; a digit sets the turn (up
    /// to its end), `0` none.
    fn record(store: &Store<Memory>, log: &str, script: &str) {
        let mut recorder = Recorder::new(log);
        let mut turn = None;
        for letter in script.chars() {
            let call = |kind: &str, status: &str| {
                let id = format!("call of {}", turn.clone().unwrap_or_default());
                let update = json!({"sessionUpdate": kind, "toolCallId": id, "status": status, "title": "t"});
                json!({ "update": update }).to_string()
            };
            match letter {
                'P' => recorder.push(Kind::Prompt, 1, "{\"prompt\":[],\"messageId\":\"1\"}"),
                'E' => recorder.push(Kind::TurnEnd, 1, "{\"stopReason\":\"end_turn\"}"),
                '(' => recorder.push(Kind::Update, 1, &call("tool_call", "in_progress")),
                ')' => recorder.push(Kind::Update, 1, &call("tool_call_update", "completed")),
                '.' => recorder.push(Kind::Update, 1, "{\"update\":{\"sessionUpdate\":\"agent_message_chunk\"}}"),
                digit => {
                    turn = Some(format!("t{digit}")).filter(|_| digit != '0');
                    recorder.set_turn(turn.clone());
                }
            }
        }
        recorder.flush(store, &[], Durability::Relaxed).unwrap();
    }

    fn found(store: &Store<Memory>, session: &Session) -> Vec<String> {
        let unfinished = unfinished(store.storage(), session).unwrap();
        unfinished.iter().map(|one| format!("{:?} {:?}", one.turn.as_deref().unwrap_or("-"), one.calls.ids())).collect()
    }

    fn session() -> Session {
        Session::new("s".to_owned(), "/w".to_owned(), 1)
    }

    #[test]
    fn turns_without_an_end_are_found_with_their_open_calls_and_mended_once() {
        let long = format!("1P(2P.E0{}", ".".repeat(5000));
        for (script, expected) in [
            ("", vec![]),
            ("1P.()E2P.E", vec![]),
            ("1P.(", vec![r#""t1" ["call of t1"]"#]),
            ("1P.()2P(", vec![r#""t1" []"#, r#""t2" ["call of t2"]"#]),
            ("1P(2P.1.2.E", vec![r#""t1" ["call of t1"]"#]),
            // Behind its end nothing opens a turn again but a prompt.
            ("1P.E1.(", vec![]),
            ("1P.E1P(", vec![r#""t1" ["call of t1"]"#]),
            // The call of a turn that ended is its agent's business.
            ("1P(E2PE", vec![]),
            ("1.(", vec![r#""t1" ["call of t1"]"#]),
            // Logs without tags; without a prompt it is a history taken over from an agent.
            ("P.()E", vec![]),
            ("P.(", vec![r#""-" ["call of "]"#]),
            (".(..", vec![]),
            (&long, vec![]),
        ] {
            let (store, session) = (Store::new(Memory::new()), session());
            record(&store, "s", script);
            assert_eq!(found(&store, &session), expected, "{script:.20}");
            let mut recorder = Recorder::new("s");
            for one in unfinished(store.storage(), &session).unwrap() {
                recorder.set_turn(one.turn.clone());
                for (kind, json) in entries(&one) {
                    recorder.push(kind, 2, &json);
                }
            }
            recorder.flush(&store, &[], Durability::Relaxed).unwrap();
            assert_eq!(found(&store, &session), Vec::<String>::new(), "{script:.20}");
        }
    }

    #[test]
    fn a_mended_turn_is_replayed_with_its_calls_failed() {
        let (store, session) = (Store::new(Memory::new()), session());
        record(&store, "s", "1P(2P.E");
        let mut recorder = Recorder::new("s");
        let one = unfinished(store.storage(), &session).unwrap().remove(0);
        recorder.set_turn(one.turn.clone());
        for (kind, json) in entries(&one) {
            recorder.push(kind, 2, &json);
        }
        recorder.flush(&store, &[], Durability::Relaxed).unwrap();
        let mut replay = Replay::open(store.storage(), &session, Start::Beginning).unwrap();
        let mut texts = Vec::new();
        while let Progress::Entries(entries) = replay.next(store.storage(), u32::MAX).unwrap() {
            texts.extend(entries.into_iter().map(|(_, text)| text));
        }
        let read: Vec<_> = texts.iter().map(|text| Entry::parse(text).unwrap()).collect();
        assert_eq!(read.iter().map(|entry| entry.turn.unwrap()).collect::<String>(), "t1t1t1t1t2t2t2");
        assert!(read[2].json.contains("\"failed\"") && read[3].json == r#"{"error":{"message":"interrupted"}}"#);
    }

    #[test]
    fn what_a_fork_took_of_a_turn_under_way_is_unfinished_in_the_fork() {
        let store = Store::new(Memory::new());
        record(&store, "parent", "1PE1P()");
        record(&store, "parent", "1E");
        let mut fork = session();
        fork.segments.push(Segment { log: "parent".to_owned(), from: 1, until: 4 });
        assert_eq!(found(&store, &fork), [r#""t1" ["call of t1"]"#]);
        record(&store, "s", "2PE");
        assert_eq!(found(&store, &fork), [r#""t1" ["call of t1"]"#]);
    }
}
