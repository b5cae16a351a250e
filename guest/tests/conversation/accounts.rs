//! How much an account has of a long log: what was said counts, however much stands there that says nothing.

use acp_sessions_guest::storage::{Memory, Storage};
use serde_json::{Value, json};

use crate::desk::{Desk, Faulty, World, chunk, update};
use crate::scenes::{CWD, account, ask_load, ask_prompt, leave, oblige};
use crate::side_by_side::{SOON, ends, two_windows};

/// The longest account, in bytes, with the sentences around what was said.
const LONGEST: usize = 49 * 1024;

/// A turn with a command whose output comes in so many pieces.
fn runs_command<S: Storage>(desk: &mut Desk<'_, S>, session: &str, agent_id: &str, prompt: &str, pieces: usize) {
    let out = ask_prompt(desk, "command", session, prompt);
    desk.agent(update(agent_id, json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "Test"})));
    for piece in 0..pieces {
        let output = json!([{"type": "content", "content": {"type": "text", "text": format!("line {piece}")}}]);
        desk.agent(update(
            agent_id,
            json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "content": output}),
        ));
    }
    ends(desk, &out);
}

#[test]
fn what_was_said_elsewhere_before_a_command_with_much_output_is_told() {
    for pieces in [10, 2_500, 9_000] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let (mut first, mut second) = two_windows(&store, &world);
        second.turn("s1", "Use tabs only", &["I will"]);
        runs_command(&mut second, "s1", "b1", "Run the tests", pieces);
        let out = ask_prompt(&mut first, "mine", "s1", "Mine");
        let told = account(&out).unwrap_or_default();
        let said = "User: Use tabs only\n\nAssistant: I will\n\nUser: Run the tests\n\nTool call: Test";
        assert!(told.contains(said) && !told.contains("Hi"), "{pieces}: {told}");
        assert!(!told.contains("only its last part"), "{pieces}: {told}");
        ends(&mut first, &out);
        assert_eq!(account(&ask_prompt(&mut first, "next", "s1", "Next")), None, "{pieces}");
    }
}

/// Agents may take a prompt that was cancelled out of their histories: Gemini CLI always, Qwen Code where it has said nothing.
#[test]
fn what_was_told_with_a_prompt_that_was_cancelled_is_told_with_the_next() {
    for says in [&[][..], &["I"]] {
        for ending in
            [json!({"result": {"stopReason": "cancelled"}}), json!({"error": {"code": -32603, "message": "aborted"}})]
        {
            for is_opened_again in [false, true] {
                let case = format!("{says:?} {ending} {is_opened_again}");
                let (store, world) = (Memory::new(), World::unrecorded());
                let (mut first, mut second) = two_windows(&store, &world);
                second.turn("s1", "Theirs", &["Their answer"]);
                let out = ask_prompt(&mut first, "mine", "s1", "Mine");
                assert!(account(&out).is_some_and(|told| told.contains("Theirs")), "{case}");
                for text in says {
                    first.agent(update("s1", chunk("agent_message_chunk", text)));
                }
                first.client(json!({"method": "session/cancel", "params": {"sessionId": "s1"}}));
                let mut answer = ending.clone();
                answer["id"] = "mine".into();
                first.agent(answer);
                if is_opened_again {
                    leave(first);
                    first = Desk::ready(&store, &world, &json!({"sessionCapabilities": {"resume": {}}}));
                    let out = ask_load(&mut first, "load", "s1");
                    oblige(&mut first, out, &[], "s1").answer("load");
                }
                let out = ask_prompt(&mut first, "next", "s1", "Next");
                let told = account(&out).unwrap_or_default();
                assert!(told.contains("User: Theirs\n\nAssistant: Their answer"), "{case}: {told}");
                ends(&mut first, &out);
                assert_eq!(account(&ask_prompt(&mut first, "last", "s1", "Last")), None, "{case}");
            }
        }
    }
}

#[test]
fn an_agent_that_cannot_load_is_told_what_stands_before_a_command_with_much_output() {
    for pieces in [10, 2_500, 9_000] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut desk = Desk::ready(&store, &world, &json!({}));
        let id = desk.new_session("s1", CWD);
        desk.turn(&id, "Never touch main", &["I will not"]);
        runs_command(&mut desk, &id, "s1", "Run the tests", pieces);
        leave(desk);
        let mut desk = Desk::ready(&store, &world, &json!({}));
        let out = ask_load(&mut desk, "load", &id);
        oblige(&mut desk, out, &[], "s2").answer("load");
        let told = account(&ask_prompt(&mut desk, "next", &id, "Next")).unwrap_or_default();
        assert!(told.contains("User: Never touch main\n\nAssistant: I will not"), "{pieces}: {told}");
        assert!(!told.contains("only its last part"), "{pieces}: {told}");
    }
}

#[test]
fn a_long_turn_of_its_own_is_not_told_and_hides_nothing_that_was_said_in_its_midst() {
    for calls in [10, 3_000, 9_000] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let (mut first, mut second) = two_windows(&store, &world);
        let own = ask_prompt(&mut second, "own", "s1", "Own");
        second.agent(update("b1", chunk("agent_message_chunk", "early")));
        second.wait(SOON);
        first.turn("s1", "Theirs", &["Their answer"]);
        for call in 0..calls {
            let call = json!({"sessionUpdate": "tool_call", "toolCallId": format!("c{call}"), "title": "My call"});
            second.agent(update("b1", call));
        }
        second.wait(SOON);
        ends(&mut second, &own);
        second.wait(SOON);
        let told = account(&ask_prompt(&mut second, "next", "s1", "Next")).unwrap_or_default();
        assert!(told.contains("User: Theirs\n\nAssistant: Their answer"), "{calls}: {told}");
        assert!(!told.contains("My call") && !told.contains("early"), "{calls}: {told}");
    }
}

#[test]
fn of_long_answers_each_is_told_in_part_as_far_as_all_of_them_have_room() {
    // How many answers of how many bytes, and how many of them have room at the least.
    for (answers, bytes, least) in [(2, 20_000, 2), (4, 60_000, 4), (3, 200_000, 3), (10, 20_000, 5)] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let (mut first, mut second) = two_windows(&store, &world);
        for nth in 0..answers {
            let answer = format!("beginning {nth} {}end {nth}", "word ".repeat(bytes / "word ".len()));
            second.turn("s1", &format!("Theirs {nth}"), &[&answer]);
        }
        let told = account(&ask_prompt(&mut first, "mine", "s1", "Mine")).unwrap_or_default();
        let what = format!("{answers} of {bytes}: {} bytes", told.len());
        assert!(told.len() < LONGEST, "{what}");
        for nth in answers - least..answers {
            for said in [format!("User: Theirs {nth}"), format!("beginning {nth} "), format!("end {nth}")] {
                assert!(told.contains(&said), "{said} is missing of {what}");
            }
        }
        assert_eq!(told.contains("only its last part"), least < answers, "{what}");
        assert_eq!(told.contains("[…]"), answers * bytes > LONGEST, "{what}");
    }
}

#[test]
fn an_account_reads_of_a_log_little_more_than_it_tells_and_what_says_nothing_a_few_times_at_most() {
    /// Far fewer than the log has.
    const FEW: usize = 2_000;
    let silent = json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "in_progress"});
    let call = json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "word ".repeat(100)});
    let said = json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "It is done"}});
    let read = |updates: usize, told: [&Value; 2]| {
        let (store, world) = (Faulty::default(), World::unrecorded());
        let mut desk = Desk::ready(&store, &world, &json!({}));
        let id = desk.new_session("s1", CWD);
        let out = ask_prompt(&mut desk, "long", &id, "Go");
        for nth in 0..updates {
            desk.agent(update("s1", told[nth % told.len()].clone()));
        }
        ends(&mut desk, &out);
        leave(desk);
        let mut desk = Desk::ready(&store, &world, &json!({}));
        let out = ask_load(&mut desk, "load", &id);
        oblige(&mut desk, out, &[], "s2").answer("load");
        store.entries_read.set(0);
        assert!(account(&ask_prompt(&mut desk, "next", &id, "Next")).is_some());
        store.entries_read.get()
    };
    let much_said = read(10_000, [&call, &said]);
    assert!(much_said < FEW, "{much_said}");
    let nothing_said = read(10_000, [&silent, &silent]);
    assert!((10_000..24_000).contains(&nothing_said), "{nothing_said}");
}
