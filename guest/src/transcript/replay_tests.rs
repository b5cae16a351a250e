//! Replays against a naive model of their order.

use proptest::prelude::*;

use super::entry::{Entry, Kind};
use super::position::Position;
use super::replay::{Progress, Replay, Start};
use super::turns::LookAhead;
use crate::storage::{Durability, Memory, Write};
use crate::store::{Segment, Session, Store};

/// One entry's turn (0: none) and what it is.
type Shape = (u8, Kind);

const AHEAD: LookAhead = LookAhead { entries: 5, bytes: 400 };

fn text(at: usize, (turn, kind): Shape) -> String {
    let tag = format!("t{turn}");
    Entry::tagged(
        kind,
        1,
        Some(&*tag).filter(|_| turn > 0),
        &format!("{{\"at\":{at},\"pad\":\"{}\"}}", "x".repeat(at * 37 % 90)),
    )
}

fn texts(shapes: &[Shape]) -> Vec<String> {
    shapes.iter().enumerate().map(|(at, shape)| text(at, *shape)).collect()
}

/// The order, from the whole.
fn model(texts: &[String], look_ahead: LookAhead) -> Vec<String> {
    let entries: Vec<Entry<'_>> = texts.iter().map(|text| Entry::parse(text).unwrap()).collect();
    let mut is_given = vec![false; texts.len()];
    let mut order = Vec::new();
    for first in 0..texts.len() {
        if is_given[first] {
            continue;
        }
        order.push(texts[first].clone());
        if entries[first].turn.is_none() || entries[first].kind == Kind::TurnEnd {
            continue;
        }
        let (mut quiet, mut quiet_bytes) = (0, 0);
        for at in first + 1..texts.len() {
            if quiet >= look_ahead.entries || quiet_bytes >= look_ahead.bytes {
                break;
            }
            if entries[at].turn != entries[first].turn {
                quiet += 1;
                quiet_bytes += texts[at].len();
                continue;
            }
            (quiet, quiet_bytes) = (0, 0);
            is_given[at] = true;
            order.push(texts[at].clone());
            if entries[at].kind == Kind::TurnEnd {
                break;
            }
        }
    }
    order
}

/// A session whose transcript is these texts, in parts of several logs, each of which holds more than its part.
fn stored(texts: &[String], cuts: &[usize]) -> (Store<Memory>, Session) {
    let store = Store::new(Memory::new());
    let mut session = Session::new("own".to_owned(), "/w".to_owned(), 1);
    let mut edges: Vec<usize> = cuts.iter().map(|cut| (*cut).min(texts.len())).collect();
    edges.extend([0, texts.len()]);
    edges.sort_unstable();
    let last = edges.len() - 2;
    for (number, edge) in edges.windows(2).enumerate() {
        let log = if number == last { "own".to_owned() } else { format!("log{number}") };
        let junk = || Entry::tagged(Kind::Update, 1, Some("t1"), "\"junk\"");
        let part = texts[edge[0]..edge[1]].to_vec();
        let length = u32::try_from(part.len()).unwrap();
        let after = if number == last { Vec::new() } else { vec![junk()] };
        let values = [junk(), junk()].into_iter().chain(part).chain(after);
        let writes = (1..).zip(values).map(|(seq, value)| Write::Append { log: log.clone(), seq, value });
        store.commit(&[], writes.collect(), Durability::Relaxed).unwrap();
        if number == last {
            session.tail = 3;
        } else {
            session.segments.push(Segment { log, from: 3, until: length + 2 });
        }
    }
    (store, session)
}

fn read(store: &Store<Memory>, replay: &mut Replay, rooms: &[u32]) -> Vec<(Position, String)> {
    let mut read = Vec::new();
    for round in 0.. {
        let room = rooms.get(round % rooms.len().max(1)).copied().unwrap_or(u32::MAX);
        match replay.next(store.storage(), room).unwrap() {
            Progress::Entries(entries) => {
                assert!(!entries.is_empty());
                read.extend(entries);
            }
            Progress::End => break,
        }
    }
    read
}

fn replayed(store: &Store<Memory>, session: &Session, start: Start, rooms: &[u32]) -> Vec<(Position, String)> {
    let mut replay = Replay::open_with(store.storage(), session, start, AHEAD).unwrap();
    read(store, &mut replay, rooms)
}

fn only_texts(entries: Vec<(Position, String)>) -> Vec<String> {
    entries.into_iter().map(|(_, text)| text).collect()
}

fn shapes() -> impl Strategy<Value = Vec<Shape>> {
    let kind = prop_oneof![
        8 => Just(Kind::Update), 1 => Just(Kind::Prompt), 1 => Just(Kind::TurnEnd), 1 => Just(Kind::PermissionAsked)
    ];
    prop::collection::vec((prop_oneof![1 => Just(0_u8), 5 => 1..5_u8], kind), 0..60)
}

proptest! {
    #[test]
    fn turns_come_in_the_order_of_the_model_whatever_the_pages(
        shapes in shapes(), cuts in prop::collection::vec(0..60_usize, 0..4), rooms in prop::collection::vec(0..800_u32, 1..5),
    ) {
        let texts = texts(&shapes);
        let (store, session) = stored(&texts, &cuts);
        prop_assert_eq!(only_texts(replayed(&store, &session, Start::Beginning, &rooms)), model(&texts, AHEAD));
    }

    #[test]
    fn a_replay_goes_on_at_every_cursor_as_if_it_had_not_stopped(
        shapes in shapes(), cuts in prop::collection::vec(0..60_usize, 0..4),
    ) {
        let (store, session) = stored(&texts(&shapes), &cuts);
        let whole = replayed(&store, &session, Start::Beginning, &[]);
        for (at, (position, _)) in whole.iter().enumerate() {
            let read = Position::from_cursor(&position.to_cursor(7));
            prop_assert_eq!(read.as_ref(), Some(&(7, position.clone())));
            let replay = Replay::open_with(store.storage(), &session, Start::At(position.clone()), AHEAD).unwrap();
            prop_assert!(replay.contains(position));
            let rest = replayed(&store, &session, Start::At(position.clone()), &[]);
            prop_assert_eq!(&rest, &whole[at + 1..]);
        }
    }

    #[test]
    fn what_is_added_while_a_replay_runs_comes_once(
        first in shapes(), then in shapes(), cuts in prop::collection::vec(0..60_usize, 0..4), steps in 0..20_usize,
    ) {
        let all: Vec<Shape> = first.iter().chain(&then).copied().collect();
        let mut all = texts(&all);
        let (store, session) = stored(&all[..first.len()], &cuts);
        let mut replay = Replay::open_with(store.storage(), &session, Start::Beginning, AHEAD).unwrap();
        let mut given = Vec::new();
        for _ in 0..steps {
            if let Progress::Entries(entries) = replay.next(store.storage(), 100).unwrap() {
                given.extend(entries);
            }
        }
        let end = crate::storage::Storage::log_end(store.storage(), "own").unwrap();
        let more = (end + 1..).zip(&all[first.len()..]);
        let more = more.map(|(seq, value)| Write::Append { log: "own".to_owned(), seq, value: value.clone() });
        store.commit(&[], more.collect(), Durability::Relaxed).unwrap();
        // Also by somebody who begins anew where the first one stopped.
        let place = Position::from_cursor(&replay.position().to_cursor(0)).unwrap().1;
        let mut other = given.clone();
        other.extend(replayed(&store, &session, Start::At(place), &[]));
        given.extend(read(&store, &mut replay, &[]));
        let is_more = replay.extend(store.storage(), &session).unwrap();
        prop_assert!(is_more || given.len() == all.len());
        given.extend(read(&store, &mut replay, &[]));
        prop_assert!(!replay.extend(store.storage(), &session).unwrap());
        all.sort();
        for given in [given, other] {
            let mut given = only_texts(given);
            given.sort();
            prop_assert_eq!(&given, &all);
        }
    }

    #[test]
    fn nothing_is_lost_where_too_many_turns_are_open_at_once(order in prop::collection::vec(1..60_u8, 0..200)) {
        let shapes: Vec<Shape> = order.into_iter().map(|turn| (turn, Kind::Update)).collect();
        let mut all = texts(&shapes);
        let (store, session) = stored(&all, &[]);
        let mut replay = Replay::open(store.storage(), &session, Start::Beginning).unwrap();
        let given = read(&store, &mut replay, &[3000]);
        for (position, _) in &given {
            prop_assert!(Position::from_cursor(&position.to_cursor(0)).is_some());
        }
        let mut given = only_texts(given);
        given.sort();
        all.sort();
        prop_assert_eq!(given, all);
    }

    #[test]
    fn any_cursor_is_refused_or_ends(shapes in shapes(), cursor in "r2-0-[0-9]{1,2}(-c[0-9]{1,3}\\.[0-9a-f]{8})?(-b[0-9]{1,2})?(-tt[1-4])?(-d[0-9]{1,2}\\.t[1-4]){0,3}") {
        let (store, session) = stored(&texts(&shapes), &[20]);
        if let Some((_, position)) = Position::from_cursor(&cursor) {
            let given = replayed(&store, &session, Start::At(position), &[50]);
            prop_assert!(given.len() <= shapes.len());
        }
    }
}

/// What happens to a log whose last entry may grow, and to somebody who reads it.
#[derive(Debug, Clone, Copy)]
enum Event {
    Say(u8),
    End(u8),
    Grow,
    /// So many pieces are read.
    Read(usize),
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let event = prop_oneof![
        4 => (1..4_u8).prop_map(Event::Say),
        1 => (1..4_u8).prop_map(Event::End),
        3 => Just(Event::Grow),
        3 => (1..4_usize).prop_map(Event::Read),
    ];
    prop::collection::vec(event, 0..60)
}

/// A message of a turn with as many words as there are in it.
fn message(at: usize, turn: u8, words: usize) -> String {
    let text = (0..words).fold(String::new(), |text, word| text + &format!("{at}.{word} "));
    let json = format!(
        "{{\"update\":{{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{{\"type\":\"text\",\"text\":\"{text}\"}}}}}}"
    );
    Entry::tagged(Kind::Update, 1, Some(&format!("t{turn}")), &json)
}

fn words_of(entries: &[String]) -> Vec<String> {
    let texts = entries.iter().map(|text| super::text::of_entry(text));
    texts.flat_map(|text| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// Somebody who reads a transcript while it grows, and keeps nothing but a cursor, or the replay.
struct Reader {
    cursor: Position,
    replay: Option<Replay>,
    given: Vec<String>,
}

impl Reader {
    fn read(&mut self, store: &Store<Memory>, session: &Session, pieces: usize) {
        let start = Start::At(self.cursor.clone());
        let mut replay =
            self.replay.take().unwrap_or_else(|| Replay::open_with(store.storage(), session, start, AHEAD).unwrap());
        assert!(replay.contains(replay.position()));
        for _ in 0..pieces {
            match replay.next(store.storage(), 50).unwrap() {
                Progress::Entries(entries) => {
                    for (position, text) in entries {
                        self.cursor = Position::from_cursor(&position.to_cursor(0)).unwrap().1;
                        self.given.push(text);
                    }
                }
                Progress::End if replay.extend(store.storage(), session).unwrap() => {}
                Progress::End => break,
            }
        }
        self.replay = Some(replay);
    }

    fn forget_replay(&mut self) {
        self.replay = None;
    }
}

proptest! {
    #[test]
    fn whoever_reads_on_is_given_each_word_once_though_entries_grow(
        events in events(), keeps in prop::bool::ANY, cuts in prop::collection::vec(0..3_usize, 0..2),
    ) {
        let begun: Vec<String> = (0..3).map(|at| message(at, 1, 1)).collect();
        let (store, session) = stored(&begun, &cuts);
        let end = |store: &Store<Memory>| crate::storage::Storage::log_end(store.storage(), "own").unwrap();
        let mut all = begun;
        let mut last = None;
        let mut reader = Reader { cursor: Position::default(), replay: None, given: Vec::new() };
        for event in events {
            match event {
                Event::Say(_) | Event::End(_) => {
                    let at = all.len();
                    let (text, grows) = match event {
                        Event::Say(turn) => (message(at, turn, 1), Some((at, turn, 1))),
                        Event::End(turn) => (text(at, (turn, Kind::TurnEnd)), None),
                        Event::Grow | Event::Read(_) => continue,
                    };
                    last = grows;
                    all.push(text.clone());
                    let append = Write::Append { log: "own".to_owned(), seq: end(&store) + 1, value: text };
                    store.commit(&[], vec![append], Durability::Relaxed).unwrap();
                }
                Event::Grow => {
                    let Some((at, turn, words)) = &mut last else { continue };
                    *words += 1;
                    let value = message(*at, *turn, *words);
                    all[*at].clone_from(&value);
                    let amend = Write::Amend { log: "own".to_owned(), seq: end(&store), value };
                    store.commit(&[], vec![amend], Durability::Relaxed).unwrap();
                }
                Event::Read(pieces) => {
                    reader.read(&store, &session, pieces);
                    if !keeps {
                        reader.forget_replay();
                    }
                }
            }
        }
        // A replay that is kept is not told of what has grown until something follows it: whoever has it looks at the log.
        reader.forget_replay();
        reader.read(&store, &session, usize::MAX);
        let (mut given, mut all) = (words_of(&reader.given), words_of(&all));
        given.sort();
        all.sort();
        prop_assert_eq!(given, all);
    }
}

#[test]
fn two_windows_turns_come_one_after_the_other() {
    let windows = |letters: &str| -> Vec<Shape> {
        letters
            .chars()
            .map(|letter| match letter {
                'a' | 'b' => (letter as u8 - b'a' + 1, Kind::Update),
                'A' | 'B' => (letter as u8 - b'A' + 1, Kind::TurnEnd),
                '1' | '2' => (letter as u8 - b'0', Kind::Prompt),
                _ => (0, Kind::Update),
            })
            .collect()
    };
    for (log, order) in [
        ("1aaA2bbB", "1aaA2bbB"),
        ("1a2bababAbB", "1aaaA2bbbbB"),
        ("1a.2.AbB", "1aA.2bB."),
        ("....", "...."),
        // A client that does not wait with its next prompt: both are one turn, whatever stands between them.
        ("1a2b1aAB", "1a1aA2bB"),
        // What is cut off stays together and holds nothing up.
        ("1a2babB", "1aa2bbB"),
    ] {
        let texts = texts(&windows(log));
        let (store, session) = stored(&texts, &[]);
        let mut replay = Replay::open(store.storage(), &session, Start::Beginning).unwrap();
        let given = only_texts(read(&store, &mut replay, &[]));
        let letter = |given: &String| {
            let at = texts.iter().position(|text| text == given).unwrap();
            char::from(log.as_bytes()[at])
        };
        assert_eq!(given.iter().map(letter).collect::<String>(), order);
    }
}

#[test]
fn the_last_updates_begin_at_their_place() {
    let update = |at: usize| format!("{{\"update\":{{\"at\":{at}}}}}");
    let all: Vec<String> = (0..1500).map(|at| Entry::tagged(Kind::Update, 1, Some("t"), &update(at))).collect();
    let (store, session) = stored(&all, &[100, 800]);
    for (last, expected) in [(0, 0), (1, 1), (600, 600), (1500, 1500), (9999, 1500)] {
        let mut replay = Replay::open(store.storage(), &session, Start::Last(last)).unwrap();
        assert_eq!(read(&store, &mut replay, &[]).len(), expected);
    }
}
