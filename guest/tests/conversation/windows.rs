//! Several windows on one session, and what is found of it.

use acp_sessions_guest::engine::Peer;
use acp_sessions_guest::storage::{Memory, StorageError};
use serde_json::{Value, json};

use crate::desk::{Desk, Faulty, Out, World, chunk, update};
use crate::scenes::{
    A_WRITE, CWD, TOLD, Turns, account, ask_load, ask_prompt, ask_resume, begun, both_open, leave, lines, listing,
    load, mark, oblige, replay, row, said, told,
};

fn resumes() -> Value {
    json!({"sessionCapabilities": {"resume": {}}})
}

/// Two windows that have `s1` open, in which one turn was had.
fn two_windows<'a>(store: &'a Memory, world: &'a World) -> (Desk<'a>, Desk<'a>) {
    both_open(store, world, &resumes(), &[("Hi", "Ho")])
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
    let mut first = begun(&store, &world, &resumes(), &[("Hi", "Ho")]);
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

fn loads() -> Value {
    json!({"loadSession": true})
}

/// Turns that were had without the layer.
const OUTSIDE: Turns<'static> = &[("Outside question", "Outside answer")];

#[test]
fn what_was_said_outside_is_shown_though_another_window_has_the_session_open() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut first = begun(&store, &world, &loads(), TOLD);
    let has = [TOLD, OUTSIDE].concat();
    let mut second = Desk::ready(&store, &world, &loads());
    let out = load(&mut second, "s1", &has);
    assert_eq!(said(&out.client), lines(&[&has]));
    assert!(mark(&out, "load")["setAside"].is_null());
    // The one that was open is shown it, and its agent told before its next prompt; each once.
    let out = first.wait(1000);
    assert_eq!(said(&out.client), lines(&[OUTSIDE]));
    assert!(out.client.iter().all(|update| {
        let is_title = update["params"]["update"]["sessionUpdate"] == "session_info_update";
        is_title || update["params"]["_meta"]["acp-sessions"]["elsewhere"] == true
    }));
    assert_eq!(said(&first.wait(1000).client), [""; 0]);
    let next = ask_prompt(&mut first, "next", "s1", "Next");
    let told = account(&next).unwrap_or_default();
    assert!(told.contains("User: Outside question\n\nAssistant: Outside answer"), "{told}");
    assert!(!told.contains("First") && !told.contains("Second"), "{told}");
    assert_eq!(said(&next.client), [""; 0]);
    first.agent(update("s1", chunk("agent_message_chunk", "Done")));
    first.reply(&next.request("session/prompt"), json!({"stopReason": "end_turn"})).answer("next");
    assert_eq!(account(&ask_prompt(&mut first, "last", "s1", "Last")), None);
    first.client(json!({"method": "session/cancel", "params": {"sessionId": "s1"}}));
    first.agent(json!({"id": "last", "result": {"stopReason": "cancelled"}}));
    assert_eq!(said(&second.wait(1000).client), ["> Next", "Done", "> Last"]);
    leave(first);
    leave(second);
    let whole = [&has[..], &[("Next", "Done"), ("Last", "")]].concat();
    for capabilities in [json!({}), loads()] {
        let mut desk = Desk::ready(&store, &world, &capabilities);
        let shown = said(&load(&mut desk, "s1", &whole).client);
        assert_eq!(shown, [lines(&[&has]), vec!["> Next".to_owned(), "Done".to_owned(), "> Last".to_owned()]].concat());
        leave(desk);
    }
}

#[test]
fn what_was_said_outside_stands_where_it_belongs_though_a_window_that_was_open_has_gone_on_since() {
    // Whether the window is told that time has passed before it goes on, and whether its instance is lost before that.
    for (is_seen, is_lost) in [(false, false), (true, false), (false, true), (true, true)] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut first = begun(&store, &world, &loads(), TOLD);
        let mine: Turns<'_> = &[("Mine", "My answer")];
        first.turn("s1", mine[0].0, &[mine[0].1]);
        let has = [TOLD, OUTSIDE, mine].concat();
        let mut second = Desk::ready(&store, &world, &loads());
        let out = load(&mut second, "s1", &has);
        assert_eq!(said(&out.client), lines(&[&has]));
        let mut shown = Vec::new();
        if is_seen {
            shown.extend(said(&first.wait(1000).client));
        }
        if is_lost {
            first = Desk::carry_on(&store, &world, &[], first.memos, Vec::new());
            shown.extend(said(&first.pull().client));
        }
        let next = ask_prompt(&mut first, "next", "s1", "Next");
        shown.extend(said(&next.client));
        assert_eq!(shown, lines(&[OUTSIDE]), "seen: {is_seen}, lost: {is_lost}");
        let told = account(&next).unwrap_or_default();
        assert!(told.contains("Outside answer") && !told.contains("First"), "{told}");
        first.agent(update("s1", chunk("agent_message_chunk", "Done")));
        first.reply(&next.request("session/prompt"), json!({"stopReason": "end_turn"})).answer("next");
        let told = account(&ask_prompt(&mut second, "theirs", "s1", "Theirs")).unwrap_or_default();
        assert!(told.matches("Done").count() == 1 && !told.contains("Outside"), "{told}");
        second.agent(json!({"id": "theirs", "result": {"stopReason": "end_turn"}}));
        leave(first);
        leave(second);
        let mut desk = Desk::ready(&store, &world, &json!({}));
        let expected = [lines(&[&has, &[("Next", "Done")]]), vec!["> Theirs".to_owned()]].concat();
        assert_eq!(said(&load(&mut desk, "s1", &[]).client), expected);
    }
}

#[test]
fn an_agent_that_knows_nothing_of_a_session_is_told_once_what_another_window_has_taken_over() {
    let (store, world) = (Memory::new(), World::unrecorded());
    leave(begun(&store, &world, &loads(), TOLD));
    // Another agent has it open, and has heard nothing of it yet.
    let mut other = Desk::open(&store, &world, &[]);
    other.greet(Some("b"), &json!({}));
    let out = ask_load(&mut other, "load", "s1");
    oblige(&mut other, out, &[], "b1").answer("load");
    let has = [TOLD, OUTSIDE].concat();
    let mut desk = Desk::ready(&store, &world, &loads());
    assert_eq!(said(&load(&mut desk, "s1", &has).client), lines(&[&has]));
    let next = ask_prompt(&mut other, "next", "s1", "Next");
    assert_eq!(said(&next.client), lines(&[OUTSIDE]));
    let told = account(&next).unwrap_or_default();
    for (user, agent) in has {
        assert_eq!([user, agent].map(|text| told.matches(text).count()), [1, 1], "{told}");
    }
    other.reply(&next.request("session/prompt"), json!({"stopReason": "end_turn"})).answer("next");
    assert_eq!(account(&ask_prompt(&mut other, "last", "s1", "Last")), None);
}

#[test]
fn what_another_window_is_about_to_write_is_not_taken_for_said_outside() {
    for is_prompted in [false, true] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut first = begun(&store, &world, &loads(), TOLD);
        first.wait(1000);
        // It waits to be written as the second one loads, and as its agent has told all.
        first.agent(update("s1", chunk("agent_message_chunk", "By the way")));
        let mut second = Desk::ready(&store, &world, &loads());
        let out = ask_load(&mut second, "load", "s1");
        let asked = out.request("session/load");
        second.agent(update("s1", chunk("user_message_chunk", TOLD[0].0)));
        second.agent(update("s1", chunk("agent_message_chunk", TOLD[0].1)));
        second.agent(update("s1", chunk("user_message_chunk", TOLD[1].0)));
        second.agent(update("s1", chunk("agent_message_chunk", &[TOLD[1].1, "By the way"].concat())));
        assert_eq!(said(&second.reply(&asked, json!({})).client), [""; 0]);
        if is_prompted {
            ask_prompt(&mut first, "on", "s1", "On");
        } else {
            first.wait(100);
        }
        let mut out = second.wait(A_WRITE);
        out.answer("load");
        for _ in 0..2 {
            out.extend(second.wait(1000));
        }
        let shown = said(&out.client);
        let is_once = |text: &str| shown.iter().filter(|line| line.contains(text)).count() == 1;
        assert!([TOLD[0].0, TOLD[1].1, "By the way"].into_iter().all(is_once), "{shown:?}");
    }
}

#[test]
fn what_a_window_that_is_open_has_said_is_not_taken_back_by_what_another_program_of_its_agent_has() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut first = begun(&store, &world, &loads(), TOLD);
    first.wait(60_000);
    // Its agent's other program knows nothing of the last turn, and of something else.
    let has = [&TOLD[..1], OUTSIDE].concat();
    let rows = [row("s1", "One", "2025-10-09T08:54:10Z")];
    let mut second = listing(&store, &world, "a", &loads(), &rows);
    let out = load(&mut second, "s1", &has);
    assert_eq!(said(&out.client), lines(&[TOLD]));
    assert!(mark(&out, "load")["setAside"].is_null());
    assert_eq!(said(&first.wait(1000).client), [""; 0]);
    // Once it is open nowhere else the agent is believed.
    leave(first);
    let out = load(&mut second, "s1", &has);
    assert_eq!(said(&out.client), lines(&[&has]));
    assert!(mark(&out, "load")["setAside"].is_u64());
}

#[test]
fn a_window_that_opens_an_agents_own_session_is_not_shown_again_what_the_agent_has_from_before() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let loads = json!({"loadSession": true, "sessionCapabilities": {"resume": {}}});
    let mut first = Desk::ready(&store, &world, &loads);
    let out = ask_resume(&mut first, "resume", "o1");
    oblige(&mut first, out, &[], "never").answer("resume");
    let mut second = Desk::ready(&store, &world, &loads);
    assert_eq!(said(&load(&mut second, "o1", OUTSIDE).client), lines(&[OUTSIDE]));
    assert_eq!(said(&first.wait(1000).client), [""; 0]);
    let next = ask_prompt(&mut first, "next", "o1", "Next");
    assert_eq!((account(&next), said(&next.client)), (None, Vec::new()));
}
