//! Agents that put together what was said apart, say something unasked, or tell a history late and to nobody.

use acp_sessions_guest::engine::{Arrival, Content, Peer};
use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, Out, World, chunk, update};
use crate::scenes::{
    CWD, TOLD, Turns, account, as_shown, ask_load, ask_prompt, ask_resume, converse, leave, lines, listing, load, mark,
    oblige, replay, row, said, set, shown_later, told, told_all,
};

const OLD: Turns<'static> = &[("Old question", "Old answer")];
/// Later than anything that is said here.
const LATER: &str = "2025-10-10T00:00:00Z";
const USER: &str = "user_message_chunk";
const AGENT: &str = "agent_message_chunk";

fn loads() -> Value {
    json!({"loadSession": true, "sessionCapabilities": {"resume": {}}})
}

/// A load of a session that the agent tells in these chunks.
fn load_as(desk: &mut Desk<'_>, session: &str, agent_id: &str, chunks: &[(&str, &str)]) -> Out {
    let mut out = ask_load(desk, "load", session);
    let asked = out.request("session/load");
    for (kind, text) in chunks {
        out.extend(desk.agent(update(agent_id, chunk(kind, text))));
    }
    out.extend(desk.reply(&asked, json!({})));
    told_all(desk, out)
}

/// An agent's own session, resumed, so that nothing is here of what was said in it before.
fn resumed<'a>(store: &'a Memory, world: &'a World) -> Desk<'a> {
    let mut desk = set(store, world, &loads(), &[]);
    let out = ask_resume(&mut desk, "resume", "o1");
    oblige(&mut desk, out, OLD, "never").answer("resume");
    desk
}

#[test]
fn a_prompt_without_an_answer_is_known_again_where_the_agent_joins_it_with_the_next() {
    let joined =
        [("Unanswered\n\nOutside question", "Outside answer"), ("Outside question\n\nUnanswered", "An answer")];
    for joined in joined {
        let (store, world) = (Memory::new(), World::default());
        let mut desk = resumed(&store, &world);
        desk.turn("o1", "Unanswered", &[]);
        desk.engine.peer_closed(Peer::Client);
        let mut desk = set(&store, &world, &loads(), &[]);
        let has = [OLD[0], joined];
        for time in ["next", "after that"] {
            let out = ask_load(&mut desk, "load", "o1");
            let out = if time == "next" { oblige(&mut desk, out, &has, "never") } else { out };
            assert_eq!(said(&out.client), lines(&[&has]), "{time}");
        }
        let out = ask_prompt(&mut desk, "prompt", "o1", "More");
        assert_eq!(account(&out), None, "the agent has said it all itself");
    }
}

#[test]
fn prompts_of_one_moment_are_known_again_where_the_agent_joins_some_of_them() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut first = set(&store, &world, &loads(), &[]);
    first.new_session("s1", CWD);
    ask_prompt(&mut first, "early", "s1", "Early");
    let mut second = set(&store, &world, &loads(), &[]);
    let out = ask_resume(&mut second, "resume", "s1");
    oblige(&mut second, out, &[], "never").answer("resume");
    let void = ask_prompt(&mut second, "void", "s1", "Void").request("session/prompt");
    second.turn("s1", "Question", &["Answer"]);
    second.turn("s1", "More", &["Further"]);
    second.reply(&void, json!({"stopReason": "end_turn"})).answer("void");
    ask_prompt(&mut first, "late", "s1", "Late");
    first.revive(&loads());
    leave(first);
    leave(second);
    let joined = [(USER, "Void\n\nQuestion"), (AGENT, "Answer"), (USER, "More"), (AGENT, "Further")];
    let tells = [&[(USER, "Early")], &joined[..], &[(USER, "Late")]].concat();
    for time in ["next", "after that"] {
        let mut desk = set(&store, &world, &loads(), &[]);
        let shown = said(&load_as(&mut desk, "s1", "s1", &tells).client).concat();
        for text in ["Early", "Void", "Question", "Answer", "More", "Further", "Late"] {
            assert_eq!(shown.matches(text).count(), 1, "{text}, {time}: {shown}");
        }
        leave(desk);
    }
}

#[test]
fn a_prompt_behind_one_that_nobody_had_answered_is_known_again_behind_a_summary() {
    for answer in ["", "New answer"] {
        let (store, world) = (Memory::new(), World::default());
        let mut desk = set(&store, &world, &loads(), &[]);
        load_as(&mut desk, "o1", "o1", &[(USER, "Old question")]);
        desk.turn("o1", "New question", &[answer]);
        leave(desk);
        let before = [(USER, "Old question"), (USER, "New question"), (AGENT, answer)];
        let after = [(AGENT, "A summary"), (USER, "New question"), (AGENT, answer)];
        for (tells, first) in [(before, "> Old question"), (after, "A summary"), (after, "A summary")] {
            let mut desk = set(&store, &world, &loads(), &[]);
            let out = load_as(&mut desk, "o1", "o1", &tells);
            let shown = said(&out.client).concat();
            assert!(shown.starts_with(first) && shown.ends_with(&format!("New question{answer}")), "{shown}");
            assert_eq!(shown.matches("question").count(), if tells == before { 2 } else { 1 }, "{shown}");
            leave(desk);
        }
    }
}

#[test]
fn a_prompt_that_an_agent_has_refused_stays_before_those_that_were_not_waited_for() {
    for answer in ["", "An answer"] {
        let (store, world) = (Memory::new(), World::default());
        let mut desk = set(&store, &world, &loads(), &[]);
        let id = desk.new_session("s1", CWD);
        desk.turn(&id, "First", &[]);
        let refused = ask_prompt(&mut desk, "refused", &id, "Refused").request("session/prompt");
        desk.refuse(&refused, -32002);
        let asked = ["Second", "Third"].map(|text| ask_prompt(&mut desk, text, &id, text).request("session/prompt"));
        desk.agent(update("s1", chunk(AGENT, answer)));
        for asked in asked {
            desk.reply(&asked, json!({"stopReason": "end_turn"}));
        }
        leave(desk);
        let tells = [(AGENT, "A summary"), (USER, "Third"), (AGENT, answer)];
        for time in ["next", "after that"] {
            let mut desk = set(&store, &world, &loads(), &[]);
            let out = load_as(&mut desk, &id, "s1", &tells);
            assert_eq!(said(&out.client).concat(), format!("A summary> RefusedSecondThird{answer}"), "{time}");
            leave(desk);
        }
    }
}

#[test]
fn a_prompt_that_was_not_waited_for_stands_once_though_only_the_agent_has_its_answer() {
    for (before, answer) in
        [(&[][..], "Answer"), (&[], "An answer of many more letters"), (&["Zero"], "An answer of so many letters")]
    {
        let (store, world) = (Memory::new(), World::default());
        let mut desk = set(&store, &world, &loads(), &[]);
        let id = desk.new_session("s1", CWD);
        for prompt in before {
            desk.turn(&id, prompt, &[]);
        }
        ask_prompt(&mut desk, "first", &id, "First");
        desk.agent(update("s1", chunk(AGENT, answer)));
        ask_prompt(&mut desk, "second", &id, "Second");
        // It is killed before it writes more, and nobody believes it to be there any more.
        drop(desk);
        world.now.set(world.now.get() + 20_000);
        let mut tells: Vec<_> = before.iter().map(|prompt| (USER, *prompt)).collect();
        tells.extend([(USER, "First"), (AGENT, answer), (USER, "Second"), (AGENT, "Another answer")]);
        for time in ["next", "after that"] {
            let mut desk = set(&store, &world, &loads(), &[]);
            let shown = said(&load_as(&mut desk, &id, "s1", &tells).client).concat();
            let first = before.concat();
            assert_eq!(shown, format!("> {first}First{answer}> SecondAnother answer"), "{time}");
            leave(desk);
        }
    }
}

#[test]
fn prompts_that_were_not_waited_for_stand_once_though_the_session_was_forked_among_them() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = set(&store, &world, &loads(), &[]);
    let id = desk.new_session("s1", CWD);
    ask_prompt(&mut desk, "first", &id, "First");
    let asked = desk.client(json!({"id": "fork", "method": "session/fork", "params": {"sessionId": id, "cwd": CWD}}));
    let asked = asked.request("session/new");
    desk.reply(&asked, json!({"sessionId": "s2"})).answer("fork");
    desk.agent(update("s1", chunk(AGENT, "One")));
    desk.turn(&id, "Second", &["Two"]);
    desk.turn(&id, "Third", &["Three"]);
    // The agent goes on when nobody hears it any more.
    drop(desk);
    world.now.set(world.now.get() + 20_000);
    let tells = [("First", "One"), ("Second", "Two"), ("Third", "Three and more")];
    for time in ["next", "after that"] {
        let mut desk = set(&store, &world, &loads(), &[]);
        let out = ask_load(&mut desk, "load", &id);
        let out = oblige(&mut desk, out, &tells, "never");
        assert_eq!(said(&out.client), lines(&[&tells]), "{time}");
        leave(desk);
    }
}

#[test]
fn what_an_agent_says_unasked_is_known_again_where_it_joins_it_with_its_answer() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = resumed(&store, &world);
    desk.agent(update("o1", chunk(AGENT, "And this.")));
    desk.engine.peer_closed(Peer::Client);
    let mut desk = set(&store, &world, &loads(), &[]);
    let has: Turns<'_> = &[("Old question", "Old answer And this.")];
    assert_eq!(said(&load(&mut desk, "o1", has).client), lines(&[has]));
}

#[test]
fn what_an_agent_says_unasked_in_a_fork_is_no_part_of_the_last_answer_before() {
    let (store, world) = (Memory::new(), World::default());
    let id = told(&store, &world, &json!({}));
    let mut desk = Desk::ready(&store, &world, &json!({}));
    let params = json!({"sessionId": id, "cwd": CWD});
    let out = desk.client(json!({"id": "fork", "method": "session/fork", "params": params}));
    let out = desk.reply(&out.request("session/new"), json!({"sessionId": "f1"}));
    let fork = out.answer("fork")["result"]["sessionId"].as_str().unwrap().to_owned();
    desk.agent(update("f1", chunk(AGENT, " Ready.")));
    desk.turn(&fork, "Third", &["Third answer"]);
    desk.engine.peer_closed(Peer::Client);
    let mut desk = listing(&store, &world, "a", &loads(), &[row("f1", "Fork", LATER)]);
    let chunks = [(AGENT, " Ready."), (USER, "Third"), (AGENT, "Third answer")];
    let out = load_as(&mut desk, &fork, "f1", &chunks);
    let mut whole = lines(&[TOLD]);
    whole.last_mut().unwrap().push_str(" Ready.");
    whole.extend(lines(&[&[("Third", "Third answer")]]));
    assert_eq!(said(&out.client), whole);
}

#[test]
fn prompts_that_an_agent_joins_stay_where_they_were_said_before_and_behind_those_to_others() {
    let (store, world) = (Memory::new(), World::default());
    let loads = json!({"loadSession": true});
    let mut desk = set(&store, &world, &loads, &[]);
    let id = desk.new_session("s1", CWD);
    desk.turn(&id, "First", &[]);
    desk.turn(&id, "Second", &["Answer"]);
    let mut other = Desk::open(&store, &world, &[]);
    other.greet(Some("b"), &json!({}));
    let out = ask_load(&mut other, "load", &id);
    oblige(&mut other, out, &[], "b1").answer("load");
    other.turn(&id, "Elsewhere", &["Other answer"]);
    desk.turn(&id, "Third", &[]);
    desk.turn(&id, "Fourth", &[]);
    other.engine.peer_closed(Peer::Client);
    desk.engine.peer_closed(Peer::Client);
    let mut desk = set(&store, &world, &loads, &[]);
    let chunks = [(USER, "First"), (USER, "Second"), (AGENT, "Answer"), (USER, "Third"), (USER, "Fourth")];
    let out = load_as(&mut desk, &id, "s1", &chunks);
    let whole = ["> FirstSecond", "Answer", "> Elsewhere", "Other answer", "> ThirdFourth"];
    assert_eq!(said(&out.client), whole);
    assert!(mark(&out, "load")["setAside"].is_null());
}

#[test]
fn what_stands_before_an_account_and_what_stands_behind_it_are_two_prompts() {
    // The agent may replay the prompt and the account with it in chunks of their own, or in one.
    for is_joined in [false, true] {
        let (store, world) = (Memory::new(), World::default());
        let mut desk = set(&store, &world, &loads(), &[]);
        let id = desk.new_session("s1", CWD);
        desk.turn(&id, "First", &[]);
        desk.engine.peer_closed(Peer::Client);
        let mut desk = Desk::open(&store, &world, &[]);
        desk.greet(Some("b"), &json!({}));
        let out = ask_load(&mut desk, "load", &id);
        oblige(&mut desk, out, &[], "t1");
        desk.turn(&id, "Second", &["Answer"]);
        desk.engine.peer_closed(Peer::Client);
        let mut desk = set(&store, &world, &loads(), &[]);
        load_as(&mut desk, &id, "s1", &[(USER, "First")]);
        let out = ask_prompt(&mut desk, "prompt", &id, "Third");
        let account = account(&out).expect("another agent has gone on");
        desk.reply(&out.request("session/prompt"), json!({"stopReason": "end_turn"}));
        desk.engine.peer_closed(Peer::Client);
        let mut desk = listing(&store, &world, "a", &loads(), &[row("s1", "First", LATER)]);
        let whole = format!("First\n\n{account}\n\nThird");
        let chunks = [(USER, "First"), (USER, account.as_str()), (USER, "Third")];
        let in_one = [(USER, whole.as_str())];
        let out = load_as(&mut desk, &id, "s1", if is_joined { &in_one } else { &chunks[..] });
        assert_eq!(said(&out.client), ["> FirstSecond", "Answer", "> Third"], "in one: {is_joined}");
    }
}

#[test]
fn a_history_that_was_told_to_a_lost_instance_is_not_told_to_the_next_who_asks() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = set(&store, &world, &loads(), &[]);
    desk.client(json!({"id": "new", "method": "session/new", "params": {"cwd": CWD, "mcpServers": []}}));
    let asked = ask_load(&mut desk, "first", "o1").request("session/load");
    let line = |message: Value| {
        let mut message = message;
        message["jsonrpc"] = "2.0".into();
        Arrival { peer: Peer::Agent, content: Content::Line(message.to_string()) }
    };
    let history = OLD.iter().flat_map(|(user, agent)| [chunk(USER, user), chunk(AGENT, agent)]);
    let mut lost: Vec<Arrival> = history.map(|chunk| line(update("o1", chunk))).collect();
    lost.push(line(json!({"id": asked["id"], "result": {}})));
    let mut desk = Desk::carry_on(&store, &world, &[], desk.memos, lost);
    assert_eq!(desk.pull().answer("first")["error"]["code"], -32603);
    let mut out = ask_load(&mut desk, "second", "o1");
    out.extend(desk.agent(json!({"id": "new", "result": {"sessionId": "n1"}})));
    let asked = out.request("session/load");
    out.extend(replay(&mut desk, "o1", OLD));
    out.extend(desk.reply(&asked, json!({})));
    assert_eq!(said(&out.client), lines(&[OLD]));
    desk.client(json!({"id": "close", "method": "session/close", "params": {"sessionId": "o1"}}));
    let mut desk = Desk::ready(&store, &world, &json!({}));
    let out = ask_load(&mut desk, "load", "o1");
    assert_eq!(said(&oblige(&mut desk, out, &[], "x1").client), lines(&[OLD]), "it was recorded once");
}

/// A session with a load that was cancelled and not answered, and one that the agent has answered since.
fn answered_out_of_order<'a>(store: &'a Memory, world: &'a World) -> (Desk<'a>, String, Value) {
    let id = told(store, world, &json!({"loadSession": true}));
    let mut desk = set(store, world, &json!({"loadSession": true}), &[]);
    let earlier = ask_load(&mut desk, "first", &id).request("session/load");
    desk.client(json!({"method": "$/cancel_request", "params": {"requestId": "first"}}));
    let asked = ask_load(&mut desk, "second", &id).request("session/load");
    replay(&mut desk, "s1", TOLD);
    let out = desk.reply(&asked, json!({}));
    assert!(out.is_open("second"), "the agent may tell it all again");
    (desk, id, earlier)
}

#[test]
fn a_history_told_for_a_cancelled_load_is_no_part_of_the_next_turn() {
    let (store, world) = (Memory::new(), World::default());
    let (mut desk, id, earlier) = answered_out_of_order(&store, &world);
    let out = ask_prompt(&mut desk, "prompt", &id, "Third");
    assert!(out.asked("session/prompt").is_none(), "{:?}", out.agent);
    replay(&mut desk, "s1", TOLD);
    let again = desk.reply(&earlier, json!({})).request("session/load");
    replay(&mut desk, "s1", TOLD);
    let out = desk.reply(&again, json!({}));
    assert!(out.answer("second")["error"].is_null());
    let asked = out.request("session/prompt");
    desk.agent(update("s1", chunk(AGENT, "Third answer")));
    desk.reply(&asked, json!({"stopReason": "end_turn"}));
    desk.engine.peer_closed(Peer::Client);
    let mut desk = Desk::ready(&store, &world, &json!({}));
    let out = ask_load(&mut desk, "load", &id);
    let out = oblige(&mut desk, out, &[], "x1");
    assert_eq!(said(&out.client), lines(&[TOLD, &[("Third", "Third answer")]]));
}

#[test]
fn an_agent_that_never_answers_a_cancelled_load_is_waited_for_once() {
    let (store, world) = (Memory::new(), World::default());
    let (mut desk, id, _) = answered_out_of_order(&store, &world);
    let mut out = Out::default();
    for _ in 0..10 {
        out.extend(desk.wait(1000));
    }
    assert!(out.answer("second")["error"].is_null());
    desk.client(json!({"id": "close", "method": "session/close", "params": {"sessionId": id}}));
    let out = load(&mut desk, &id, TOLD);
    assert!(out.answer("load")["error"].is_null());
}

#[test]
fn a_history_whose_beginning_was_told_among_that_for_a_cancelled_load_changes_nothing() {
    let (store, world) = (Memory::new(), World::default());
    let id = told(&store, &world, &json!({"loadSession": true}));
    let mut desk = set(&store, &world, &json!({"loadSession": true}), &[]);
    let earlier = ask_load(&mut desk, "first", &id).request("session/load");
    desk.client(json!({"method": "$/cancel_request", "params": {"requestId": "first"}}));
    let mut out = ask_load(&mut desk, "second", &id);
    let asked = out.request("session/load");
    let ((user, agent), rest) = (TOLD[0], &TOLD[1..]);
    desk.agent(update("s1", chunk(USER, user)));
    replay(&mut desk, "s1", TOLD);
    out.extend(desk.reply(&earlier, json!({})));
    out.extend(desk.agent(update("s1", chunk(AGENT, agent))));
    out.extend(replay(&mut desk, "s1", rest));
    let mixed = desk.reply(&asked, json!({}));
    assert_eq!(said(&mixed.client), [""; 0]);
    out.extend(oblige(&mut desk, mixed, TOLD, "never"));
    assert_eq!(said(&out.client), lines(&[TOLD]));
    assert!(mark(&out, "second")["setAside"].is_null());
}

#[test]
fn a_prompt_that_failed_is_known_before_one_that_is_said_again_without_the_layer() {
    const AGAIN: (&str, &str) = ("continue", "Done.");
    let first = [("Hi", "Ho")];
    for (tried, has_first, through_layer, without, error) in [
        ("Try it", false, 1, 1, ""),
        ("Try it", true, 1, 1, ""),
        ("Try it", false, 1, 2, ""),
        ("Try it", false, 2, 1, ""),
        ("Try it", true, 2, 2, ""),
        ("Try it", true, 1, 1, "The request has failed."),
        (AGAIN.0, false, 1, 1, ""),
        (AGAIN.0, true, 2, 1, ""),
    ] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut desk = set(&store, &world, &loads(), &[]);
        desk.new_session("s1", CWD);
        let before: Turns<'_> = if has_first { &first } else { &[] };
        converse(&mut desk, "s1", before);
        let asked = ask_prompt(&mut desk, "failed", "s1", tried).request("session/prompt");
        if !error.is_empty() {
            desk.agent(update("s1", chunk(AGENT, error)));
        }
        desk.refuse(&asked, -32603);
        for _ in 0..through_layer {
            desk.turn("s1", AGAIN.0, &[AGAIN.1]);
        }
        leave(desk);
        let all = vec![AGAIN; through_layer + without];
        let failed = [(tried, error)];
        let expected = as_shown(&[before, &failed, &all].concat());
        for is_one in [true, false] {
            let mut told: Vec<Value> = Vec::new();
            for (prompt, answer) in before {
                told.extend([chunk(USER, prompt), chunk(AGENT, answer)]);
            }
            if is_one {
                told.push(chunk(USER, &format!("{tried}\n\n{}", AGAIN.0)));
            } else {
                told.extend([chunk(USER, tried), chunk(USER, AGAIN.0)]);
            }
            told.push(chunk(AGENT, AGAIN.1));
            for _ in 1..through_layer + without {
                told.extend([chunk(USER, AGAIN.0), chunk(AGENT, AGAIN.1)]);
            }
            for time in ["once", "again"] {
                let shown = shown_later(&store, &world, &told);
                let when = format!("{tried}, {has_first}, {through_layer}, {without}, {error}, {is_one}, {time}");
                assert_eq!(shown, (expected.clone(), false), "{when}");
            }
        }
    }
}
