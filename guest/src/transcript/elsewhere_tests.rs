//! What is shown of others' turns, against what was said in them.

use std::cmp::Ordering;

use proptest::prelude::*;
use serde_json::json;

use super::elsewhere::{Elsewhere, Growing, Own, Shown};
use super::entry::{Entry, Kind};
use super::replay::{Replay, Start};
use crate::storage::{Durability, Memory, Write};
use crate::store::{Session, Store};

/// What happens to a log, which windows write to: the first is the own one.
#[derive(Debug, Clone, Copy)]
enum Event {
    /// A window says something in its turn.
    Say(u8),
    /// The last entry grows, if a window has said it.
    Grow,
    /// A window's turn ends.
    End(u8),
    /// A window is taken for gone.
    Leave(u8),
    /// An agent says something between turns.
    Aside(u8),
    Look,
    /// The same before the own window says something.
    LookAhead,
    /// The same when nothing has been said for a while.
    LookAtQuiet,
    Show(usize),
    /// The instance is lost, and what was kept is taken up.
    Lose,
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let window = 0..3_u8;
    let event = prop_oneof![
        4 => window.clone().prop_map(Event::Say),
        2 => Just(Event::Grow),
        3 => window.clone().prop_map(Event::End),
        1 => window.clone().prop_map(Event::Leave),
        1 => window.prop_map(Event::Aside),
        3 => Just(Event::Look),
        1 => Just(Event::LookAhead),
        1 => Just(Event::LookAtQuiet),
        2 => (0..40_usize).prop_map(Event::Show),
        1 => Just(Event::Lose),
    ];
    prop::collection::vec(event, 0..60)
}

/// The log, and what was said in it.
struct Log {
    store: Store<Memory>,
    session: Session,
    end: u32,
    /// Entries as they are by now.
    texts: Vec<(Writer, String)>,
    /// How many turns of each window have ended.
    turns: Vec<u32>,
    words: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Writer {
    Turn { window: u8, nth: u32, is_end: bool },
    Aside(u8),
}

fn tag(window: u8, nth: u32) -> String {
    format!("w{window}t{nth}")
}

impl Log {
    fn new() -> Self {
        let store = Store::new(Memory::new());
        let session = Session::new("s".to_owned(), "/w".to_owned(), 1);
        Self { store, session, end: 0, texts: Vec::new(), turns: vec![0; 3], words: 0 }
    }

    fn entry(writer: Writer, text: &str) -> String {
        let params = json!({"update": {
            "sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}, "messageId": "m",
        }});
        match writer {
            Writer::Turn { window, nth, is_end: true } => {
                Entry::tagged(Kind::TurnEnd, 1, Some(&tag(window, nth)), "{}")
            }
            Writer::Turn { window, nth, .. } => {
                Entry::tagged(Kind::Update, 1, Some(&tag(window, nth)), &params.to_string())
            }
            Writer::Aside(window) => {
                Entry::text(Kind::Update, 1, &params.to_string()).replacen("u1", &format!("u1@a{window}"), 1)
            }
        }
    }

    fn word(&mut self) -> String {
        self.words += 1;
        format!("{}é ", self.words)
    }

    fn append(&mut self, writer: Writer) {
        let text = if let Writer::Turn { is_end: true, .. } = writer { String::new() } else { self.word() };
        self.end += 1;
        let value = Self::entry(writer, &text);
        self.texts.push((writer, text));
        self.write(Write::Append { log: "s".to_owned(), seq: self.end, value });
    }

    fn grow(&mut self) {
        let word = self.word();
        let Some((writer, text)) = self.texts.last_mut() else { return };
        if let Writer::Turn { is_end: true, .. } = writer {
            return;
        }
        text.push_str(&word);
        let value = Self::entry(*writer, text);
        self.write(Write::Amend { log: "s".to_owned(), seq: self.end, value });
    }

    fn write(&self, write: Write) {
        self.store.commit(&[], vec![write], Durability::Relaxed).unwrap();
    }

    /// What others' turns came to that have ended, in the order in which they did, and what their agents said between turns
    /// that something follows: of the entries from the one `from` on, and of that one what stands behind so many bytes.
    fn said_elsewhere(&self, from: usize, behind: usize) -> String {
        let rest = |at: usize, text: &str| match (at + 1).cmp(&from) {
            Ordering::Less => String::new(),
            Ordering::Equal => text[behind..].to_owned(),
            Ordering::Greater => text.to_owned(),
        };
        let mut said = String::new();
        for (at, (writer, text)) in self.texts.iter().enumerate() {
            match *writer {
                Writer::Turn { window: window @ 1.., nth, is_end: true } => {
                    let its = Writer::Turn { window, nth, is_end: false };
                    let turn = self.texts.iter().enumerate().filter(|(_, (writer, _))| *writer == its);
                    said.extend(turn.map(|(at, (_, text))| rest(at, text)));
                }
                Writer::Aside(1..) if at + 1 < self.texts.len() => said.push_str(&rest(at, text)),
                _ => {}
            }
        }
        said
    }
}

fn text_of(entry: &str) -> String {
    let entry = Entry::parse(entry).unwrap();
    let params: serde_json::Value = serde_json::from_str(entry.json).unwrap();
    params["update"]["content"]["text"].as_str().unwrap_or_default().to_owned()
}

fn sorted_words(text: &str) -> Vec<&str> {
    let mut words: Vec<_> = text.split_whitespace().collect();
    words.sort_unstable();
    words
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn each_turn_elsewhere_is_shown_whole_and_once(before in events(), events in events()) {
        let mut log = Log::new();
        let own = Own { turns: "w0".to_owned(), speakers: vec!["a0".to_owned()] };
        let happen = |log: &mut Log, event: Event| match event {
            Event::Say(window) => {
                let nth = log.turns[usize::from(window)];
                log.append(Writer::Turn { window, nth, is_end: false });
            }
            Event::Grow => log.grow(),
            Event::End(window) => {
                let nth = log.turns[usize::from(window)];
                log.turns[usize::from(window)] += 1;
                log.append(Writer::Turn { window, nth, is_end: true });
            }
            Event::Aside(window) => log.append(Writer::Aside(window)),
            Event::Look
            | Event::LookAhead
            | Event::LookAtQuiet
            | Event::Leave(_)
            | Event::Show(_)
            | Event::Lose => {}
        };
        for event in before {
            happen(&mut log, event);
        }
        // The client is shown what stands there by now.
        let mut replay = Replay::open(log.store.storage(), &log.session, Start::Beginning).unwrap();
        while replay.next_texts(log.store.storage(), 30).unwrap().is_some() {}
        let shown = replay.shown(&log.session);
        prop_assert_eq!(shown.end, log.end);
        let from = usize::try_from(shown.end).unwrap();
        let behind = log.texts.last().map_or(0, |(_, text)| text.len());
        let mut elsewhere = Elsewhere::default();
        elsewhere.note_shown(shown, &own);
        let (mut seen, mut known) = (String::new(), log.end);
        let show = |elsewhere: &mut Elsewhere, log: &Log, room, seen: &mut String| {
            let next = elsewhere.next(log.store.storage(), &log.session, room).unwrap();
            seen.extend(next.iter().flat_map(|part| &part.entries).map(|entry| text_of(entry)));
            next.is_some()
        };
        let look = |elsewhere: &mut Elsewhere, log: &Log, known: &mut u32, growing| {
            if log.end > *known {
                elsewhere.written_behind(*known);
                *known = log.end;
            }
            elsewhere.look(log.store.storage(), "s", &own, growing).unwrap();
        };
        let is_any_left = events.iter().any(|event| matches!(event, Event::Leave(1..)));
        let is_any_ahead = events.iter().any(|event| matches!(event, Event::LookAhead | Event::LookAtQuiet));
        for event in events {
            match event {
                Event::Look => look(&mut elsewhere, &log, &mut known, Growing::Waits),
                Event::LookAhead => look(&mut elsewhere, &log, &mut known, Growing::IsShown),
                Event::LookAtQuiet => look(&mut elsewhere, &log, &mut known, Growing::IsQuiet),
                Event::Leave(window) => {
                    look(&mut elsewhere, &log, &mut known, Growing::Waits);
                    let is_its = |turn: &&str| turn.starts_with(&format!("w{window}"));
                    let gone = elsewhere.begun().filter(is_its).map(str::to_owned).collect();
                    elsewhere.end_begun(&gone);
                }
                Event::Show(room) => {
                    show(&mut elsewhere, &log, room, &mut seen);
                }
                Event::Lose => {
                    let kept = serde_json::to_string(&elsewhere).unwrap();
                    elsewhere = serde_json::from_str(&kept).unwrap();
                }
                event => happen(&mut log, event),
            }
        }
        if is_any_left {
            // Those that were taken for gone go on, to the end of their turns.
            for window in 1..3 {
                happen(&mut log, Event::End(window));
            }
        }
        if is_any_ahead {
            // What was shown in part is over.
            log.append(Writer::Turn { window: 0, nth: log.turns[0], is_end: true });
        }
        loop {
            look(&mut elsewhere, &log, &mut known, Growing::Waits);
            if !elsewhere.is_any_over() {
                break;
            }
            while show(&mut elsewhere, &log, usize::MAX, &mut seen) {}
        }
        let said = log.said_elsewhere(from, behind);
        if is_any_ahead || is_any_left {
            // Perhaps in another order, as words were shown before they were all there.
            prop_assert_eq!(sorted_words(&seen), sorted_words(&said));
        } else {
            prop_assert_eq!(seen, said);
        }
    }
}

#[test]
fn of_turns_that_nobody_is_at_any_more_all_is_shown() {
    let mut log = Log::new();
    log.append(Writer::Turn { window: 1, nth: 0, is_end: false });
    log.append(Writer::Turn { window: 0, nth: 0, is_end: false });
    let own = Own { turns: "w0".to_owned(), speakers: Vec::new() };
    let mut elsewhere = Elsewhere::default();
    elsewhere.note_shown(Shown { end: 0, cut: None }, &own);
    elsewhere.written_behind(0);
    elsewhere.look(log.store.storage(), "s", &own, Growing::Waits).unwrap();
    assert!(elsewhere.is_any_begun() && !elsewhere.is_any_over());
    elsewhere.end_begun(&elsewhere.begun().map(str::to_owned).collect());
    let next = elsewhere.next(log.store.storage(), &log.session, 1).unwrap().unwrap();
    assert_eq!(next.entries.iter().map(|entry| text_of(entry)).collect::<Vec<_>>(), ["1é "]);
    assert_eq!(elsewhere.next(log.store.storage(), &log.session, 1).unwrap(), None);
    assert!(elsewhere.is_idle());
}

#[test]
fn the_rest_of_what_was_shown_in_part_is_as_it_was_said() {
    let mut log = Log::new();
    let beside = r#""n":[18446744073709551617,0.10000000000000000001,1e400],"b":1.0,"a":1E0"#;
    let entry = |text: &str| {
        let json = format!(
            r#"{{"update":{{"sessionUpdate":"agent_message_chunk","content":{{{beside},"text":"{text}","type":"text"}},{beside}}},"_meta":{{{beside}}}}}"#
        );
        Entry::tagged(Kind::Update, 1, Some("w1t0"), &json)
    };
    let own = Own { turns: "w0".to_owned(), speakers: Vec::new() };
    log.write(Write::Append { log: "s".to_owned(), seq: 1, value: entry("So far") });
    let mut elsewhere = Elsewhere::default();
    elsewhere.note_shown(Shown::all(log.store.storage(), "s", 1).unwrap(), &own);
    log.write(Write::Amend { log: "s".to_owned(), seq: 1, value: entry("So far, so good") });
    log.end = 1;
    log.append(Writer::Turn { window: 1, nth: 0, is_end: true });
    elsewhere.written_behind(1);
    elsewhere.look(log.store.storage(), "s", &own, Growing::Waits).unwrap();
    let next = elsewhere.next(log.store.storage(), &log.session, usize::MAX).unwrap().unwrap();
    assert_eq!(next.entries[0], entry(", so good"));
}
