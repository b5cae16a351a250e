//! Long conversations, where not every turn can be compared with every other.

use std::collections::BTreeMap;

use acp_sessions_guest::reconcile::{Fold, Piece, Turn, align, plan, told};
use acp_sessions_guest::store::Known;
use acp_sessions_guest::transcript::{Entry, Kind};
use serde_json::{Value, json};

use crate::scene::strip;

/// Turns of two entries each: what the user says is the number, what the agent says as well.
fn turns(numbers: impl Iterator<Item = usize>) -> Vec<Turn> {
    said(numbers.map(|number| [number.to_string(), number.to_string()]))
}

fn said(turns: impl Iterator<Item = [String; 2]>) -> Vec<Turn> {
    let mut fold = Fold::new(strip);
    let mut last = 0;
    for turn in turns {
        for (kind, text) in ["user", "agent"].iter().zip(turn) {
            let update = format!(
                "{{\"update\":{{\"sessionUpdate\":\"{kind}_message_chunk\",\"content\":{{\"type\":\"text\",\"text\":\"{text}\"}}}}}}"
            );
            last += 1;
            fold.push(last, &Entry::text(Kind::Update, 1, &update));
        }
    }
    fold.finish(last)
}

const LENGTH: usize = 3000;

#[test]
fn edits_all_over_a_long_conversation_are_found() {
    // Every tenth turn is new in the replay, every seventh is left out.
    let log = turns(0..LENGTH);
    let kept = |number: &usize| number % 7 != 3;
    let replay = turns(
        (0..LENGTH)
            .filter(kept)
            .flat_map(|number| [Some(number), (number % 10 == 0).then_some(LENGTH + number)].into_iter().flatten()),
    );
    let pairs = align(&log, &replay);
    assert_eq!(pairs.len(), (0..LENGTH).filter(kept).count());
    assert!(pairs.iter().all(|(at, other)| log[*at].user == replay[*other].user));
    let plan = plan(&log, u64::MAX, &replay, false);
    assert_eq!(plan.planned(), 2 * LENGTH as u64);
    let inserted = plan.pieces.iter().filter(|piece| matches!(piece, Piece::Insert(_))).count();
    assert_eq!(inserted, (0..LENGTH).filter(kept).filter(|number| number % 10 == 0).count());
}

#[test]
fn a_long_conversation_of_which_every_prompt_is_replayed_otherwise_is_known_again() {
    let turn = |context: &str, number: usize| {
        [format!("{context}{number}"), format!("answer {number}, too long to be one by chance")]
    };
    let log = said((0..LENGTH).map(|number| turn("", number)));
    let replay = said((0..LENGTH).filter(|number| number % 7 != 3).map(|number| turn("context, ", number)));
    assert!(plan(&log, u64::MAX, &replay, false).keeps_all());
    assert_eq!(align(&log, &replay).len(), replay.len());
}

#[test]
fn a_long_conversation_of_few_words_is_not_taken_in_twice() {
    // No turn is the only one of its kind, and the ends differ, so that nothing can be taken for granted.
    let log = turns([1_000].into_iter().chain((0..LENGTH).map(|number| number * number % 5)).chain([1_001]));
    let replay = turns((0..LENGTH).filter(|number| number % 9 > 0).map(|number| number * number % 5));
    let plan = plan(&log, u64::MAX, &replay, false);
    assert!(plan.keeps_all(), "{:?}", plan.pieces.len());
    assert_eq!(align(&log, &replay).len(), replay.len());
}

#[test]
fn a_long_conversation_that_has_nothing_in_common_is_set_aside() {
    let (log, replay) = (turns(0..LENGTH), turns(LENGTH..2 * LENGTH));
    let plan = plan(&log, u64::MAX, &replay, false);
    let whole = 1..=2 * LENGTH as u64;
    assert_eq!((plan.pieces, plan.aside), (vec![Piece::Insert(whole.clone())], vec![whole]));
}

/// So many turns that comparing each with each would take long.
const TURNS: usize = 40_000;
/// More entries than sixteen bits count.
const ENTRIES: u64 = 70_000;

/// The turns of entries of a log that `agent` was prompted with: the tag of each, which begins with its window, when it was made, and a
/// prompt (`p`), words of the agent's (`a`), very many tool calls (`c`), the turn's end (`e`), that of one that was cancelled (`x`), or
/// that of one that was cut off (`!`).
fn logged(entries: &[(&str, i64, &str)]) -> Vec<Turn> {
    let (mut turns, mut last): (Vec<(&str, Vec<_>)>, _) = (Vec::new(), 0);
    let mut places = BTreeMap::new();
    for (tag, time, entry) in entries {
        let text = |text: &str| json!({"type": "text", "text": text});
        let update = |update: Value| (Kind::Update, json!({ "update": update }));
        let (kind, json) = match entry.split_at(1) {
            ("p", said) => (Kind::Prompt, json!({"prompt": [text(said)], "messageId": "p", "with": ["agent", "x"]})),
            ("a", said) => update(json!({"sessionUpdate": "agent_message_chunk", "content": text(said)})),
            ("c", _) => update(json!({"sessionUpdate": "tool_call", "toolCallId": "1", "title": "look"})),
            ("e", _) => (Kind::TurnEnd, json!({"stopReason": "end_turn"})),
            ("x", _) => (Kind::TurnEnd, json!({"stopReason": "cancelled"})),
            _ => (Kind::TurnEnd, json!({"error": {"message": "interrupted"}})),
        };
        let count = if *entry == "c" { ENTRIES } else { 1 };
        let place = *places.entry(*tag).or_insert_with(|| {
            turns.push((tag, Vec::new()));
            turns.len() - 1
        });
        turns[place].1.push((last + 1..=last + count, Entry::tagged(kind, *time, Some(tag), &json.to_string())));
        last += count;
    }
    // They are read turn by turn.
    let mut fold = Fold::new(strip).heard_by("agent", Some(&Known::new("x".to_owned(), 0)));
    for (numbers, entry) in turns.into_iter().flat_map(|(_, entries)| entries) {
        numbers.for_each(|number| fold.push(number, &entry));
    }
    fold.finish(last)
}

#[test]
fn a_turn_that_was_written_behind_very_many_entries_was_begun_before_them() {
    // The other window was at its turn when the first one ended, and could not write before the second had ended.
    let log = logged(&[
        ("oneoo1", 1, "pone"),
        ("oneoo1", 2, "aanswer to one"),
        ("oneoo1", 20, "e"),
        ("oneoo2", 21, "ptwo"),
        ("oneoo2", 22, "c"),
        ("oneoo2", 30, "x"),
        ("other1", 10, "pthree"),
        ("other1", 11, "aanswer to three"),
        ("other1", 31, "e"),
    ]);
    assert_eq!(log.len(), 3);
    // The other one's program has read nothing of what the first has kept, which so went back behind nothing.
    let plan = plan(&log, u64::MAX, &said_in_full([["one", "answer to one"]]), true);
    assert!(plan.keeps_all(), "{plan:?}");
}

#[test]
fn a_turn_that_was_ended_behind_very_many_entries_had_ended_before_them() {
    // The first window was killed, and whoever came last put an end to its turn.
    let log = logged(&[
        ("other1", 1, "pone"),
        ("other1", 2, "aanswer to one"),
        ("oneoo1", 3, "ptwo"),
        ("oneoo1", 4, "aanswer to two"),
        ("oneoo1", 5, "e"),
        ("oneoo2", 6, "pthree"),
        ("oneoo2", 7, "c"),
        ("oneoo2", 8, "aanswer to three"),
        ("oneoo2", 9, "e"),
        ("other1", 40, "!"),
    ]);
    assert_eq!(log.len(), 3);
    // The agent went back behind what was said after it.
    let plan = plan(&log, u64::MAX, &said_in_full([["one", "answer to one"]]), true);
    assert_eq!(plan.aside, [3..=8 + ENTRIES], "{plan:?}");
}

fn said_in_full<const TURNS: usize>(turns: [[&str; 2]; TURNS]) -> Vec<Turn> {
    said(turns.into_iter().map(|turn| turn.map(str::to_owned)))
}

/// Two windows, each at turns of its own, of which the program of the one has read nothing of the other's.
#[test]
fn what_an_agent_knows_of_a_long_conversation_of_two_windows_is_told_at_once() {
    let turn = |window: &str, at: usize| {
        let tag = format!("{window}{at}");
        let entry = |entry: String| (tag.clone(), entry);
        [entry(format!("p{tag}")), entry(format!("aanswer to {tag}")), entry("e".to_owned())]
    };
    let windows = ["other", "oneoo"].into_iter().flat_map(|window| (0..TURNS).flat_map(move |at| turn(window, at)));
    let entries: Vec<(String, String)> = windows.collect();
    let entries: Vec<(&str, i64, &str)> =
        entries.iter().map(|(tag, entry)| (tag.as_str(), 1, entry.as_str())).collect();
    let log = logged(&entries);
    let replay = said((0..TURNS).map(|at| [format!("oneoo{at}"), format!("answer to oneoo{at}")]));
    assert_eq!(told(&log, 0, &replay).heard, 0);
}
