//! Prompts that wait for their session to be opened: they are in the store and sessions are shown at work on them, as if the agent
//! had them already, and nothing of them is lost or said twice, whoever is killed meanwhile.

use std::collections::BTreeMap;

use acp_sessions_corpus::Call;
use acp_sessions_guest::engine::Peer;
use acp_sessions_guest::storage::{Bounds, Memory, Storage, StorageError};
use serde_json::{Value, json};

use crate::desk::{Desk, Faulty, World, chunk, update};
use crate::follower::{members, rows, state, subscribe, told as told_of};
use crate::scenes::{
    CWD, Question, TOLD, UNTIL_FORGOTTEN, account, answers, ask_load, ask_prompt, leave, lines, load, oblige, revived,
    said, told,
};

/// Agents that open a session in each of the ways there are.
fn kinds() -> [Value; 3] {
    [json!({"sessionCapabilities": {"resume": {}}}), json!({"loadSession": true}), json!({})]
}

/// By which id the agent has the session once it has opened it.
fn agent_id(capabilities: &Value) -> &'static str {
    if *capabilities == json!({}) { "fresh" } else { "s1" }
}

/// What a prompt waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wait {
    /// The agent that was started again has not answered `initialize`.
    Initialize,
    /// It is opening the session again.
    Attach,
    /// The client has asked for the session, and not waited for the answer.
    Load,
}

impl Wait {
    const ALL: [Self; 3] = [Self::Initialize, Self::Attach, Self::Load];

    /// A window in which the prompts `one` and, behind it, `two` wait, and what its agent was asked.
    fn window<'a, S: Storage>(self, store: &'a S, world: &'a World, kind: &Value) -> (Desk<'a, S>, crate::desk::Out) {
        let mut out = crate::desk::Out::default();
        let mut desk = if self == Self::Load {
            told(store, world, kind);
            let mut desk = Desk::ready(store, world, kind);
            out.extend(ask_load(&mut desk, "load", "s1"));
            desk
        } else {
            revived(store, world, kind)
        };
        if self == Self::Initialize {
            out.extend(desk.restart());
        }
        world.now.set(world.now.get() + 1000);
        out.extend(ask_prompt(&mut desk, "one", "s1", "One"));
        out.extend(ask_prompt(&mut desk, "two", "s1", "Two"));
        assert!(out.is_open("one") && out.is_open("two"), "{self:?}");
        (desk, out)
    }

    /// The agent does what it was asked, up to the prompts.
    fn goes_on<S: Storage>(self, desk: &mut Desk<'_, S>, kind: &Value, out: crate::desk::Out) -> crate::desk::Out {
        let mut out = out;
        if self == Self::Initialize {
            let asked = out.request("initialize");
            let info = json!({"name": "a", "version": "1"});
            let profile = json!({"protocolVersion": 1, "agentInfo": info, "agentCapabilities": kind});
            out = desk.reply(&asked, profile);
        }
        let mut next = 0;
        while out.asked("session/prompt").is_none() {
            let Some(message) = out.agent.get(next).cloned() else {
                out.extend(desk.wait(100));
                continue;
            };
            next += 1;
            let result = match message["method"].as_str().unwrap() {
                "session/new" => json!({"sessionId": "fresh"}),
                "session/load" => {
                    out.extend(crate::scenes::replay(desk, "s1", TOLD));
                    json!({})
                }
                _ => json!({}),
            };
            if message.get("id").is_some() {
                out.extend(desk.reply(&message, result));
            }
        }
        out
    }
}

/// What is read of `s1` without a connection.
fn shown(store: &Memory, world: &World) -> Vec<String> {
    let call = Call::ReadTranscript { session_id: "s1".to_owned(), after: None, limit: 1000 };
    let page = world.recorder.typed(store, world.time(), call);
    let updates = page["ok"]["updates"].as_array().unwrap_or_else(|| panic!("{page}")).iter();
    let params = |row: &Value| {
        let update: Value = serde_json::from_str(row["update"].as_str().unwrap()).unwrap();
        json!({"params": {"update": update}})
    };
    said(&updates.map(params).collect::<Vec<_>>())
}

/// What was said in `s1`, as it is loaded later with another agent.
fn kept<S: Storage>(store: &S, world: &World) -> Vec<String> {
    let mut desk = Desk::open(store, world, &[]);
    desk.greet(Some("other"), &json!({}));
    let said = said(&load(&mut desk, "s1", &[]).client);
    leave(desk);
    said
}

/// The store has nothing that waits.
fn nothing_waits(store: &Memory) {
    let all = Bounds { limit: 100, max_bytes: 1 << 20 };
    let page = store.scan("m/", "m0", false, all).unwrap();
    assert!(page.entries.is_empty(), "{:?}", page.entries);
}

fn and_then(said: &[&str]) -> Vec<String> {
    [lines(&[TOLD]), said.iter().map(|said| (*said).to_owned()).collect()].concat()
}

#[test]
fn a_prompt_whose_window_is_killed_is_given_back_as_a_turn_that_was_cut_off() {
    for kind in kinds() {
        for wait in Wait::ALL {
            let (store, world) = (Memory::new(), World::unrecorded());
            let (desk, _) = wait.window(&store, &world, &kind);
            drop(desk);
            world.now.set(world.now.get() + UNTIL_FORGOTTEN);
            assert_eq!(shown(&store, &world), and_then(&["> OneTwo"]), "{kind} {wait:?}");
            for _ in 0..2 {
                assert_eq!(kept(&store, &world), and_then(&["> OneTwo"]), "{kind} {wait:?}: once");
            }
            nothing_waits(&store);
            // Its agent, which has never had them, is told.
            let mut desk = Desk::ready(&store, &world, &kind);
            load(&mut desk, "s1", TOLD).answer("load");
            let out = ask_prompt(&mut desk, "more", "s1", "More");
            let account = account(&out).unwrap_or_default();
            assert!(account.contains("One") && account.contains("Two"), "{kind} {wait:?}: {account}");
        }
    }
}

#[test]
fn a_prompt_that_is_sent_after_all_is_said_once() {
    for kind in kinds() {
        for wait in Wait::ALL {
            let (store, world) = (Memory::new(), World::unrecorded());
            let (mut desk, asked) = wait.window(&store, &world, &kind);
            let mut other = Desk::ready(&store, &world, &json!({}));
            assert_eq!(state(&mut other, "s1"), "running", "{kind} {wait:?}");
            if wait != Wait::Initialize {
                assert_eq!(state(&mut desk, "s1"), "running", "{kind} {wait:?}");
            }
            let out = wait.goes_on(&mut desk, &kind, asked);
            assert!(account(&out).is_none_or(|account| !account.contains("One")), "{kind} {wait:?}");
            nothing_waits(&store);
            assert_eq!(state(&mut other, "s1"), "running", "{kind} {wait:?}");
            desk.agent(update(agent_id(&kind), chunk("agent_message_chunk", "Done")));
            desk.agent(answers("one")).answer("one");
            assert_eq!(state(&mut other, "s1"), "running", "{kind} {wait:?}: the second is under way");
            desk.agent(answers("two")).answer("two");
            assert_eq!(state(&mut other, "s1"), "idle", "{kind} {wait:?}");
            desk.wait(100);
            leave(desk);
            assert_eq!(shown(&store, &world), and_then(&["> OneTwo", "Done"]), "{kind} {wait:?}");
            world.now.set(world.now.get() + UNTIL_FORGOTTEN);
            assert_eq!(kept(&store, &world), and_then(&["> OneTwo", "Done"]), "{kind} {wait:?}");
        }
    }
}

#[test]
fn a_prompt_stands_behind_what_the_load_brings_from_outside() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let kind = json!({"loadSession": true});
    let mut desk = revived(&store, &world, &kind);
    let out = ask_prompt(&mut desk, "one", "s1", "One");
    let outside: &[(&str, &str)] = &[TOLD[0], TOLD[1], ("Outside", "Elsewhere")];
    let out = oblige(&mut desk, out, outside, "fresh");
    assert_eq!(account(&out), None);
    let all = [lines(&[outside]), vec!["> One".to_owned()]].concat();
    leave(desk);
    assert_eq!(kept(&store, &world), all);
}

#[test]
fn a_prompt_that_is_killed_behind_a_load_is_not_doubled_by_what_that_brings() {
    for outside in [&[] as &[(&str, &str)], &[("Outside", "Elsewhere")]] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let kind = json!({"loadSession": true});
        let mut desk = revived(&store, &world, &kind);
        ask_prompt(&mut desk, "one", "s1", "One").request("session/load");
        drop(desk);
        world.now.set(world.now.get() + UNTIL_FORGOTTEN);
        let told = [TOLD, outside].concat();
        for _ in 0..2 {
            let mut desk = Desk::ready(&store, &world, &kind);
            let said = said(&load(&mut desk, "s1", &told).client);
            let behind = if outside.is_empty() { vec!["> One"] } else { vec!["> OneOutside", "Elsewhere"] };
            assert_eq!(said, and_then(&behind));
            leave(desk);
            world.now.set(world.now.get() + UNTIL_FORGOTTEN);
        }
    }
}

#[test]
fn lists_say_that_its_session_is_at_work_until_its_window_is_gone() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let (desk, _) = Wait::Attach.window(&store, &world, &json!({"loadSession": true}));
    let mut other = Desk::ready(&store, &world, &json!({}));
    let row = rows(&mut other).remove(0);
    assert_eq!(row["state"], "running");
    let at = row["lastPromptAt"].clone();
    drop(desk);
    other.wait_awake(UNTIL_FORGOTTEN);
    let row = rows(&mut other).remove(0);
    assert_ne!(row["state"], "running", "{row}");
    assert_eq!(row["lastPromptAt"], at);
}

#[test]
fn when_its_session_was_last_prompted_and_what_it_does_is_told_at_once() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut desk = revived(&store, &world, &json!({"loadSession": true}));
    let mut other = Desk::ready(&store, &world, &json!({}));
    let (subscription, before) = subscribe(&mut other, json!({}));
    assert_eq!(before[0]["state"], "idle");
    world.now.set(world.now.get() + 60_000);
    let mut out = ask_prompt(&mut desk, "one", "s1", "One");
    let (rows, _) = told_of(&other.wait(1000), &subscription);
    assert_eq!(members(&rows, "state"), [("s1".to_owned(), json!("running"))]);
    assert_ne!(rows[0]["lastPromptAt"], before[0]["lastPromptAt"]);
    // It does not come to be.
    out.extend(desk.client(json!({"method": "session/cancel", "params": {"sessionId": "s1"}})));
    out.answer("one");
    let (rows, _) = told_of(&other.wait(1000), &subscription);
    assert_eq!(members(&rows, "state"), [("s1".to_owned(), json!("idle"))]);
    assert_eq!(state(&mut desk, "s1"), "idle");
}

#[test]
fn a_session_was_last_prompted_when_its_prompt_was_sent_however_long_that_has_waited() {
    for kind in kinds() {
        for wait in Wait::ALL {
            let (store, world) = (Memory::new(), World::unrecorded());
            let (mut desk, out) = wait.window(&store, &world, &kind);
            let mut other = Desk::ready(&store, &world, &json!({}));
            let sent = rows(&mut other)[0]["lastPromptAt"].clone();
            world.now.set(world.now.get() + 6000);
            wait.goes_on(&mut desk, &kind, out);
            desk.wait(1000);
            assert_eq!(rows(&mut other)[0]["lastPromptAt"], sent, "{kind} {wait:?}");
            for prompt in ["one", "two"] {
                desk.agent(json!({"id": prompt, "result": {"stopReason": "end_turn"}}));
            }
            assert_eq!(rows(&mut other)[0]["lastPromptAt"], sent, "{kind} {wait:?}");
            ask_prompt(&mut desk, "three", "s1", "Three");
            assert_ne!(rows(&mut other)[0]["lastPromptAt"], sent, "{kind} {wait:?}");
        }
    }
}

#[test]
fn a_prompt_that_ends_without_having_been_sent_is_kept_once_and_its_session_rests() {
    for kind in kinds() {
        for wait in Wait::ALL {
            for how in ["cancelled", "closed", "client gone", "agent gone", "agent lost"] {
                let case = format!("{kind} {wait:?} {how}");
                if wait == Wait::Load && how == "agent lost" || wait == Wait::Initialize && how == "cancelled" {
                    // The first has failed with its load; the second is cancelled when it has got on.
                    continue;
                }
                let (store, world) = (Memory::new(), World::unrecorded());
                let (mut desk, _) = wait.window(&store, &world, &kind);
                match how {
                    "cancelled" => {
                        desk.client(json!({"method": "session/cancel", "params": {"sessionId": "s1"}}));
                    }
                    "closed" if wait != Wait::Initialize => {
                        desk.client(json!({"id": "close", "method": "session/close", "params": {"sessionId": "s1"}}));
                    }
                    "closed" | "client gone" => {
                        desk.engine.peer_closed(Peer::Client);
                        desk.pull();
                    }
                    "agent gone" => {
                        desk.engine.peer_closed(Peer::Agent);
                        desk.pull();
                    }
                    _ => {
                        let asked = desk.restart().request("initialize");
                        desk.refuse(&asked, -32000);
                    }
                }
                nothing_waits(&store);
                let mut other = Desk::ready(&store, &world, &json!({}));
                desk.wait(1000);
                assert_ne!(state(&mut other, "s1"), "running", "{case}");
                drop(desk);
                world.now.set(world.now.get() + UNTIL_FORGOTTEN);
                assert_eq!(kept(&store, &world), and_then(&["> OneTwo"]), "{case}");
            }
        }
    }
}

fn takes_back<S: Storage>(desk: &mut Desk<'_, S>, request: &str) -> crate::desk::Out {
    let out = desk.client(json!({"method": "$/cancel_request", "params": {"requestId": request}}));
    assert_eq!(out.answer(request)["error"]["code"], -32800);
    out
}

#[test]
fn a_prompt_that_is_taken_back_is_as_if_it_had_not_been_sent() {
    for kind in kinds() {
        for wait in Wait::ALL {
            for (taken, left) in [("one", "Two"), ("two", "One")] {
                let case = format!("{kind} {wait:?} {taken}");
                let (store, world) = (Memory::new(), World::unrecorded());
                let (mut desk, mut asked) = wait.window(&store, &world, &kind);
                asked.extend(takes_back(&mut desk, taken));
                let out = wait.goes_on(&mut desk, &kind, asked);
                let prompt = out.request("session/prompt")["params"]["prompt"].clone();
                let words = if taken == "one" { "One" } else { "Two" };
                assert_eq!(prompt.as_array().unwrap().last().unwrap()["text"], left, "{case}");
                assert!(!prompt.to_string().contains(words), "{case}: {prompt}");
                nothing_waits(&store);
                desk.agent(update(agent_id(&kind), chunk("agent_message_chunk", "Done")));
                let sent = if taken == "one" { "two" } else { "one" };
                desk.agent(answers(sent)).answer(sent);
                desk.wait(100);
                let more = ask_prompt(&mut desk, "more", "s1", "More");
                assert_eq!(account(&more), None, "{case}");
                desk.agent(answers("more"));
                leave(desk);
                let all = and_then(&[&format!("> {left}"), "Done", "> More"]);
                assert_eq!(kept(&store, &world), all, "{case}");
            }
        }
    }
}

#[test]
fn a_prompt_that_is_taken_back_is_not_given_back_when_its_window_is_killed() {
    for kind in kinds() {
        for wait in Wait::ALL {
            let (store, world) = (Memory::new(), World::unrecorded());
            let (mut desk, _) = wait.window(&store, &world, &kind);
            takes_back(&mut desk, "one");
            takes_back(&mut desk, "two");
            let mut other = Desk::ready(&store, &world, &json!({}));
            desk.wait(1000);
            assert_ne!(state(&mut other, "s1"), "running", "{kind} {wait:?}");
            nothing_waits(&store);
            drop(desk);
            world.now.set(world.now.get() + UNTIL_FORGOTTEN);
            assert_eq!(kept(&store, &world), and_then(&[]), "{kind} {wait:?}");
        }
    }
}

#[test]
fn a_prompt_that_is_taken_back_while_the_agent_is_first_initialized_is_as_if_it_had_not_been_sent() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let kind = json!({"sessionCapabilities": {"resume": {}}});
    told(&store, &world, &kind);
    let mut desk = Desk::open(&store, &world, &[]);
    desk.client(json!({"id": 0, "method": "initialize", "params": {"protocolVersion": 1}}));
    ask_load(&mut desk, "load", "s1");
    ask_prompt(&mut desk, "one", "s1", "One");
    ask_prompt(&mut desk, "two", "s1", "Two");
    takes_back(&mut desk, "one");
    let info = json!({"name": "a", "version": "1"});
    let profile = json!({"protocolVersion": 1, "agentInfo": info, "agentCapabilities": kind});
    let out = desk.agent(json!({"id": 0, "result": profile}));
    let out = oblige(&mut desk, out, TOLD, "never");
    assert_eq!(account(&out), None);
    assert_eq!(out.request("session/prompt")["params"]["prompt"][0]["text"], "Two");
    leave(desk);
    assert_eq!(kept(&store, &world), and_then(&["> Two"]));
}

#[test]
fn a_prompt_whose_load_fails_is_refused_as_in_any_session_that_is_not_open() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let kind = json!({"sessionCapabilities": {"resume": {}}});
    told(&store, &world, &kind);
    let mut desk = Desk::ready(&store, &world, &kind);
    let asked = ask_load(&mut desk, "load", "s1").request("session/resume");
    ask_prompt(&mut desk, "one", "s1", "One");
    let out = desk.refuse(&asked, -32000);
    assert!(out.answer("load")["error"].is_object() && out.answer("one")["error"].is_object(), "{out:?}");
    nothing_waits(&store);
    let mut other = Desk::ready(&store, &world, &json!({}));
    assert_ne!(state(&mut other, "s1"), "running");
}

#[test]
fn a_prompt_whose_session_is_deleted_meanwhile_is_gone_with_it() {
    for wait in [Wait::Attach, Wait::Load] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let kind = json!({"sessionCapabilities": {"resume": {}}});
        let (mut desk, asked) = wait.window(&store, &world, &kind);
        world.recorder.typed(&store, world.time(), Call::DeleteSession { session_id: "s1".to_owned() });
        nothing_waits(&store);
        let resumed = asked.request("session/resume");
        let out = desk.reply(&resumed, json!({}));
        assert!(out.answer("one")["error"].is_object(), "{wait:?}: {out:?}");
        ask_prompt(&mut desk, "three", "s1", "Three");
        nothing_waits(&store);
        drop(desk);
        world.now.set(world.now.get() + UNTIL_FORGOTTEN);
        assert!(Desk::ready(&store, &world, &json!({})).listed().is_empty());
    }
}

#[test]
fn windows_that_have_its_session_open_are_shown_it_once_when_it_is_sent_or_found() {
    for is_killed in [true, false] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let kind = json!({"sessionCapabilities": {"resume": {}}});
        let mut desk = revived(&store, &world, &kind);
        let mut other = Desk::open(&store, &world, &[]);
        other.greet(Some("other"), &json!({}));
        let out = ask_prompt(&mut desk, "one", "s1", "One");
        // One that loads it meanwhile has it behind that.
        assert_eq!(said(&load(&mut other, "s1", &[]).client), lines(&[TOLD]));
        let mut shown = other.wait(1000);
        if is_killed {
            drop(desk);
            for _ in 0..20 {
                shown.extend(other.wait(1000));
            }
            assert!(said(&shown.client).is_empty(), "it is found when the session is opened");
            assert_eq!(said(&load(&mut other, "s1", &[]).client), and_then(&["> One"]));
        } else {
            oblige(&mut desk, out, TOLD, "fresh");
            shown.extend(other.wait(2000));
            assert_eq!(said(&shown.client), ["> One"]);
        }
        let told = account(&ask_prompt(&mut other, "next", "s1", "Next")).unwrap_or_default();
        assert!(told.contains("One"), "{told}");
    }
}

#[test]
fn a_prompt_whose_window_is_killed_stands_before_what_was_said_elsewhere_since() {
    for kind in kinds() {
        for wait in Wait::ALL {
            let (store, world) = (Memory::new(), World::unrecorded());
            let (desk, _) = wait.window(&store, &world, &kind);
            drop(desk);
            let mut other = Desk::open(&store, &world, &[]);
            other.greet(Some("other"), &json!({}));
            load(&mut other, "s1", &[]);
            ask_prompt(&mut other, "next", "s1", "Next");
            other.agent(update("fresh", chunk("agent_message_chunk", "Done")));
            other.agent(answers("next")).answer("next");
            for _ in 0..20 {
                other.wait(1000);
            }
            assert_eq!(
                said(&load(&mut other, "s1", &[]).client),
                and_then(&["> OneTwoNext", "Done"]),
                "{kind} {wait:?}"
            );
            let told = account(&ask_prompt(&mut other, "more", "s1", "More")).unwrap_or_default();
            assert_eq!(["One", "Two"].map(|word| told.matches(word).count()), [1, 1], "{kind} {wait:?}: {told}");
            other.agent(update("fresh", chunk("agent_message_chunk", "Fine")));
            other.agent(answers("more")).answer("more");
            leave(other);
            world.now.set(world.now.get() + UNTIL_FORGOTTEN);
            for _ in 0..2 {
                let all = and_then(&["> OneTwoNext", "Done", "> More", "Fine"]);
                assert_eq!(kept(&store, &world), all, "{kind} {wait:?}");
            }
            assert_eq!(shown(&store, &world), and_then(&["> OneTwoNext", "Done", "> More", "Fine"]));
            nothing_waits(&store);
        }
    }
}

#[test]
fn a_prompt_that_waits_for_one_load_after_another_is_said_once_though_the_store_takes_nothing_meanwhile() {
    for kind in kinds() {
        let (store, world) = (Faulty::default(), World::unrecorded());
        told(&store, &world, &kind);
        let mut desk = Desk::ready(&store, &world, &kind);
        let mut asked = ask_load(&mut desk, "load", "s1");
        asked.extend(ask_load(&mut desk, "again", "s1"));
        ask_prompt(&mut desk, "one", "s1", "One");
        let method = asked.agent[0].clone();
        store.fail(0, 1, StorageError::Full);
        let out = desk.refuse(&method, -32000);
        store.mend();
        assert!(out.answer("load")["error"].is_object(), "{kind}");
        oblige(&mut desk, out, TOLD, "fresh");
        desk.wait(60_000);
        leave(desk);
        world.now.set(world.now.get() + UNTIL_FORGOTTEN);
        for _ in 0..2 {
            assert_eq!(kept(&store, &world), and_then(&["> One"]), "{kind}");
        }
    }
}

#[test]
fn a_prompt_whose_window_was_only_stopped_goes_on_under_what_others_made_of_it() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let kind = json!({"sessionCapabilities": {"resume": {}}});
    let mut desk = revived(&store, &world, &kind);
    let asked = ask_prompt(&mut desk, "one", "s1", "One").request("session/resume");
    world.now.set(world.now.get() + UNTIL_FORGOTTEN);
    assert_eq!(kept(&store, &world), and_then(&["> One"]));
    let mut out = desk.reply(&asked, json!({}));
    while out.asked("session/prompt").is_none() {
        out.extend(desk.wait(1000));
    }
    assert!(said(&out.client).is_empty(), "its client has said that itself: {:?}", out.client);
    desk.agent(update("s1", chunk("agent_message_chunk", "Done")));
    desk.agent(answers("one")).answer("one");
    leave(desk);
    world.now.set(world.now.get() + UNTIL_FORGOTTEN);
    assert_eq!(kept(&store, &world), and_then(&["> One", "Done"]));
    nothing_waits(&store);
}

#[test]
fn a_prompt_whose_instance_is_lost_is_kept() {
    for wait in Wait::ALL {
        let (store, world) = (Memory::new(), World::unrecorded());
        let (mut desk, _) = wait.window(&store, &world, &json!({"sessionCapabilities": {"resume": {}}}));
        let memos: BTreeMap<String, String> = std::mem::take(&mut desk.memos);
        drop(desk);
        let mut desk = Desk::carry_on(&store, &world, &[], memos, Vec::new());
        let out = desk.pull();
        assert!(out.answer("one")["error"].is_object(), "{wait:?}");
        desk.wait_awake(UNTIL_FORGOTTEN);
        assert_eq!(kept(&store, &world), and_then(&["> OneTwo"]), "{wait:?}");
        nothing_waits(&store);
    }
}

#[test]
fn prompts_that_have_waited_together_stand_in_the_order_in_which_they_came_whichever_is_found_first() {
    let kind = json!({"sessionCapabilities": {"resume": {}}});
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut found_first = revived(&store, &world, &kind);
    let mut killed = Desk::ready(&store, &world, &kind);
    ask_load(&mut killed, "load", "s1");
    ask_prompt(&mut killed, "one", "s1", "One");
    drop(killed);
    ask_prompt(&mut found_first, "two", "s1", "Two");
    let memos: BTreeMap<String, String> = std::mem::take(&mut found_first.memos);
    drop(found_first);
    let mut desk = Desk::carry_on(&store, &world, &[], memos, Vec::new());
    desk.pull();
    assert_eq!(shown(&store, &world), and_then(&["> Two"]));
    world.now.set(world.now.get() + UNTIL_FORGOTTEN);
    for _ in 0..2 {
        assert_eq!(kept(&store, &world), and_then(&["> OneTwo"]));
    }
    nothing_waits(&store);
}

#[test]
fn a_prompt_that_was_sent_while_the_store_took_nothing_is_kept_once_though_its_instance_is_lost() {
    for is_lost in [true, false] {
        let (store, world) = (Faulty::default(), World::unrecorded());
        let mut desk = revived(&store, &world, &json!({"sessionCapabilities": {"resume": {}}}));
        let asked = ask_prompt(&mut desk, "one", "s1", "One").request("session/resume");
        store.fail(0, 50, StorageError::Full);
        desk.reply(&asked, json!({})).request("session/prompt");
        store.mend();
        if is_lost {
            let memos: BTreeMap<String, String> = std::mem::take(&mut desk.memos);
            drop(desk);
            desk = Desk::carry_on(&store, &world, &[], memos, Vec::new());
        }
        desk.agent(update("s1", chunk("agent_message_chunk", "Done")));
        desk.wait(60_000);
        desk.agent(answers("one")).answer("one");
        leave(desk);
        world.now.set(world.now.get() + UNTIL_FORGOTTEN);
        assert_eq!(kept(&store, &world), and_then(&["> One", "Done"]), "{is_lost}");
    }
}

#[test]
fn a_prompt_that_is_refused_when_the_agent_is_there_again_waits_no_more() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let kind = json!({"sessionCapabilities": {"resume": {}}});
    let mut desk = revived(&store, &world, &kind);
    let asked = desk.restart().request("initialize");
    let deep = format!("{}{}", "[".repeat(2000), "]".repeat(2000));
    let params = format!(r#"{{"sessionId":"s1","prompt":[{{"type":"text","text":"One"}}],"_meta":{{"x":{deep}}}}}"#);
    desk.line(Peer::Client, &format!(r#"{{"jsonrpc":"2.0","id":"one","method":"session/prompt","params":{params}}}"#));
    let info = json!({"name": "a", "version": "1"});
    let out = desk.reply(&asked, json!({"protocolVersion": 1, "agentInfo": info, "agentCapabilities": kind}));
    assert_eq!(out.answer("one")["error"]["code"], -32600, "{out:?}");
    nothing_waits(&store);
    assert_eq!(state(&mut desk, "s1"), "idle");
}

#[test]
fn the_first_prompt_of_a_session_names_it_though_it_was_never_sent() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let kind = json!({"sessionCapabilities": {"resume": {}}});
    let mut desk = Desk::ready(&store, &world, &kind);
    desk.new_session("s1", CWD);
    desk.revive(&kind);
    ask_prompt(&mut desk, "one", "s1", "The first thing");
    drop(desk);
    let mut other = Desk::ready(&store, &world, &json!({}));
    other.wait_awake(UNTIL_FORGOTTEN);
    // For longer than sessions without a prompt are kept.
    for _ in 0..4 {
        other.wait(48 * 3_600_000);
        other.wait_awake(UNTIL_FORGOTTEN);
    }
    assert_eq!(rows(&mut other)[0]["title"], "The first thing");
    assert_eq!(kept(&store, &world), ["> The first thing"]);
}

#[test]
fn a_session_waits_for_its_user_where_the_agent_asks_before_it_has_opened_it() {
    for question in Question::KINDS {
        for wait in [Wait::Attach, Wait::Load] {
            let (store, world) = (Memory::new(), World::unrecorded());
            let kind = json!({"loadSession": true});
            let (mut desk, asked) = wait.window(&store, &world, &kind);
            let mut other = Desk::ready(&store, &world, &json!({}));
            let id = question.ask(&mut desk, "q", "s1").client[0]["id"].clone();
            for window in [&mut desk, &mut other] {
                assert_eq!(state(window, "s1"), "requires_action", "{question:?} {wait:?}");
            }
            desk.client(json!({"id": id, "result": question.yes()}));
            for window in [&mut desk, &mut other] {
                assert_eq!(state(window, "s1"), "running", "{question:?} {wait:?}");
            }
            wait.goes_on(&mut desk, &kind, asked);
            for (id, then) in [("one", "running"), ("two", "idle")] {
                desk.agent(answers(id)).answer(id);
                assert_eq!(state(&mut other, "s1"), then, "{question:?} {wait:?}");
            }
        }
    }
}

#[test]
fn a_question_before_a_load_is_answered_is_in_lists_without_any_prompt() {
    for question in Question::KINDS {
        for becomes in ["answered", "taken back", "load refused", "window killed"] {
            let (store, world) = (Memory::new(), World::unrecorded());
            let kind = json!({"sessionCapabilities": {"resume": {}}});
            told(&store, &world, &kind);
            let mut desk = Desk::ready(&store, &world, &kind);
            let asked = ask_load(&mut desk, "load", "s1").request("session/resume");
            let mut other = Desk::ready(&store, &world, &json!({}));
            question.ask(&mut desk, "q", "s1");
            for window in [&mut desk, &mut other] {
                assert_eq!(state(window, "s1"), "requires_action", "{question:?} {becomes}");
            }
            match becomes {
                "answered" => drop(question.answer(&mut desk, "q")),
                "taken back" => {
                    desk.agent(json!({"method": "$/cancel_request", "params": {"requestId": "q"}}));
                }
                "load refused" => drop(desk.refuse(&asked, -32000)),
                _ => {
                    drop(desk);
                    other.wait_awake(UNTIL_FORGOTTEN);
                    assert_ne!(state(&mut other, "s1"), "requires_action", "{question:?} {becomes}");
                    continue;
                }
            }
            let state = state(&mut other, "s1");
            assert!(state == "idle" || state.is_null(), "{question:?} {becomes}: {state}");
        }
    }
}
