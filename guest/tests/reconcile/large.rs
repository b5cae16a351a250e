//! Long conversations, where not every turn can be compared with every other.

use acp_sessions_guest::reconcile::{Fold, Piece, Turn, align, plan};
use acp_sessions_guest::transcript::{Entry, Kind};

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
