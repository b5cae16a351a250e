//! What an agent says behind its answer to opening a session is kept, though it is like what was said in it before.

use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, Out, World, chunk, update};
use crate::late_replays::{LATER, NEW, SAID, kept, kept_updates, opened, tool, turn_of, updates_told, ways};
use crate::scenes::{CWD, TOLD, answers, ask_prompt, leave, lines, replay, said, told};

#[test]
fn a_turn_that_is_as_the_first_one_was_is_kept() {
    for (method, capabilities) in ways() {
        for echoes in [false, true] {
            for is_replayed in [false, true] {
                let (store, world) = (Memory::new(), World::unrecorded());
                told(&store, &world, &capabilities);
                let mut desk = Desk::ready(&store, &world, &capabilities);
                let (id, agent_id, _) = opened(&mut desk, method);
                if is_replayed {
                    replay(&mut desk, agent_id, TOLD);
                }
                let (user, agent) = TOLD[0];
                let asked = ask_prompt(&mut desk, "turn", &id, user).request("session/prompt");
                let mut out = Out::default();
                if echoes {
                    out.extend(desk.agent(update(agent_id, chunk("user_message_chunk", user))));
                }
                out.extend(desk.agent(update(agent_id, chunk("agent_message_chunk", agent))));
                // A replay that begins now would be no different up to here: that is known when the turn ends without more.
                let mut shown = said(&out.client);
                out = desk.reply(&asked, json!({"stopReason": "end_turn"}));
                shown.extend(said(&out.client));
                assert_eq!(out.client.last().unwrap()["id"], "turn", "all of it comes before the turn's end");
                let echo = format!("> {user}");
                assert_eq!(shown, if echoes { vec![&echo, agent] } else { vec![agent] });
                let shown = kept(&store, &world, &id);
                assert_eq!(shown, lines(&[TOLD, &TOLD[..1]]), "{method}, echoes: {echoes}, replayed: {is_replayed}");
            }
        }
    }
}

#[test]
fn what_the_agent_says_by_itself_is_kept() {
    // What it says, and after how long; the first is as the first turn was.
    for (turns, after) in [(&TOLD[..1], LATER), (NEW, 0), (&TOLD[1..], 0)] {
        for (method, capabilities) in ways() {
            let (store, world) = (Memory::new(), World::unrecorded());
            told(&store, &world, &capabilities);
            let mut desk = Desk::ready(&store, &world, &capabilities);
            let (id, agent_id, _) = opened(&mut desk, method);
            desk.wait(after);
            assert_eq!(said(&replay(&mut desk, agent_id, turns).client), lines(&[turns]), "{method}");
            desk.wait(500);
            let shown = kept(&store, &world, &id);
            assert_eq!(shown, lines(&[TOLD, turns]), "{method} {turns:?}");
        }
    }
}

#[test]
fn what_it_says_behind_its_replay_is_kept() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let capabilities = json!({"sessionCapabilities": {"fork": {}}});
    told(&store, &world, &capabilities);
    let mut desk = Desk::ready(&store, &world, &capabilities);
    let (id, agent_id, _) = opened(&mut desk, "session/fork");
    let out = replay(&mut desk, agent_id, &[TOLD, NEW].concat());
    assert_eq!(said(&out.client), lines(&[NEW]));
    desk.wait(500);
    assert_eq!(kept(&store, &world, &id), lines(&[TOLD, NEW]));
}

#[test]
fn what_is_said_in_a_session_in_which_nothing_was_is_kept() {
    for method in ["session/resume", "session/fork"] {
        let capabilities = json!({"sessionCapabilities": {"resume": {}, "fork": {}}});
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut desk = Desk::ready(&store, &world, &capabilities);
        desk.new_session("s1", CWD);
        leave(desk);
        let mut desk = Desk::ready(&store, &world, &capabilities);
        let (id, agent_id, _) = opened(&mut desk, method);
        for _ in 0..2 {
            replay(&mut desk, agent_id, NEW);
        }
        let asked = ask_prompt(&mut desk, "turn", &id, NEW[0].0).request("session/prompt");
        desk.agent(update(agent_id, chunk("user_message_chunk", NEW[0].0)));
        desk.agent(update(agent_id, chunk("agent_message_chunk", NEW[0].1)));
        desk.reply(&asked, json!({"stopReason": "end_turn"}));
        assert_eq!(kept(&store, &world, &id), lines(&[NEW, NEW, NEW]), "{method}");
    }
}

#[test]
fn what_an_agent_says_in_a_turn_behind_its_replay_is_kept_though_it_is_as_before() {
    let says = |text: &str| chunk("agent_message_chunk", text);
    let thinks = |text: &str| chunk("agent_thought_chunk", text);
    let cases: [(&[Value], &[Value], &[Value]); 3] = [
        // The agent counts its tool calls anew.
        (
            &[tool("c1", "First run", "completed"), says("All tests pass")],
            &[tool("c1", "First run", "completed"), says("All tests pass")],
            &[tool("c1", "Second run", "completed"), says("They pass again")],
        ),
        (
            &[thinks("The user wants the tests"), says("All tests pass")],
            &[thinks("The user wants the tests"), says("All tests pass")],
            &[thinks("The user wants the tests"), says("They pass again")],
        ),
        // It replays what the user said, and nothing else.
        (&[says("All tests pass")], &[], &[says("All tests pass")]),
    ];
    for (before, replayed, now) in cases {
        for (method, capabilities) in ways() {
            let (store, world) = (Memory::new(), World::unrecorded());
            let prompt = json!({"type": "text", "text": "Please run the tests"});
            turn_of(&store, &world, &capabilities, std::slice::from_ref(&prompt), before);
            let mut desk = Desk::ready(&store, &world, &capabilities);
            let (id, agent_id, _) = opened(&mut desk, method);
            let mut out = desk.agent(update(agent_id, chunk("user_message_chunk", "Please run the tests")));
            for said in replayed {
                out.extend(desk.agent(update(agent_id, said.clone())));
            }
            assert_eq!(updates_told(&out, &SAID), [""; 0]);
            ask_prompt(&mut desk, "turn", &id, "And again").request("session/prompt");
            let mut out = Out::default();
            for said in now {
                out.extend(desk.agent(update(agent_id, said.clone())));
            }
            let now: Vec<String> = now.iter().map(Value::to_string).collect();
            assert_eq!(updates_told(&out, &SAID), now, "{method}");
            desk.agent(answers("turn"));
            leave(desk);
            assert!(kept_updates(&store, &world, &id).ends_with(&now), "{method} {now:?}");
        }
    }
}

#[test]
fn the_end_of_a_tool_call_that_was_running_is_kept_behind_a_replay() {
    let done = json!({
        "sessionUpdate": "tool_call_update",
        "toolCallId": "c1",
        "status": "completed",
        "content": [{"type": "content", "content": {"type": "text", "text": "Built."}}],
    });
    for (after, (method, capabilities)) in [0, 1000, LATER].into_iter().flat_map(|after| ways().map(|way| (after, way)))
    {
        let (store, world) = (Memory::new(), World::unrecorded());
        let said = [chunk("agent_message_chunk", "It builds"), tool("c1", "Build", "in_progress")];
        let prompt = json!({"type": "text", "text": "Please build it"});
        turn_of(&store, &world, &capabilities, &[prompt], &said);
        let mut desk = Desk::ready(&store, &world, &capabilities);
        let (id, agent_id, _) = opened(&mut desk, method);
        desk.agent(update(agent_id, chunk("user_message_chunk", "Please build it")));
        for said in &said {
            desk.agent(update(agent_id, said.clone()));
        }
        desk.wait(after);
        let out = desk.agent(update(agent_id, done.clone()));
        assert_eq!(updates_told(&out, &SAID), [done.to_string()], "{method} {after}");
        desk.wait(500);
        leave(desk);
        assert!(kept_updates(&store, &world, &id).ends_with(&[done.to_string()]), "{method} {after}");
    }
}

#[test]
fn what_only_begins_like_a_replay_is_shown_and_kept_as_soon_as_that_is_clear() {
    let image =
        json!({"sessionUpdate": "user_message_chunk", "content": {"type": "image", "mimeType": "a/b", "data": "A"}});
    // What comes behind `Fir`, with which the first thing that was said begins; nothing, for long; or a prompt.
    for next in ["user", "image", "agent", "time", "prompt", "close"] {
        for (method, capabilities) in ways() {
            let (store, world) = (Memory::new(), World::unrecorded());
            told(&store, &world, &capabilities);
            let mut desk = Desk::ready(&store, &world, &capabilities);
            let (id, agent_id, _) = opened(&mut desk, method);
            let out = desk.agent(update(agent_id, chunk("user_message_chunk", "Fir")));
            assert_eq!(said(&out.client), [""; 0]);
            let out = match next {
                "user" => desk.agent(update(agent_id, chunk("user_message_chunk", "s and oaks"))),
                "image" => desk.agent(update(agent_id, image.clone())),
                "agent" => desk.agent(update(agent_id, chunk("agent_message_chunk", "A tree"))),
                "time" => desk.wait(LATER),
                "prompt" => {
                    ask_prompt(&mut desk, "turn", &id, "Go on");
                    let out = desk.agent(update(agent_id, chunk("agent_message_chunk", "Gone on")));
                    desk.agent(answers("turn"));
                    out
                }
                _ => {
                    let params = json!({"sessionId": id});
                    desk.client(json!({"id": "close", "method": "session/close", "params": params}))
                }
            };
            let shown = updates_told(&out, &SAID);
            let is_first = shown.first().is_some_and(|first| first.contains("\"Fir\""));
            assert!(is_first, "{next} {method}: {shown:?}");
            desk.wait(500);
            leave(desk);
            let kept = kept_updates(&store, &world, &id);
            let its = kept.iter().filter(|said| said.contains("\"Fir") && !said.contains("First "));
            assert_eq!(its.count(), 1, "{next} {method}: {kept:?}");
        }
    }
}

#[test]
fn an_answer_that_begins_as_the_rest_of_an_old_one_is_shown_and_kept_whole() {
    for (method, capabilities) in ways() {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut desk = Desk::ready(&store, &world, &capabilities);
        desk.new_session("s1", CWD);
        desk.turn("s1", "Fix it, please", &["Let me see. ", "I have fixed it, and all the tests pass."]);
        leave(desk);
        let mut desk = Desk::ready(&store, &world, &capabilities);
        let (id, agent_id, _) = opened(&mut desk, method);
        desk.agent(update(agent_id, chunk("user_message_chunk", "Fix it, please")));
        desk.agent(update(agent_id, chunk("agent_message_chunk", "Let me see. ")));
        let asked = ask_prompt(&mut desk, "turn", &id, "Is it fixed?").request("session/prompt");
        let mut out = Out::default();
        for word in ["I ", "have ", "not ", "fixed it."] {
            out.extend(desk.agent(update(agent_id, chunk("agent_message_chunk", word))));
        }
        assert_eq!(said(&out.client), ["I have not fixed it."], "{method}");
        desk.reply(&asked, json!({"stopReason": "end_turn"}));
        leave(desk);
        assert_eq!(kept(&store, &world, &id).last().unwrap(), "I have not fixed it.", "{method}");
    }
}
