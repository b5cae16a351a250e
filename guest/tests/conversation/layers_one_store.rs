//! A layer behind a layer over the same store, which does all there is to do: what is said of it passes through the one in
//! front, which has it go on where it was when it was started again.

use acp_sessions_guest::sessions::relocate::{Relocate, relocate};
use acp_sessions_guest::storage::Memory;
use acp_sessions_guest::store::Store;
use serde_json::{Value, json};

use crate::desk::{Out, World};
use crate::layers::are_as_good_as_one;
use crate::scenes::{CWD, said};
use crate::side_by_side::shown;
use crate::stack::{Bottom, Ground, KINDS, Stack};

/// What a client asks in a session, by what it says there.
fn prompt(session: &str, text: &str) -> Value {
    let prompt = json!([{"type": "text", "text": text}]);
    json!({"id": text, "method": "session/prompt", "params": {"sessionId": session, "prompt": prompt}})
}

/// The sessions that the layer behind is asked to resume.
fn resumed(out: &Out) -> Vec<&str> {
    let asked = out.agent.iter().filter(|asked| asked["method"] == "session/resume");
    asked.map(|asked| asked["params"]["sessionId"].as_str().unwrap()).collect()
}

#[test]
fn two_layers_over_one_store_are_one() {
    for kind in KINDS {
        let store = Memory::new();
        are_as_good_as_one(kind, [&store, &store]);
    }
}

#[test]
fn what_is_open_in_a_layer_over_the_same_store_is_gone_on_with_when_that_was_started_again() {
    for (kind, is_lost) in KINDS.into_iter().flat_map(|kind| [(kind, false), (kind, true)]) {
        let mut ground = Ground::of(kind);
        let mut stack = ground.stack();
        let [id, closed] = [0, 1].map(|_| stack.new_session());
        stack.prompt(&id, "First question");
        let out = stack.ask("session/fork", json!({"sessionId": id, "cwd": CWD}));
        let fork = out.answer("session/fork")["result"]["sessionId"].as_str().unwrap().to_owned();
        stack.ask("session/close", json!({"sessionId": closed}));
        for time in 1..3 {
            stack.begin_inner_again();
            if is_lost {
                stack.lose_outer();
            }
            for session in [&id, &fork] {
                let out = stack.prompt(session, "Next question");
                assert_eq!(said(&out.client), ["Re: Next question"], "{kind}, {time}");
            }
            let late = stack.outer.client(prompt(&closed, "Too late"));
            let out = stack.settle(late);
            assert_eq!(out.answer("Too late")["error"]["code"], -32002, "{kind}");
            for session in [&id, &fork] {
                let out = stack.load(session, &Value::Null);
                assert_eq!(said(&out.client).len(), 2 + 2 * time, "{kind}, {time}");
            }
        }
    }
}

#[test]
fn what_other_windows_say_is_shown_again_without_a_word_of_the_client_when_the_layer_was_started_again() {
    for kind in KINDS {
        let (store, world) = (Memory::new(), World::unrecorded());
        let (mut one, mut two) = (Bottom::of(kind), Bottom::of(kind));
        let mut first = Stack::ready([&store; 2], &world, &mut one);
        let id = first.new_session();
        first.prompt(&id, "First question");
        two.sessions.clone_from(&first.bottom.sessions);
        let mut second = Stack::ready([&store; 2], &world, &mut two);
        second.load(&id, &Value::Null);
        for nth in ["Second", "Third"] {
            assert_eq!(said(&first.begin_inner_again().client), [""; 0], "{kind}");
            second.prompt(&id, &format!("{nth} question"));
            let told = [format!("> {nth} question"), format!("Re: {nth} question")];
            assert_eq!(shown(&first.settle(Out::default())), told, "{kind}");
        }
        first.prompt(&id, "Fourth question");
        assert_eq!(said(&first.load(&id, &Value::Null).client).len(), 8, "{kind}");
    }
}

#[test]
fn the_sessions_that_were_used_last_are_resumed_first_and_a_few_at_a_time() {
    let mut ground = Ground::of(KINDS[2]);
    let mut stack = ground.stack();
    let ids: Vec<String> = (0..12).map(|_| stack.new_session()).collect();
    stack.prompt(&ids[2], "Used last");
    stack.ask("session/close", json!({"sessionId": ids[11]}));
    let out = stack.introduce_inner_again();
    let expected = [2, 10, 9, 8, 7, 6, 5, 4].map(|nth| ids[nth].as_str());
    assert_eq!(resumed(&out), expected);
    // What the client closes before its turn comes is not opened for it, and what it needs is not kept waiting.
    let closing =
        stack.outer.client(json!({"id": "close", "method": "session/close", "params": {"sessionId": ids[3]}}));
    assert_eq!(closing.request("session/close")["params"]["sessionId"], json!(ids[3]));
    assert_eq!(resumed(&stack.outer.client(prompt(&ids[0], "Needed"))), [&ids[0]]);
    let next = stack.outer.reply(&out.agent[0], json!({}));
    assert_eq!(resumed(&next), [&ids[1]]);
    assert_eq!(resumed(&stack.outer.reply(&out.agent[1], json!({}))), [""; 0]);
}

#[test]
fn what_waits_for_a_session_to_be_resumed_can_be_taken_back() {
    let mut ground = Ground::of(KINDS[2]);
    let mut stack = ground.stack();
    let id = stack.new_session();
    for is_lost in [true, false] {
        // A lost instance's successor has it resumed when it is needed.
        let out = stack.introduce_inner_again();
        assert_eq!(resumed(&out), [&id]);
        if is_lost {
            stack.lose_outer();
            assert_eq!(resumed(&stack.outer.wait(1000)), [""; 0]);
        }
        let out = stack.outer.client(prompt(&id, "first"));
        assert_eq!(resumed(&out).len(), usize::from(is_lost));
        for request in ["second", "third"] {
            assert!(stack.outer.client(prompt(&id, request)).agent.is_empty(), "{request} waits");
        }
        let out = stack.outer.client(json!({"method": "$/cancel_request", "params": {"requestId": "second"}}));
        assert_eq!(out.answer("second")["error"]["code"], -32800);
        let out = stack.outer.client(json!({"method": "session/cancel", "params": {"sessionId": id}}));
        for request in ["first", "third"] {
            assert_eq!(out.answer(request)["result"]["stopReason"], "cancelled");
        }
    }
    for request in ["fourth", "fifth"] {
        assert!(stack.outer.client(prompt(&id, request)).agent.is_empty(), "{request} waits");
    }
    // It ends once more while it is asked.
    let out = stack.begin_inner_again();
    for request in ["fourth", "fifth"] {
        assert_eq!(out.answer(request)["result"]["stopReason"], "end_turn");
    }
    let out = stack.prompt(&id, "Sixth");
    assert_eq!(said(&out.client).last().unwrap(), "Re: Sixth");
    let history = said(&stack.load(&id, &Value::Null).client);
    let expected = ["fourth", "fifth", "Sixth"].map(|text| [format!("> {text}"), format!("Re: {text}")]);
    assert_eq!(history, expected.concat());
}

#[test]
fn what_a_layer_was_started_again_for_is_opened_as_it_was_and_where_it_is_now() {
    let mut ground = Ground::of(KINDS[2]);
    let mut stack = ground.stack();
    let server = json!([{"name": "m", "command": "m", "args": [], "env": []}]);
    let out = stack.ask("session/new", json!({"cwd": CWD, "mcpServers": server}));
    let id = out.answer("session/new")["result"]["sessionId"].as_str().unwrap().to_owned();
    stack.prompt(&id, "First");
    // It is open: it stays where it is, with the servers that this says.
    let others = json!([{"name": "n", "command": "n", "args": [], "env": []}]);
    let out = stack.ask("session/load", json!({"sessionId": id, "cwd": "/elsewhere", "mcpServers": others}));
    assert!(out.answer("session/load")["error"].is_null());
    let moved = Relocate { old: CWD.to_owned(), new: "/moved".to_owned(), limit: 10, dry_run: false, after: None };
    relocate(&Store::new(stack.stores[0]), &moved).unwrap();
    stack.begin_inner_again();
    stack.prompt(&id, "Second");
    let asked = stack.bottom.asked.iter().rfind(|asked| asked["method"] == "session/resume").unwrap();
    assert_eq!((&asked["params"]["cwd"], &asked["params"]["mcpServers"]), (&json!("/moved"), &others));
    assert_eq!(stack.rows(json!({}))[0]["cwd"], "/moved");
}

#[test]
fn whoever_waits_for_a_session_to_be_resumed_is_told_why_it_is_not_and_the_next_tries_again() {
    let mut ground = Ground::of(KINDS[2]);
    let mut stack = ground.stack();
    let id = stack.new_session();
    let resume = stack.introduce_inner_again().request("session/resume");
    // Nobody waits yet.
    let out = stack.outer.refuse(&resume, -32603);
    assert!(out.client.is_empty() && out.agent.is_empty(), "{out:?}");
    for code in [-32603, -32000] {
        let resume = stack.outer.client(prompt(&id, "refused")).request("session/resume");
        let out = stack.outer.refuse(&resume, code);
        assert_eq!(out.answer("refused")["error"]["code"], code);
    }
    // A close ends what waits before it is answered.
    stack.outer.client(prompt(&id, "waits"));
    let out = stack.outer.client(json!({"id": "close", "method": "session/close", "params": {"sessionId": id}}));
    assert_eq!(out.answer("waits")["result"]["stopReason"], "cancelled");
    assert_eq!(out.request("session/close")["params"]["sessionId"], json!(id));
}

#[test]
fn a_session_that_is_gone_when_its_layer_was_started_again_is_forgotten() {
    let mut ground = Ground::of(KINDS[2]);
    let mut stack = ground.stack();
    let id = stack.new_session();
    let resume = stack.introduce_inner_again().request("session/resume");
    assert!(stack.outer.memos.keys().any(|key| key.ends_with(&id)));
    let out = stack.outer.refuse(&resume, -32002);
    assert!(out.client.is_empty() && out.agent.is_empty(), "{out:?}");
    assert!(!stack.outer.memos.keys().any(|key| key.ends_with(&id)), "{:?}", stack.outer.memos);
    // The layer behind says what there is to say of it.
    let out = stack.outer.client(prompt(&id, "Are you there?"));
    assert_eq!(out.request("session/prompt")["params"]["sessionId"], json!(id));
}

/// What a client asks of a session, by what it asks for and in which.
fn put_away(method: &str, session: &str) -> Value {
    let params = json!({"sessionId": session, "_meta": {"a": 1}});
    json!({"jsonrpc": "2.0", "id": format!("{method} {session}"), "method": method, "params": params})
}

#[test]
fn a_session_is_closed_when_the_layer_behind_ends_while_it_closes_it() {
    for (kind, is_lost) in KINDS.into_iter().flat_map(|kind| [(kind, false), (kind, true)]) {
        let mut ground = Ground::of(kind);
        let mut stack = ground.stack();
        let [id, other, open] = [0, 1, 2].map(|_| stack.new_session());
        for session in [&id, &other] {
            let out = stack.outer.client(put_away("session/close", session));
            assert_eq!(out.request("session/close")["params"]["sessionId"], json!(session));
        }
        if is_lost {
            stack.lose_outer();
        }
        let out = stack.outer.restart();
        for session in [&id, &other] {
            assert_eq!(out.answer(format!("session/close {session}"))["result"], json!({}), "{kind}, {is_lost}");
        }
        let out = stack.introduce_inner_again();
        assert_eq!(resumed(&out), [&open], "{kind}, {is_lost}");
        let late = stack.outer.client(prompt(&id, "Too late"));
        let late = Out { agent: out.agent.into_iter().chain(late.agent).collect(), ..late };
        assert_eq!(stack.settle(late).answer("Too late")["error"]["code"], -32002, "{kind}, {is_lost}");
        assert_eq!(said(&stack.prompt(&open, "First").client), ["Re: First"], "{kind}, {is_lost}");
        stack.load(&id, &Value::Null);
        assert_eq!(said(&stack.prompt(&id, "Once more").client), ["Re: Once more"], "{kind}, {is_lost}");
    }
}

#[test]
fn sessions_are_deleted_and_archived_by_the_layer_that_is_started_again_in_place_of_one_that_ended_at_it() {
    for (kind, is_lost) in KINDS.into_iter().flat_map(|kind| [(kind, false), (kind, true)]) {
        let mut ground = Ground::of(kind);
        let mut stack = ground.stack();
        let [archived, deleted, open] = [0, 1, 2].map(|_| stack.new_session());
        for session in [&archived, &deleted, &open] {
            stack.prompt(session, "First");
        }
        let asked = [put_away("session/archive", &archived), put_away("session/delete", &deleted)];
        for asked in &asked {
            stack.outer.client(asked.clone());
        }
        if is_lost {
            stack.lose_outer();
        }
        // The first that is started in its place ends as well.
        for _ in 0..2 {
            let out = stack.introduce_inner_again();
            assert!(out.client.is_empty(), "{kind}: {:?}", out.client);
            assert_eq!((resumed(&out), out.request("session/archive")), (vec![open.as_str()], asked[0].clone()));
        }
        let out = stack.outer.restart();
        assert!(out.client.is_empty(), "{kind}: {:?}", out.client);
        let waits = stack.outer.client(prompt(&archived, "Too late"));
        assert!(waits.agent.is_empty(), "{kind}");
        let out = stack.begin_inner_again();
        for asked in &asked {
            assert_eq!(out.answer(asked["id"].clone())["result"], json!({}), "{kind}, {is_lost}");
        }
        assert_eq!(out.answer("Too late")["error"]["code"], -32002, "{kind}, {is_lost}");
        let rows = stack.rows(json!({"archived": "all"}));
        let mut rows: Vec<_> = rows.iter().map(|row| (row["sessionId"].as_str().unwrap(), &row["archived"])).collect();
        rows.sort_unstable_by_key(|(id, _)| *id);
        let mut expected = [(archived.as_str(), &json!(true)), (open.as_str(), &json!(false))];
        expected.sort_unstable_by_key(|(id, _)| *id);
        assert_eq!(rows, expected, "{kind}, {is_lost}");
        assert!(!stack.outer.memos.keys().any(|key| key.ends_with(&archived) || key.ends_with(&deleted)), "{kind}");
    }
}

#[test]
fn what_is_to_be_asked_of_the_layer_that_is_started_again_can_be_taken_back_and_is_answered_as_that_answers() {
    let mut ground = Ground::of(KINDS[2]);
    let mut stack = ground.stack();
    let id = stack.new_session();
    let asked = put_away("session/delete", &id);
    stack.outer.client(asked.clone());
    stack.outer.restart();
    let out = stack.outer.client(json!({"method": "$/cancel_request", "params": {"requestId": asked["id"]}}));
    assert_eq!(out.answer(asked["id"].clone())["error"]["code"], -32800);
    assert_eq!(resumed(&stack.introduce_inner_again()), [&id], "it is open");
    // What it is refused is open as before.
    stack.outer.client(asked.clone());
    let out = stack.introduce_inner_again();
    assert_eq!((resumed(&out), out.request("session/delete")), (vec![], asked.clone()));
    let out = stack.outer.refuse(&asked, -32603);
    assert_eq!(out.answer(asked["id"].clone())["error"]["code"], -32603);
    assert_eq!(resumed(&out), [&id]);
    stack.settle(out);
    assert_eq!(said(&stack.prompt(&id, "Still here").client), ["Re: Still here"]);
    // One that is too long to be remembered is asked again in short.
    let mut long = put_away("session/delete", &id);
    long["params"]["_meta"] = json!("long".repeat(100_000));
    stack.outer.client(long);
    let out = stack.introduce_inner_again();
    assert_eq!(out.request("session/delete")["params"], json!({"sessionId": id}));
    assert_eq!(stack.settle(out).answer(asked["id"].clone())["result"], json!({}));
}
