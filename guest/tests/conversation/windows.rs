//! Several windows on one session, and what is found of it.

use acp_sessions_guest::engine::Peer;
use acp_sessions_guest::storage::{Memory, StorageError};
use serde_json::{Value, json};

use crate::desk::{Desk, Faulty, Out, World, chunk, update};
use crate::scenes::{
    CWD, account, ask_load, ask_prompt, ask_resume, leave, lines, listing, load, oblige, replay, row, said, told,
};

fn resumes() -> Value {
    json!({"sessionCapabilities": {"resume": {}}})
}

/// Two windows that have `s1` open, in which one turn was had.
fn two_windows<'a>(store: &'a Memory, world: &'a World) -> (Desk<'a>, Desk<'a>) {
    let mut first = Desk::ready(store, world, &resumes());
    first.new_session("s1", CWD);
    first.turn("s1", "Hi", &["Ho"]);
    let mut second = Desk::ready(store, world, &resumes());
    load(&mut second, "s1", &[]).answer("load");
    (first, second)
}

#[test]
fn turns_of_two_windows_at_once_come_back_whole() {
    let (store, world) = (Memory::new(), World::default());
    let (mut first, mut second) = two_windows(&store, &world);
    let one = ask_prompt(&mut first, "one", "s1", "One").request("session/prompt");
    first.wait(150);
    let two = ask_prompt(&mut second, "two", "s1", "Two").request("session/prompt");
    for piece in ["a", "b", "c"] {
        first.agent(update("s1", chunk("agent_message_chunk", &format!("one-{piece} "))));
        first.wait(150);
        second.agent(update("s1", chunk("agent_message_chunk", &format!("two-{piece} "))));
        second.wait(150);
    }
    for (desk, asked) in [(&mut first, &one), (&mut second, &two)] {
        desk.reply(asked, json!({"stopReason": "end_turn"}));
        desk.engine.peer_closed(Peer::Client);
    }
    let mut desk = Desk::ready(&store, &world, &resumes());
    let whole = ["> Hi", "Ho", "> One", "one-a one-b one-c ", "> Two", "two-a two-b two-c "];
    assert_eq!(said(&load(&mut desk, "s1", &[]).client), whole);
}

/// What the clock may do while a window is at work: it is set, or the computer was asleep.
const STEPS: [i64; 3] = [-3_600_000, 20_000, 3_600_000];

#[test]
fn a_turn_goes_on_in_its_window_though_the_clock_steps() {
    for step in STEPS {
        let (store, world) = (Memory::new(), World::default());
        let (mut first, second) = two_windows(&store, &world);
        drop(second);
        let one = ask_prompt(&mut first, "one", "s1", "One").request("session/prompt");
        first.wait(150);
        world.now.set(world.now.get() + step);
        first.agent(update("s1", chunk("agent_message_chunk", "one-a ")));
        // Another one opens it before the first is told that time has passed.
        let mut second = Desk::ready(&store, &world, &resumes());
        load(&mut second, "s1", &[]).answer("load");
        second.turn("s1", "Two", &["two"]);
        first.agent(update("s1", chunk("agent_message_chunk", "one-b")));
        first.reply(&one, json!({"stopReason": "end_turn"}));
        let mut desk = Desk::ready(&store, &world, &resumes());
        let whole = ["> Hi", "Ho", "> One", "one-a one-b", "> Two", "two"];
        assert_eq!(said(&load(&mut desk, "s1", &[]).client), whole, "{step}");
    }
}

#[test]
fn a_turn_under_way_is_not_taken_over_from_its_agent_though_the_clock_steps() {
    let loads = json!({"loadSession": true});
    for step in STEPS {
        let (store, world) = (Memory::new(), World::default());
        let (mut first, second) = two_windows(&store, &world);
        drop(second);
        world.now.set(world.now.get() + step);
        let one = ask_prompt(&mut first, "one", "s1", "One").request("session/prompt");
        let mut second = Desk::ready(&store, &world, &loads);
        let out = ask_load(&mut second, "load", "s1");
        first.agent(update("s1", chunk("agent_message_chunk", "one")));
        let told = [("Hi", "Ho"), ("One", "one")];
        oblige(&mut second, out, &told, "never").answer("load");
        first.reply(&one, json!({"stopReason": "end_turn"}));
        leave(first);
        leave(second);
        for capabilities in [resumes(), loads.clone()] {
            let mut desk = Desk::ready(&store, &world, &capabilities);
            assert_eq!(said(&load(&mut desk, "s1", &told).client), lines(&[&told]), "{step}, {capabilities}");
            leave(desk);
        }
    }
}

#[test]
fn a_message_that_was_cut_off_is_found_from_its_beginning() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    desk.new_session("s1", CWD);
    ask_prompt(&mut desk, "prompt", "s1", "Tell me");
    for word in ["zebra ", "and ", "okapi "] {
        desk.agent(update("s1", chunk("agent_message_chunk", word)));
        desk.wait(150);
    }
    // The process dies in the middle of the message.
    drop(desk);
    let mut desk = Desk::ready(&store, &world, &json!({}));
    for word in ["zebra", "okapi", "tell"] {
        let answer = desk.ask("session/list", json!({"_meta": {"acp-sessions": {"search": word}}}));
        assert_eq!(answer["result"]["sessions"].as_array().unwrap().len(), 1, "{word}");
    }
    let answer = desk.ask("session/list", json!({"_meta": {"acp-sessions": {"search": "quagga"}}}));
    assert_eq!(answer["result"]["sessions"], json!([]));
}

#[test]
fn a_window_that_comes_back_sees_what_another_said_meanwhile() {
    let (store, world) = (Memory::new(), World::default());
    let (mut first, mut second) = two_windows(&store, &world);
    second.turn("s1", "From the second", &["Yes"]);
    let out = load(&mut first, "s1", &[]);
    assert_eq!(said(&out.client), ["> Hi", "Ho", "> From the second", "Yes"]);
}

#[test]
fn a_session_deleted_in_another_window_is_recorded_no_more() {
    let (store, world) = (Memory::new(), World::default());
    let mut first = Desk::ready(&store, &world, &resumes());
    first.new_session("s1", CWD);
    first.turn("s1", "Hi", &["Ho"]);
    let mut second = Desk::ready(&store, &world, &resumes());
    assert_eq!(second.ask("session/delete", json!({"sessionId": "s1"}))["result"], json!({}));
    ask_prompt(&mut first, "prompt", "s1", "Still there?");
    first.wait(200);
    first.agent(update("s1", chunk("agent_message_chunk", "Yes")));
    first.wait(200);
    first.engine.peer_closed(Peer::Client);
    assert!(second.listed().is_empty());
    let (_, entries, texts) = store.counts();
    assert_eq!((entries, texts), (0, 0), "nothing of it is left");
}

#[test]
fn what_one_window_is_being_told_is_not_doubled_by_another_that_loads_the_agents_own_session_meanwhile() {
    let (store, world) = (Memory::new(), World::default());
    let loads = json!({"loadSession": true, "sessionCapabilities": {"resume": {}}});
    let (mut first, mut second) = (Desk::ready(&store, &world, &loads), Desk::ready(&store, &world, &loads));
    let asked = ask_load(&mut second, "load", "o1").request("session/load");
    let out = ask_resume(&mut first, "resume", "o1");
    oblige(&mut first, out, &[], "never").answer("resume");
    let turn = ask_prompt(&mut first, "prompt", "o1", "New question").request("session/prompt");
    first.agent(update("o1", chunk("agent_message_chunk", "New answer")));
    let all = [("Old question", "Old answer"), ("New question", "New answer")];
    let mut out = replay(&mut second, "o1", &all);
    out.extend(second.reply(&asked, json!({})));
    assert_eq!(said(&out.client), lines(&[&all]));
    first.reply(&turn, json!({"stopReason": "end_turn"})).answer("prompt");
    first.engine.peer_closed(Peer::Client);
    second.engine.peer_closed(Peer::Client);
    // Neither by an agent that tells nothing of it, nor by one that does.
    let mut desk = Desk::ready(&store, &world, &json!({}));
    let seen = said(&load(&mut desk, "o1", &[]).client);
    assert_eq!(seen.concat().matches("New answer").count(), 1, "{seen:?}");
    desk.engine.peer_closed(Peer::Client);
    let mut desk = Desk::ready(&store, &world, &loads);
    assert_eq!(said(&load(&mut desk, "o1", &all).client), lines(&[&all]));
}

#[test]
fn what_was_said_since_an_agent_was_asked_for_its_session_is_not_set_aside_though_it_tells_what_it_had_said_by_itself()
{
    let (store, world) = (Memory::new(), World::default());
    let loads = json!({"loadSession": true});
    let rows = [row("o1", "Old", "2025-10-09T08:53:20Z")];
    let mut second = Desk::ready(&store, &world, &loads);
    let asked = ask_load(&mut second, "load", "o1").request("session/load");
    let mut first = listing(&store, &world, "a", &loads, &rows);
    assert_eq!(said(&load(&mut first, "o1", &[]).client), [""; 0]);
    first.agent(update("o1", chunk("agent_message_chunk", "Welcome back")));
    first.turn("o1", "New question", &["New answer"]);
    leave(first);
    second.agent(update("o1", chunk("agent_message_chunk", "Welcome back")));
    let out = second.reply(&asked, json!({}));
    assert!(out.answer("load")["result"]["_meta"]["acp-sessions"]["setAside"].is_null());
    leave(second);
    let mut desk = Desk::ready(&store, &world, &json!({}));
    let expected = ["Welcome back", "> New question", "New answer"];
    assert_eq!(said(&load(&mut desk, "o1", &[]).client), expected);
}

/// A window on a session in which its agent begins afresh, by this id.
fn afresh<'a>(store: &'a Memory, world: &'a World, id: &str, fresh: &str) -> Desk<'a> {
    let mut desk = Desk::ready(store, world, &json!({}));
    let out = ask_load(&mut desk, "load", id);
    oblige(&mut desk, out, &[], fresh).answer("load");
    desk
}

#[test]
fn what_another_window_said_is_handed_over_though_the_instance_was_lost_meanwhile() {
    let (store, world) = (Memory::new(), World::default());
    let id = told(&store, &world, &json!({}));
    let (mut desk, mut other) = (afresh(&store, &world, &id, "s2"), afresh(&store, &world, &id, "s3"));
    desk.turn(&id, "Mine", &["My answer"]);
    other.turn(&id, "Theirs", &["Their answer"]);
    let mut desk = Desk::carry_on(&store, &world, &[], desk.memos, Vec::new());
    desk.pull();
    let account = account(&ask_prompt(&mut desk, "next", &id, "Next")).unwrap();
    assert!(account.contains("Their answer"), "{account}");
    assert!(!account.contains("My answer"), "{account}");
}

#[test]
fn what_another_window_says_while_an_account_is_on_its_way_is_handed_over_with_the_next_prompt() {
    // Which of the prompts succeed, and whether the instance is lost before they are answered.
    for (succeeds, is_lost) in [
        ([true, true], false),
        ([true, true], true),
        ([false, true], false),
        ([true, false], false),
        ([false, true], true),
    ] {
        let (store, world) = (Memory::new(), World::default());
        let id = told(&store, &world, &json!({}));
        let (mut desk, mut other) = (afresh(&store, &world, &id, "s2"), afresh(&store, &world, &id, "s3"));
        let first = ask_prompt(&mut desk, "first", &id, "Mine");
        assert!(account(&first).is_some());
        other.turn(&id, "Theirs", &["Their answer"]);
        // It does not wait for the answer to the first.
        let second = ask_prompt(&mut desk, "second", &id, "Mine as well");
        let rest = account(&second).unwrap();
        assert!(rest.contains("Their answer") && !rest.contains("Mine") && !rest.contains("First answer"), "{rest}");
        if is_lost {
            desk = Desk::carry_on(&store, &world, &[], desk.memos, Vec::new());
            desk.pull();
        }
        for (prompt, succeeds) in [first, second].into_iter().zip(succeeds) {
            let prompt = prompt.request("session/prompt");
            if succeeds {
                desk.reply(&prompt, json!({"stopReason": "end_turn"}));
            } else {
                desk.refuse(&prompt, -32603);
            }
        }
        // What a prompt that failed was to hand over is handed over again.
        let rest = account(&ask_prompt(&mut desk, "third", &id, "Third")).unwrap_or_default();
        let is_in_it = ["First answer", "Their answer"].map(|text| rest.contains(text));
        let [first, second] = succeeds;
        assert_eq!(is_in_it, [!first, !first || !second], "{succeeds:?}, lost: {is_lost}: {rest}");
    }
}

#[test]
fn a_session_is_known_to_be_open_soon_after_the_store_has_failed_as_it_was_opened() {
    let mut opened = 0;
    for (good, bad) in (0..4).flat_map(|good| (1..4).map(move |bad| (good, bad))) {
        let (store, world) = (Faulty::default(), World::default());
        let id = told(&store, &world, &resumes());
        // Nobody believes any more that it is open from then.
        world.now.set(world.now.get() + 20_000);
        let mut first = Desk::ready(&store, &world, &resumes());
        store.fail(good, bad, StorageError::Unavailable("busy".to_owned()));
        if !load(&mut first, &id, &[]).answer("load")["error"].is_null() {
            continue;
        }
        opened += 1;
        store.mend();
        first.wait(1000);
        let mut second = Desk::ready(&store, &world, &resumes());
        let status = second.ask("session/status", json!({ "sessionId": id }))["result"]["status"].clone();
        assert_eq!(status, "open", "{bad} commits have failed after {good}");
    }
    assert!(opened > 0, "it can be opened all the same");
}

#[test]
fn what_was_said_to_another_program_of_the_agents_is_told_once() {
    let (store, world) = (Memory::new(), World::default());
    let (mut first, mut second) = two_windows(&store, &world);
    second.turn("s1", "Taken", &["Answered"]);
    let refused = ask_prompt(&mut second, "refused", "s1", "Refused").request("session/prompt");
    second.refuse(&refused, -32002).answer("refused");
    let late = ask_prompt(&mut second, "late", "s1", "Late").request("session/prompt");
    let two = ask_prompt(&mut first, "two", "s1", "Two");
    let told = account(&two).unwrap_or_default();
    assert!(["Taken", "Answered", "Refused", "Late"].iter().all(|text| told.contains(text)), "{told}");
    assert!(!told.contains("Hi"), "it was there itself: {told}");
    second.agent(update("s1", chunk("agent_message_chunk", "At last")));
    second.reply(&late, json!({"stopReason": "end_turn"})).answer("late");
    first.reply(&two.request("session/prompt"), json!({"stopReason": "end_turn"})).answer("two");
    let three = ask_prompt(&mut first, "three", "s1", "Three");
    let told = account(&three).unwrap_or_default();
    assert!(told.contains("At last") && !told.contains("Taken") && !told.contains("Two"), "{told}");
    first.reply(&three.request("session/prompt"), json!({"stopReason": "end_turn"})).answer("three");
    assert_eq!(account(&ask_prompt(&mut first, "four", "s1", "Four")), None);
    let told = account(&ask_prompt(&mut second, "five", "s1", "Five")).unwrap_or_default();
    assert!(told.contains("Two") && told.contains("Three") && !told.contains("Taken"), "{told}");
}

/// How a turn goes of which its agent says that it has no such session.
#[derive(Debug)]
struct Refusal {
    prompts: &'static [&'static str],
    /// What it says before.
    said: &'static [&'static str],
}

impl Refusal {
    /// All of it but the refusal, in `s1` of this window; the prompts as the agent has them.
    fn begin(&self, window: &mut Desk<'_>) -> Vec<Value> {
        let prompts = (1..).zip(self.prompts);
        let asked = prompts
            .map(|(at, text)| ask_prompt(window, &at.to_string(), "s1", text).request("session/prompt"))
            .collect();
        for text in self.said {
            window.agent(update("s1", chunk("agent_message_chunk", text)));
        }
        asked
    }

    /// The accounts have all of it, and nothing of what the agent has heard.
    fn assert_told<const N: usize>(&self, accounts: [&Out; N], what: &str) {
        let told = accounts.map(|out| account(out).unwrap_or_default()).concat();
        let unheard = self.prompts.iter().chain(self.said);
        let missing: Vec<_> = unheard.filter(|text| !told.contains(text.trim())).collect();
        assert!(missing.is_empty() && !told.contains("Hi"), "{missing:?} of {what}: {told}");
    }
}

const REFUSALS: &[Refusal] = &[
    Refusal { prompts: &["Refused"], said: &[] },
    Refusal { prompts: &["Refused"], said: &["Partly "] },
    Refusal { prompts: &["Refused", "Waited not"], said: &["Partly "] },
];

#[test]
fn what_a_program_of_the_agents_has_refused_is_told_in_a_window_that_is_open_meanwhile() {
    let ways = [(false, false), (false, true), (true, false), (true, true)];
    for (refusal, (has_left, had_a_turn)) in REFUSALS.iter().flat_map(|refusal| ways.map(|way| (refusal, way))) {
        let what = format!("{refusal:?}, client has left: {has_left}, a turn meanwhile: {had_a_turn}");
        let (store, world) = (Memory::new(), World::default());
        let (mut first, mut second) = two_windows(&store, &world);
        let asked = refusal.begin(&mut second);
        if has_left {
            second.engine.peer_closed(Peer::Client);
        }
        let two = had_a_turn.then(|| ask_prompt(&mut first, "two", "s1", "Two"));
        if let Some(two) = &two {
            first.reply(&two.request("session/prompt"), json!({"stopReason": "end_turn"}));
        }
        for asked in asked.iter().rev() {
            second.refuse(asked, -32002);
        }
        let three = ask_prompt(&mut first, "three", "s1", "Three");
        match &two {
            Some(two) => refusal.assert_told([two, &three], &what),
            None => refusal.assert_told([&three], &what),
        }
        first.reply(&three.request("session/prompt"), json!({"stopReason": "end_turn"}));
        assert_eq!(account(&ask_prompt(&mut first, "four", "s1", "Four")), None, "{what}");
    }
}

#[test]
fn what_a_program_of_the_agents_has_refused_first_is_told_though_another_window_had_a_turn_before_it_refused_the_rest()
{
    let (store, world) = (Memory::new(), World::default());
    let (mut first, mut second) = two_windows(&store, &world);
    let refusal = Refusal { prompts: &["Refused", "Waited not"], said: &[] };
    let asked = refusal.begin(&mut second);
    for (asked, meanwhile) in asked.iter().zip(["Two", "Three"]) {
        second.refuse(asked, -32002);
        let turn = ask_prompt(&mut first, meanwhile, "s1", meanwhile);
        match meanwhile {
            "Two" => refusal.assert_told([&turn], "the account"),
            _ => assert_eq!(account(&turn), None),
        }
        first.reply(&turn.request("session/prompt"), json!({"stopReason": "end_turn"}));
    }
    assert_eq!(account(&ask_prompt(&mut first, "four", "s1", "Four")), None);
}

#[test]
fn what_a_program_of_the_agents_has_refused_is_told_though_another_window_had_a_turn_meanwhile() {
    for refusal in REFUSALS {
        for capabilities in [resumes(), json!({"loadSession": true})] {
            let (store, world) = (Memory::new(), World::default());
            let (mut first, mut second) = two_windows(&store, &world);
            let asked = refusal.begin(&mut second);
            first.turn("s1", "Two", &["two"]);
            // It has no such session.
            for asked in asked.iter().rev() {
                second.refuse(asked, -32002);
            }
            leave(first);
            leave(second);
            let mut desk = Desk::ready(&store, &world, &capabilities);
            load(&mut desk, "s1", &[("Hi", "Ho"), ("Two", "two")]).answer("load");
            let out = ask_prompt(&mut desk, "prompt", "s1", "Three");
            refusal.assert_told([&out], &format!("{refusal:?}, {capabilities}"));
            desk.reply(&out.request("session/prompt"), json!({"stopReason": "end_turn"}));
            leave(desk);
            // Once is enough.
            let mut desk = Desk::ready(&store, &world, &capabilities);
            load(&mut desk, "s1", &[("Hi", "Ho"), ("Two", "two"), ("Three", "")]).answer("load");
            assert_eq!(account(&ask_prompt(&mut desk, "prompt", "s1", "Four")), None, "{refusal:?}, {capabilities}");
        }
    }
}
