//! Prompts that a client does not wait for, while another window goes on with the session.

use acp_sessions_guest::engine::{Arrival, Content, Peer};
use acp_sessions_guest::storage::Memory;
use acp_sessions_guest::time;
use serde_json::{Value, json};

use crate::desk::{Desk, Out, World, chunk, envelope, update};
use crate::scenes::{
    CWD, account, ask_load, ask_prompt, begun, converse, leave, lines, listing, load, mark, oblige, replay, row, said,
    says, told_all,
};

const ALL: [&str; 4] = ["> OneTwo", "2 1", "> Theirs", "Their answer"];

fn loads() -> Value {
    json!({"loadSession": true})
}

fn ends(desk: &mut Desk<'_>, prompt: &Out) {
    desk.reply(&prompt.request("session/prompt"), json!({"stopReason": "end_turn"}));
}

/// A window on the session, in front of another agent.
fn other<'a>(store: &'a Memory, world: &'a World) -> Desk<'a> {
    let mut desk = Desk::open(store, world, &[]);
    desk.greet(Some("b"), &json!({}));
    let out = ask_load(&mut desk, "load", "s1");
    oblige(&mut desk, out, &[], "b1").answer("load");
    desk
}

/// What both an agent that knows nothing of it is said to have, and the first, which replays what it has heard.
fn is_whole(store: &Memory, world: &World, heard: &[String]) {
    let mut desk = Desk::open(store, world, &[]);
    desk.greet(Some("c"), &json!({}));
    assert_eq!(said(&load(&mut desk, "s1", &[]).client), ALL);
    leave(desk);
    let mut desk = Desk::ready(store, world, &loads());
    let asked = ask_load(&mut desk, "load", "s1").request("session/load");
    for text in heard {
        desk.agent(update("s1", chunk("user_message_chunk", text)));
    }
    desk.agent(says("2 1"));
    let out = desk.reply(&asked, json!({}));
    assert_eq!(said(&out.client), ALL);
    assert!(out.answer("load")["result"]["_meta"]["acp-sessions"]["setAside"].is_null());
}

#[test]
fn what_is_said_to_one_of_them_after_another_has_ended_belongs_to_the_same_turn() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &loads());
    desk.new_session("s1", CWD);
    let mut other = other(&store, &world);
    let [one, two] = ["One", "Two"].map(|text| ask_prompt(&mut desk, text, "s1", text));
    desk.agent(says("2 "));
    ends(&mut desk, &two);
    other.turn("s1", "Theirs", &["Their answer"]);
    desk.agent(says("1"));
    ends(&mut desk, &one);
    leave(desk);
    leave(other);
    is_whole(&store, &world, &["One".to_owned(), "Two".to_owned()]);
}

#[test]
fn prompts_sent_at_once_stay_together_though_another_window_has_a_turn_between_them() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &loads());
    desk.new_session("s1", CWD);
    let mut other = other(&store, &world);
    let one = ask_prompt(&mut desk, "One", "s1", "One");
    other.turn("s1", "Theirs", &["Their answer"]);
    let two = ask_prompt(&mut desk, "Two", "s1", "Two");
    desk.agent(says("2 1"));
    ends(&mut desk, &one);
    ends(&mut desk, &two);
    leave(desk);
    leave(other);
    is_whole(&store, &world, &["One".to_owned(), account(&two).unwrap(), "Two".to_owned()]);
}

#[test]
fn prompts_sent_at_once_stay_in_order_though_an_instance_was_lost_with_a_part_of_what_followed_them() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &loads());
    desk.new_session("s1", CWD);
    let one = ask_prompt(&mut desk, "One", "s1", "One");
    desk.agent(says("1 "));
    let two = ask_prompt(&mut desk, "Two", "s1", "Two");
    desk.agent(says("2 "));
    ends(&mut desk, &two);
    desk.agent(says("lost "));
    let mut desk = Desk::carry_on(&store, &world, &[], desk.memos, Vec::new());
    let three = ask_prompt(&mut desk, "Three", "s1", "Three");
    desk.agent(says("3 "));
    ends(&mut desk, &three);
    desk.agent(says("at last"));
    ends(&mut desk, &one);
    // Nobody takes the lost instance for another window any more.
    desk.wait(20_000);
    leave(desk);
    let told = [("One", "1 "), ("Two", "2 lost "), ("Three", "3 at last")];
    for time in ["once", "again"] {
        let mut desk = Desk::ready(&store, &world, &loads());
        assert_eq!(said(&load(&mut desk, "s1", &told).client), lines(&[&told]), "{time}");
        leave(desk);
    }
}

#[test]
fn prompts_sent_at_once_stay_together_though_another_window_with_an_agent_of_this_name_has_a_turn_between_them() {
    let (store, world) = (Memory::new(), World::default());
    let mut other = Desk::ready(&store, &world, &loads());
    other.new_session("s1", CWD);
    let mut desk = Desk::ready(&store, &world, &json!({}));
    assert_eq!(mark(&load(&mut desk, "s1", &[]), "load")["attached"], "new");
    let one = ask_prompt(&mut desk, "One", "s1", "One");
    let theirs = ask_prompt(&mut other, "theirs", "s1", "Theirs");
    let two = ask_prompt(&mut desk, "Two", "s1", "Two");
    ends(&mut other, &theirs);
    leave(other);
    ends(&mut desk, &one);
    ends(&mut desk, &two);
    leave(desk);
    let mut desk = Desk::ready(&store, &world, &loads());
    let asked = ask_load(&mut desk, "load", "s1").request("session/load");
    assert_eq!(asked["params"]["sessionId"], "fresh");
    // It tells one of them in other words than it was given.
    for text in ["One".to_owned(), account(&two).unwrap(), "Two too".to_owned()] {
        desk.agent(update("fresh", chunk("user_message_chunk", &text)));
    }
    let out = desk.reply(&asked, json!({}));
    let shown = said(&told_all(&mut desk, out).client).concat();
    // What it was given stays, as nobody can know that this is the same.
    assert_eq!(shown, "> OneTwoTheirsTwo too");
}

#[test]
fn what_follows_them_is_there_once_though_one_of_them_was_lost_on_its_way_to_the_agent() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &loads());
    desk.new_session("s1", CWD);
    let one = ask_prompt(&mut desk, "One", "s1", "One");
    let params = json!({"sessionId": "s1", "toolCall": {"toolCallId": "t1"}, "options": []});
    desk.agent(json!({"id": 1, "method": "session/request_permission", "params": params}));
    let memos = desk.memos.clone();
    ask_prompt(&mut desk, "lost", "s1", "Lost").request("session/prompt");
    let params = json!({"sessionId": "s1", "prompt": [{"type": "text", "text": "Lost"}]});
    let line = envelope(json!({"id": "lost", "method": "session/prompt", "params": params}));
    let lost = vec![Arrival { peer: Peer::Client, content: Content::Line(line) }];
    let mut desk = Desk::carry_on(&store, &world, &[], memos, lost);
    assert!(desk.pull().answer("lost")["error"].is_object());
    desk.agent(says("The answer"));
    ends(&mut desk, &one);
    // Nobody takes the lost instance for another window any more.
    desk.wait(20_000);
    leave(desk);
    for time in ["once", "again"] {
        let mut desk = Desk::ready(&store, &world, &loads());
        let shown = said(&load(&mut desk, "s1", &[("One", "The answer")]).client).concat();
        assert_eq!(shown.matches("One").count(), 1, "{time}: {shown}");
        assert_eq!(shown.matches("The answer").count(), 1, "{time}: {shown}");
        leave(desk);
    }
}

/// An agent that replays this of `s1`; what the client is shown of it, and the account that goes with its next prompt.
fn goes_on(store: &Memory, world: &World, replayed: &[(&str, &str)]) -> (Vec<String>, Option<String>) {
    let mut desk = Desk::ready(store, world, &loads());
    let shown = said(&load(&mut desk, "s1", replayed).client);
    let account = account(&ask_prompt(&mut desk, "next", "s1", "Next"));
    (shown, account)
}

#[test]
fn what_another_window_had_not_said_yet_when_the_prompt_was_sent_is_handed_over_with_the_next() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &loads());
    desk.new_session("s1", CWD);
    let mut other = other(&store, &world);
    let theirs = ask_prompt(&mut other, "theirs", "s1", "Theirs");
    other.agent(update("b1", chunk("agent_message_chunk", "Their answer")));
    // What it says is not written yet.
    let mine = ask_prompt(&mut desk, "mine", "s1", "Mine");
    assert!(account(&mine).unwrap().contains("Theirs"));
    desk.agent(says("My answer"));
    ends(&mut desk, &mine);
    ends(&mut other, &theirs);
    leave(desk);
    leave(other);
    let (shown, account) = goes_on(&store, &world, &[("Mine", "My answer")]);
    assert_eq!(shown, ["> Theirs", "Their answer", "> Mine", "My answer"]);
    assert!(account.unwrap_or_default().contains("Their answer"));
}

#[test]
fn what_an_agent_says_unasked_belongs_to_its_own_last_turn_though_another_window_had_one_since() {
    for (answer, joined, all) in [
        ("My answer. ", "My answer. By the way", "> MineMy answer. > TheirsTheir answer. By the way"),
        ("", "By the way", "> MineTheirsTheir answer. By the way"),
    ] {
        let (store, world) = (Memory::new(), World::default());
        let mut desk = Desk::ready(&store, &world, &loads());
        desk.new_session("s1", CWD);
        let mine = ask_prompt(&mut desk, "mine", "s1", "Mine");
        if !answer.is_empty() {
            desk.agent(says(answer));
        }
        ends(&mut desk, &mine);
        let mut other = other(&store, &world);
        other.turn("s1", "Theirs", &["Their answer. "]);
        desk.agent(says("By the way"));
        leave(desk);
        leave(other);
        let (shown, _) = goes_on(&store, &world, &[("Mine", joined)]);
        assert_eq!(shown.concat(), all);
    }
}

#[test]
fn prompts_sent_at_once_are_in_the_agents_session_though_it_says_of_the_last_that_it_has_none() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &loads());
    desk.new_session("s1", CWD);
    let [one, two] = ["One", "Two"].map(|text| ask_prompt(&mut desk, text, "s1", text));
    desk.agent(says("2 1"));
    ends(&mut desk, &two);
    let out = desk.refuse(&one.request("session/prompt"), -32002);
    assert_eq!(out.answer("One")["error"]["code"], -32002);
    leave(desk);
    let told = [("OneTwo", "2 1")];
    for time in ["once", "again"] {
        let mut desk = Desk::ready(&store, &world, &loads());
        assert_eq!(said(&load(&mut desk, "s1", &told).client), lines(&[&told]), "{time}");
        leave(desk);
    }
    let mut desk = Desk::ready(&store, &world, &loads());
    load(&mut desk, "s1", &told);
    assert_eq!(account(&ask_prompt(&mut desk, "next", "s1", "Three")), None);
}

#[test]
fn what_others_said_stays_before_them_though_the_agent_has_lost_what_it_said_first() {
    for told in [&[("OneTwo", "2 1")][..], &[("First", "0 "), ("OneTwo", "2 1")]] {
        let (store, world) = (Memory::new(), World::default());
        let mut desk = Desk::ready(&store, &world, &loads());
        desk.new_session("s1", CWD);
        desk.turn("s1", "First", &["0 ", "and more"]);
        let mut other = other(&store, &world);
        other.turn("s1", "Theirs", &["Their answer"]);
        let one = ask_prompt(&mut desk, "One", "s1", "One");
        other.turn("s1", "Theirs as well", &["Their other answer"]);
        let two = ask_prompt(&mut desk, "Two", "s1", "Two");
        desk.agent(says("2 1"));
        ends(&mut desk, &one);
        ends(&mut desk, &two);
        desk.wait(1000);
        leave(desk);
        leave(other);
        let changed = row("s1", "First", &time::format(world.time()));
        for time in ["once", "again"] {
            let mut desk = listing(&store, &world, "a", &loads(), std::slice::from_ref(&changed));
            let expected = [
                lines(&[&told[..told.len() - 1]]),
                lines(&[&[("Theirs", "Their answer"), ("OneTwo", "2 1"), ("Theirs as well", "Their other answer")]]),
            ];
            let out = load(&mut desk, "s1", told);
            assert_eq!(said(&out.client), expected.concat(), "{told:?}, {time}");
            // What the agent has lost, and nothing of the rest.
            assert_eq!(mark(&out, "load")["setAside"], 3, "{told:?}, {time}");
            leave(desk);
        }
    }
}

#[test]
fn what_an_agent_has_kept_of_them_stays_before_what_others_said_though_it_tells_what_came_later_otherwise() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &loads());
    desk.new_session("s1", CWD);
    let asked = ["One", "Two"].map(|text| ask_prompt(&mut desk, text, "s1", text).request("session/prompt"));
    for asked in &asked {
        desk.refuse(asked, -32603);
    }
    let mut other = other(&store, &world);
    other.turn("s1", "Theirs", &["Their answer"]);
    let three = ask_prompt(&mut desk, "Three", "s1", "Three");
    let account = account(&three).unwrap();
    desk.refuse(&three.request("session/prompt"), -32603);
    leave(desk);
    leave(other);
    for time in ["once", "again"] {
        let mut desk = Desk::ready(&store, &world, &loads());
        let mut out = ask_load(&mut desk, "load", "s1");
        let asked = out.request("session/load");
        desk.agent(update("s1", chunk("user_message_chunk", "One")));
        desk.agent(update("s1", chunk("user_message_chunk", &account)));
        replay(&mut desk, "s1", &[("ThreeFour", "4")]);
        out.extend(desk.reply(&asked, json!({})));
        // It was prompted behind what it has not kept, so nobody went back behind that.
        assert_eq!(said(&out.client), ["> OneTwoTheirs", "Their answer", "> ThreeFour", "4"], "{time}");
        leave(desk);
    }
}

#[test]
fn what_need_not_have_reached_an_agent_is_handed_over_to_it_though_it_was_gone_on_with_elsewhere() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &loads());
    desk.new_session("s1", CWD);
    desk.turn("s1", "Zero", &["0"]);
    for text in ["One", "Two"] {
        ask_prompt(&mut desk, text, "s1", text);
    }
    // Its host is killed; by then the lost instance is no longer taken for another window.
    drop(desk);
    world.now.set(world.now.get() + 20_000);
    let changed = row("s1", "Zero", &time::format(world.time()));
    for time in ["once", "again"] {
        let mut desk = listing(&store, &world, "a", &loads(), std::slice::from_ref(&changed));
        let shown = said(&load(&mut desk, "s1", &[("Zero", "0")]).client);
        assert_eq!(shown, ["> Zero", "0", "> OneTwo"], "{time}");
        leave(desk);
    }
    let mut desk = Desk::ready(&store, &world, &loads());
    load(&mut desk, "s1", &[("Zero", "0")]);
    let account = account(&ask_prompt(&mut desk, "next", "s1", "Three")).unwrap();
    assert!(account.contains("One") && account.contains("Two"), "{account}");
}

/// The first is refused; the second was lost with its instance on its way to the agent.
#[test]
fn what_an_agent_has_refused_and_tells_all_the_same_is_there_once_though_the_next_prompt_never_reached_it() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &loads());
    desk.new_session("s1", CWD);
    desk.turn("s1", "Zero", &["0"]);
    let one = ask_prompt(&mut desk, "one", "s1", "One").request("session/prompt");
    let params = json!({"sessionId": "s1", "prompt": [{"type": "text", "text": "Two"}]});
    let two = envelope(json!({"id": "two", "method": "session/prompt", "params": params}));
    let lost = vec![Arrival { peer: Peer::Client, content: Content::Line(two) }];
    desk.engine.receive(lost.clone());
    let mut desk = Desk::carry_on(&store, &world, &[], desk.memos, lost);
    let out = desk.pull();
    assert_eq!(out.answer("two")["error"]["code"], -32603);
    assert_eq!(desk.refuse(&one, -32002).answer("one")["error"]["code"], -32002);
    leave(desk);
    // By then the lost instance is no longer taken for another window.
    world.now.set(world.now.get() + 20_000);
    for time in ["once", "again"] {
        let mut desk = Desk::ready(&store, &world, &loads());
        let shown = said(&load(&mut desk, "s1", &[("Zero", "0"), ("One", "")]).client);
        assert_eq!(shown, ["> Zero", "0", "> OneTwo"], "{time}");
        leave(desk);
    }
}

#[test]
fn what_an_agent_has_refused_and_tells_all_the_same_is_there_once_though_it_joins_it_with_what_was_said_around_it() {
    let joined = [("OneTwoThree", "The beginning and the end")];
    let apart = [("One", "The first answer"), ("TwoThree", "The beginning and the end")];
    for code in [-32002, -32603] {
        for (answer, told) in [(None, &joined[..]), (Some("The first answer"), &apart)] {
            let (store, world) = (Memory::new(), World::default());
            let mut desk = Desk::ready(&store, &world, &loads());
            desk.new_session("s1", CWD);
            desk.turn("s1", "One", answer.as_slice());
            let asked = ask_prompt(&mut desk, "two", "s1", "Two").request("session/prompt");
            desk.refuse(&asked, code);
            let three = ask_prompt(&mut desk, "three", "s1", "Three");
            desk.agent(says("The beginning"));
            ends(&mut desk, &three);
            // The end of its answer is lost on its way.
            leave(desk);
            for time in ["once", "again"] {
                let mut desk = Desk::ready(&store, &world, &loads());
                let shown = said(&load(&mut desk, "s1", told).client);
                assert_eq!(shown, lines(&[told]), "{code} {answer:?}, {time}");
                leave(desk);
            }
        }
    }
}

#[test]
fn a_prompt_that_was_refused_and_is_told_in_the_midst_of_others_is_there_once() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &loads());
    desk.new_session("s1", CWD);
    desk.turn("s1", "Zero", &["0"]);
    desk.turn("s1", "One", &[]);
    let two = ask_prompt(&mut desk, "two", "s1", "Two").request("session/prompt");
    desk.refuse(&two, -32002);
    leave(desk);
    let told = [("Zero", "0"), ("OneTwoThree", "3")];
    for time in ["once", "again"] {
        let mut desk = Desk::ready(&store, &world, &loads());
        assert_eq!(said(&load(&mut desk, "s1", &told).client), lines(&[&told]), "{time}");
        leave(desk);
    }
}

#[test]
fn what_was_cut_off_in_another_window_stays_before_them_though_its_agent_never_told_of_it() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &loads());
    desk.new_session("s1", CWD);
    // A window of its own, with a program of the same agent's, which is killed.
    let mut killed = Desk::ready(&store, &world, &loads());
    load(&mut killed, "s1", &[]).answer("load");
    ask_prompt(&mut killed, "theirs", "s1", "Theirs").request("session/prompt");
    drop(killed);
    let one = ask_prompt(&mut desk, "one", "s1", "One");
    let two = ask_prompt(&mut desk, "two", "s1", "Two");
    desk.agent(says("2 1"));
    ends(&mut desk, &two);
    ends(&mut desk, &one);
    leave(desk);
    desk = Desk::ready(&store, &world, &loads());
    desk.wait(20_000);
    for time in ["once", "again"] {
        let out = load(&mut desk, "s1", &[("OneTwo", "2 1")]);
        assert_eq!(said(&out.client), ["> TheirsOneTwo", "2 1"], "{time}");
        assert!(mark(&out, "load")["setAside"].is_null(), "{time}");
        leave(desk);
        desk = Desk::ready(&store, &world, &loads());
    }
}

#[test]
fn a_turn_cut_off_before_them_stays_with_its_answer_though_the_agent_tells_its_prompt_with_the_first_of_them() {
    for (cut_off, told) in [(&["Two"][..], "TwoThree"), (&["Two", "And two"], "TwoAnd twoThree")] {
        for fails in [false, true] {
            for next in [&[][..], &[("Five", "5")]] {
                let (store, world) = (Memory::new(), World::unrecorded());
                let mut desk = begun(&store, &world, &loads(), &[("One", "1")]);
                let mut had = vec![("One", "1")];
                for prompt in cut_off {
                    let asked = ask_prompt(&mut desk, "cut off", "s1", prompt).request("session/prompt");
                    desk.agent(says("The beginning"));
                    if fails {
                        desk.refuse(&asked, -32603);
                    } else {
                        desk.client(json!({"method": "session/cancel", "params": {"sessionId": "s1"}}));
                        desk.reply(&asked, json!({"stopReason": "cancelled"}));
                    }
                    had.push((prompt, "The beginning"));
                }
                let three = ask_prompt(&mut desk, "three", "s1", "Three");
                desk.agent(says("3a "));
                let four = ask_prompt(&mut desk, "four", "s1", "Four");
                desk.agent(says("3b"));
                ends(&mut desk, &three);
                desk.agent(says("4"));
                ends(&mut desk, &four);
                had.extend([("Three", "3a "), ("Four", "3b4")]);
                converse(&mut desk, "s1", next);
                had.extend_from_slice(next);
                leave(desk);
                let replay = [&[("One", "1"), (told, "3a 3b"), ("Four", "4")], next].concat();
                for time in ["once", "again"] {
                    let mut desk = Desk::ready(&store, &world, &loads());
                    let out = load(&mut desk, "s1", &replay);
                    assert_eq!(said(&out.client), lines(&[&had]), "{cut_off:?}, {fails}, {next:?}, {time}");
                    assert!(mark(&out, "load")["setAside"].is_null());
                    leave(desk);
                }
            }
        }
    }
}

/// The model cannot be reached, say.
#[test]
fn a_prompt_that_is_queued_behind_the_same_one_stays_as_it_is_though_each_is_answered_alike() {
    let failed = ("Go on", "API Error");
    for (before, behind) in [(0, &[][..]), (1, &[]), (2, &[]), (1, &[("Next", "Done")]), (1, &[failed])] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut desk = begun(&store, &world, &loads(), &[&[("Hi", "Ho")], &vec![failed; before][..]].concat());
        let queued = ["one", "two"].map(|request| ask_prompt(&mut desk, request, "s1", "Go on"));
        for prompt in &queued {
            desk.agent(says("API Error"));
            ends(&mut desk, prompt);
        }
        converse(&mut desk, "s1", behind);
        leave(desk);
        let replay = [&[("Hi", "Ho")], &vec![failed; before + 2][..], behind].concat();
        let had =
            [&[("Hi", "Ho")], &vec![failed; before][..], &[("Go onGo on", "API ErrorAPI Error")], behind].concat();
        for time in ["first", "second", "third"] {
            let mut desk = Desk::ready(&store, &world, &loads());
            let out = load(&mut desk, "s1", &replay);
            assert_eq!(said(&out.client), lines(&[&had]), "{before} before, {behind:?}, {time}");
            assert!(mark(&out, "load")["setAside"].is_null());
            leave(desk);
        }
    }
}
