//! An agent that keeps the words of several windows in one transcript, each where it was said.

use acp_sessions_guest::storage::{Memory, Storage, StorageError};
use serde_json::{Value, json};

use crate::desk::{Desk, Faulty, World, chunk, update};
use crate::scenes::{CWD, account, answers, begun, both_open, leave, load_told, mark, prompt_until_sent, said, words};

/// The user asks this, which the agent puts into its transcript as it is sent it.
fn asks(desk: &mut Desk<'_>, text: &str, transcript: &mut Vec<Value>) {
    let out = prompt_until_sent(desk, "turn", &[json!({"type": "text", "text": text})]);
    let prompt = out.request("session/prompt")["params"]["prompt"].clone();
    let blocks = prompt.as_array().unwrap().iter();
    transcript.extend(blocks.map(|block| json!({"sessionUpdate": "user_message_chunk", "content": block})));
}

#[test]
fn a_prompt_that_was_sent_before_is_there_once_behind_turns_at_the_same_time() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let loads = json!({"loadSession": true});
    let (mut first, mut second) = both_open(&store, &world, &loads, &[]);
    let mut transcript: Vec<Value> = Vec::new();
    let says = |desk: &mut Desk<'_>, told: Value, transcript: &mut Vec<Value>| {
        transcript.push(told.clone());
        desk.agent(update("s1", told));
        desk.wait(10);
    };
    let call = |id: &str| json!({"sessionUpdate": "tool_call", "toolCallId": id, "title": "run", "status": "pending"});
    let done = |id: &str| json!({"sessionUpdate": "tool_call_update", "toolCallId": id, "status": "completed"});
    asks(&mut second, "ok", &mut transcript);
    asks(&mut first, "do w1 69", &mut transcript);
    says(&mut first, chunk("agent_message_chunk", "e1 "), &mut transcript);
    first.agent(answers("turn"));
    says(&mut second, chunk("agent_message_chunk", "e2 "), &mut transcript);
    second.agent(answers("turn"));
    asks(&mut first, "do w1 1", &mut transcript);
    says(&mut first, call("tc3"), &mut transcript);
    asks(&mut second, "ok", &mut transcript);
    says(&mut second, call("tc4"), &mut transcript);
    says(&mut first, done("tc3"), &mut transcript);
    says(&mut second, done("tc4"), &mut transcript);
    first.agent(answers("turn"));
    second.agent(answers("turn"));
    leave(first);
    leave(second);
    world.now.set(world.now.get() + 60_000);
    let mut third = Desk::ready(&store, &world, &loads);
    let out = load_told(&mut third, &transcript);
    // Tool calls are no words.
    assert_eq!(said(&out.client), ["> ok", "e2 ", "> do w1 69", "e1 ", "> do w1 1ok"]);
    let answer = out.answer("load")["result"]["_meta"]["acp-sessions"].clone();
    assert_eq!(answer["setAside"], Value::Null);
}

#[test]
fn prompts_that_nobody_answers_are_there_once() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let loads = json!({"loadSession": true});
    let mut first = begun(&store, &world, &loads, &[]);
    let mut transcript: Vec<Value> = Vec::new();
    asks(&mut first, "go on", &mut transcript);
    first.agent(answers("turn"));
    let mut second = Desk::ready(&store, &world, &loads);
    load_told(&mut second, &transcript);
    asks(&mut second, "go on", &mut transcript);
    asks(&mut first, "go on", &mut transcript);
    first.agent(answers("turn"));
    second.agent(answers("turn"));
    leave(first);
    leave(second);
    world.now.set(world.now.get() + 60_000);
    let mut third = Desk::ready(&store, &world, &loads);
    let out = load_told(&mut third, &transcript);
    assert_eq!(said(&out.client), ["> go ongo ongo on"]);
}

#[test]
fn a_turn_that_could_not_be_written_before_another_windows_is_there_once() {
    let (store, world) = (Faulty::default(), World::unrecorded());
    let loads = json!({"loadSession": true});
    let (mut first, mut second) = both_open(&store, &world, &loads, &[("one", "answer one")]);
    store.fail(0, usize::MAX, StorageError::Full);
    second.turn("s1", "two", &["answer two"]);
    assert!(store.mend());
    world.now.set(world.now.get() + 100);
    first.turn("s1", "three", &["answer three"]);
    for _ in 0..30 {
        second.wait(1000);
    }
    leave(first);
    leave(second);
    world.now.set(world.now.get() + 60_000);
    let told = ["> one", "answer one", "> two", "answer two", "> three", "answer three"];
    for time in ["first", "again"] {
        let mut third = Desk::ready(&store, &world, &loads);
        // As it was written.
        let shown = ["> one", "answer one", "> three", "answer three", "> two", "answer two"];
        assert_eq!(tells(&mut third, &told), shown, "{time}");
        leave(third);
    }
}

/// The agent tells this: prompts behind `> `, and answers.
fn tells<S: Storage>(desk: &mut Desk<'_, S>, words: &[&str]) -> Vec<String> {
    let told = words.iter().map(|words| match words.strip_prefix("> ") {
        Some(prompt) => chunk("user_message_chunk", prompt),
        None => chunk("agent_message_chunk", words),
    });
    said(&load_told(desk, &told.collect::<Vec<_>>()).client)
}

#[test]
fn a_turn_from_outside_is_told_without_those_that_its_own_window_had_behind_it() {
    let turns = [["> two", "answer two"], ["> three", "answer three"], ["> four", "answer four"]];
    for count in 1..=turns.len() {
        let (store, world) = (Memory::new(), World::unrecorded());
        let loads = json!({"loadSession": true});
        let (first, mut second) = both_open(&store, &world, &loads, &[("one", "answer one")]);
        leave(first);
        let mut told = vec!["> one", "answer one", "> outside", "from outside"];
        for turn in &turns[..count] {
            let [prompt, answer] = turn;
            second.turn("s1", &prompt[2..], &[answer]);
            world.now.set(world.now.get() + 1000);
            told.extend(turn);
        }
        world.now.set(world.now.get() + 60_000);
        second.wait(100);
        let mut third = Desk::ready(&store, &world, &loads);
        assert_eq!(tells(&mut third, &told), told);
        second.wait(2000);
        let account = account(&prompt_until_sent(&mut second, "next", &[json!({"type": "text", "text": "next"})]));
        let account = account.unwrap();
        assert!(account.contains("from outside") && !account.contains("answer"), "{count}: {account}");
    }
}

#[test]
fn turns_from_outside_are_shown_while_a_window_is_open_though_what_was_said_before_is_told_otherwise() {
    for (second_answer, told, shown) in [
        // All in other words, which the window may know better.
        (
            &[][..],
            &["> one", "another one", "> two", "another two", "> three", "answer three"][..],
            &["> one", "answer one", "> two", "another two", "> three", "answer three"][..],
        ),
        (
            &["answer two"],
            &["> one", "another one", "> two", "another two", "> three", "answer three"],
            &["> one", "answer one", "> two", "answer two", "> three", "answer three"],
        ),
    ] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let loads = json!({"loadSession": true});
        let mut first = begun(&store, &world, &loads, &[("one", "answer one")]);
        first.turn("s1", "two", second_answer);
        world.now.set(world.now.get() + 60_000);
        first.wait(100);
        for time in ["first", "again"] {
            let mut second = Desk::ready(&store, &world, &loads);
            assert_eq!(tells(&mut second, told), shown, "{told:?}, {time}");
            leave(second);
        }
    }
}

/// What each window sends, `> `, its agent says, and comes to an end with, `= `.
type Steps = &'static [(usize, &'static str)];
/// Prompts that are not waited for, and what the agent tells of them and the next.
const NOT_WAITED_FOR: [(Steps, &[&str]); 4] = [
    // All that nobody has answered is one message.
    (
        &[
            (0, "> two"),
            (1, "> three"),
            (2, "> four"),
            (0, "> five"),
            (1, "> six"),
            (2, "> seven"),
            (0, "= two"),
            (0, "= five"),
            (1, "= three"),
            (2, "= four"),
            (1, "= six"),
            (2, "7"),
            (2, "= seven"),
        ],
        &["> two\n\nfive\n\nthree\n\nfour\n\nsix\n\nseven", "7", "> eight", "8"],
    ),
    // The last is told together with what is said behind them,
    (
        &[
            (2, "> four"),
            (2, "> seven"),
            (1, "> three"),
            (1, "> six"),
            (2, "= four"),
            (1, "= three"),
            (2, "7"),
            (2, "= seven"),
            (1, "= six"),
        ],
        &["> four\n\nthree\n\nseven", "7", "> six\n\neight", "8"],
    ),
    // and the first with what was said before them.
    (
        &[
            (0, "> two"),
            (0, "= two"),
            (1, "> ten"),
            (1, "> three"),
            (2, "> four"),
            (2, "> seven"),
            (2, "= four"),
            (2, "7"),
            (2, "= seven"),
            (1, "= ten"),
            (1, "= three"),
        ],
        &["> two\n\nten\n\nfour\n\nseven", "7", "> three\n\neight", "8"],
    ),
    (
        &[
            (0, "> two"),
            (0, "> five"),
            (0, "= two"),
            (0, "= five"),
            (1, "> ten"),
            (1, "> three"),
            (1, "> six"),
            (2, "> four"),
            (2, "> seven"),
            (2, "= four"),
            (2, "7"),
            (2, "= seven"),
            (1, "= ten"),
            (1, "= three"),
            (1, "= six"),
        ],
        &["> two\n\nfive\n\nten\n\nfour\n\nseven", "7", "> three\n\nsix\n\neight", "8"],
    ),
];

#[test]
fn prompts_that_windows_do_not_wait_for_stay_where_they_are_in_whichever_order_the_agent_puts_them_together() {
    for (steps, told) in NOT_WAITED_FOR {
        let (store, world) = (Memory::new(), World::unrecorded());
        let loads = json!({"loadSession": true});
        let mut windows: Vec<Desk<'_>> = (0..3).map(|_| Desk::ready(&store, &world, &loads)).collect();
        windows[0].new_session("s1", CWD);
        windows[0].turn("s1", "one", &["1"]);
        let begin = ["> one", "1"];
        for window in &mut windows[1..] {
            tells(window, &begin);
        }
        let last = [(0, "> eight"), (0, "8"), (0, "= eight")];
        for (window, step) in steps.iter().chain(&last) {
            let desk = &mut windows[*window];
            match step.split_once(' ') {
                Some((">", prompt)) => {
                    prompt_until_sent(desk, prompt, &[json!({"type": "text", "text": prompt})]);
                }
                Some(("=", prompt)) => drop(desk.agent(answers(prompt))),
                _ => drop(desk.agent(update("s1", chunk("agent_message_chunk", step)))),
            }
            desk.wait(100);
        }
        let told = [&begin[..], told].concat();
        let mut shown = None;
        for is_alone in [false, true] {
            if is_alone {
                windows.drain(..).for_each(leave);
                world.now.set(world.now.get() + 60_000);
            }
            let mut next = Desk::ready(&store, &world, &loads);
            let words = tells(&mut next, &told);
            for text in told.iter().flat_map(|told| told.trim_start_matches("> ").split("\n\n")) {
                assert_eq!(words.concat().matches(text).count(), 1, "{text}: {words:?} of {told:?}");
            }
            assert_eq!(*shown.get_or_insert_with(|| words.clone()), words, "{told:?}");
            leave(next);
        }
    }
}

/// What of two windows' turns an agent has kept: each prompt as it was sent it, each answer at its end, and of one that did not come to
/// an end nothing.
#[derive(Debug, Default)]
struct Kept {
    told: Vec<Value>,
    /// What is being answered in each window.
    answers: [String; 2],
    has_ids: bool,
}

impl Kept {
    fn add(&mut self, mut told: Value) {
        if self.has_ids {
            told["messageId"] = self.told.len().to_string().into();
        }
        self.told.push(told);
    }

    /// In this window the user sends a prompt, `> `, the agent comes to an end with it, `=`, the user has it stop, `x`, or closes the
    /// window and opens another, `q`, or the agent says this.
    fn go_on<'a>(&mut self, at: usize, step: &str, windows: &mut [Desk<'a>], (store, world): (&'a Memory, &'a World)) {
        let desk = &mut windows[at];
        match step.split_once(' ') {
            Some((">", prompt)) => {
                let mut told = Vec::new();
                asks(desk, prompt, &mut told);
                for told in told {
                    self.add(told);
                }
            }
            _ if step == "=" => {
                desk.agent(answers("turn"));
                let answer = std::mem::take(&mut self.answers[at]);
                self.add(chunk("agent_message_chunk", &answer));
            }
            _ if step == "x" => {
                desk.client(json!({"method": "session/cancel", "params": {"sessionId": "s1"}}));
                desk.agent(json!({"id": "turn", "result": {"stopReason": "cancelled"}}));
                self.answers[at].clear();
            }
            _ if step == "q" => {
                let other = Desk::ready(store, world, &json!({"loadSession": true}));
                leave(std::mem::replace(desk, other));
                load_told(desk, &self.told);
                self.answers[at].clear();
            }
            _ => {
                desk.agent(update("s1", chunk("agent_message_chunk", step)));
                self.answers[at].push_str(step);
            }
        }
        windows[at].wait(1000);
    }
}

/// What is done in two windows, and all that is said.
const STOPPED: [(Steps, &str); 8] = [
    // A prompt that is stopped beside a long turn,
    (&[(0, "> Long"), (0, "L1"), (1, "> Stop"), (1, "S1"), (1, "x"), (0, "L2"), (0, "=")], "> LongL1L2> StopS1"),
    (&[(0, "> Long"), (0, "L1"), (1, "> Stop"), (1, "S1"), (1, "q"), (0, "L2"), (0, "=")], "> LongL1L2> StopS1"),
    // or before which that was begun,
    (&[(1, "> Stop"), (1, "S1"), (0, "> Long"), (0, "L1"), (1, "x"), (0, "L2"), (0, "=")], "> StopS1> LongL1L2"),
    // or that is stopped behind its end;
    (&[(0, "> Long"), (0, "L1"), (1, "> Stop"), (1, "S1"), (0, "L2"), (0, "="), (1, "x")], "> LongL1L2> StopS1"),
    // two of them,
    (
        &[
            (0, "> Long"),
            (0, "L1"),
            (1, "> Stop"),
            (1, "S1"),
            (1, "x"),
            (1, "> Halt"),
            (1, "H1"),
            (1, "x"),
            (0, "L2"),
            (0, "="),
        ],
        "> LongL1L2> StopS1> HaltH1",
    ),
    // behind one that was answered, or before it;
    (
        &[
            (0, "> Long"),
            (0, "L1"),
            (1, "> Short"),
            (1, "A"),
            (1, "="),
            (1, "> Stop"),
            (1, "S1"),
            (1, "x"),
            (0, "L2"),
            (0, "="),
        ],
        "> LongL1L2> ShortA> StopS1",
    ),
    (
        &[
            (0, "> Long"),
            (0, "L1"),
            (1, "> Stop"),
            (1, "S1"),
            (1, "x"),
            (1, "> Short"),
            (1, "A"),
            (1, "="),
            (0, "L2"),
            (0, "="),
        ],
        "> LongL1L2> StopS1> ShortA",
    ),
    // and the long one is stopped, too.
    (&[(0, "> Long"), (0, "L1"), (1, "> Short"), (1, "A"), (0, "x"), (1, "=")], "> LongL1> ShortA"),
];

#[test]
fn a_turn_that_is_stopped_beside_a_long_one_stays_though_the_agent_has_kept_its_prompt_alone() {
    let ways = [false, true].map(|has_ids| [false, true].map(|is_gone_on| (has_ids, is_gone_on)));
    for (has_ids, is_gone_on) in ways.into_iter().flatten() {
        for (steps, all) in STOPPED {
            let when = format!("{steps:?}, ids: {has_ids}, gone on with: {is_gone_on}");
            let (store, world) = (Memory::new(), World::unrecorded());
            let loads = json!({"loadSession": true});
            let mut kept = Kept { has_ids, ..Kept::default() };
            kept.add(chunk("user_message_chunk", "Hi"));
            kept.add(chunk("agent_message_chunk", "Ho"));
            let (first, second) = both_open(&store, &world, &loads, &[("Hi", "Ho")]);
            let mut windows = vec![first, second];
            let next = [(0, "> Next"), (0, "Well"), (0, "=")];
            for (window, step) in steps.iter().chain(if is_gone_on { &next[..] } else { &[] }) {
                kept.go_on(*window, step, &mut windows, (&store, &world));
            }
            windows.drain(..).for_each(leave);
            world.now.set(world.now.get() + 60_000);
            let all = format!("> HiHo{all}{}", if is_gone_on { "> NextWell" } else { "" });
            for time in ["once", "again"] {
                let mut next = Desk::ready(&store, &world, &loads);
                let out = load_told(&mut next, &kept.told);
                assert_eq!(words(&out), all, "{when}, {time}");
                assert!(mark(&out, "load")["setAside"].is_null(), "{when}, {time}");
                leave(next);
            }
        }
    }
}
