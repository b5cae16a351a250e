//! Two windows on one session, each with an agent of its own: what their agents say between turns and hear of each other, and
//! the prompts that wait for it.

use acp_sessions_guest::engine::{Arrival, Content, Output, Peer};
use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, Out, World, chunk, envelope, update};
use crate::scenes::{account, ask_prompt, ask_resume, begun, leave, load, oblige, said, says, updates};
use crate::side_by_side::{SOON, ends, other, sends_without_room, shown, two_windows};

#[test]
fn what_was_said_elsewhere_comes_before_the_next_prompt_for_the_client_and_its_agent() {
    let (store, world) = (Memory::new(), World::default());
    let (mut first, mut second) = two_windows(&store, &world);
    second.turn("s1", "Theirs", &["Their answer"]);
    let out = ask_prompt(&mut first, "mine", "s1", "Mine");
    assert_eq!(shown(&out), ["> Theirs", "Their answer"]);
    let account = account(&out).unwrap();
    assert!(account.contains("Their answer") && !account.contains("Hi"), "{account}");
    first.agent(says("My answer"));
    let out = ends(&mut first, &out);
    assert_eq!(out.client.len(), 1, "{:?}", out.client);
    leave(first);
    leave(second);
    let mut desk = Desk::ready(&store, &world, &json!({}));
    let whole = ["> Hi", "Ho", "> Theirs", "Their answer", "> Mine", "My answer"];
    assert_eq!(said(&load(&mut desk, "s1", &[]).client), whole);
}

#[test]
fn an_account_of_a_turn_in_the_midst_of_its_own_tells_of_that_one_alone() {
    let (store, world) = (Memory::new(), World::default());
    let (mut first, mut second) = two_windows(&store, &world);
    for nth in 0..2 {
        let own = ask_prompt(&mut second, "own", "s1", "Own");
        second.agent(update("b1", chunk("agent_message_chunk", "early ")));
        second.wait(SOON);
        first.turn("s1", &format!("Theirs {nth}"), &["short"]);
        second.agent(update("b1", chunk("agent_message_chunk", "late")));
        second.wait(SOON);
        ends(&mut second, &own);
    }
    second.wait(SOON);
    let told = account(&ask_prompt(&mut second, "next", "s1", "Next")).unwrap();
    assert!(told.contains("User: Theirs 1\n\nAssistant: short"), "{told}");
    assert!(!told.contains("early") && !told.contains("late") && !told.contains("Own"), "{told}");
}

#[test]
fn what_an_agent_has_heard_is_stored_though_turns_overlap_all_the_time() {
    let (store, world) = (Memory::new(), World::default());
    let (mut first, mut second) = two_windows(&store, &world);
    let mut theirs = ask_prompt(&mut second, "theirs", "s1", "Theirs 0");
    for nth in 1..6 {
        let mine = ask_prompt(&mut first, "mine", "s1", &format!("Mine {nth}"));
        second.agent(update("b1", chunk("agent_message_chunk", "They answer")));
        ends(&mut second, &theirs);
        theirs = ask_prompt(&mut second, "theirs", "s1", &format!("Theirs {nth}"));
        first.agent(says("I answer"));
        ends(&mut first, &mine);
    }
    ends(&mut second, &theirs);
    leave(first);
    leave(second);
    let mut first = Desk::ready(&store, &world, &json!({"sessionCapabilities": {"resume": {}}}));
    let out = ask_resume(&mut first, "resume", "s1");
    oblige(&mut first, out, &[], "s1").answer("resume");
    let told = account(&ask_prompt(&mut first, "next", "s1", "Next")).unwrap();
    assert!(told.contains("Theirs 5"), "{told}");
    for heard in ["Hi", "Mine 1", "Theirs 0", "Mine 2", "Theirs 1", "Theirs 2"] {
        assert!(!told.contains(heard), "{heard}: {told}");
    }
}

#[test]
fn what_another_windows_agent_says_between_turns_is_shown_once_something_follows_it() {
    let (store, world) = (Memory::new(), World::default());
    let (mut first, mut second) = two_windows(&store, &world);
    second.agent(update("b1", chunk("agent_message_chunk", "By the way")));
    second.wait(150);
    assert_eq!(said(&first.wait(SOON).client), [""; 0]);
    second.turn("s1", "Theirs", &["Their answer"]);
    assert_eq!(shown(&first.wait(SOON)), ["By the way", "> Theirs", "Their answer"]);
    // What its own agent says is not shown twice.
    first.agent(says("My own"));
    second.turn("s1", "More", &["Yes"]);
    assert_eq!(shown(&first.wait(SOON)), ["> More", "Yes"]);
}

#[test]
fn what_another_windows_agent_says_between_turns_is_shown_once_it_has_been_silent_for_a_while() {
    let (store, world) = (Memory::new(), World::default());
    let (mut first, mut second) = two_windows(&store, &world);
    for piece in ["By the ", "way"] {
        second.agent(update("b1", chunk("agent_message_chunk", piece)));
        second.wait(150);
        assert_eq!(said(&first.wait(SOON).client), [""; 0], "it has just been said");
        assert_eq!(shown(&first.wait(SOON)), [piece]);
        for _ in 0..3 {
            assert_eq!(said(&first.wait(SOON).client), [""; 0]);
        }
    }
    second.turn("s1", "Theirs", &["Their answer"]);
    assert_eq!(shown(&first.wait(SOON)), ["> Theirs", "Their answer"]);
}

#[test]
fn what_another_windows_agent_says_between_turns_is_shown_before_the_prompt_that_follows_it() {
    let (store, world) = (Memory::new(), World::default());
    let (mut first, mut second) = two_windows(&store, &world);
    second.agent(update("b1", chunk("agent_message_chunk", "By the ")));
    second.wait(150);
    let mine = ask_prompt(&mut first, "mine", "s1", "Mine");
    assert_eq!(shown(&mine), ["By the "]);
    assert!(account(&mine).unwrap().contains("By the"));
    // What comes to it behind that prompt is shown behind the turn.
    second.agent(update("b1", chunk("agent_message_chunk", "way")));
    second.wait(150);
    assert_eq!(shown(&ends(&mut first, &mine)), ["way"]);
    assert_eq!(said(&first.wait(SOON).client), [""; 0]);
    second.turn("s1", "Theirs", &["Their answer"]);
    assert_eq!(shown(&first.wait(SOON)), ["> Theirs", "Their answer"]);
    assert_eq!(said(&first.wait(SOON).client), [""; 0]);
}

#[test]
fn what_comes_to_words_between_turns_behind_a_load_is_shown() {
    let (store, world) = (Memory::new(), World::default());
    let (first, mut second) = two_windows(&store, &world);
    drop(first);
    second.agent(update("b1", chunk("agent_message_chunk", "By the ")));
    second.wait(150);
    let mut third = Desk::ready(&store, &world, &json!({"sessionCapabilities": {"resume": {}}}));
    assert_eq!(said(&load(&mut third, "s1", &[]).client), ["> Hi", "HoBy the "]);
    second.agent(update("b1", chunk("agent_message_chunk", "way")));
    second.wait(150);
    second.turn("s1", "Theirs", &["Their answer"]);
    assert_eq!(shown(&third.wait(SOON)), ["way", "> Theirs", "Their answer"]);
}

#[test]
fn what_another_program_of_one_agent_says_between_turns_is_shown_and_told_like_its_turns() {
    let (store, world) = (Memory::new(), World::default());
    let capabilities = json!({"sessionCapabilities": {"resume": {}}});
    let mut first = begun(&store, &world, &capabilities, &[("Hi", "Ho")]);
    // The same session of the agent's is open in both of its programs.
    let mut second = Desk::ready(&store, &world, &capabilities);
    let out = ask_resume(&mut second, "resume", "s1");
    second.reply(&out.request("session/resume"), json!({}));
    second.agent(says("By the way"));
    second.wait(150);
    second.turn("s1", "Theirs", &["Their answer"]);
    assert_eq!(shown(&first.wait(SOON)), ["By the way", "> Theirs", "Their answer"]);
    assert_eq!(said(&second.wait(SOON).client), [""; 0], "its own words");
    let prompt = ask_prompt(&mut first, "mine", "s1", "Mine");
    let told = account(&prompt).unwrap();
    assert!(told.contains("By the way") && told.contains("Their answer"), "{told}");
    ends(&mut first, &prompt);
    // Nobody is told what it has said itself, nor the same twice.
    first.agent(says("My own"));
    first.wait(150);
    let prompt = ask_prompt(&mut first, "more", "s1", "More");
    assert_eq!(account(&prompt), None);
    ends(&mut first, &prompt);
    let told = account(&ask_prompt(&mut second, "theirs", "s1", "And theirs")).unwrap();
    assert!(told.contains("My own") && !told.contains("By the way"), "{told}");
}

#[test]
fn a_prompt_waits_while_a_long_turn_is_shown_for_which_the_client_has_no_room() {
    let (store, world) = (Memory::new(), World::default());
    let (mut first, mut second) = two_windows(&store, &world);
    let long = "x".repeat(400_000);
    second.turn("s1", "Theirs", &[&long, " end"]);
    let prompt = json!([{"type": "text", "text": "Mine"}]);
    let params = json!({"sessionId": "s1", "prompt": prompt});
    let sent = sends_without_room(&mut first, [json!({"id": "mine", "method": "session/prompt", "params": params})]);
    assert_eq!(sent, [""; 0]);
    let out = first.pull();
    assert_eq!(shown(&out), ["> Theirs".to_owned(), format!("{long} end")]);
    assert!(out.asked("session/prompt").is_some());
    ends(&mut first, &out).answer("mine");
}

/// One pull, for a client that has room for so much.
fn pulls_with_room(desk: &mut Desk<'_>, room: u32) -> Vec<Value> {
    let mut sent = Vec::new();
    for output in desk.engine.pull(room) {
        match output {
            Output::ToClient(line) => sent.push(serde_json::from_str(&line).unwrap()),
            Output::Keep { key, value: Some(value) } => drop(desk.memos.insert(key, value)),
            Output::Keep { key, value: None } => drop(desk.memos.remove(&key)),
            Output::ToAgent(_) | Output::Warn(_) => {}
        }
    }
    sent
}

#[test]
fn what_its_agent_says_while_a_long_turn_from_elsewhere_is_shown_comes_behind_that() {
    for is_lost in [false, true] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let (mut first, mut second) = two_windows(&store, &world);
        assert_eq!(said(&first.agent(says("Before. ")).client), ["Before. "]);
        first.wait(SOON);
        let long = "x".repeat(400_000);
        second.turn("s1", "Theirs", &[&long, " end"]);
        world.now.set(world.now.get() + SOON);
        first.engine.idle();
        let mut sent = pulls_with_room(&mut first, 20_000);
        for words in ["By ", "the way. "] {
            let line = Content::Line(envelope(says(words)));
            first.engine.receive([Arrival { peer: Peer::Agent, content: line }]);
            sent.extend(pulls_with_room(&mut first, 0));
        }
        assert_eq!(said(&sent), ["> Theirs", long.as_str()], "{is_lost}");
        if is_lost {
            first = Desk::carry_on(&store, &world, &[], first.memos, Vec::new());
        }
        let mut out = first.wait(SOON);
        out.client.splice(0..0, sent);
        let is_elsewhere = |message: &&Value| message["params"]["_meta"]["acp-sessions"]["elsewhere"] == true;
        let theirs: Vec<Value> = out.client.iter().filter(is_elsewhere).cloned().collect();
        assert_eq!(said(&theirs), ["> Theirs".to_owned(), format!("{long} end")], "{is_lost}");
        assert_eq!(said(&out.client), ["> Theirs".to_owned(), format!("{long} endBy the way. ")], "{is_lost}");
        // From then on it is shown as it comes.
        assert_eq!(said(&first.agent(says("Indeed. ")).client), ["Indeed. "], "{is_lost}");
        assert_eq!(said(&first.wait(SOON).client), [""; 0], "{is_lost}");
        leave(first);
        leave(second);
        let mut third = other(&store, &world);
        let history = said(&load(&mut third, "s1", &[]).client);
        let theirs = history.iter().position(|said| said == "> Theirs").unwrap();
        assert_eq!(history[theirs..], ["> Theirs".to_owned(), format!("{long} endBy the way. Indeed. ")], "{is_lost}");
    }
}

#[test]
fn a_prompt_that_the_client_takes_back_while_it_waits_is_answered_so() {
    let (store, world) = (Memory::new(), World::default());
    let (mut first, mut second) = two_windows(&store, &world);
    second.turn("s1", "Theirs", &[&"x".repeat(400_000)]);
    let lines = [
        json!({"id": "mine", "method": "session/prompt", "params": {"sessionId": "s1", "prompt": []}}),
        json!({"method": "session/cancel", "params": {"sessionId": "s1"}}),
    ];
    let [answer] = sends_without_room(&mut first, lines).try_into().unwrap();
    assert!(answer.contains("cancelled"), "{answer}");
    let out = first.pull();
    assert_eq!(out.asked("session/prompt"), None::<&Value>);
    assert_eq!(said(&out.client).len(), 2);
}

#[test]
fn what_was_said_elsewhere_is_shown_before_an_agent_that_was_started_again_is_made_to_open_the_session() {
    let (store, world) = (Memory::new(), World::default());
    let (mut first, mut second) = two_windows(&store, &world);
    let resumes = json!({"sessionCapabilities": {"resume": {}}});
    first.revive(&resumes);
    second.turn("s1", "Theirs", &["Their answer"]);
    let mut out = ask_prompt(&mut first, "mine", "s1", "Mine");
    assert_eq!(shown(&out), ["> Theirs", "Their answer"]);
    out = first.reply(&out.request("session/resume"), json!({}));
    assert_eq!(said(&out.client), [""; 0]);
    assert!(account(&out).unwrap().contains("Their answer"));
    ends(&mut first, &out).answer("mine");
}

#[test]
fn what_is_asked_while_it_is_shown_before_an_agent_that_was_started_again_opens_the_session_waits() {
    let (store, world) = (Memory::new(), World::default());
    let (mut first, mut second) = two_windows(&store, &world);
    first.revive(&json!({"sessionCapabilities": {"resume": {}}}));
    let long = "x".repeat(400_000);
    second.turn("s1", "Theirs", &[&long]);
    let lines = [
        json!({"id": "mode", "method": "session/set_mode", "params": {"sessionId": "s1", "modeId": "code"}}),
        json!({"id": "mine", "method": "session/prompt", "params": {"sessionId": "s1", "prompt": []}}),
        json!({"method": "_note", "params": {"sessionId": "s1"}}),
    ];
    assert_eq!(sends_without_room(&mut first, lines), [""; 0]);
    let mut out = first.pull();
    assert_eq!(shown(&out), ["> Theirs", &long]);
    let asked: Vec<_> = out.agent.iter().map(|message| message["method"].clone()).collect();
    assert_eq!(asked, ["session/resume"]);
    out = first.reply(&out.request("session/resume"), json!({}));
    assert_eq!(said(&out.client), [""; 0]);
    let asked: Vec<_> = out.agent.iter().map(|message| message["method"].clone()).collect();
    assert_eq!(asked, ["session/set_mode", "session/prompt", "_note"]);
}

/// The messages of agents that a client is told, each by its id, which it has, and its text.
fn messages(out: &Out) -> Vec<(String, String)> {
    let mut messages: Vec<(String, String)> = Vec::new();
    for update in updates(out, "agent_message_chunk") {
        let text = update["content"]["text"].as_str().unwrap();
        let id = update["messageId"].as_str().unwrap_or_else(|| panic!("no id: {update}"));
        match messages.iter_mut().find(|(known, _)| known == id) {
            Some((_, joined)) => joined.push_str(text),
            None => messages.push((id.to_owned(), text.to_owned())),
        }
    }
    messages
}

#[test]
fn what_stands_directly_behind_anothers_words_in_the_log_is_a_message_of_its_own() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let (mut first, mut second) = two_windows(&store, &world);
    let by_the_way = |text: &str| update("b1", chunk("agent_message_chunk", text));
    // The answer of one agent, the words of the other between turns, and those of the first.
    second.agent(by_the_way("By the "));
    second.wait(150);
    second.agent(by_the_way("way"));
    second.wait(150);
    let shown = messages(&{
        let mut out = first.wait(SOON);
        out.extend(first.wait(SOON));
        out
    });
    first.agent(says("My own"));
    first.wait(150);
    let mut third = Desk::ready(&store, &world, &json!({"sessionCapabilities": {"resume": {}}}));
    let told = messages(&load(&mut third, "s1", &[]));
    let texts: Vec<&str> = told.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(texts, ["Ho", "By the way", "My own"], "{told:?}");
    assert_eq!(shown, told[1..2], "as it was shown in the other window");
}
