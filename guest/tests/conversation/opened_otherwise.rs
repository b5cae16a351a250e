//! A session that is open is loaded or resumed once more, with other MCP servers, further directories or `_meta`.

use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, Out, World, chunk, update};
use crate::scenes::{CWD, TOLD, ask_prompt, converse, leave, lines, mark, oblige, said};

fn loads() -> Value {
    json!({"loadSession": true})
}

fn resumes() -> Value {
    json!({"sessionCapabilities": {"resume": {}}})
}

fn servers(name: &str) -> Value {
    json!([{"name": name, "command": "/m", "args": [], "env": []}])
}

/// What the session is opened with at first.
fn first() -> Value {
    json!({"cwd": CWD, "mcpServers": servers("one"), "additionalDirectories": ["/e"], "_meta": {"x": 1}})
}

/// The same with another value of one member.
fn otherwise(member: &str, value: Value) -> Value {
    let mut params = first();
    params[member] = value;
    params
}

fn naming(params: &Value) -> Value {
    let mut params = params.clone();
    params["sessionId"] = "s1".into();
    params
}

/// A session `s1` of two turns that is open with what it was made with.
fn opened<'a>(store: &'a Memory, world: &'a World, capabilities: &Value) -> Desk<'a> {
    let mut desk = Desk::ready(store, world, capabilities);
    desk.client(json!({"id": "new", "method": "session/new", "params": first()}));
    desk.agent(json!({"id": "new", "result": {"sessionId": "s1"}}));
    converse(&mut desk, "s1", TOLD);
    desk
}

fn ask(desk: &mut Desk<'_>, method: &str, params: &Value) -> Out {
    desk.client(json!({"id": "again", "method": method, "params": naming(params)}))
}

/// The further directories in the row of the session.
fn directories(desk: &mut Desk<'_>) -> Value {
    desk.ask("session/list", json!({}))["result"]["sessions"][0]["additionalDirectories"].clone()
}

#[test]
fn what_is_other_than_before_reaches_the_agent_and_stays() {
    let others = [("mcpServers", servers("two")), ("additionalDirectories", json!(["/f"])), ("_meta", json!({"x": 2}))];
    for (capabilities, way) in [(loads(), "session/load"), (resumes(), "session/resume")] {
        for method in ["session/load", "session/resume"] {
            for (member, value) in &others {
                let (store, world) = (Memory::new(), World::unrecorded());
                let mut desk = opened(&store, &world, &capabilities);
                let wanted = otherwise(member, value.clone());
                let out = ask(&mut desk, method, &wanted);
                let case = format!("{member} by {method}, {way}");
                assert_eq!(out.asked(way).map(|asked| &asked["params"]), Some(&naming(&wanted)), "{case}");
                let out = oblige(&mut desk, out, TOLD, "never");
                assert_eq!(mark(&out, "again")["attached"], way.trim_start_matches("session/"), "{case}");
                let shown = if method == "session/load" { lines(&[TOLD]) } else { Vec::new() };
                assert_eq!(said(&out.client), shown, "{case}");
                assert_eq!(directories(&mut desk), wanted["additionalDirectories"], "{case}");

                let out = ask(&mut desk, method, &wanted);
                assert!(out.agent.is_empty(), "{case}, the same once more: {:?}", out.agent);
                assert_eq!(mark(&out, "again")["attached"], "live", "{case}");
                desk.turn("s1", "On", &["Yes"]);

                desk.revive(&capabilities);
                let out = ask_prompt(&mut desk, "next", "s1", "And on");
                assert_eq!(out.request(way)["params"], naming(&wanted), "{case}, by an agent that was started again");
            }
        }
    }
}

#[test]
fn where_it_is_the_same_the_agent_hears_nothing() {
    let traced = json!({"x": 1, "traceparent": "00-1"});
    for same in [first(), otherwise("cwd", json!("/other")), otherwise("_meta", traced)] {
        for method in ["session/load", "session/resume"] {
            let (store, world) = (Memory::new(), World::unrecorded());
            let mut desk = opened(&store, &world, &resumes());
            let out = ask(&mut desk, method, &same);
            assert!(out.agent.is_empty(), "{same}: {:?}", out.agent);
            assert_eq!(mark(&out, "again")["attached"], "live", "{same}");
        }
    }
}

#[test]
fn what_is_asked_for_in_a_turn_waits_for_the_next_and_the_turn_is_not_lost() {
    for is_lost in [false, true] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut desk = opened(&store, &world, &resumes());
        let prompt = ask_prompt(&mut desk, "turn", "s1", "Go").request("session/prompt");
        let mut wanted = otherwise("mcpServers", servers("two"));
        wanted["additionalDirectories"] = json!(["/f"]);
        let out = ask(&mut desk, "session/load", &wanted);
        assert!(out.agent.is_empty(), "{:?}", out.agent);
        assert_eq!(mark(&out, "again")["attached"], "live");
        assert!(mark(&out, "again")["reason"].is_string(), "{:?}", mark(&out, "again"));
        assert_eq!(directories(&mut desk), json!(["/f"]));
        if is_lost {
            desk = Desk::carry_on(&store, &world, &[], desk.memos, Vec::new());
            desk.pull();
        }
        desk.agent(update("s1", chunk("agent_message_chunk", "Gone")));
        assert_eq!(
            desk.reply(&prompt, json!({"stopReason": "end_turn"})).answer("turn")["result"]["stopReason"],
            "end_turn"
        );

        let out = ask_prompt(&mut desk, "next", "s1", "On");
        assert_eq!(out.request("session/resume")["params"], naming(&wanted));
        assert_eq!(out.asked("session/prompt"), None, "the prompt waits");
        let out = oblige(&mut desk, out, TOLD, "never");
        assert_eq!(out.answer("next")["result"]["stopReason"], "end_turn");
        let out = ask_prompt(&mut desk, "last", "s1", "And on");
        assert_eq!(out.asked("session/resume"), None, "once is enough");
        desk.reply(&out.request("session/prompt"), json!({"stopReason": "end_turn"}));
        let mut expected = lines(&[TOLD, &[("Go", "Gone")]]);
        expected.push("> OnAnd on".to_owned());
        assert_eq!(said(&ask(&mut desk, "session/load", &wanted).client), expected);
    }
}

#[test]
fn an_agent_that_cannot_open_it_again_or_will_not_gets_it_when_it_next_opens_it() {
    for (capabilities, way) in [(json!({}), "session/new"), (resumes(), "session/resume"), (loads(), "session/load")] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut desk = opened(&store, &world, &capabilities);
        let mut wanted = otherwise("mcpServers", servers("two"));
        wanted["additionalDirectories"] = json!(["/f"]);
        let mut out = ask(&mut desk, "session/load", &wanted);
        let asked = out.asked(way).cloned();
        assert_eq!(asked.is_some(), way != "session/new", "{:?}", out.agent);
        if let Some(asked) = asked {
            out.extend(desk.refuse(&asked, -32603));
        }
        assert_eq!(mark(&out, "again")["attached"], "live", "{way}");
        assert_eq!(mark(&out, "again")["reason"].is_string(), way != "session/new", "{:?}", mark(&out, "again"));
        assert_eq!(said(&out.client), lines(&[TOLD]), "{way}");
        assert_eq!(directories(&mut desk), json!(["/f"]), "{way}");
        let out = ask(&mut desk, "session/load", &wanted);
        assert!(out.agent.is_empty(), "{way}: it is not asked for the same again: {:?}", out.agent);
        desk.turn("s1", "On", &["Yes"]);

        desk.revive(&capabilities);
        let asked = ask_prompt(&mut desk, "next", "s1", "And on").request(way);
        assert_eq!(asked["params"]["mcpServers"], wanted["mcpServers"], "{way}");
        assert_eq!(asked["params"]["additionalDirectories"], wanted["additionalDirectories"], "{way}");
    }
}

#[test]
fn a_session_that_another_one_stands_in_for_is_opened_so_after_its_next_turn_and_the_answer_says_so() {
    let (store, world) = (Memory::new(), World::unrecorded());
    leave(opened(&store, &world, &loads()));
    let mut desk = Desk::ready(&store, &world, &loads());
    let out = ask(&mut desk, "session/load", &first());
    let new = desk.refuse(&out.request("session/load"), -32002).request("session/new");
    desk.reply(&new, json!({"sessionId": "s2"}));
    let wanted = otherwise("mcpServers", servers("two"));
    let out = ask(&mut desk, "session/load", &wanted);
    assert!(out.agent.is_empty(), "nothing was said in the one that stands in yet: {:?}", out.agent);
    assert_eq!(mark(&out, "again")["reason"], "the agent opens it so after its next turn");
    desk.turn("s1", "On", &["Yes"]);
    let asked = ask_prompt(&mut desk, "next", "s1", "And on").request("session/load");
    assert_eq!(asked["params"]["sessionId"], "s2");
    assert_eq!(asked["params"]["mcpServers"], wanted["mcpServers"]);
}

#[test]
fn what_was_set_is_put_back_and_what_is_said_meanwhile_is_kept() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut desk = opened(&store, &world, &resumes());
    let mode = json!({"sessionId": "s1", "modeId": "code"});
    let out = desk.client(json!({"id": "mode", "method": "session/set_mode", "params": mode}));
    desk.reply(&out.request("session/set_mode"), json!({}));
    let wanted = otherwise("mcpServers", servers("two"));
    let out = ask(&mut desk, "session/resume", &wanted);
    desk.agent(update("s1", chunk("agent_message_chunk", "By the way")));
    let modes = [json!({"id": "ask", "name": "A"}), json!({"id": "code", "name": "C"})];
    let answer = json!({"modes": {"currentModeId": "ask", "availableModes": modes}});
    let out = desk.reply(&out.request("session/resume"), answer);
    let set = out.request("session/set_mode");
    assert_eq!(set["params"], mode);
    let out = desk.reply(&set, json!({}));
    assert_eq!(out.answer("again")["result"]["modes"]["currentModeId"], "code");
    assert_eq!(said(&out.client), ["By the way"]);
    let shown = said(&ask(&mut desk, "session/load", &wanted).client);
    assert_eq!(shown.last().map(String::as_str), Some("Second answerBy the way"));
}

#[test]
fn a_request_that_is_taken_back_leaves_what_was_before() {
    for (capabilities, way) in [(loads(), "session/load"), (resumes(), "session/resume")] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut desk = opened(&store, &world, &capabilities);
        let out = ask(&mut desk, "session/load", &otherwise("mcpServers", servers("two")));
        let asked = out.request(way);
        let out = desk.client(json!({"method": "$/cancel_request", "params": {"requestId": "again"}}));
        assert_eq!(out.answer("again")["error"]["code"], -32800, "{way}");
        desk.reply(&asked, json!({}));
        let out = ask_prompt(&mut desk, "next", "s1", "On");
        assert_eq!(out.request(way)["params"], naming(&first()), "{way}");
        let out = oblige(&mut desk, out, TOLD, "never");
        assert_eq!(out.answer("next")["result"]["stopReason"], "end_turn", "{way}");
    }
}
