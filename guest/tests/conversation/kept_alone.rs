//! Turns that failed or were stopped, of which an agent has kept the prompt alone, or nothing, beside others that it tells with them.

use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, World, chunk};
use crate::scenes::{IMAGE, answers, begun, leave, load_told, mark, prompt_until_sent, says, words};

/// How a turn ends.
#[derive(Debug, Clone, Copy)]
enum End {
    Well,
    Stopped,
    Failed,
}

use End::{Failed, Stopped, Well};

/// A prompt, in words or an image, what is answered, and how it ends.
type Turns = &'static [(&'static str, &'static str, End)];

/// What is said, what the agent tells of it, prompts behind `> `, and what is shown.
const CASES: [(Turns, &[&str], &str); 9] = [
    // Of what failed it has kept nothing, and an image is told with the words before it;
    (
        &[("Three", "", Well), ("Four", "of four", Failed), (IMAGE, "A picture of a red square on white ground", Well)],
        &["> Three", "> [image]", "A picture of a red square on white ground"],
        "> Three> Fourof four> [image]A picture of a red square on white ground",
    ),
    // or the prompt.
    (
        &[("Go on", "I will look at the files", Stopped), (IMAGE, "A red square.", Well)],
        &["> Go on", "> [image]", "A red square."],
        "> Go onI will look at the files> [image]A red square.",
    ),
    (
        &[("Try", "", Failed), (IMAGE, "A red square.", Well)],
        &["> Try", "> [image]", "A red square."],
        "> Try> [image]A red square.",
    ),
    // What it has not kept stands before a prompt that it tells right before another, from outside,
    (
        &[("Two", "I have looked", Stopped), ("Go", "", Well)],
        &["> Go", "> Outside", "Said outside"],
        "> TwoI have looked> Go> OutsideSaid outside",
    ),
    // and of several that nobody has answered, none is taken for a part of that.
    (
        &[("Go", "", Failed), ("Go", "", Failed), ("On", "I will", Stopped)],
        &["> Go", "> Go", "> On", "> Outside", "> and more", "Said outside"],
        "> Go> Go> OnI will> Outside> and moreSaid outside",
    ),
    // It keeps nothing of what was stopped.
    (&[("Two", "I have looked", Stopped)], &["> Outside", "Said outside"], "> TwoI have looked> OutsideSaid outside"),
    // A command that it does not keep stands between prompts that it tells together,
    (
        &[("Go", "", Well), ("/cost", "1 $", Well), ("Yes", "Done.", Well)],
        &["> Go", "> Yes", "Done."],
        "> Go> /cost1 $> YesDone.",
    ),
    // and those say the same again and again.
    (
        &[
            ("continue", "one", Failed),
            ("continue", "OK", Well),
            ("next", "a", Well),
            ("continue", "OK", Failed),
            ("continue", "OK", Well),
        ],
        &["> continue", "> continue", "OK", "> next", "a", "> continue", "> continue", "OK"],
        "> continueone> continueOK> nexta> continueOK> continueOK",
    ),
    (
        &[
            ("continue", "I will look", Stopped),
            ("continue", "All is done.", Well),
            ("continue", "All is done.", Stopped),
            ("continue", "All is done.", Well),
        ],
        &["> continue", "> continue", "All is done.", "> continue", "> continue", "All is done."],
        "> continueI will look> continueAll is done.> continueAll is done.> continueAll is done.",
    ),
];

fn block(words: &str) -> Value {
    match words {
        IMAGE => json!({"type": "image", "mimeType": "image/png", "data": "aGVsbG8="}),
        _ => json!({"type": "text", "text": words}),
    }
}

/// What an agent tells of these words, prompts behind `> `.
fn told_as(words: &str) -> Value {
    match words.strip_prefix("> ") {
        Some(prompt) => json!({"sessionUpdate": "user_message_chunk", "content": block(prompt)}),
        None => chunk("agent_message_chunk", words),
    }
}

fn turn(desk: &mut Desk<'_>, prompt: &str, answer: &str, end: End) {
    let sent = prompt_until_sent(desk, "turn", &[block(prompt)]).request("session/prompt");
    if !answer.is_empty() {
        desk.agent(says(answer));
    }
    match end {
        Well => drop(desk.agent(answers("turn"))),
        Failed => drop(desk.refuse(&sent, -32603)),
        Stopped => {
            desk.client(json!({"method": "session/cancel", "params": {"sessionId": "s1"}}));
            desk.reply(&sent, json!({"stopReason": "cancelled"}));
        }
    }
}

#[test]
fn turns_kept_alone_stay_where_they_were_said_and_so_does_all_that_is_told_with_them() {
    for (turns, told, shown) in CASES {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut desk = begun(&store, &world, &json!({"loadSession": true}), &[("One", "1")]);
        for (prompt, answer, end) in turns {
            turn(&mut desk, prompt, answer, *end);
        }
        leave(desk);
        world.now.set(world.now.get() + 60_000);
        let told: Vec<Value> = ["> One", "1"].into_iter().chain(told.iter().copied()).map(told_as).collect();
        for time in ["once", "again"] {
            let mut desk = Desk::ready(&store, &world, &json!({"loadSession": true}));
            let out = load_told(&mut desk, &told);
            assert_eq!(words(&out), format!("> One1{shown}"), "{turns:?}, {time}");
            assert_eq!(mark(&out, "load")["setAside"], Value::Null, "{turns:?}, {time}");
            leave(desk);
        }
    }
}

/// An agent need not have kept any of it.
#[test]
fn where_nothing_has_come_to_its_end_what_was_said_outside_stands_behind_that() {
    for (answer, end, told) in [
        ("", Failed, &["> Outside", "Said outside"][..]),
        ("I will", Stopped, &["> Outside", "Said outside", "> More", "Said more"]),
        ("I will", Failed, &["> Two", "> Outside", "Said outside"]),
    ] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut desk = begun(&store, &world, &json!({"loadSession": true}), &[]);
        turn(&mut desk, "Two", answer, end);
        leave(desk);
        world.now.set(world.now.get() + 60_000);
        let outside: String = told.iter().filter(|words| **words != "> Two").copied().collect();
        let told: Vec<Value> = told.iter().copied().map(told_as).collect();
        for time in ["once", "again"] {
            let mut desk = Desk::ready(&store, &world, &json!({"loadSession": true}));
            let out = load_told(&mut desk, &told);
            assert_eq!(words(&out), format!("> Two{answer}{outside}"), "{answer}, {end:?}, {time}");
            assert_eq!(mark(&out, "load")["setAside"], Value::Null, "{answer}, {end:?}, {time}");
            leave(desk);
        }
    }
}
