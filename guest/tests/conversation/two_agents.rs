//! A session that one agent began and another went on with.

use acp_sessions_guest::engine::Peer;
use acp_sessions_guest::storage::{Memory, Storage as _, Write};
use acp_sessions_guest::transcript::{Entry, Kind};
use serde_json::{Value, json};

use crate::desk::{Desk, Faulty, World, chunk, update};
use crate::scenes::{
    CWD, TOLD, Turns, account, ask_load, ask_prompt, ask_resume, leave, lines, load, oblige, said, told,
};

const THIRD: Turns<'static> = &[("Third question", "Third answer")];
const FOURTH: Turns<'static> = &[("Fourth question", "Fourth answer")];

fn connect<'a>(store: &'a Memory, world: &'a World, agent: &str, capabilities: &Value) -> Desk<'a> {
    let mut desk = Desk::open(store, world, &[]);
    desk.greet(Some(agent), capabilities);
    desk
}

/// The agent, which replays these turns if it loads, goes on with the session for one turn. What it was told first.
fn goes_on(desk: &mut Desk<'_>, id: &str, knows: Turns<'_>, fresh: &str, turn: Turns<'_>) -> Option<String> {
    let out = ask_load(desk, "load", id);
    let out = oblige(desk, out, knows, fresh);
    assert!(out.answer("load")["error"].is_null(), "{}", out.answer("load"));
    let out = ask_prompt(desk, "prompt", id, turn[0].0);
    let told = account(&out);
    let agent_id = out.request("session/prompt")["params"]["sessionId"].as_str().unwrap().to_owned();
    desk.agent(update(&agent_id, chunk("agent_message_chunk", turn[0].1)));
    desk.reply(&out.request("session/prompt"), json!({"stopReason": "end_turn"}));
    desk.engine.peer_closed(Peer::Client);
    told
}

#[test]
fn the_first_agent_is_given_exactly_what_was_said_since_under_its_own_old_id() {
    for (capabilities, method) in [
        (json!({"sessionCapabilities": {"resume": {}}}), "session/resume"),
        (json!({"loadSession": true}), "session/load"),
    ] {
        let (store, world) = (Memory::new(), World::default());
        let id = told(&store, &world, &capabilities);
        let told = goes_on(&mut connect(&store, &world, "b", &json!({})), &id, &[], "b1", THIRD).unwrap();
        assert!(told.contains("First question") && told.contains("Second answer"), "{told}");

        let mut desk = connect(&store, &world, "a", &capabilities);
        let out = ask_load(&mut desk, "load", &id);
        assert_eq!(out.request(method)["params"]["sessionId"], "s1");
        let out = oblige(&mut desk, out, TOLD, "never");
        assert!(out.asked("session/new").is_none(), "{method}");
        assert_eq!(said(&out.client), lines(&[TOLD, THIRD]), "{method}");
        let out = ask_prompt(&mut desk, "p1", &id, FOURTH[0].0);
        assert_eq!(out.request("session/prompt")["params"]["sessionId"], "s1");
        let told = account(&out).unwrap_or_default();
        assert!(told.contains("Third question") && told.contains("Third answer"), "{method}: {told}");
        assert!(!told.contains("First") && !told.contains("Second answer"), "it knows that itself: {told}");
        desk.reply(&out.request("session/prompt"), json!({"stopReason": "end_turn"}));
        assert_eq!(account(&ask_prompt(&mut desk, "p2", &id, "Fifth")), None, "{method}");
    }
}

#[test]
fn agents_that_take_turns_are_each_told_what_the_other_heard() {
    let capabilities = json!({"sessionCapabilities": {"resume": {}}});
    let (store, world) = (Memory::new(), World::default());
    let id = told(&store, &world, &capabilities);
    let fifth: Turns<'_> = &[("Fifth question", "Fifth answer")];
    goes_on(&mut connect(&store, &world, "b", &capabilities), &id, &[], "b1", THIRD);
    goes_on(&mut connect(&store, &world, "a", &capabilities), &id, &[], "never", FOURTH);
    let told = goes_on(&mut connect(&store, &world, "b", &capabilities), &id, &[], "never", fifth).unwrap_or_default();
    assert!(told.contains("Fourth question") && told.contains("Fourth answer"), "{told}");
    assert!(!told.contains("Third answer") && !told.contains("First"), "{told}");
    let mut desk = connect(&store, &world, "a", &capabilities);
    let out = ask_load(&mut desk, "load", &id);
    assert_eq!(said(&oblige(&mut desk, out, &[], "never").client), lines(&[TOLD, THIRD, FOURTH, fifth]));
}

#[test]
fn an_agent_that_was_not_told_yet_is_told_the_rest_with_what_is_new() {
    let capabilities = json!({"sessionCapabilities": {"resume": {}}});
    let (store, world) = (Memory::new(), World::default());
    let id = told(&store, &world, &capabilities);
    goes_on(&mut connect(&store, &world, "b", &capabilities), &id, &[], "b1", THIRD);
    // The first agent opens it, and its prompt fails.
    let mut desk = connect(&store, &world, "a", &capabilities);
    let out = ask_load(&mut desk, "load", &id);
    oblige(&mut desk, out, &[], "never");
    let out = ask_prompt(&mut desk, "p1", &id, "Lost");
    desk.refuse(&out.request("session/prompt"), -32603);
    desk.engine.peer_closed(Peer::Client);
    goes_on(&mut connect(&store, &world, "b", &capabilities), &id, &[], "never", FOURTH);
    let told = goes_on(&mut connect(&store, &world, "a", &capabilities), &id, &[], "never", &[("Fifth", "Yes")]);
    let told = told.unwrap_or_default();
    assert!(told.contains("Third answer") && told.contains("Fourth answer"), "{told}");
    assert!(!told.contains("First answer"), "{told}");
}

#[test]
fn the_list_of_each_agent_shows_a_session_that_both_know() {
    let capabilities = json!({"sessionCapabilities": {"resume": {}}});
    let (store, world) = (Memory::new(), World::default());
    let id = told(&store, &world, &capabilities);
    goes_on(&mut connect(&store, &world, "b", &capabilities), &id, &[], "b1", THIRD);
    for agent in ["a", "b"] {
        assert_eq!(connect(&store, &world, agent, &capabilities).listed(), [id.as_str()], "{agent}");
    }
}

#[test]
fn what_an_agent_tells_in_other_turns_comes_behind_what_another_agent_said_before() {
    let (store, world) = (Memory::new(), World::default());
    let loads = json!({"loadSession": true});
    let mut desk = Desk::ready(&store, &world, &loads);
    let id = desk.new_session("s1", CWD);
    desk.turn(&id, "One", &["1"]);
    leave(desk);
    let mut other = Desk::open(&store, &world, &[]);
    other.greet(Some("b"), &json!({}));
    load(&mut other, &id, &[]).answer("load");
    other.turn(&id, "Two", &["2"]);
    leave(other);
    // It has lost all that it had heard, or has it on another branch, and does not answer what it is asked next.
    let mut desk = Desk::ready(&store, &world, &loads);
    load(&mut desk, &id, &[]).answer("load");
    let asked = ask_prompt(&mut desk, "third", &id, "Three");
    let account = account(&asked).unwrap();
    desk.reply(&asked.request("session/prompt"), json!({"stopReason": "end_turn"}));
    desk.turn(&id, "Four", &["4"]);
    leave(desk);
    let mut desk = Desk::ready(&store, &world, &loads);
    let asked = ask_load(&mut desk, "load", &id).request("session/load");
    for (kind, text) in [("user", account.as_str()), ("user", "Three"), ("user", "Four"), ("agent", "4")] {
        desk.agent(update("s1", chunk(&format!("{kind}_message_chunk"), text)));
    }
    let out = desk.reply(&asked, json!({}));
    assert_eq!(said(&out.client), ["> One", "1", "> Two", "2", "> ThreeFour", "4"]);
}

#[test]
fn what_the_first_agent_went_on_saying_unheard_stands_where_it_was_said_and_what_others_said_behind_it() {
    let (store, world) = (Memory::new(), World::default());
    let capabilities = json!({"loadSession": true, "sessionCapabilities": {"resume": {}}});
    let mut desk = connect(&store, &world, "a", &capabilities);
    let id = desk.new_session("s1", CWD);
    desk.turn(&id, TOLD[0].0, &[TOLD[0].1]);
    leave(desk);
    goes_on(&mut connect(&store, &world, "b", &json!({})), &id, &[], "b1", THIRD);
    let mut desk = connect(&store, &world, "a", &capabilities);
    let out = ask_resume(&mut desk, "resume", &id);
    oblige(&mut desk, out, &[], "never").answer("resume");
    desk.turn(&id, "Fourth ", &[]);
    desk.turn(&id, "Fifth", &[]);
    leave(desk);
    // It joins what it was asked and did not answer.
    let more: Turns<'_> = &[(TOLD[0].0, "First answer, and more of it")];
    let asked: Turns<'_> = &[("Fourth Fifth", "")];
    for time in ["first", "second"] {
        let mut desk = connect(&store, &world, "a", &json!({"loadSession": true}));
        let out = load(&mut desk, &id, &[more[0], asked[0]]);
        let whole = ["> First question", "First answer, and more of it", "> Third question", "Third answer"];
        assert_eq!(said(&out.client), [&whole[..], &["> Fourth Fifth"]].concat(), "the {time} time");
        leave(desk);
    }
}

#[test]
fn what_another_agent_says_at_the_moment_in_which_a_turn_ends_the_first_is_told() {
    let (store, world) = (Faulty::default(), World::unrecorded());
    let resumes = json!({"sessionCapabilities": {"resume": {}}});
    let mut desk = Desk::ready(&store, &world, &resumes);
    desk.new_session("s1", CWD);
    let asked = ask_prompt(&mut desk, "prompt", "s1", "First question").request("session/prompt");
    let theirs = [
        (
            Kind::Prompt,
            json!({"prompt": [{"type": "text", "text": "Their question"}], "messageId": "theirs", "with": ["b", "b1"]}),
        ),
        (Kind::TurnEnd, json!({"stopReason": "end_turn"})),
    ];
    let end = store.log_end("s1").unwrap();
    let theirs = (end + 1..).zip(theirs).map(|(seq, (kind, said))| {
        let value = Entry::tagged(kind, world.time(), Some("theirs"), &said.to_string());
        Write::Append { log: "s1".to_owned(), seq, value }
    });
    store.meanwhile(theirs.collect());
    desk.reply(&asked, json!({"stopReason": "end_turn"})).answer("prompt");
    leave(desk);
    let mut desk = Desk::ready(&store, &world, &resumes);
    load(&mut desk, "s1", &[]).answer("load");
    let account = account(&ask_prompt(&mut desk, "next", "s1", "Second question")).unwrap_or_default();
    assert!(account.contains("Their question"), "{account:?}");
}
