//! Lists that are followed: subscriptions and hints (draft: session list extensions).

use acp_sessions_corpus::Call;
use acp_sessions_guest::sessions::changes::MOST_BEHIND;
use acp_sessions_guest::sessions::panel::ListCriteria;
use acp_sessions_guest::storage::{Bounds, Durability, Memory, Storage, Write};
use acp_sessions_guest::store::keys;
use serde_json::{Value, json};

use crate::desk::{Desk, Faulty, Out, World, update};
use crate::follower::{SOON, hinted, loads, members, notified, one, rows, rows_of, subscribe, told, window};
use crate::scenes::{CWD, LONG, answers, ask_fork, ask_permission, ask_prompt, oblige, permit};

const ELSEWHERE: &str = "/home/y";

#[test]
fn the_layer_says_that_its_lists_can_be_followed() {
    let (store, world) = (Memory::new(), World::default());
    for theirs in [json!({}), json!({"sessionCapabilities": {"list": {"of": "theirs"}}})] {
        let answer = Desk::open(&store, &world, &[]).initialize(&theirs);
        let list = &answer["agentCapabilities"]["sessionCapabilities"]["list"];
        for marker in ["limit", "changes", "subscribe"] {
            assert_eq!(list[marker], json!({}), "{theirs}");
        }
        assert_eq!(list["of"], theirs["sessionCapabilities"]["list"]["of"]);
    }
}

#[test]
fn a_client_that_knows_nothing_of_it_is_shown_nothing_of_it() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = window(&store, &world);
    desk.new_session("s1", CWD);
    let answer = desk.ask("session/list", json!({}));
    assert_eq!(answer["result"]["sessions"][0].get("state"), None);
    assert!(notified(&desk.wait(SOON), "session/list/changes").is_empty());
}

#[test]
fn what_happens_in_one_window_is_told_in_another_by_whole_rows() {
    let (store, world) = (Memory::new(), World::default());
    let mut second = window(&store, &world);
    let (subscription, page) = subscribe(&mut second, json!({"cwd": CWD, "limit": 5}));
    assert_eq!(page, Vec::<Value>::new());
    let mut first = window(&store, &world);
    first.new_session("s1", CWD);
    first.new_session("s2", ELSEWHERE);
    let (rows_told, removed) = told(&second.wait(SOON), &subscription);
    assert_eq!((members(&rows_told, "state"), removed), (one("s1", "idle"), vec![]));
    ask_prompt(&mut first, "turn", "s1", "Fix the roof");
    let (rows_told, _) = told(&second.wait(SOON), &subscription);
    assert_eq!(members(&rows_told, "state"), one("s1", "running"));
    ask_permission(&mut first);
    assert_eq!(members(&told(&second.wait(SOON), &subscription).0, "state"), one("s1", "requires_action"));
    permit(&mut first);
    first.agent(update(
        "s1",
        json!({"sessionUpdate": "usage_update", "used": 1, "size": 2, "cost": {"amount": 0.5, "currency": "USD"}}),
    ));
    first.agent(answers("turn"));
    let (rows_told, _) = told(&second.wait(SOON), &subscription);
    let fresh = rows_of(&mut second, json!({"cwd": CWD, "limit": 5}));
    assert_eq!(rows_told, fresh);
    assert_eq!((&fresh[0]["title"], &fresh[0]["cost"]["amount"]), (&json!("Fix the roof"), &json!(0.5)));
    assert!(fresh[0]["lastTurnEndedAt"].is_string() && fresh[0]["lastPromptAt"].is_string());
    assert_eq!(told(&second.wait(SOON), &subscription), (vec![], vec![]));
}

#[test]
fn a_connection_at_rest_looks_at_the_store_only_for_those_who_follow() {
    let (store, world) = (Faulty::default(), World::default());
    let mut desk = Desk::ready(&store, &world, &json!({"sessionCapabilities": {"close": {}}}));
    let looks = |desk: &mut Desk<'_, Faulty>| {
        store.looks.set(0);
        (0..30).for_each(|_| drop(desk.wait(SOON)));
        store.looks.get()
    };
    looks(&mut desk);
    assert_eq!(looks(&mut desk), 0);
    desk.new_session("s1", CWD);
    // Another window may say something in it; and every few seconds it says that it is there.
    assert!((1..=50).contains(&looks(&mut desk)));
    let out = desk.client(json!({"id": "close", "method": "session/close", "params": {"sessionId": "s1"}}));
    desk.reply(&out.request("session/close"), json!({})).answer("close");
    looks(&mut desk);
    // Once a minute, what others have deleted is removed.
    assert!(looks(&mut desk) <= 1);
}

#[test]
fn archiving_forking_and_renaming_are_changes_and_deleting_removes() {
    let (store, world) = (Memory::new(), World::default());
    let mut first = window(&store, &world);
    first.new_session("s1", CWD);
    first.turn("s1", "Hi", &["Ho"]);
    let mut second = window(&store, &world);
    let (subscription, _) = subscribe(&mut second, json!({"archived": "unarchived"}));
    first.ask("session/set_title", json!({"sessionId": "s1", "title": "The roof"}));
    assert_eq!(members(&told(&second.wait(SOON), &subscription).0, "title"), one("s1", "The roof"));
    let out = ask_fork(&mut first, "s1");
    oblige(&mut first, out, &[], "s2").answer("fork");
    assert_eq!(members(&told(&second.wait(SOON), &subscription).0, "forkedFrom"), one("s2", "s1"));
    let out = first.client(json!({"id": "away", "method": "session/archive", "params": {"sessionId": "s1"}}));
    oblige(&mut first, out, &[], "").answer("away");
    let (rows_told, removed) = told(&second.wait(SOON), &subscription);
    assert_eq!((members(&rows_told, "archived"), removed), (one("s1", true), vec![]));
    let out = first.client(json!({"id": "gone", "method": "session/delete", "params": {"sessionId": "s2"}}));
    oblige(&mut first, out, &[], "").answer("gone");
    let (rows_told, removed) = told(&second.wait(SOON), &subscription);
    assert_eq!((rows_told, removed), (vec![], vec!["s2".to_owned()]));
}

#[test]
fn a_session_whose_folder_has_moved_leaves_one_list_and_comes_to_another() {
    let (store, world) = (Memory::new(), World::default());
    let mut first = window(&store, &world);
    first.new_session("s1", CWD);
    let mut second = window(&store, &world);
    let [here, there, all] =
        [json!({"cwd": CWD}), json!({"cwd": ELSEWHERE}), json!({})].map(|params| subscribe(&mut second, params).0);
    let call = Call::MoveSessions {
        old_cwd: CWD.to_owned(),
        new_cwd: ELSEWHERE.to_owned(),
        limit: 10,
        cursor: None,
        dry_run: false,
    };
    world.recorder.typed(&store, world.time(), call);
    let out = second.wait(SOON);
    assert_eq!(told(&out, &here), (vec![], vec!["s1".to_owned()]));
    for subscription in [&there, &all] {
        let (rows_told, removed) = told(&out, subscription);
        assert_eq!((members(&rows_told, "cwd"), removed), (one("s1", ELSEWHERE), vec![]));
    }
}

#[test]
fn activity_alone_is_no_change_and_comes_with_the_next() {
    let (store, world) = (Memory::new(), World::default());
    let mut first = window(&store, &world);
    first.new_session("s1", CWD);
    let mut second = window(&store, &world);
    let (subscription, _) = subscribe(&mut second, json!({}));
    let later = "2025-10-09T08:53:20.500Z";
    second.wait(SOON);
    first.agent(update("s1", json!({"sessionUpdate": "session_info_update", "updatedAt": later})));
    first.wait(LONG);
    assert_eq!(rows(&mut second)[0]["updatedAt"], later);
    for _ in 0..3 {
        assert_eq!(told(&second.wait(SOON), &subscription), (vec![], vec![]));
    }
    first.agent(update("s1", json!({"sessionUpdate": "session_info_update", "title": "The roof"})));
    first.wait(LONG);
    let (rows_told, _) = told(&second.wait(SOON), &subscription);
    assert_eq!(rows_told, rows(&mut second));
}

#[test]
fn a_session_that_keeps_changing_is_told_of_once_a_second() {
    let (store, world) = (Memory::new(), World::default());
    let mut first = window(&store, &world);
    first.new_session("s1", CWD);
    let mut second = window(&store, &world);
    let (subscription, _) = subscribe(&mut second, json!({}));
    let mut told_at = Vec::new();
    for nth in 0..60 {
        first.turn("s1", &format!("Prompt {nth}"), &["Ho"]);
        let (rows_told, _) = told(&second.wait(100), &subscription);
        assert!(rows_told.len() <= 1);
        told_at.extend(rows_told.iter().map(|_| world.now.get()));
    }
    assert!(told_at.windows(2).all(|pair| pair[1] - pair[0] >= 1000), "{told_at:?}");
    assert!(told_at.len() >= 5, "{told_at:?}");
}

/// So many sessions in a directory of so long a name.
fn burst(desk: &mut Desk<'_>, sessions: usize, letters: usize) -> String {
    let cwd = format!("/{}", "d".repeat(letters));
    for nth in 0..sessions {
        desk.new_session(&format!("s{nth}"), &cwd);
    }
    cwd
}

/// All sessions of a folder follow it.
fn move_all(store: &Memory, world: &World, old: &str, new: &str) {
    let mut next = Some(None);
    while let Some(cursor) = next {
        let (old_cwd, new_cwd) = (old.to_owned(), new.to_owned());
        let call = Call::MoveSessions { old_cwd, new_cwd, limit: 1000, cursor, dry_run: false };
        let moved = world.recorder.typed(store, world.time(), call);
        next = moved["ok"]["next-cursor"].as_str().map(|cursor| Some(cursor.to_owned()));
    }
}

/// The lines that a subscription was told changes by, each with how long it is.
fn lines(out: &Out, subscription: &str) -> Vec<(Value, usize)> {
    let changes = out.client.iter().filter(|message| message["method"] == "session/list/changes");
    let its = changes.filter(|message| message["params"]["subscriptionId"] == subscription);
    its.map(|message| (message["params"].clone(), message.to_string().len())).collect()
}

#[test]
fn a_burst_is_told_on_lines_as_full_as_they_may_be() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut follower = window(&store, &world);
    let (subscription, _) = subscribe(&mut follower, json!({}));
    let mut other = window(&store, &world);
    let cwd = burst(&mut other, 2000, 1000);
    let out = follower.wait(SOON);
    let lines = lines(&out, &subscription);
    let bytes: usize = lines.iter().map(|(_, length)| length).sum();
    assert!(bytes > 2 << 20, "{bytes}");
    assert_eq!(lines.len(), bytes.div_ceil(1 << 20));
    for (_, length) in &lines[..lines.len() - 1] {
        assert!((1_000_000..=1 << 20).contains(length), "{length}");
    }
    let rows = told(&out, &subscription).0;
    let mut ids: Vec<&str> = rows.iter().map(|row| row["sessionId"].as_str().unwrap()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 2000, "none is lost, and none is told twice");
    // What goes shares a line too.
    let mut second = window(&store, &world);
    let (left, _) = subscribe(&mut second, json!({ "cwd": cwd }));
    move_all(&store, &world, &cwd, ELSEWHERE);
    let out = second.wait(SOON);
    assert_eq!((told(&out, &left).1.len(), self::lines(&out, &left).len()), (2000, 1));
}

#[test]
fn what_a_line_still_has_room_for_waits_for_nothing_that_is_newer() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut follower = window(&store, &world);
    let (subscription, _) = subscribe(&mut follower, json!({}));
    let mut other = window(&store, &world);
    burst(&mut other, 1000, 3);
    world.now.set(world.now.get() + SOON);
    // A step of the look, and nothing is told yet. Then a page shows what is newer.
    follower.engine.idle();
    other.ask("session/set_title", json!({"sessionId": "s0", "title": "The roof"}));
    let out = follower.client(json!({"id": "page", "method": "session/list", "params": {"limit": 1000}}));
    let place = |wanted: &dyn Fn(&Value) -> bool| out.client.iter().position(wanted).unwrap();
    let has_first = |message: &Value| {
        let rows = message["params"]["sessions"].as_array();
        rows.is_some_and(|rows| rows.iter().any(|row| row["sessionId"] == "s0"))
    };
    assert!(place(&has_first) < place(&|message| message["id"] == "page"));
    assert_eq!(told(&out, &subscription).0.len(), 1000);
    assert_eq!(members(&told(&follower.wait(SOON), &subscription).0, "title"), one("s0", "The roof"));
}

#[test]
fn a_burst_waits_for_a_client_that_does_not_read() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut follower = window(&store, &world);
    let (subscription, _) = subscribe(&mut follower, json!({}));
    let mut other = window(&store, &world);
    burst(&mut other, 2000, 1000);
    world.now.set(world.now.get() + SOON);
    follower.engine.idle();
    for _ in 0..100 {
        world.now.set(world.now.get() + SOON);
        follower.engine.idle();
        assert!(follower.engine.pull(0).is_empty());
    }
    assert!(follower.engine.has_more(), "it is gone on with as there is room");
    // What it reads then is as things are by then, but for what was found before.
    for nth in 1000..2000 {
        other.ask("session/set_title", json!({"sessionId": format!("s{nth}"), "title": "The roof"}));
    }
    let out = follower.pull();
    let rows = told(&out, &subscription).0;
    assert_eq!(rows.len(), 2000);
    assert!(rows.iter().filter(|row| row["title"] == "The roof").count() >= 1000);
    assert!(!follower.engine.has_more());
    assert!(told(&follower.wait(SOON), &subscription).0.is_empty());
}

#[test]
fn a_list_is_followed_until_its_subscription_ends() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = window(&store, &world);
    let (kept, ended) = (subscribe(&mut desk, json!({})).0, subscribe(&mut desk, json!({})).0);
    assert_ne!(kept, ended);
    let end = json!({"subscriptionId": ended});
    assert_eq!(desk.ask("session/list/unsubscribe", end.clone())["result"], json!({}));
    assert_eq!(desk.ask("session/list/unsubscribe", end)["error"]["code"], -32602);
    desk.new_session("s1", CWD);
    let out = desk.wait(SOON);
    assert_eq!((told(&out, &kept).0.len(), told(&out, &ended).0.len()), (1, 0));
}

#[test]
fn what_cannot_be_followed_is_refused_by_its_name() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = window(&store, &world);
    for (params, field) in [
        (json!({"cursor": "x"}), "cursor"),
        (json!({"search": "roof"}), "search"),
        (json!({"createdAfter": "2026-01-01"}), "createdAfter"),
        (json!({"_meta": {"acp-sessions": {"updatedAfter": "2026-01-01"}}}), "updatedAfter"),
        (json!({"_meta": {"acp-sessions": {"subagents": true}}}), "subagents"),
        (json!({"limit": 0}), "limit"),
        (json!({"includeWorktrees": 1}), "includeWorktrees"),
        (json!({"archived": "perhaps"}), "archived"),
        (json!({"cwd": "relative"}), "cwd"),
    ] {
        let error = &desk.ask("session/list/subscribe", params.clone())["error"];
        assert_eq!((error["code"].as_i64(), error["data"]["field"].as_str()), (Some(-32602), Some(field)), "{params}");
    }
    for nth in 0..=128 {
        let answer = desk.ask("session/list/subscribe", json!({}));
        assert_eq!(answer["error"]["code"].as_i64(), (nth == 128).then_some(-32602), "{nth}");
    }
}

#[test]
fn whoever_is_too_far_behind_is_told_to_read_the_list_again() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = window(&store, &world);
    let (subscription, _) = subscribe(&mut desk, json!({}));
    let revision = |number: u64| Write::Put { key: keys::REVISION.to_owned(), value: number.to_string() };
    // What others have changed meanwhile, and a store that was put back.
    for number in [MOST_BEHIND + 2, 1] {
        store.commit(&[], vec![revision(number)], Durability::Relaxed).unwrap();
        let out = desk.wait(SOON);
        assert_eq!(notified(&out, "session/list/resync"), [json!({"subscriptionId": subscription})]);
        assert!(notified(&desk.wait(SOON), "session/list/resync").is_empty());
    }
    desk.new_session("s1", CWD);
    assert_eq!(told(&desk.wait(SOON), &subscription).0.len(), 1);
}

#[test]
fn a_subscription_outlives_the_instance_that_began_it() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = window(&store, &world);
    let (subscription, _) = subscribe(&mut desk, json!({"cwd": CWD}));
    let mut other = window(&store, &world);
    other.new_session("s1", CWD);
    let mut desk = Desk::carry_on(&store, &world, &[], desk.memos, Vec::new());
    assert_eq!(notified(&desk.pull(), "session/list/resync"), [json!({"subscriptionId": subscription})]);
    other.turn("s1", "Hi", &["Ho"]);
    assert_eq!(members(&told(&desk.wait(SOON), &subscription).0, "title"), one("s1", "Hi"));
    desk.ask("session/list/unsubscribe", json!({"subscriptionId": subscription}));
    assert!(desk.memos.keys().all(|key| !key.starts_with("l/")), "{:?}", desk.memos);
}

#[test]
fn a_store_that_cannot_be_read_for_a_while_costs_no_change() {
    let (store, world) = (Faulty::default(), World::default());
    let mut desk = window(&store, &world);
    let (subscription, _) = subscribe(&mut desk, json!({}));
    desk.new_session("s1", CWD);
    store.is_unreadable.set(true);
    assert_eq!(told(&desk.wait(SOON), &subscription), (vec![], vec![]));
    store.is_unreadable.set(false);
    assert_eq!(told(&desk.wait(SOON), &subscription).0.len(), 1);
}

#[test]
fn a_list_that_was_read_is_hinted_at_when_it_is_not_what_it_was() {
    let (store, world) = (Memory::new(), World::default());
    let mut first = window(&store, &world);
    let mut second = hinted(&store, &world);
    second.ask("session/list", json!({"cwd": CWD}));
    let hints = |out: &Out| notified(out, "session/list_changed");
    first.new_session("s1", CWD);
    first.new_session("s2", CWD);
    first.new_session("s3", ELSEWHERE);
    assert_eq!(hints(&second.wait(SOON)), [json!({"cwd": CWD})]);
    assert!(hints(&second.wait(SOON)).is_empty());
    let out = first.client(json!({"id": "gone", "method": "session/delete", "params": {"sessionId": "s2"}}));
    oblige(&mut first, out, &[], "").answer("gone");
    assert_eq!(hints(&second.wait(SOON)), [json!({"cwd": CWD})]);
    // Whoever follows it knows better what has changed.
    let (subscription, _) = subscribe(&mut second, json!({}));
    first.turn("s1", "Hi", &["Ho"]);
    let out = second.wait(SOON);
    assert_eq!((hints(&out).len(), told(&out, &subscription).0.len()), (0, 1));
    second.ask("session/list/unsubscribe", json!({"subscriptionId": subscription}));
    first.turn("s1", "Hi", &["Ho"]);
    assert_eq!(hints(&second.wait(SOON)).len(), 1);
    // For ten minutes, and not for ever.
    for _ in 0..11 {
        second.wait(60_000);
        first.wait(0);
    }
    first.turn("s1", "Hi", &["Ho"]);
    assert!(hints(&second.wait(SOON)).is_empty());
}

#[test]
fn whatever_first_page_of_a_directory_was_asked_for_it_is_hinted_at() {
    for params in [
        json!({"cwd": CWD, "_meta": {"acp-sessions": {"search": "roof"}}}),
        json!({"cwd": CWD, "updatedAfter": "2025-01-01"}),
        json!({"cwd": CWD, "_meta": {"acp-sessions": {"subagents": true}}}),
    ] {
        let (store, world) = (Memory::new(), World::default());
        let mut first = window(&store, &world);
        let mut second = hinted(&store, &world);
        assert!(second.ask("session/list", params.clone())["error"].is_null());
        first.new_session("s1", CWD);
        first.new_session("s2", ELSEWHERE);
        assert_eq!(notified(&second.wait(SOON), "session/list_changed"), [json!({"cwd": CWD})], "{params}");
    }
    let (store, world) = (Memory::new(), World::default());
    let mut first = window(&store, &world);
    let mut second = hinted(&store, &world);
    let (subscription, _) = subscribe(&mut second, json!({"cwd": CWD}));
    second.ask("session/list/unsubscribe", json!({"subscriptionId": subscription}));
    first.new_session("s1", CWD);
    assert_eq!(notified(&second.wait(SOON), "session/list_changed").len(), 1, "its first page was asked for");
}

#[test]
fn the_list_of_all_agents_is_hinted_at_though_the_agents_own_was_asked_for_since() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let of_all = json!({"cwd": CWD, "_meta": {"acp-sessions": {"agents": "all"}}});
    let mut second = hinted(&store, &world);
    for params in [of_all, json!({"cwd": CWD, "_meta": {"acp-sessions": {"agents": "own"}}})] {
        assert!(second.ask("session/list", params)["error"].is_null());
    }
    let mut other = Desk::open(&store, &world, &[]);
    other.greet(Some("another"), &json!({}));
    other.new_session("s1", CWD);
    assert_eq!(notified(&second.wait(SOON), "session/list_changed"), [json!({"cwd": CWD})]);
}

#[test]
fn whoever_did_not_ask_for_hints_is_given_none() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = window(&store, &world);
    desk.ask("session/list", json!({"cwd": CWD}));
    desk.new_session("s1", CWD);
    assert!(notified(&desk.wait(SOON), "session/list_changed").is_empty());
}

fn changes<S: Storage>(store: &S, world: &World, criteria: &ListCriteria, position: Option<&str>) -> Value {
    let call = Call::ChangesSince { criteria: criteria.clone(), position: position.map(str::to_owned) };
    world.recorder.typed(store, world.time(), call)
}

#[test]
fn a_panel_without_a_connection_asks_what_has_changed_since() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = window(&store, &world);
    desk.new_session("s1", CWD);
    let here = ListCriteria { cwds: vec![CWD.to_owned()], ..ListCriteria::default() };
    let begun = changes(&store, &world, &here, None);
    assert_eq!((&begun["ok"]["sessions"], &begun["ok"]["more"]), (&json!([]), &json!(false)));
    let position = begun["ok"]["position"].as_str().unwrap().to_owned();
    desk.new_session("s2", ELSEWHERE);
    ask_prompt(&mut desk, "turn", "s1", "Fix the roof");
    let next = changes(&store, &world, &here, Some(&position));
    let session = &next["ok"]["sessions"][0];
    assert_eq!((&session["id"], &session["state"]), (&json!("s1"), &json!("running")));
    assert_eq!(next["ok"]["sessions"].as_array().unwrap().len(), 1);
    let position = next["ok"]["position"].as_str().unwrap().to_owned();
    let mut out = desk.client(json!({"id": "gone", "method": "session/delete", "params": {"sessionId": "s1"}}));
    out.extend(desk.agent(answers("turn")));
    oblige(&mut desk, out, &[], "").answer("gone");
    let last = changes(&store, &world, &here, Some(&position));
    assert_eq!((&last["ok"]["sessions"], &last["ok"]["removed"]), (&json!([]), &json!(["s1"])));
    for (criteria, position) in [
        (&here, "5.4"),
        (&here, "a place"),
        (&ListCriteria { search: Some("roof".to_owned()), ..ListCriteria::default() }, "0.0"),
    ] {
        assert!(changes(&store, &world, criteria, Some(position))["error"]["invalid"].is_string(), "{position}");
    }
    let far = "0.0/s1=r";
    store
        .commit(
            &[],
            vec![Write::Put { key: keys::REVISION.to_owned(), value: (MOST_BEHIND + 9).to_string() }],
            Durability::Relaxed,
        )
        .unwrap();
    assert_eq!(changes(&store, &world, &here, Some(far))["ok"]["read-again"], true);
}

#[test]
fn what_departed_long_ago_is_forgotten() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = window(&store, &world);
    for id in ["s1", "s2"] {
        desk.new_session(id, CWD);
        let out = desk.client(json!({"id": id, "method": "session/delete", "params": {"sessionId": id}}));
        oblige(&mut desk, out, &[], "").answer(id);
    }
    let departures = || {
        let bounds = Bounds { limit: 10, max_bytes: 10_000 };
        store.scan(keys::DEPARTURES, &keys::range_end(keys::DEPARTURES), false, bounds).unwrap().entries.len()
    };
    assert_eq!(departures(), 2);
    let revision = Write::Put { key: keys::REVISION.to_owned(), value: (MOST_BEHIND + 3).to_string() };
    store.commit(&[], vec![revision], Durability::Relaxed).unwrap();
    desk.wait(11_000);
    assert_eq!(departures(), 1);
}

#[test]
fn later_pages_show_what_the_first_one_does() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::open(&store, &world, &[]);
    desk.greet(Some("a"), &loads());
    for id in ["s1", "s2", "s3"] {
        world.now.set(world.now.get() + 1000);
        desk.new_session(id, CWD);
        desk.turn(id, "Hello", &["Hi"]);
    }
    // None of these asks for the draft's members once it has a cursor.
    for (method, params) in [
        ("session/list/subscribe", json!({"limit": 1})),
        ("session/list", json!({"limit": 1})),
        ("session/list", json!({"archived": "all", "_meta": {"acp-sessions": {"limit": 1}}})),
        ("session/list", json!({"limit": 18_446_744_073_709_551_615_u64})),
        ("session/list", json!({"limit": 1e300})),
    ] {
        let mut page = desk.ask(method, params.clone())["result"].clone();
        let mut seen = Vec::new();
        loop {
            for row in page["sessions"].as_array().unwrap() {
                assert!(row["lastPromptAt"].is_string() && row["state"] == "idle", "{params}: {row}");
                seen.push(row["sessionId"].clone());
            }
            let Some(cursor) = page["nextCursor"].as_str() else { break };
            let mut next = json!({ "cursor": cursor });
            next["archived"] = params["archived"].clone();
            next.as_object_mut().unwrap().retain(|_, value| !value.is_null());
            page = desk.ask("session/list", next)["result"].clone();
        }
        assert_eq!(seen, ["s3", "s2", "s1"], "{params}");
    }
}
