//! Replays behind an agent's answer that do not come alone: with accounts of the layer's in several pieces, beside turns, for a
//! load that was cancelled as well, and over the loss of an instance.

use acp_sessions_guest::storage::{Bounds, Memory, Storage};
use serde_json::{Value, json};

use crate::desk::{Desk, Out, World, chunk, update};
use crate::late_replays::{LATER, NEW, gone_on_with, kept, opened, ways};
use crate::scenes::{TOLD, Turns, answers, ask_load, ask_prompt, leave, lines, oblige, replay, said, told};

/// The user says this, in pieces of so many characters.
fn user_says(desk: &mut Desk<'_>, agent_id: &str, text: &str, size: usize) -> Out {
    let chars: Vec<char> = text.chars().collect();
    let mut out = Out::default();
    for piece in chars.chunks(size) {
        let piece: String = piece.iter().collect();
        out.extend(desk.agent(update(agent_id, chunk("user_message_chunk", &piece))));
    }
    out
}

#[test]
fn an_account_that_is_told_in_several_pieces_is_nobodys_words() {
    for size in [1, 37, 100, 400, 100_000] {
        for question in [NEW[0].0, "Another question"] {
            for (method, capabilities) in ways() {
                let case = format!("{method} {size} {question}");
                let (store, world) = (Memory::new(), World::unrecorded());
                let (desk, account) = gone_on_with(&store, &world, &capabilities, "s1");
                leave(desk);
                let mut desk = Desk::ready(&store, &world, &capabilities);
                let (id, agent_id, _) = opened(&mut desk, method);
                let mut out = user_says(&mut desk, agent_id, &format!("{account}\n\n{question}"), size);
                out.extend(desk.agent(update(agent_id, chunk("agent_message_chunk", NEW[0].1))));
                let is_known = question == NEW[0].0;
                let new = if is_known { vec![] } else { lines(&[&[(question, NEW[0].1)]]) };
                assert_eq!(said(&out.client).concat(), new.concat(), "{case}");
                desk.wait(500);
                leave(desk);
                let all = lines(&[&[("Theirs", "Their answer")], NEW]);
                assert_eq!(kept(&store, &world, &id), [all, new].concat(), "{case}");
            }
        }
    }
}

#[test]
fn a_prompt_with_the_words_of_an_old_one_is_no_end_of_a_replay_that_comes_behind_it() {
    for asked in
        [TOLD[0].0, "First question, once more", "First", TOLD[1].0, "Second question, once more", "Something else"]
    {
        for (method, capabilities) in ways() {
            let (store, world) = (Memory::new(), World::unrecorded());
            told(&store, &world, &capabilities);
            let mut desk = Desk::ready(&store, &world, &capabilities);
            let (id, agent_id, _) = opened(&mut desk, method);
            ask_prompt(&mut desk, "turn", &id, asked).request("session/prompt");
            let out = replay(&mut desk, agent_id, TOLD);
            assert_eq!(said(&out.client), [""; 0], "{method} {asked}");
            let out = desk.agent(update(agent_id, chunk("agent_message_chunk", NEW[0].1)));
            assert_eq!(said(&out.client), [NEW[0].1], "{method} {asked}");
            desk.agent(answers("turn"));
            leave(desk);
            assert_eq!(kept(&store, &world, &id), lines(&[TOLD, &[(asked, NEW[0].1)]]), "{method} {asked}");
        }
    }
}

/// What a replay of [`TOLD`] consists of, where it comes word by word.
fn words() -> Vec<Value> {
    let pieces = |kind: &'static str, text: &'static str| text.split_inclusive(' ').map(move |word| chunk(kind, word));
    let turn = |(user, agent)| pieces("user_message_chunk", user).chain(pieces("agent_message_chunk", agent));
    TOLD.iter().copied().flat_map(turn).collect()
}

#[test]
fn a_replay_goes_on_though_a_turn_begins_and_ends_meanwhile() {
    for (method, capabilities) in ways() {
        // The first word alone may be the beginning of anything.
        for prompted_behind in (0..words().len()).filter(|behind| *behind != 1) {
            let case = format!("{method} {prompted_behind}");
            let (store, world) = (Memory::new(), World::unrecorded());
            told(&store, &world, &capabilities);
            let mut desk = Desk::ready(&store, &world, &capabilities);
            let (id, agent_id, _) = opened(&mut desk, method);
            let mut out = Out::default();
            for word in &words()[..prompted_behind] {
                out.extend(desk.agent(update(agent_id, word.clone())));
            }
            let answer = desk.turn(&id, NEW[0].0, &[NEW[0].1]);
            for word in &words()[prompted_behind..] {
                out.extend(desk.agent(update(agent_id, word.clone())));
            }
            assert_eq!(said(&out.client), [""; 0], "{case}");
            assert_eq!(said(&answer.client), [NEW[0].1], "{case}");
            desk.wait(LATER);
            leave(desk);
            assert_eq!(kept(&store, &world, &id), lines(&[TOLD, NEW]), "{case}");
        }
    }
}

#[test]
fn what_is_told_for_a_load_that_was_cancelled_does_not_keep_the_replay_for_the_next_from_being_known_again() {
    for capabilities in [json!({"loadSession": true}), json!({"sessionCapabilities": {"resume": {}}})] {
        let (store, world) = (Memory::new(), World::unrecorded());
        told(&store, &world, &capabilities);
        let mut desk = Desk::ready(&store, &world, &capabilities);
        let is_asked = |asked: &&Value| asked["method"] == "session/load" || asked["method"] == "session/resume";
        let first = ask_load(&mut desk, "first", "s1").agent.iter().find(is_asked).cloned().unwrap();
        desk.client(json!({"method": "$/cancel_request", "params": {"requestId": "first"}}));
        desk.reply(&first, json!({}));
        let mut out = ask_load(&mut desk, "second", "s1");
        out.extend(replay(&mut desk, "s1", TOLD));
        let second = out.agent.iter().find(is_asked).cloned().unwrap();
        out.extend(desk.reply(&second, json!({})));
        out.answer("second");
        assert_eq!(said(&out.client), lines(&[TOLD]), "{capabilities}");
        let out = replay(&mut desk, "s1", TOLD);
        assert_eq!(said(&out.client), [""; 0], "{capabilities}");
        desk.wait(500);
        leave(desk);
        assert_eq!(kept(&store, &world, "s1"), lines(&[TOLD]), "{capabilities}");
    }
}

#[test]
fn a_replay_is_followed_over_the_loss_of_an_instance() {
    let all: Turns<'_> = &[TOLD, NEW].concat();
    for (method, capabilities) in ways() {
        for lost_behind in 0..=2 * all.len() {
            for is_prompted in [false, true] {
                let case = format!("{method} {lost_behind}, prompted: {is_prompted}");
                let (store, world) = (Memory::new(), World::unrecorded());
                told(&store, &world, &capabilities);
                let mut desk = Desk::ready(&store, &world, &capabilities);
                oblige_turn(&mut desk, NEW);
                leave(desk);
                let mut desk = Desk::ready(&store, &world, &capabilities);
                let (id, agent_id, _) = opened(&mut desk, method);
                if is_prompted {
                    ask_prompt(&mut desk, "turn", &id, "Go on").request("session/prompt");
                }
                let told = all
                    .iter()
                    .flat_map(|(user, agent)| [chunk("user_message_chunk", user), chunk("agent_message_chunk", agent)]);
                let told: Vec<Value> = told.collect();
                let mut out = Out::default();
                for said in &told[..lost_behind] {
                    out.extend(desk.agent(update(agent_id, said.clone())));
                }
                let mut desk = Desk::carry_on(&store, &world, &[], desk.memos, Vec::new());
                desk.pull();
                for said in &told[lost_behind..] {
                    out.extend(desk.agent(update(agent_id, said.clone())));
                }
                assert_eq!(said(&out.client), [""; 0], "{case}");
                let mut expected = lines(&[all]);
                if is_prompted {
                    desk.agent(update(agent_id, chunk("agent_message_chunk", "Gone on")));
                    desk.agent(answers("turn"));
                    expected.extend(lines(&[&[("Go on", "Gone on")]]));
                }
                desk.wait(500);
                leave(desk);
                assert_eq!(kept(&store, &world, &id), expected, "{case}");
            }
        }
    }
}

/// A turn in `s1`, which is opened for it.
fn oblige_turn(desk: &mut Desk<'_>, turns: Turns<'_>) {
    let out = ask_load(desk, "load", "s1");
    oblige(desk, out, TOLD, "s1").answer("load");
    for (user, agent) in turns {
        desk.turn("s1", user, &[agent]);
    }
}

#[test]
fn the_log_says_so_where_what_may_have_been_one_is_lost_with_an_instance() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let capabilities = json!({"sessionCapabilities": {"resume": {}}});
    told(&store, &world, &capabilities);
    let mut desk = Desk::ready(&store, &world, &capabilities);
    opened(&mut desk, "session/resume");
    desk.agent(update("s1", chunk("user_message_chunk", "Fir")));
    let mut desk = Desk::carry_on(&store, &world, &[], desk.memos, Vec::new());
    desk.pull();
    desk.agent(update("s1", chunk("user_message_chunk", "s and oaks")));
    desk.wait(500);
    leave(desk);
    let bounds = Bounds { limit: 100, max_bytes: u32::MAX };
    let entries = store.read_log("s1", 1, bounds).expect("the log can be read").entries;
    assert!(entries.iter().any(|entry| entry.value.starts_with('g')), "{entries:?}");
    assert!(kept(&store, &world, "s1").concat().ends_with("s and oaks"));
}
