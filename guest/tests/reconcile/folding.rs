//! Entries as turns.

use std::ops::RangeInclusive;

use acp_sessions_guest::reconcile::{Asides, Fold, Grain, Sum, Turn};
use acp_sessions_guest::store::Known;
use acp_sessions_guest::transcript::{Entry, Kind, speaker};

use crate::scene::strip;

fn update(kind: &str, text: &str) -> String {
    let update = serde_json::json!({"sessionUpdate": kind, "content": {"type": "text", "text": text}});
    Entry::text(Kind::Update, 1, &serde_json::json!({ "update": update }).to_string())
}

/// An entry in short: `p` prompt, `u` and `a` what is said, `t` a thought, `c` a tool call, `e` an end, `f` a mark of a
/// fork, `i` an image, `?` something unreadable.
fn entry(short: &str) -> String {
    let text = &short[1..];
    match &short[..1] {
        "p" => {
            let block = |text: &str| serde_json::json!({"type": "text", "text": text});
            let blocks: Vec<_> = text.split('|').map(block).collect();
            Entry::text(Kind::Prompt, 1, &serde_json::json!({"prompt": blocks, "messageId": "p"}).to_string())
        }
        "u" => update("user_message_chunk", text),
        "a" => update("agent_message_chunk", text),
        "t" => update("agent_thought_chunk", text),
        "c" => Entry::text(
            Kind::Update,
            1,
            r#"{"update":{"sessionUpdate":"tool_call","toolCallId":"1","title":"x","content":[]}}"#,
        ),
        "i" => Entry::text(
            Kind::Update,
            1,
            r#"{"update":{"sessionUpdate":"user_message_chunk","content":{"type":"image","data":"x"}}}"#,
        ),
        "e" if text == "error" => Entry::text(Kind::TurnEnd, 1, r#"{"error":{"code":1}}"#),
        "e" => Entry::text(Kind::TurnEnd, 1, &format!("{{\"stopReason\":\"{text}\"}}")),
        "f" => Entry::text(Kind::Fork, 1, r#"{"fork":"x"}"#),
        _ => "z, from the future".to_owned(),
    }
}

fn fold(mut fold: Fold, entries: &[&str]) -> Vec<Turn> {
    for (number, short) in (1..).zip(entries) {
        fold.push(number, &entry(short));
    }
    fold.finish(entries.len() as u64)
}

#[test]
fn entries_are_turns_without_a_gap() {
    type Turns = &'static [(u64, u64, &'static str, &'static str, bool)];
    let cases: &[(&[&str], Turns)] = &[
        (&[], &[]),
        (&["pa", "a1", "eend_turn"], &[(1, 3, "a", "1", true)]),
        (&["pa|b", "a1", "c", "a2", "emax_tokens"], &[(1, 5, "ab", "12", true)]),
        (&["pa", "a1", "ecancelled", "pb", "eerror"], &[(1, 3, "a", "1", false), (4, 5, "b", "", false)]),
        (&["pa", "a1", "pb", "a2"], &[(1, 2, "a", "1", false), (3, 4, "b", "2", false)]),
        (&["ua", "i", "ub", "a1", "uc", "a2"], &[(1, 4, "ab", "1", true), (5, 6, "c", "2", false)]),
        (&["ua", "tx", "ub", "ty", "a1"], &[(1, 2, "a", "", true), (3, 5, "b", "1", false)]),
        (&["a0", "pa", "a1", "eend_turn"], &[(1, 1, "", "0", true), (2, 4, "a", "1", true)]),
        (&["ua", "pb", "a1", "eend_turn"], &[(1, 1, "a", "", true), (2, 4, "b", "1", true)]),
        (&["f", "pa"], &[(1, 1, "", "", true), (2, 2, "a", "", false)]),
        (&["pa", "a1", "eend_turn", "f", "c", "?"], &[(1, 6, "a", "1", true)]),
        (&["?", "?"], &[(1, 2, "", "", false)]),
        (&["i", "a1"], &[(1, 2, "", "1", false)]),
        (&["u[digest]x", "uy[end]a", "a1"], &[(1, 3, "a", "1", false)]),
        (&["p[digest]x[end]|a", "a[digest]1[end]", "eend_turn"], &[(1, 3, "a", "[digest]1[end]", true)]),
    ];
    for (entries, expected) in cases {
        let turns = fold(Fold::new(strip), entries);
        let have: Vec<_> = turns
            .iter()
            .map(|turn| (turn.at.start(), turn.at.end(), turn.user, turn.agent.sum(), turn.is_finished()))
            .collect();
        let want: Vec<_> = expected
            .iter()
            .map(|(first, last, user, agent, finished)| (*first, *last, Sum::of(user), Sum::of(agent), *finished))
            .collect();
        assert_eq!(have, want, "{entries:?}");
    }
}

#[test]
fn beginnings_of_answers_are_known_on_both_sides() {
    let log = fold(Fold::new(strip), &["pa", "aone two", "ecancelled", "pb", "aone two", "eend_turn"]);
    assert!(log[0].agent.begins_with(Sum::of("one")));
    assert!(!log[1].agent.begins_with(Sum::of("one")), "an answer that ended well is not kept");
    let of_replay = ["ua", "aone two", "athree", "ub", "aone two", "athree", "uc", "aone two", "athree"];
    let replay = fold(Fold::beside(strip, &log, &Asides::default()), &of_replay);
    for goes_on in &replay[..2] {
        assert!(goes_on.agent.begins_with(Sum::of("one two")));
        assert!(!goes_on.agent.begins_with(Sum::of("two one")));
    }
    assert!(!replay[2].agent.begins_with(Sum::of("one two")), "nobody asks for it");
}

#[test]
fn a_long_message_is_compared_to_its_end() {
    let long = "word ".repeat(200_000);
    let entries =
        |end: &str| [format!("u[digest]x[end]{long}"), format!("u{long}"), format!("u{end}"), "a1".to_owned()];
    let of = |end: &str| {
        let entries = entries(end);
        fold(Fold::new(strip), &entries.each_ref().map(String::as_str))[0].user
    };
    assert_eq!(of("x"), Sum::of(&format!("{long}{long}x")));
    assert_ne!(of("x"), of("y"));
}

#[test]
fn entries_that_come_in_another_order_stay_with_their_turn() {
    type Runs = &'static [RangeInclusive<u64>];
    type Case = (&'static [(u64, &'static str)], u64, &'static [Runs]);
    let cases: &[Case] = &[
        // Two turns that lie between each other.
        (
            &[(1, "pa"), (3, "a1"), (5, "eend_turn"), (2, "pb"), (4, "a2"), (6, "eend_turn")],
            6,
            &[&[1..=1, 3..=3, 5..=5], &[2..=2, 4..=4, 6..=6]],
        ),
        // What belongs to no turn comes behind it.
        (&[(1, "pa"), (3, "eend_turn"), (2, "f"), (4, "pb")], 4, &[&[1..=3], &[4..=4]]),
        // What is missing belongs to what stands before it.
        (&[(2, "pa"), (5, "a1"), (4, "pb")], 8, &[&[1..=3, 5..=8], &[4..=4]]),
        (&[], 3, &[&[1..=3]]),
    ];
    for (entries, until, expected) in cases {
        let mut fold = Fold::new(strip);
        for (number, short) in *entries {
            fold.push(*number, &entry(short));
        }
        let turns = fold.finish(*until);
        let runs: Vec<Vec<_>> = turns.iter().map(|turn| turn.at.runs().collect()).collect();
        assert_eq!(runs, expected.iter().map(|runs| runs.to_vec()).collect::<Vec<_>>(), "{entries:?}");
        assert_eq!(turns.iter().map(|turn| turn.at.length()).sum::<u64>(), *until, "{entries:?}");
    }
}

#[test]
fn messages_stand_alone_where_they_are_to() {
    type Turns = &'static [(u64, u64, &'static str, &'static str)];
    let cases: &[(Grain, &[&str], Turns)] = &[
        (
            Grain::Answers,
            &["pa", "tx", "a1", "c", "a2", "eend_turn", "pb", "a3", "c"],
            &[(1, 1, "a", ""), (2, 3, "", "1"), (4, 6, "", "2"), (7, 7, "b", ""), (8, 9, "", "3")],
        ),
        (Grain::Answers, &["a1", "a2", "c", "c"], &[(1, 1, "", "1"), (2, 4, "", "2")]),
        (Grain::Answers, &["c"], &[(1, 1, "", "")]),
        (
            Grain::Prompts,
            &["pa", "pb", "a1", "ud", "ue"],
            &[(1, 1, "a", ""), (2, 3, "b", "1"), (4, 4, "d", ""), (5, 5, "e", "")],
        ),
        // Each prompt is known to be one; what an agent replays of them is not.
        (Grain::Turns, &["pa", "pb", "a1", "a2"], &[(1, 1, "a", ""), (2, 4, "b", "12")]),
        (Grain::Turns, &["ua", "ub", "a1", "a2"], &[(1, 4, "ab", "12")]),
    ];
    for (grain, entries, expected) in cases {
        let turns = fold(Fold::new(strip).by(*grain), entries);
        let have: Vec<_> =
            turns.iter().map(|turn| (turn.at.start(), turn.at.end(), turn.user, turn.agent.sum())).collect();
        let want: Vec<_> =
            expected.iter().map(|(first, last, user, agent)| (*first, *last, Sum::of(user), Sum::of(agent))).collect();
        assert_eq!(have, want, "{entries:?}");
    }
}

#[test]
fn a_long_message_in_several_entries_is_one() {
    let part = |text: &str| {
        let content = serde_json::json!({"type": "text", "text": text});
        let update = serde_json::json!({"sessionUpdate": "agent_message_chunk", "messageId": "m", "content": content});
        Entry::text(Kind::Update, 1, &serde_json::json!({ "update": update }).to_string())
    };
    let mut fold = Fold::new(strip).by(Grain::Answers);
    fold.push(1, &part("one"));
    fold.push(2, &part("two"));
    let turns = fold.finish(2);
    assert_eq!(turns.iter().map(|turn| turn.agent.sum()).collect::<Vec<_>>(), [Sum::of("onetwo")]);
}

#[test]
fn a_turn_takes_little_memory() {
    assert!(size_of::<Turn>() <= 100, "{}", size_of::<Turn>());
}

#[test]
fn what_an_agent_has_told_is_known_to_be_its_own_wherever_it_begins() {
    for (id, is_its_own) in [("own", true), ("another's", false)] {
        let mut fold = Fold::new(strip).heard_by("agent", Some(&Known::new("own".to_owned(), 0)));
        let speaker = speaker("agent", id);
        for (number, short) in (1..).zip(["a0", "ua", "a1", "ub", "a2"]) {
            let told = entry(short);
            let (_, json) = told.split_once(' ').unwrap();
            fold.push(number, &format!("u1@{speaker} {json}"));
        }
        let took_part: Vec<_> = fold.finish(5).iter().map(|turn| turn.took_part).collect();
        assert_eq!(took_part, [Some(is_its_own); 3], "{id}");
    }
}
