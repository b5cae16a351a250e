//! What an agent says between turns, unasked.

use acp_sessions_guest::engine::{Arrival, Content, Peer};
use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, Out, World, chunk, update};
use crate::scenes::{
    A_WRITE, CWD, TOLD, Turns, account, ask_fork, ask_load, ask_prompt, ask_resume, leave, lines, listing, load, mark,
    oblige, replay, row, said, told,
};

fn says(session: &str, text: &str) -> Value {
    update(session, chunk("agent_message_chunk", text))
}

/// The instance is lost with this arrival, and a fresh one takes its place; and what that says at once.
fn lose<'a>(store: &'a Memory, world: &'a World, desk: Desk<'_>, lost: Arrival) -> (Desk<'a>, Out) {
    let mut desk = Desk::carry_on(store, world, &[], desk.memos, vec![lost]);
    let out = desk.pull();
    (desk, out)
}

/// The same with a prompt: it is in the log, and what would have brought it to the agent is lost.
fn lose_prompt<'a>(store: &'a Memory, world: &'a World, mut desk: Desk<'_>, id: &str, text: &str) -> (Desk<'a>, Out) {
    let memos = desk.memos.clone();
    ask_prompt(&mut desk, "lost", id, text).request("session/prompt");
    desk.memos = memos;
    let params = json!({"sessionId": id, "prompt": [{"type": "text", "text": text}]});
    let line = json!({"jsonrpc": "2.0", "id": "lost", "method": "session/prompt", "params": params}).to_string();
    lose(store, world, desk, Arrival { peer: Peer::Client, content: Content::Line(line) })
}

#[test]
fn in_a_fork_of_a_session_that_stands_in_it_is_said_once_though_the_agent_replays_it_alone() {
    let (store, world) = (Memory::new(), World::default());
    let id = told(&store, &world, &json!({}));
    // The agent begins the first fork afresh, and forks that one itself.
    let forks = json!({"sessionCapabilities": {"fork": {}}});
    let mut desk = Desk::ready(&store, &world, &json!({}));
    let asked = ask_fork(&mut desk, &id).request("session/new");
    desk.reply(&asked, json!({"sessionId": "f1"})).answer("fork");
    leave(desk);
    let mut desk = Desk::ready(&store, &world, &forks);
    let asked = ask_fork(&mut desk, "f1").request("session/fork");
    desk.reply(&asked, json!({"sessionId": "f2"})).answer("fork");
    desk.agent(says("f2", "By the way"));
    let asked = ask_prompt(&mut desk, "prompt", "f2", "Third question");
    let account = account(&asked).unwrap();
    desk.agent(says("f2", "Third answer"));
    desk.reply(&asked.request("session/prompt"), json!({"stopReason": "end_turn"})).answer("prompt");
    leave(desk);
    let mut desk = Desk::ready(&store, &world, &json!({"loadSession": true}));
    let asked = ask_load(&mut desk, "load", "f2").request("session/load");
    desk.agent(says("f2", "By the way"));
    for text in [account.as_str(), "Third question"] {
        desk.agent(update("f2", chunk("user_message_chunk", text)));
    }
    desk.agent(says("f2", "Third answer"));
    let seen = said(&desk.reply(&asked, json!({})).client).concat();
    assert_eq!(seen, lines(&[TOLD]).concat() + "By the way> Third questionThird answer");
}

#[test]
fn by_another_agent_it_does_not_change_the_turn_of_the_first() {
    let (store, world) = (Memory::new(), World::default());
    let loads = json!({"loadSession": true});
    let id = told(&store, &world, &loads);
    let mut other = Desk::open(&store, &world, &[]);
    other.greet(Some("b"), &json!({}));
    let out = ask_load(&mut other, "load", &id);
    oblige(&mut other, out, &[], "b1").answer("load");
    other.agent(says("b1", "By the way"));
    leave(other);
    for time in ["once", "again"] {
        let mut desk = Desk::ready(&store, &world, &loads);
        let seen = said(&load(&mut desk, &id, TOLD).client).concat();
        assert_eq!(seen, lines(&[TOLD]).concat() + "By the way", "{time}");
        if time == "again" {
            let account = account(&ask_prompt(&mut desk, "prompt", &id, "Third question")).unwrap_or_default();
            assert!(account.contains("By the way") && !account.contains("First"), "{account}");
        }
        leave(desk);
    }
}

#[test]
fn behind_a_prompt_that_was_lost_with_its_instance_it_belongs_to_the_turn_before() {
    let (store, world) = (Memory::new(), World::default());
    let loads = json!({"loadSession": true});
    let mut desk = Desk::ready(&store, &world, &loads);
    let id = desk.new_session("s1", CWD);
    desk.turn(&id, "First question", &["First answer"]);
    desk.turn(&id, "Second question", &[]);
    let (mut desk, out) = lose_prompt(&store, &world, desk, &id, "Third question");
    assert_eq!(out.answer("lost")["error"]["code"], -32603);
    desk.agent(says("s1", "By the way"));
    leave(desk);
    let has = [("First question", "First answer"), ("Second question", "By the way")];
    for time in ["once", "again"] {
        let mut desk = Desk::ready(&store, &world, &loads);
        let out = load(&mut desk, &id, &has);
        let whole = ["> First question", "First answer", "> Second questionThird question", "By the way"];
        assert_eq!(said(&out.client), whole, "{time}");
        assert!(mark(&out, "load")["setAside"].is_null(), "{time}");
        leave(desk);
    }
    let mut desk = Desk::ready(&store, &world, &loads);
    load(&mut desk, &id, &has);
    let account = account(&ask_prompt(&mut desk, "prompt", &id, "Fourth question")).unwrap();
    assert!(account.contains("Third question") && !account.contains("Second"), "{account}");
}

#[test]
fn behind_a_turn_that_the_agent_has_no_more_it_is_said_once() {
    let (store, world) = (Memory::new(), World::default());
    let loads = json!({"loadSession": true});
    let mut desk = Desk::ready(&store, &world, &loads);
    let id = desk.new_session("s1", CWD);
    desk.turn(&id, "First question", &[]);
    desk.turn(&id, "Second question", &["Second answer"]);
    desk.agent(says("s1", "By the way"));
    leave(desk);
    let mut desk = Desk::ready(&store, &world, &loads);
    let out = load(&mut desk, &id, &[("First question", "By the way")]);
    assert_eq!(said(&out.client), ["> First questionSecond question", "Second answerBy the way"]);
    assert!(mark(&out, "load")["setAside"].is_null());
}

#[test]
fn behind_an_answer_and_a_prompt_that_were_lost_with_their_instances_it_is_told_with_that_answer() {
    let (store, world) = (Memory::new(), World::default());
    let loads = json!({"loadSession": true});
    let mut desk = Desk::ready(&store, &world, &loads);
    let id = desk.new_session("s1", CWD);
    let asked = ask_prompt(&mut desk, "first", &id, "First question").request("session/prompt");
    desk.agent(says("s1", "First answer, "));
    let end = json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"stopReason": "end_turn"}}).to_string();
    let end = Arrival { peer: Peer::Agent, content: Content::Line(end) };
    let (desk, _) = lose(&store, &world, desk, end);
    let (mut desk, _) = lose_prompt(&store, &world, desk, &id, "Second question");
    desk.agent(says("s1", "by the way"));
    leave(desk);
    for time in ["once", "again"] {
        let mut desk = Desk::ready(&store, &world, &loads);
        // Nobody takes the lost instances for windows any more.
        desk.wait(20_000);
        let out = load(&mut desk, &id, &[("First question", "First answer, by the way")]);
        assert_eq!(said(&out.client), ["> First question", "First answer, by the way", "> Second question"], "{time}");
        leave(desk);
    }
}

#[test]
fn behind_a_summary_of_what_was_said_before_it_tells_that_the_agent_has_made_one() {
    let (store, world) = (Memory::new(), World::default());
    let loads = json!({"loadSession": true});
    let mut first = Desk::ready(&store, &world, &loads);
    load(&mut first, "o1", &[("Old question", "Old answer")]);
    // It has nothing in common with the history, which so stays as it is.
    let mut desk = Desk::ready(&store, &world, &loads);
    let asked = ask_load(&mut desk, "load", "o1").request("session/load");
    desk.agent(says("o1", "A summary"));
    replay(&mut desk, "o1", &[("New question", "New answer, ")]);
    let out = desk.reply(&asked, json!({}));
    assert_eq!(said(&out.client), ["> Old question", "Old answer"]);
    desk.agent(says("o1", "by the way"));
    leave(desk);
    leave(first);
    for time in ["once", "again"] {
        let mut desk = Desk::ready(&store, &world, &loads);
        let asked = ask_load(&mut desk, "load", "o1").request("session/load");
        desk.agent(says("o1", "A summary"));
        replay(&mut desk, "o1", &[("New question", "New answer, by the way")]);
        let out = desk.reply(&asked, json!({}));
        assert_eq!(said(&out.client), ["A summary", "> New question", "New answer, by the way"], "{time}");
        leave(desk);
    }
}

#[test]
fn by_an_agent_that_was_started_again_it_is_said_in_the_session_that_it_has_begun_since() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    desk.new_session("s1", CWD);
    desk.agent(says("s1", "By the way. "));
    desk.revive(&json!({}));
    let out = ask_load(&mut desk, "load", "s1");
    oblige(&mut desk, out, &[], "s2").answer("load");
    desk.agent(says("s2", "Another thing. "));
    desk.turn("s1", "Question", &["Answer"]);
    leave(desk);
    for time in ["once", "again"] {
        let mut desk = Desk::ready(&store, &world, &json!({"loadSession": true}));
        let asked = ask_load(&mut desk, "load", "s1").request("session/load");
        assert_eq!(asked["params"]["sessionId"], "s2");
        desk.agent(says("s2", "Another thing. "));
        replay(&mut desk, "s2", &[("Question", "Answer")]);
        let out = desk.reply(&asked, json!({}));
        assert_eq!(said(&out.client), ["By the way. Another thing. ", "> Question", "Answer"], "{time}");
        leave(desk);
    }
}

/// A session of which the agent, which has told this when it was asked to load it again, has it so; in the order of what was
/// said.
fn comes_to(store: &Memory, world: &World, has: Turns<'_>, whole: &[&str]) {
    let loads = json!({"loadSession": true});
    for time in ["once", "again"] {
        let mut desk = Desk::ready(store, world, &loads);
        // Nobody takes the windows before for open ones any more.
        desk.wait_awake(20_000);
        let out = load(&mut desk, "s1", has);
        assert_eq!(said(&out.client), whole, "{time} {:?}", out.client);
        leave(desk);
    }
}

/// Another program of the agent's, which keeps sessions for as long as it runs, has the session open.
fn forgetful<'a>(store: &'a Memory, world: &'a World) -> Desk<'a> {
    let mut desk = Desk::ready(store, world, &json!({"sessionCapabilities": {"resume": {}}}));
    load(&mut desk, "s1", &[]).answer("load");
    desk
}

#[test]
fn in_a_session_that_another_program_of_the_agents_keeps_by_itself_it_stays_behind_the_turn() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &json!({"loadSession": true}));
    desk.new_session("s1", CWD);
    desk.turn("s1", "First question", &["First answer, "]);
    let mut other = forgetful(&store, &world);
    desk.agent(says("s1", "by the way, "));
    desk.wait(500);
    other.agent(says("s1", "from elsewhere"));
    other.wait(500);
    let asked = ask_prompt(&mut other, "refused", "s1", "Refused").request("session/prompt");
    other.refuse(&asked, -32002);
    leave(other);
    leave(desk);
    let has = [("First question", "First answer, by the way, ")];
    let whole = ["> First question", "First answer, by the way, from elsewhere", "> Refused"];
    comes_to(&store, &world, &has, &whole);
}

#[test]
fn behind_what_nobody_heard_it_is_told_with_it_though_a_prompt_was_refused_meanwhile() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &json!({"loadSession": true}));
    desk.new_session("s1", CWD);
    desk.turn("s1", "First question", &["First answer, "]);
    desk.ask("session/close", json!({"sessionId": "s1"}));
    desk.agent(says("s1", "unheard, "));
    let mut other = forgetful(&store, &world);
    let asked = ask_prompt(&mut other, "refused", "s1", "Refused").request("session/prompt");
    load(&mut desk, "s1", &[("First question", "First answer, unheard, ")]);
    desk.agent(says("s1", "by the way"));
    leave(desk);
    other.refuse(&asked, -32002);
    leave(other);
    let has = [("First question", "First answer, unheard, by the way")];
    comes_to(&store, &world, &has, &["> First question", "First answer, unheard, by the way", "> Refused"]);
}

#[test]
fn behind_a_prompt_that_the_agent_has_joined_with_one_from_outside_it_is_told_with_its_answer() {
    let (store, world) = (Memory::new(), World::default());
    let loads = json!({"loadSession": true, "sessionCapabilities": {"resume": {}}});
    let mut desk = Desk::ready(&store, &world, &loads);
    desk.new_session("s1", CWD);
    ask_prompt(&mut desk, "first", "s1", "First question. ").request("session/prompt");
    let mut window = Desk::ready(&store, &world, &loads);
    let out = ask_resume(&mut window, "resume", "s1");
    oblige(&mut window, out, &[], "fresh").answer("resume");
    desk.engine.peer_closed(Peer::Agent);
    desk.pull();
    let mut other = Desk::open(&store, &world, &[]);
    other.greet(Some("b"), &json!({}));
    let out = ask_load(&mut other, "load", "s1");
    oblige(&mut other, out, &[], "b1").answer("load");
    other.turn("s1", "Their question", &[]);
    leave(other);
    window.agent(says("s1", "by the way"));
    leave(window);
    let has = [("First question. Outside question", "Outside answer, by the way")];
    let whole = ["> First question. Outside question", "Outside answer, by the way", "> Their question"];
    comes_to(&store, &world, &has, &whole);
}

#[test]
fn what_is_said_unasked_is_the_last_activity_of_its_session_and_moves_none_of_which_a_prompt_is_known() {
    let (store, world) = (Memory::new(), World::default());
    let capabilities = json!({"loadSession": true});
    let list = [row("x1", "One", "2025-01-01T00:00:00Z")];
    let mut desk = listing(&store, &world, "a", &capabilities, &list);
    for id in ["s1", "s2"] {
        desk.new_session(id, CWD);
        desk.turn(id, "Go", &["Gone"]);
        world.now.set(world.now.get() + 1000);
    }
    load(&mut desk, "x1", TOLD).answer("load");
    let shown = |desk: &mut Desk<'_>| -> Vec<Value> {
        let rows = crate::follower::rows(desk);
        rows.iter().map(|row| json!([row["sessionId"], row["updatedAt"], row["lastPromptAt"]])).collect()
    };
    let at = |second: u32| format!("2025-10-09T08:53:{second:02}.000Z");
    let first =
        [json!(["s2", at(21), at(21)]), json!(["s1", at(20), at(20)]), json!(["x1", "2025-01-01T00:00:00.000Z", null])];
    assert_eq!(shown(&mut desk), first);
    world.now.set(10_000);
    // What is no content is no activity.
    let mode = json!({"sessionUpdate": "current_mode_update", "currentModeId": "m"});
    desk.agent(update("s1", mode));
    desk.wait(1000);
    assert_eq!(shown(&mut desk), first);
    desk.agent(says("s1", "By the way"));
    desk.wait(1000);
    let call = json!({"sessionUpdate": "tool_call", "toolCallId": "c1", "title": "Looks around"});
    desk.agent(update("x1", call));
    desk.wait(1000);
    let then = [json!(["x1", at(32), null]), json!(["s2", at(21), at(21)]), json!(["s1", at(31), at(20)])];
    assert_eq!(shown(&mut desk), then);
    // What the agent's list has said since the turn is no sign that it went on elsewhere.
    leave(desk);
    world.now.set(600_000);
    let mut desk = Desk::ready(&store, &world, &capabilities);
    load(&mut desk, "s1", &[("Go", "Gone"), ("", "By the way")]).answer("load");
    desk.agent(says("s1", "Once more"));
    desk.wait(1000);
    leave(desk);
    let list = [row("s1", "One", "2025-10-09T08:53:25Z"), row("s2", "Two", "2025-10-09T08:53:25Z")];
    let mut desk = listing(&store, &world, "a", &capabilities, &list);
    let listed = shown(&mut desk);
    assert!(listed.contains(&json!(["s1", "2025-10-09T09:03:20.000Z", at(20)])), "{listed:?}");
}

#[test]
fn by_another_program_behind_a_turn_from_before_a_fork_it_does_not_have_that_turn_there_twice() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let forks = json!({"loadSession": true, "sessionCapabilities": {"fork": {}}});
    let mut first = Desk::ready(&store, &world, &forks);
    first.new_session("s1", CWD);
    first.turn("s1", "Question", &["Answer"]);
    let out = ask_fork(&mut first, "s1");
    oblige(&mut first, out, &[], "s2").answer("fork");
    // Another program of its name cannot load, and begins a session in its place.
    let mut second = Desk::ready(&store, &world, &json!({}));
    let out = ask_load(&mut second, "load", "s2");
    oblige(&mut second, out, &[], "s4").answer("load");
    second.agent(update("s4", chunk("agent_message_chunk", "Unasked")));
    second.wait(A_WRITE);
    let out = ask_load(&mut first, "load", "s2");
    let mut told = replay(&mut first, "s2", &[("Question", "Answer")]);
    ask_prompt(&mut second, "turn", "s2", "Other question").request("session/prompt");
    second.agent(update("s4", chunk("agent_message_chunk", "Other answer")));
    second.agent(json!({"id": "turn", "result": {"stopReason": "end_turn"}}));
    told.extend(first.reply(&out.request("session/load"), json!({})));
    told.extend(first.wait(A_WRITE));
    told.answer("load");
    leave(first);
    leave(second);
    let all = [("Question", "Answer"), ("Other question", "Other answer")];
    // The agent's list says that its session has changed since.
    let rows = ["s1", "s2", "s4"].map(|id| row(id, "Listed", "2025-10-10T08:53:53Z"));
    for time in ["once", "again"] {
        world.now.set(world.now.get() + 100_000);
        let mut desk = listing(&store, &world, "a", &forks, &rows);
        let shown = said(&load(&mut desk, "s2", &all[..1]).client);
        assert_eq!(shown, ["> Question", "AnswerUnasked", "> Other question", "Other answer"], "{time}");
        leave(desk);
    }
}
