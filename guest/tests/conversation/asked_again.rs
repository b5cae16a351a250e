//! A prompt that its agent tells once more in the midst of the answer, as opencode does behind the summary for which it had to compact the
//! conversation first.

use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{World, chunk};
use crate::scenes::{Turns, as_shown, begun, leave, shown_later};

const SUMMARY: &str = "## Goal: all of it. ";
const HAD: Turns<'static> = &[("one", "First."), ("two", "## Goal: all of it. Second."), ("three", "Third.")];

/// What is shown of a conversation where its agent tells these turns, and whether something is set aside for that.
fn shown(store: &Memory, world: &World, told: Turns<'_>) -> (String, bool) {
    let messages = |nth: usize, (prompt, answer): &(&str, &str)| {
        [("user_message_chunk", *prompt), ("agent_message_chunk", *answer)].map(|(kind, text)| {
            let mut message = chunk(kind, text);
            message["messageId"] = format!("{kind} {nth}").into();
            message
        })
    };
    let told: Vec<Value> = told.iter().enumerate().flat_map(|(nth, turn)| messages(nth, turn)).collect();
    shown_later(store, world, &told)
}

#[test]
fn the_turn_stays_as_it_was_shown() {
    for (had, told) in [
        (HAD, &[HAD[0], ("two", SUMMARY), ("two", "Second."), HAD[2]][..]),
        (&HAD[..2], &[HAD[0], ("two", SUMMARY), ("two", "Second.")]),
        (&HAD[1..], &[("two", SUMMARY), ("two", "Second."), HAD[2]]),
        (&HAD[1..2], &[("two", "## Goal: "), ("two", "all of it. "), ("two", "Second.")]),
        (
            &[HAD[1], HAD[1], HAD[2]],
            &[("two", SUMMARY), ("two", "Second."), ("two", SUMMARY), ("two", "Second."), HAD[2]],
        ),
        (&[("two", "Other."), HAD[1], HAD[2]], &[("two", "Other."), ("two", SUMMARY), ("two", "Second."), HAD[2]]),
    ] {
        let (store, world) = (Memory::new(), World::unrecorded());
        leave(begun(&store, &world, &json!({"loadSession": true}), had));
        for since in [&[][..], &[("four", "Fourth.")], &[("four", "Fourth.")]] {
            let expected = as_shown(&[had, since].concat());
            assert_eq!(shown(&store, &world, &[told, since].concat()), (expected, false), "{told:?} {since:?}");
        }
    }
}

#[test]
fn a_prompt_that_was_given_twice_is_shown_twice() {
    for told in [
        &[HAD[0], ("two", SUMMARY), ("two", "Otherwise."), ("four", "Fourth.")][..],
        &[HAD[0], HAD[1], HAD[1], ("four", "Fourth.")],
        &[HAD[0], HAD[1], ("two", SUMMARY), ("two", "Again."), ("four", "Fourth.")],
    ] {
        let (store, world) = (Memory::new(), World::unrecorded());
        leave(begun(&store, &world, &json!({"loadSession": true}), &HAD[..2]));
        for time in ["first", "again"] {
            assert_eq!(shown(&store, &world, told).0, as_shown(told), "{told:?} {time}");
        }
    }
}
