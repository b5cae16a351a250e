//! Lists that pass through a layer over the same store: they are those of the layer behind, as the one in front was made to show
//! them, and what follows them goes on when that was started again (draft: session list extensions).

use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, Out, World};
use crate::follower::{members, notified, one, told};
use crate::scenes::CWD;
use crate::stack::{Bottom, Ground, KINDS, Stack};

const ELSEWHERE: &str = "/home/y";
const RESYNC: &str = "session/list/resync";

/// Another window, with the same agent and one layer.
fn other<'a>(store: &'a Memory, world: &'a World) -> Desk<'a> {
    let mut desk = Desk::open(store, world, &[]);
    desk.greet(Some("bottom"), &json!({"sessionCapabilities": {"resume": {}}}));
    desk
}

/// Subscribes; the subscription's id.
fn subscribe(stack: &mut Stack<'_>, params: &Value) -> String {
    let out = stack.ask("session/list/subscribe", params.clone());
    let answer = out.answer("session/list/subscribe");
    answer["result"]["subscriptionId"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

/// The client's request to end a subscription.
fn unsubscribe(subscription: &str) -> Value {
    let params = json!({ "subscriptionId": subscription });
    json!({"id": "unsubscribe", "method": "session/list/unsubscribe", "params": params})
}

/// The sessions that a subscription was told of.
fn told_of(out: &Out, subscription: &str) -> Vec<String> {
    members(&told(out, subscription).0, "cwd").into_iter().map(|(id, _)| id).collect()
}

#[test]
fn what_changes_in_lists_is_told_through_a_layer_over_the_same_store() {
    let mut ground = Ground::of(KINDS[2]);
    let mut stack = ground.stack_with(&json!({"session": {"listChanged": {}}}));
    let here = subscribe(&mut stack, &json!({ "cwd": CWD }));
    let all = subscribe(&mut stack, &json!({}));
    stack.rows(json!({ "cwd": ELSEWHERE }));
    let mut other = other(stack.stores[0], stack.world);
    other.new_session("s1", CWD);
    other.new_session("s2", ELSEWHERE);
    let out = stack.settle(Out::default());
    assert_eq!(members(&told(&out, &here).0, "cwd"), one("s1", CWD));
    assert_eq!(told_of(&out, &all), ["s1", "s2"]);
    other.new_session("s3", ELSEWHERE);
    let out = stack.ask("session/list/unsubscribe", json!({ "subscriptionId": all }));
    assert_eq!(out.answer("session/list/unsubscribe")["result"], json!({}));
    other.new_session("s4", ELSEWHERE);
    let out = stack.settle(Out::default());
    assert_eq!(notified(&out, "session/list_changed"), [json!({ "cwd": ELSEWHERE })]);
    assert!(told_of(&out, &all).is_empty(), "{out:?}");
    // One that it does not know is refused by whoever knows all of them.
    let out = stack.ask("session/list/unsubscribe", json!({ "subscriptionId": all }));
    assert_eq!(out.answer("session/list/unsubscribe")["error"]["code"], -32602);
}

#[test]
fn what_is_followed_goes_on_when_the_layer_behind_was_started_again() {
    for is_lost in [false, true] {
        let mut ground = Ground::of(KINDS[2]);
        let mut stack = ground.stack();
        let subscription = subscribe(&mut stack, &json!({ "cwd": CWD }));
        let ended = subscribe(&mut stack, &json!({}));
        stack.ask("session/list/unsubscribe", json!({ "subscriptionId": ended }));
        let mut other = other(stack.stores[0], stack.world);
        for time in 1..3 {
            let out = stack.begin_inner_again();
            assert_eq!(notified(&out, RESYNC), [json!({ "subscriptionId": subscription })], "{is_lost}, {time}");
            if is_lost {
                stack.lose_outer();
            }
            let id = format!("s{time}");
            other.new_session(&id, CWD);
            other.new_session(&format!("e{time}"), ELSEWHERE);
            let out = stack.settle(Out::default());
            assert_eq!(told_of(&out, &subscription), [id], "{is_lost}, {time}");
            assert_eq!(notified(&out, "session/list/changes").len(), 1, "{is_lost}, {time}: {out:?}");
            assert!(notified(&out, RESYNC).is_empty(), "{is_lost}, {time}");
        }
        let out = stack.ask("session/list/unsubscribe", json!({ "subscriptionId": subscription }));
        assert_eq!(out.answer("session/list/unsubscribe")["result"], json!({}));
        other.new_session("s9", CWD);
        let mut out = stack.settle(Out::default());
        out.extend(stack.begin_inner_again());
        assert!(out.client.is_empty(), "{is_lost}: {out:?}");
    }
}

#[test]
fn what_the_layer_behind_says_to_read_again_is_told_by_the_id_that_the_client_knows() {
    let mut ground = Ground::of(KINDS[2]);
    let mut stack = ground.stack();
    let subscription = subscribe(&mut stack, &json!({}));
    let asked = stack.introduce_inner_again().request("session/list/subscribe");
    let answer = json!({"subscriptionId": "theirs", "sessions": []});
    assert_eq!(notified(&stack.outer.reply(&asked, answer), RESYNC), [json!({ "subscriptionId": subscription })]);
    let say =
        |method: &str, id: &str| json!({"method": method, "params": {"of": 1.50, "subscriptionId": id, "rest": []}});
    for method in [RESYNC, "session/list/changes"] {
        let out = stack.outer.agent(say(method, "theirs"));
        assert_eq!(notified(&out, method), [json!({"of": 1.50, "subscriptionId": subscription, "rest": []})]);
    }
    // Nobody follows that one, and it is ended.
    let out = stack.outer.agent(say("session/list/changes", "nobody's"));
    assert!(out.client.is_empty(), "{out:?}");
    assert_eq!(out.request("session/list/unsubscribe")["params"], json!({"subscriptionId": "nobody's"}));
    let out = stack.outer.client(unsubscribe(&subscription));
    assert_eq!(out.request("session/list/unsubscribe")["params"], json!({"subscriptionId": "theirs"}));
    // What is told before that is answered is still told by its id.
    let out = stack.outer.agent(say(RESYNC, "theirs"));
    assert_eq!(notified(&out, RESYNC)[0]["subscriptionId"], json!(subscription));
    let out = stack.outer.agent(json!({"id": "unsubscribe", "result": {}}));
    assert_eq!(out.answer("unsubscribe")["result"], json!({}));
    assert!(stack.outer.agent(say(RESYNC, "theirs")).client.is_empty());
}

#[test]
fn a_subscription_that_the_layer_behind_refuses_is_asked_for_when_it_is_started_again() {
    let mut ground = Ground::of(KINDS[2]);
    let mut stack = ground.stack();
    let params = json!({"cwd": CWD, "archived": "all"});
    let subscription = subscribe(&mut stack, &params);
    for _ in 0..2 {
        let asked = stack.introduce_inner_again().request("session/list/subscribe");
        assert_eq!(asked["params"], params);
        let out = stack.outer.refuse(&asked, -32603);
        assert_eq!(notified(&out, RESYNC), [json!({ "subscriptionId": subscription })]);
        assert!(stack.outer.wait(5000).agent.is_empty());
    }
    // It ends as it is asked.
    stack.introduce_inner_again();
    let out = stack.begin_inner_again();
    assert_eq!(notified(&out, RESYNC), [json!({ "subscriptionId": subscription })]);
    other(stack.stores[0], stack.world).new_session("s1", CWD);
    assert_eq!(told_of(&stack.settle(Out::default()), &subscription), ["s1"]);
}

#[test]
fn a_subscription_that_the_client_ends_while_it_is_asked_for_again_is_ended() {
    for is_answered in [false, true] {
        let mut ground = Ground::of(KINDS[2]);
        let mut stack = ground.stack();
        let subscription = subscribe(&mut stack, &json!({}));
        let asked = stack.introduce_inner_again().request("session/list/subscribe");
        if is_answered {
            stack.outer.refuse(&asked, -32603);
        }
        let out = stack.outer.client(unsubscribe(&subscription));
        assert_eq!((out.answer("unsubscribe")["result"].clone(), out.agent.len()), (json!({}), 0), "{is_answered}");
        if !is_answered {
            let out = stack.outer.reply(&asked, json!({"subscriptionId": "theirs", "sessions": []}));
            assert!(out.client.is_empty(), "{out:?}");
            assert_eq!(out.request("session/list/unsubscribe")["params"], json!({"subscriptionId": "theirs"}));
        }
        let out = stack.introduce_inner_again();
        assert!(out.client.is_empty() && out.agent.is_empty(), "{is_answered}: {out:?}");
        // The layer that ends has not ended it.
        let subscription = subscribe(&mut stack, &json!({}));
        stack.outer.client(unsubscribe(&subscription));
        let out = stack.introduce_inner_again();
        assert!(out.answer("unsubscribe")["error"].is_object(), "{out:?}");
        out.request("session/list/subscribe");
    }
}

#[test]
fn a_subscription_that_is_asked_for_again_as_an_instance_is_lost_is_asked_for_by_the_next() {
    let mut ground = Ground::of(KINDS[2]);
    let mut stack = ground.stack();
    let subscription = subscribe(&mut stack, &json!({}));
    let asked = stack.introduce_inner_again().request("session/list/subscribe");
    stack.lose_outer();
    let again = stack.outer.pull();
    let out = stack.outer.reply(&asked, json!({"subscriptionId": "late", "sessions": []}));
    assert!(out.client.is_empty() && out.agent.is_empty(), "{out:?}");
    let out = stack.settle(again);
    assert_eq!(notified(&out, RESYNC), [json!({ "subscriptionId": subscription })]);
    other(stack.stores[0], stack.world).new_session("s1", CWD);
    assert_eq!(told_of(&stack.settle(Out::default()), &subscription), ["s1"]);
}

#[test]
fn a_client_has_no_more_subscriptions_through_two_layers_than_through_one() {
    let mut ground = Ground::of(KINDS[2]);
    let mut stack = ground.stack();
    let first = subscribe(&mut stack, &json!({}));
    for _ in 1..128 {
        subscribe(&mut stack, &json!({}));
    }
    let refused = stack.ask("session/list/subscribe", json!({}));
    assert_eq!(refused.answer("session/list/subscribe")["error"]["code"], -32602);
    stack.ask("session/list/unsubscribe", json!({ "subscriptionId": first }));
    subscribe(&mut stack, &json!({}));
    assert_eq!(notified(&stack.begin_inner_again(), RESYNC).len(), 128);
}

/// A page's rows, and how it goes on.
fn page(answer: &Value) -> (Value, Option<String>) {
    let result = &answer["result"];
    (result["sessions"].clone(), result["nextCursor"].as_str().map(str::to_owned))
}

#[test]
fn lists_through_a_layer_over_the_same_store_are_in_the_dialect_of_the_one_in_front() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut writer = other(&store, &world);
    for nth in 0..120 {
        writer.new_session(&format!("s{nth}"), CWD);
    }
    let draft = [("dialect", "draft")];
    for settings in [&draft[..], &[]] {
        let mut single = Desk::open(&store, &world, settings);
        single.greet(Some("bottom"), &json!({"sessionCapabilities": {"resume": {}}}));
        let mut bottom = Bottom::of(KINDS[2]);
        let mut stack = Stack::begin([&store; 2], &world, &mut bottom, settings, &json!({}));
        for asked in [
            json!({}),
            json!({"limit": 7}),
            json!({"limit": null, "cwd": CWD}),
            json!({"_meta": {"acp-sessions": {"limit": 8}, "other": 1}}),
            json!({"_meta": {"acp-sessions": {"limit": null, "search": ""}}}),
            json!({"createdAfter": "2025-01-01"}),
            json!({"archived": "all"}),
        ] {
            let mut alone = page(&single.ask("session/list", asked.clone()));
            let mut through = page(stack.ask("session/list", asked.clone()).answer("session/list"));
            let mut pages = 0;
            loop {
                assert!(through.0 == alone.0, "{settings:?}, {asked}, {pages}: {}", through.0);
                assert_eq!(through.1.is_some(), alone.1.is_some(), "{settings:?}, {asked}, {pages}");
                pages += 1;
                let (Some(next), Some(next_alone)) = (through.1, alone.1) else { break };
                let on = |cursor: String| {
                    let mut params = asked.clone();
                    // What a client asks for once it need not ask for again.
                    params.as_object_mut().unwrap().remove("limit");
                    params["cursor"] = cursor.into();
                    params
                };
                alone = page(&single.ask("session/list", on(next_alone)));
                through = page(stack.ask("session/list", on(next)).answer("session/list"));
            }
            assert!(pages > 1 || settings.is_empty(), "{asked}");
        }
        for wrong in [json!([]), json!({"limit": "many"}), json!({"_meta": {"acp-sessions": {"limit": "many"}}})] {
            let alone = single.ask("session/list", wrong.clone())["error"].clone();
            assert_eq!(stack.ask("session/list", wrong).answer("session/list")["error"], alone);
        }
        let out = stack.outer.client(json!({"id": "bare", "method": "session/list", "of": "theirs"}));
        assert_eq!(out.request("session/list")["of"], "theirs");
        let out = stack.settle(out);
        assert_eq!(page(out.answer("bare")).0, page(&single.ask("session/list", json!({}))).0);
        // What is told of a list is as its rows are.
        let subscription = subscribe(&mut stack, &json!({}));
        stack.begin_inner_again();
        writer.new_session("new", CWD);
        let (rows, _) = told(&stack.settle(Out::default()), &subscription);
        assert_eq!(rows[0].get("createdAt").is_some(), !settings.is_empty());
        writer.client(json!({"id": "delete", "method": "session/delete", "params": {"sessionId": "new"}}));
    }
}
