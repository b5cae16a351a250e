//! Slash commands, whose turns agents record otherwise than they were had.

use std::slice::from_ref;

use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, World, chunk, update};
use crate::scenes::{CWD, answers, ask_prompt, leave, load_told};

const FIX: [&str; 2] = ["fix the bug", "It is fixed."];
const INIT: [&str; 2] = ["/init", "I looked at all, and wrote it down."];
const THANKS: [&str; 2] = ["thanks", "With pleasure."];
const OUTSIDE: [&str; 2] = ["and now?", "Now all is done."];
const TEMPLATE: &str = "Please analyze this codebase and create a file.\nLong template of the command.";

fn user(text: &str) -> Value {
    chunk("user_message_chunk", text)
}

fn agent(text: &str) -> Value {
    chunk("agent_message_chunk", text)
}

fn message(id: &str, text: &str) -> Value {
    let mut message = agent(text);
    message["messageId"] = id.into();
    message
}

/// A conversation of these turns, in a store.
fn had(turns: &[[&str; 2]], world: &World) -> Memory {
    let as_told = |answer: &str| vec![agent(answer)];
    had_so(turns, &as_told, world)
}

/// The same, where each answer is told so.
fn had_so(turns: &[[&str; 2]], as_told: &dyn Fn(&str) -> Vec<Value>, world: &World) -> Memory {
    let store = Memory::new();
    let mut desk = Desk::ready(&store, world, &json!({"loadSession": true}));
    desk.new_session("s1", CWD);
    for [prompt, answer] in turns {
        ask_prompt(&mut desk, "turn", "s1", prompt);
        for told in as_told(answer) {
            desk.agent(update("s1", told));
        }
        desk.agent(answers("turn"));
    }
    leave(desk);
    store
}

/// What is shown of it where the agent tells it so: who says what; and what is set aside.
fn shown(store: &Memory, world: &World, told: &[Value]) -> (Vec<(String, String)>, Value) {
    world.now.set(world.now.get() + 60_000);
    let mut desk = Desk::ready(store, world, &json!({"loadSession": true}));
    let out = load_told(&mut desk, told);
    let set_aside = out.answer("load")["result"]["_meta"]["acp-sessions"]["setAside"].clone();
    let mut shown: Vec<(String, String)> = Vec::new();
    for update in out.client.iter().map(|message| &message["params"]["update"]) {
        let who = match update["sessionUpdate"].as_str() {
            Some("user_message_chunk") => "user",
            Some("agent_message_chunk") => "agent",
            _ => continue,
        };
        let text = update["content"]["text"].as_str().unwrap_or_default();
        match shown.last_mut() {
            Some((last, said)) if last == who => said.push_str(text),
            _ => shown.push((who.to_owned(), text.to_owned())),
        }
    }
    leave(desk);
    (shown, set_aside)
}

/// That a conversation of these turns stays as it was had, and what was said since comes behind it, where the agent tells both so.
fn stays(name: &str, turns: &[[&str; 2]], told: &[Value], since: &[[&str; 2]]) {
    stays_so(name, turns, &|answer| vec![agent(answer)], told, since);
}

/// The same, where each answer was told so as it was had.
fn stays_so(
    name: &str,
    turns: &[[&str; 2]],
    as_told: &dyn Fn(&str) -> Vec<Value>,
    told: &[Value],
    since: &[[&str; 2]],
) {
    let world = World::unrecorded();
    let store = had_so(turns, as_told, &world);
    let lines = |turns: &[[&str; 2]]| {
        turns
            .iter()
            .flat_map(|[prompt, answer]| [("user", *prompt), ("agent", *answer)])
            .map(|(who, text)| (who.to_owned(), text.to_owned()))
            .collect::<Vec<_>>()
    };
    let more: Vec<Value> = since.iter().flat_map(|[prompt, answer]| [user(prompt), agent(answer)]).collect();
    for (time, told, expected) in [
        ("at first", told.to_vec(), lines(turns)),
        ("with more", [told, &more].concat(), lines(&[turns, since].concat())),
        ("again", [told, &more].concat(), lines(&[turns, since].concat())),
    ] {
        assert_eq!(shown(&store, &world, &told), (expected, Value::Null), "{name}, {time}");
    }
}

#[test]
fn a_command_stays_in_its_place_though_its_answer_is_told_without_the_prompt() {
    let before = [user(FIX[0]), agent(FIX[1])];
    let behind = [user(THANKS[0]), agent(THANKS[1])];
    for (name, answer) in [("one text", agent(INIT[1])), ("a message", message("m2", INIT[1]))] {
        let told = [&before[..], from_ref(&answer), &behind].concat();
        stays(name, &[FIX, INIT, THANKS], &told, &[OUTSIDE]);
        let told = [from_ref(&answer), &behind[..]].concat();
        stays(&format!("first, {name}"), &[INIT, THANKS], &told, &[OUTSIDE]);
        let told = [&before[..], &[answer]].concat();
        stays(&format!("last, {name}"), &[FIX, INIT], &told, &[OUTSIDE]);
    }
    let told = [&before[..], &[agent(INIT[1])], &behind].concat();
    stays("another not told", &[FIX, ["/context", "12% are used."], INIT, THANKS], &told, &[OUTSIDE]);
}

#[test]
fn a_command_stays_as_it_was_sent_though_the_agent_tells_what_it_stands_for() {
    let init = [user(TEMPLATE), agent("Done.")];
    let done = ["/init", "Done."];
    let (fix, thanks) = ([user(FIX[0]), agent(FIX[1])], [user(THANKS[0]), agent(THANKS[1])]);
    stays("a short answer", &[FIX, done, THANKS], &[&fix[..], &init, &thanks].concat(), &[OUTSIDE]);
    stays("first", &[done, THANKS], &[&init[..], &thanks].concat(), &[OUTSIDE]);
    let init = [user(TEMPLATE), agent(INIT[1])];
    stays("last", &[FIX, INIT], &[&fix[..], &init].concat(), &[OUTSIDE]);
    stays("only", &[INIT], &init, &[OUTSIDE]);
    stays("only, and several since", &[INIT], &init, &[OUTSIDE, THANKS]);
}

#[test]
fn a_command_is_not_taken_for_a_part_of_the_next_prompt_though_its_answer_is_not_told() {
    let told = [user(FIX[0]), agent(FIX[1]), user(INIT[0]), user(THANKS[0]), agent(THANKS[1])];
    stays("in the midst", &[FIX, INIT, THANKS], &told, &[OUTSIDE]);
    stays("first", &[INIT, THANKS], &told[2..], &[OUTSIDE]);
}

#[test]
fn what_follows_the_only_turn_is_shown_though_that_was_a_command_that_is_not_told() {
    stays("only", &[INIT], &[], &[OUTSIDE]);
    stays("only, and several since", &[INIT], &[], &[OUTSIDE, THANKS]);
}

#[test]
fn what_the_user_went_back_behind_is_set_aside_though_it_was_a_command() {
    let world = World::unrecorded();
    let store = had(&[FIX, INIT, THANKS], &world);
    let told = [user(FIX[0]), agent(FIX[1]), user(OUTSIDE[0]), agent(OUTSIDE[1])];
    let (shown, set_aside) = shown(&store, &world, &told);
    let texts: Vec<&str> = shown.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(texts, [FIX, OUTSIDE].concat());
    assert!(set_aside.as_u64() > Some(0));
}

/// A review as Codex tells it, of which the user has seen the answer alone.
fn review(of: &str, answer: &str) -> Vec<Value> {
    let told = |text: String| chunk("agent_message_chunk", &text);
    vec![
        told(format!("Entered review mode: {of}")),
        told(format!("Exited review mode: {answer}")),
        message(&format!("answer to {of}"), answer),
    ]
}

#[test]
fn a_review_stays_in_its_place_though_its_answer_is_told_twice_and_without_the_prompt() {
    const REVIEW: [&str; 2] = ["/review", "Looks good to me."];
    const OF_TESTS: [&str; 2] = ["/review Exited review mode: of tests", "One\n- two"];
    let hello = [user(FIX[0]), message("m1", FIX[1])];
    let thanks = [user(THANKS[0]), message("m9", THANKS[1])];
    let told = review("current changes", REVIEW[1]);
    let of_tests = review("Exited review mode: of tests", OF_TESTS[1]);
    for (name, turns, told) in [
        ("last", &[FIX, REVIEW][..], [&hello[..], &told].concat()),
        ("in the midst", &[FIX, REVIEW, THANKS], [&hello[..], &told, &thanks].concat()),
        ("first", &[REVIEW, THANKS], [&told[..], &thanks].concat()),
        ("twice", &[FIX, REVIEW, OF_TESTS, THANKS], [&hello[..], &told, &of_tests, &thanks].concat()),
        ("the same twice", &[FIX, REVIEW, REVIEW], [&hello[..], &told, &told].concat()),
        ("behind another", &[FIX, REVIEW, THANKS, OF_TESTS], [&hello[..], &told, &thanks, &of_tests].concat()),
    ] {
        stays(name, turns, &told, &[OUTSIDE]);
    }
}

#[test]
fn a_review_that_was_had_without_the_layer_is_shown_as_it_is_told() {
    let world = World::unrecorded();
    let store = had(&[FIX], &world);
    let hello = [user(FIX[0]), message("m1", FIX[1])];
    let told = [&hello[..], &review("current changes", "Looks good to me.")].concat();
    let answer =
        format!("{}Entered review mode: current changesExited review mode: Looks good to me.Looks good to me.", FIX[1]);
    for time in ["first", "again"] {
        let expected = vec![("user".to_owned(), FIX[0].to_owned()), ("agent".to_owned(), answer.clone())];
        assert_eq!(shown(&store, &world, &told).0, expected, "{time}");
    }
}

/// A review as Codex tells it from 2.6.0 on, with what it gives its reviewer in its user's name.
fn review_with_prompt(of: &str, prompt: &str, answers: [&str; 2]) -> Vec<Value> {
    let told = |text: String| chunk("agent_message_chunk", &text);
    let call =
        |status: &str| json!({"sessionUpdate": "tool_call", "toolCallId": of, "title": "git diff", "status": status});
    let mut prompt = user(prompt);
    prompt["messageId"] = format!("prompt of {of}").into();
    vec![
        told(format!("Entered review mode: {of}")),
        prompt,
        chunk("agent_thought_chunk", "I look."),
        call("completed"),
        told(format!("Exited review mode: {}", answers[0])),
        message(&format!("answer to {of}"), answers[1]),
    ]
}

const LOOK: &str =
    "Review the current code changes (staged, unstaged, and untracked files) and provide prioritized findings.";
const FAILED: [&str; 2] = [
    "Reviewer failed to output a response.",
    "Review was interrupted. Please re-run /review and wait for it to complete.",
];

#[test]
fn a_review_stays_in_its_place_though_what_its_reviewer_was_given_is_told_in_the_users_name() {
    let hello = [user(FIX[0]), message("m1", FIX[1])];
    let thanks = [user(THANKS[0]), message("m9", THANKS[1])];
    let well = ["All is well.", "All is well."];
    let branch = "Review the code changes against the base branch 'main'. Start by finding the merge diff between the current \
                  branch and main's upstream. Provide prioritized, actionable findings.";
    let commit = "Review the code changes introduced by commit abcdef0123 (\"Fix it\"). Provide prioritized, actionable findings.";
    for (command, of, prompt, answers) in [
        ("/review", "current changes", LOOK, well),
        ("/review Look at the tests", "Look at the tests", "Look at the tests", well),
        ("/review-branch main", "changes against 'main'", branch, well),
        ("/review-commit abcdef0123", "commit abcdef0: Fix it", commit, well),
        ("/review", "current changes", LOOK, FAILED),
    ] {
        let all = answers.concat();
        let review: [&str; 2] = [command, &all];
        // While it was had, what it came to was told, and that once more as the answer.
        let as_told = |answer: &str| {
            if answer == all { vec![agent(answers[0]), message("m5", answers[1])] } else { vec![agent(answer)] }
        };
        let told = review_with_prompt(of, prompt, answers);
        for (name, turns, told) in [
            ("last", &[FIX, review][..], [&hello[..], &told].concat()),
            ("in the midst", &[FIX, review, THANKS], [&hello[..], &told, &thanks].concat()),
            ("first", &[review, THANKS], [&told[..], &thanks].concat()),
        ] {
            stays_so(&format!("{name}: {command}"), turns, &as_told, &told, &[OUTSIDE]);
        }
    }
}

#[test]
fn what_a_reviewer_was_given_is_not_shown_as_the_users_words_and_all_else_is() {
    let hello = [user(FIX[0]), message("m1", FIX[1])];
    let well = ["All is well.", "All is well."];
    for (prompt, is_shown) in [(LOOK, false), ("Look at the tests, too", true)] {
        let world = World::unrecorded();
        let store = had(&[FIX], &world);
        let told = [&hello[..], &review_with_prompt("current changes", prompt, well)].concat();
        for time in ["first", "again"] {
            let (shown, _) = shown(&store, &world, &told);
            assert_eq!(shown.iter().any(|(who, text)| who == "user" && text == prompt), is_shown, "{prompt}, {time}");
            let all: String = shown.into_iter().map(|(_, text)| text).collect();
            assert_eq!(all.matches("All is well.").count(), 2, "{prompt}, {time}");
        }
    }
}

#[test]
fn what_an_agent_goes_on_with_by_itself_behind_a_command_stays_there_though_the_prompt_is_not_told() {
    const GOAL: &str = "/goal make it so";
    let steps = ["It is begun. ", "It is half done. ", "It is done now."];
    let (hello, thanks) = ([user(FIX[0]), message("m1", FIX[1])], [user(THANKS[0]), message("m9", THANKS[1])]);
    for count in [2, 3] {
        let goal: Vec<Value> = (0..count).map(|at| message(&format!("g{at}"), steps[at])).collect();
        for is_last in [true, false] {
            let (world, store) = (World::unrecorded(), Memory::new());
            let mut desk = Desk::ready(&store, &world, &json!({"loadSession": true}));
            desk.new_session("s1", CWD);
            desk.turn("s1", FIX[0], &[FIX[1]]);
            ask_prompt(&mut desk, "turn", "s1", GOAL);
            desk.agent(update("s1", goal[0].clone()));
            desk.agent(answers("turn"));
            for step in &goal[1..] {
                desk.wait(2000);
                desk.agent(update("s1", step.clone()));
            }
            desk.wait(2000);
            if !is_last {
                desk.turn("s1", THANKS[0], &[THANKS[1]]);
            }
            leave(desk);
            let behind: &[Value] = if is_last { &[] } else { &thanks };
            let told = [&hello[..], &goal, behind].concat();
            let all = steps[..count].concat();
            let turns: &[[&str; 2]] = &[FIX, [GOAL, &all], THANKS];
            let turns = if is_last { &turns[..2] } else { turns };
            let lines: Vec<(String, String)> = turns
                .iter()
                .flat_map(|[prompt, answer]| [("user", *prompt), ("agent", *answer)])
                .map(|(who, text)| (who.to_owned(), text.to_owned()))
                .collect();
            for time in ["first", "again"] {
                assert_eq!(shown(&store, &world, &told), (lines.clone(), Value::Null), "{count}, {is_last}, {time}");
            }
        }
    }
}

#[test]
fn a_plan_is_no_other_answer_though_it_is_told_before_what_is_said_with_it() {
    const PLAN: &str = "# The plan\n1. do it\n";
    const WITH: &str = "Let me think.\n";
    let id = "01a228bf-b458-72a1-89d2-9ae1ff7a6e41-plan";
    let asked = "Plan it";
    let reviewed =
        json!({"sessionUpdate": "tool_call_update", "toolCallId": format!("plan-review:{id}"), "status": "completed"});
    for is_carried_out in [false, true] {
        for is_last in [true, false] {
            let (world, store) = (World::unrecorded(), Memory::new());
            let mut desk = Desk::ready(&store, &world, &json!({"loadSession": true}));
            desk.new_session("s1", CWD);
            desk.turn("s1", FIX[0], &[FIX[1]]);
            ask_prompt(&mut desk, "turn", "s1", asked);
            let mut had = vec![message("m3", WITH), message(id, PLAN), reviewed.clone()];
            let mut told =
                vec![user(FIX[0]), message("m1", FIX[1]), user(asked), message(id, PLAN), message("m3", WITH)];
            if is_carried_out {
                had.push(message("m5", "Done."));
                told.extend([user("Implement the approved plan."), message("m5", "Done.")]);
            }
            for update_had in had {
                desk.agent(update("s1", update_had));
            }
            desk.agent(answers("turn"));
            let mut lines = vec![("user", FIX[0]), ("agent", FIX[1]), ("user", asked)];
            let all = [WITH, PLAN, if is_carried_out { "Done." } else { "" }].concat();
            lines.push(("agent", &all));
            if !is_last {
                desk.turn("s1", THANKS[0], &[THANKS[1]]);
                told.extend([user(THANKS[0]), message("m9", THANKS[1])]);
                lines.extend([("user", THANKS[0]), ("agent", THANKS[1])]);
            }
            leave(desk);
            let lines: Vec<_> = lines.into_iter().map(|(who, text)| (who.to_owned(), text.to_owned())).collect();
            for time in ["first", "again"] {
                let case = format!("{is_carried_out}, {is_last}, {time}");
                assert_eq!(shown(&store, &world, &told), (lines.clone(), Value::Null), "{case}");
            }
        }
    }
}

/// What Codex says of its settings in each of its programs.
const OF_SETTINGS: [&str; 3] = [
    "Config warning: Codex is ignoring 1 unrecognized configuration setting.\n  `x` is ignored.\n\n",
    "Warning: Codex is ignoring 1 unrecognized configuration setting.\n  `x` is ignored.\n\n",
    "Warning: This session was recorded with model `m1` but is resuming with `m2`. Consider switching back to `m1`.\n\n",
];

#[test]
fn what_an_agent_says_of_its_settings_as_it_opens_a_session_is_shown_each_time_and_no_part_of_the_conversation() {
    let world = World::unrecorded();
    let store = had(&[FIX, THANKS], &world);
    let turns = [user(FIX[0]), agent(FIX[1]), user(THANKS[0]), agent(THANKS[1])];
    let history = [&FIX[..], &THANKS].concat();
    for time in ["first", "again", "once more"] {
        world.now.set(world.now.get() + 60_000);
        let mut desk = Desk::ready(&store, &world, &json!({"loadSession": true}));
        let mut out = load_told(&mut desk, &[&turns[..], &[agent(OF_SETTINGS[0])]].concat());
        assert_eq!(out.answer("load")["result"]["_meta"]["acp-sessions"]["setAside"], Value::Null, "{time}");
        for told in &OF_SETTINGS[1..] {
            out.extend(desk.agent(update("s1", agent(told))));
        }
        out.extend(desk.wait(2000));
        let texts = out.client.iter().filter_map(|message| message["params"]["update"]["content"]["text"].as_str());
        assert_eq!(texts.collect::<Vec<_>>(), [&history[..], &OF_SETTINGS].concat(), "{time}");
        leave(desk);
    }
    // What only looks like it is a part of it.
    let like = "Config warning: what is that?";
    let (shown, _) = shown(&store, &world, &[&turns[..], &[agent(like)]].concat());
    assert!(shown.last().is_some_and(|(_, text)| text.ends_with(like)), "{shown:?}");
}

#[test]
fn what_an_agent_says_of_its_settings_is_no_part_of_a_history_that_it_alone_has() {
    let (world, store) = (World::unrecorded(), Memory::new());
    let turns = [user(FIX[0]), agent(FIX[1]), agent(OF_SETTINGS[0])];
    for is_known in [false, true] {
        let mut desk = Desk::ready(&store, &world, &json!({"loadSession": true}));
        let out = load_told(&mut desk, &turns);
        let texts = out.client.iter().filter_map(|message| message["params"]["update"]["content"]["text"].as_str());
        assert_eq!(texts.collect::<Vec<_>>(), [FIX[0], FIX[1], OF_SETTINGS[0]], "{is_known}");
        leave(desk);
    }
}
