//! What sessions use: tokens by the answer, costs as what has come to the sum that the agent tells.

use acp_sessions_corpus::Call;
use acp_sessions_guest::engine::{Arrival, Content, Peer};
use acp_sessions_guest::storage::{Memory, Storage, StorageError, Write};
use acp_sessions_guest::store::{Store, keys};
use serde_json::{Value, json};

use crate::desk::{Desk, Faulty, Out, World, envelope, update};
use crate::scenes::{CWD, LONG, ask_fork, ask_load, ask_prompt, ask_resume, leave, listing, oblige, row, says};

/// The day on which the stories begin.
pub(crate) const TODAY: &str = "2025-10-09";
pub(crate) const DAY: i64 = 86_400_000;

pub(crate) fn loads() -> Value {
    json!({"loadSession": true, "sessionCapabilities": {"resume": {}, "fork": {}}})
}

/// The agent tells what its session has cost so far; the amount as it stands in JSON.
pub(crate) fn costs<S: Storage>(desk: &mut Desk<'_, S>, agent_id: &str, amount: &str) -> Out {
    let told =
        json!({"sessionUpdate": "usage_update", "used": 10, "size": 100, "cost": {"amount": 0, "currency": "USD"}});
    let line = envelope(update(agent_id, told));
    desk.line(Peer::Agent, &line.replace("\"amount\":0,", &format!("\"amount\":{amount},")))
}

/// A turn in which the agent tells these sums.
pub(crate) fn turn<S: Storage>(desk: &mut Desk<'_, S>, session: &str, sums: &[&str]) {
    let out = ask_prompt(desk, "turn", session, "Go");
    let agent_id = out.request("session/prompt")["params"]["sessionId"].as_str().unwrap().to_owned();
    for sum in sums {
        costs(desk, &agent_id, sum);
    }
    desk.agent(json!({"id": "turn", "result": {"stopReason": "end_turn"}}));
}

/// The agent answers a prompt with these tokens: all, given and written.
fn answer<S: Storage>(desk: &mut Desk<'_, S>, request: &str, [total, input, output]: [u64; 3]) -> Out {
    let usage = json!({"totalTokens": total, "inputTokens": input, "outputTokens": output, "cachedReadTokens": 1});
    desk.agent(json!({"id": request, "result": {"stopReason": "end_turn", "usage": usage}}))
}

/// What was used: the session, the day, the agent, and the costs.
pub(crate) fn used<S: Storage>(store: &S, world: &World) -> Vec<String> {
    let (mut rows, mut cursor) = (Vec::new(), None);
    loop {
        let page = world.recorder.typed(store, world.time(), Call::ListUsage { limit: 1, cursor });
        for row in page["ok"]["usages"].as_array().unwrap() {
            let costs = row["used"]["costs"].as_array().unwrap().iter();
            let costs = costs.map(|cost| [&cost["amount"], &cost["currency"]].map(|of| of.as_str().unwrap()).join(" "));
            let [session, agent] = ["session-id", "agent"].map(|of| row[of].as_str().unwrap());
            let day = row["day"].as_str().unwrap_or("-");
            rows.push(format!("{session} {day} {agent}: {}", costs.collect::<Vec<_>>().join(", ")));
        }
        cursor = page["ok"]["next-cursor"].as_str().map(str::to_owned);
        if cursor.is_none() {
            return rows;
        }
    }
}

/// What each turn of a session has used.
pub(crate) fn turns<S: Storage>(store: &S, world: &World, session: &str) -> Vec<Value> {
    let (mut turns, mut after) = (Vec::new(), None);
    loop {
        let call = Call::ReadTurnUsage { session_id: session.to_owned(), after, limit: 1 };
        let page = world.recorder.typed(store, world.time(), call);
        turns.extend(page["ok"]["turns"].as_array().unwrap().iter().cloned());
        after = page["ok"]["next-cursor"].as_str().map(str::to_owned);
        if after.is_none() {
            return turns;
        }
    }
}

/// What the session's record says that it has cost.
pub(crate) fn recorded<S: Storage>(store: &S, session: &str) -> Option<String> {
    let record = store.get(&[keys::session(session)]).unwrap().pop().flatten().unwrap();
    let record: Value = serde_json::from_str(&record).unwrap();
    record.get("cost").map(|cost| format!("{} {}", cost["amount"], cost["currency"].as_str().unwrap()))
}

/// A row of the agent's list that says what its session has cost; the amount as it stands in JSON.
pub(crate) fn costing(id: &str, amount: &str) -> Value {
    let mut row = row(id, "One", "2025-01-01T00:00:00Z");
    row["cost"] = serde_json::from_str(&format!("{{\"amount\":{amount},\"currency\":\"USD\"}}")).unwrap();
    row
}

/// The same of a fork of this one.
pub(crate) fn forked(id: &str, parent: &str, amount: &str) -> Value {
    let mut row = costing(id, amount);
    row["forkedFrom"] = parent.into();
    row
}

/// The agent tells between turns what its session has cost so far.
pub(crate) fn tells(desk: &mut Desk<'_>, agent_id: &str, amount: &str) {
    costs(desk, agent_id, amount);
    desk.wait(LONG);
}

/// Two windows that have `s1` open, whose agents tell these sums of it by turns, the first one's first.
pub(crate) fn two_windows<'a>(store: &'a Memory, world: &'a World, sums: &[&str]) -> [Desk<'a>; 2] {
    let mut first = Desk::ready(store, world, &loads());
    first.new_session("s1", CWD);
    turn(&mut first, "s1", &sums[..1]);
    let mut second = Desk::ready(store, world, &loads());
    let out = ask_resume(&mut second, "resume", "s1");
    oblige(&mut second, out, &[], "fresh");
    let mut windows = [first, second];
    for (at, sum) in sums.iter().enumerate().skip(1) {
        tells(&mut windows[at % 2], "s1", sum);
    }
    windows
}

/// A window whose agent tells these sums with the history of this session.
pub(crate) fn loaded<'a>(store: &'a Memory, world: &'a World, session: &str, sums: &[&str]) -> Desk<'a> {
    let mut desk = Desk::ready(store, world, &loads());
    let asked = ask_load(&mut desk, "load", session).request("session/load");
    for sum in sums {
        costs(&mut desk, session, sum);
    }
    let out = desk.reply(&asked, json!({}));
    oblige(&mut desk, out, &[], "fresh");
    desk
}

/// The agent forks `s1`, and calls the fork `f1`; it tells these sums of the fork before it answers.
pub(crate) fn fork(desk: &mut Desk<'_>, told: &[&str]) {
    let asked = ask_fork(desk, "s1").request("session/fork");
    for sum in told {
        costs(desk, "f1", sum);
    }
    let out = desk.reply(&asked, json!({"sessionId": "f1"}));
    oblige(desk, out, &[], "fresh");
}

#[test]
fn what_has_come_to_the_sum_is_what_a_turn_has_cost_and_a_smaller_sum_is_that_of_a_new_count() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    desk.new_session("s1", CWD);
    for (sums, all) in [
        (&["0.1"][..], "0.1"),
        (&["0.1", "0.3"], "0.3"),
        // Nothing came to it, or nothing was said.
        (&["0.3"], "0.3"),
        (&[], "0.3"),
        // The agent counts from nothing again, and once more in the midst of a turn.
        (&["0.2"], "0.5"),
        (&["0.25", "0.05", "0.15"], "0.7"),
        (&["0.1500000000000000000001"], "0.7000000000000000000001"),
    ] {
        turn(&mut desk, "s1", sums);
        assert_eq!(used(&store, &world), [format!("s1 {TODAY} a: {all} USD")]);
        assert_eq!(recorded(&store, "s1"), Some(format!("{} USD", all.parse::<f64>().unwrap())));
    }
    let costs: Vec<Value> = turns(&store, &world, "s1").iter().map(|turn| turn["used"]["costs"].clone()).collect();
    let cost = |amount: &str| json!([{"amount": amount, "currency": "USD"}]);
    let none = json!([]);
    let [tenth, fifth, last] = [cost("0.1"), cost("0.2"), cost("0.0000000000000000000001")];
    assert_eq!(costs, [tenth, fifth.clone(), none, fifth.clone(), fifth, last]);
}

#[test]
fn tokens_are_those_of_each_answer_also_where_several_are_one_turn() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    desk.new_session("s1", CWD);
    ask_prompt(&mut desk, "one", "s1", "One");
    ask_prompt(&mut desk, "two", "s1", "Two");
    answer(&mut desk, "one", [10, 6, 4]);
    answer(&mut desk, "two", [7, 4, 3]);
    ask_prompt(&mut desk, "three", "s1", "Three");
    answer(&mut desk, "three", [5, 3, 2]);
    ask_prompt(&mut desk, "four", "s1", "Four");
    desk.agent(json!({"id": "four", "result": {"stopReason": "end_turn", "usage": null}}));
    let told = turns(&store, &world, "s1");
    let totals: Vec<_> = told.iter().map(|turn| (&turn["used"]["answers"], &turn["used"]["tokens"])).collect();
    let tokens = |total: u64, input: u64, output: u64, cached: u64| {
        json!({"total-tokens": total, "input-tokens": input, "output-tokens": output, "thought-tokens": 0,
            "cached-read-tokens": cached, "cached-write-tokens": 0})
    };
    assert_eq!(totals, [(&json!(2), &tokens(17, 10, 7, 2)), (&json!(1), &tokens(5, 3, 2, 1))]);
    let page = world.recorder.typed(&store, world.time(), Call::ListUsage { limit: 10, cursor: None });
    assert_eq!(page["ok"]["usages"][0]["used"]["tokens"], tokens(22, 13, 9, 3));
    assert_eq!(page["ok"]["usages"][0]["title"], "One");
}

#[test]
fn days_agents_and_currencies_are_told_apart() {
    let (store, world) = (Memory::new(), World::default());
    for (day, agent) in [(0, "a"), (1, "a"), (1, "b")] {
        world.now.set(day * DAY);
        let mut desk = Desk::open(&store, &world, &[]);
        desk.greet(Some(agent), &loads());
        if day == 0 {
            desk.new_session("s1", CWD);
        } else {
            let out = ask_load(&mut desk, "load", "s1");
            oblige(&mut desk, out, &[("Go", "")], "s9");
        }
        turn(&mut desk, "s1", &[if day == 0 { "1" } else { "2.5" }]);
        leave(desk);
    }
    let mut desk = Desk::ready(&store, &world, &loads());
    desk.new_session("s2", "/home/y");
    ask_prompt(&mut desk, "turn", "s2", "Go");
    for (amount, currency) in [(3, "credits"), (1, "EUR"), (4, "credits"), (-1, "USD")] {
        let cost = json!({"amount": amount, "currency": currency});
        desk.agent(update("s2", json!({"sessionUpdate": "usage_update", "used": 1, "size": 2, "cost": cost})));
    }
    desk.agent(update("s2", json!({"sessionUpdate": "usage_update", "used": 3, "size": 4, "cost": null})));
    desk.agent(json!({"id": "turn", "result": {"stopReason": "end_turn"}}));
    assert_eq!(
        used(&store, &world),
        [
            "s1 2025-10-09 a: 1 USD",
            "s1 2025-10-10 a: 1.5 USD",
            "s1 2025-10-10 b: 2.5 USD",
            "s2 2025-10-10 a: 4 credits, 1 EUR",
        ]
    );
    let told = turns(&store, &world, "s2");
    assert_eq!((&told[0]["context-used"], &told[0]["context-size"]), (&json!(3), &json!(4)));
}

#[test]
fn what_a_session_of_the_agents_had_cost_before_has_no_day() {
    let (store, world) = (Memory::new(), World::default());
    let rows = [row("o1", "Old", "2025-01-01T00:00:00Z"), row("o2", "Older", "2024-01-01T00:00:00Z")];
    let mut desk = listing(&store, &world, "a", &loads(), &rows);
    for (id, told) in [("o1", &["2", "3"][..]), ("o2", &[])] {
        let asked = ask_load(&mut desk, "load", id).request("session/load");
        for sum in told {
            costs(&mut desk, id, sum);
        }
        desk.reply(&asked, json!({}));
        turn(&mut desk, id, &["3.5"]);
        turn(&mut desk, id, &["4"]);
    }
    let known = ["o1 - a: 3 USD".to_owned(), format!("o1 {TODAY} a: 1 USD")];
    let unknown = ["o2 - a: 3.5 USD".to_owned(), format!("o2 {TODAY} a: 0.5 USD")];
    assert_eq!(used(&store, &world), [known, unknown].concat());
}

#[test]
fn a_session_that_stands_in_for_the_agents_begins_its_own_count() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    desk.new_session("s1", CWD);
    turn(&mut desk, "s1", &["1"]);
    leave(desk);
    let mut desk = Desk::ready(&store, &world, &json!({}));
    let out = ask_load(&mut desk, "load", "s1");
    oblige(&mut desk, out, &[], "s2");
    turn(&mut desk, "s1", &["4"]);
    assert_eq!(used(&store, &world), [format!("s1 {TODAY} a: 5 USD")]);
}

#[test]
fn what_was_told_is_not_lost_with_its_instance_nor_counted_twice() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    desk.new_session("s1", CWD);
    turn(&mut desk, "s1", &["1"]);
    ask_prompt(&mut desk, "turn", "s1", "Go");
    costs(&mut desk, "s1", "2");
    desk.wait(LONG);
    let cost = json!({"amount": 2.5, "currency": "USD"});
    let line = envelope(update("s1", json!({"sessionUpdate": "usage_update", "used": 1, "size": 2, "cost": cost})));
    let lost = vec![Arrival { peer: Peer::Agent, content: Content::Line(line) }];
    let mut desk = Desk::carry_on(&store, &world, &[], desk.memos, lost);
    desk.pull();
    answer(&mut desk, "turn", [5, 3, 2]);
    let sum: Vec<String> = used(&store, &world);
    assert_eq!(sum, ["s1 - a: 1 USD".to_owned(), format!("s1 {TODAY} a: 1.5 USD")]);
    assert_eq!(recorded(&store, "s1").as_deref(), Some("2.5 USD"));
    turn(&mut desk, "s1", &["2.5"]);
    assert_eq!(used(&store, &world), sum);
}

#[test]
fn what_was_told_in_a_turn_before_its_instance_was_lost_is_counted_with_its_end() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    for session in ["s1", "s2"] {
        desk.new_session(session, CWD);
    }
    turn(&mut desk, "s1", &["1"]);
    for session in ["s1", "s2"] {
        ask_prompt(&mut desk, session, session, "Go");
        costs(&mut desk, session, "2");
    }
    desk.wait(LONG);
    for _ in 0..2 {
        desk = Desk::carry_on(&store, &world, &[], desk.memos, Vec::new());
        desk.pull();
    }
    for session in ["s1", "s2"] {
        answer(&mut desk, session, [5, 3, 2]);
        assert_eq!(recorded(&store, session).as_deref(), Some("2 USD"));
    }
    let expected = ["s1 - a: 1 USD".to_owned(), format!("s1 {TODAY} a: 1 USD"), "s2 - a: 2 USD".to_owned()];
    let has_cost = |row: &String| !row.ends_with(": ");
    let costs: Vec<String> = used(&store, &world).into_iter().filter(has_cost).collect();
    assert_eq!(costs, expected);
    // Told again, and more, it counts as far as it is more.
    turn(&mut desk, "s1", &["2"]);
    turn(&mut desk, "s2", &["2", "2.5"]);
    assert_eq!(["s1", "s2"].map(|id| recorded(&store, id).unwrap()), ["2 USD", "2.5 USD"]);
}

#[test]
fn what_was_told_before_a_process_was_killed_is_counted_by_the_next() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &loads());
    desk.new_session("s1", CWD);
    turn(&mut desk, "s1", &["1"]);
    ask_prompt(&mut desk, "turn", "s1", "Go");
    costs(&mut desk, "s1", "2");
    desk.wait(LONG);
    drop(desk);
    let mut desk = Desk::ready(&store, &world, &loads());
    let out = ask_load(&mut desk, "load", "s1");
    oblige(&mut desk, out, &[("Go", "")], "fresh");
    turn(&mut desk, "s1", &["2.25"]);
    assert_eq!(recorded(&store, "s1").as_deref(), Some("2.25 USD"));
}

#[test]
fn what_is_told_between_turns_is_written_without_waiting_for_the_next() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    desk.new_session("s1", CWD);
    turn(&mut desk, "s1", &["1"]);
    costs(&mut desk, "s1", "1.25");
    desk.wait(LONG);
    assert_eq!(recorded(&store, "s1").as_deref(), Some("1.25 USD"));
    assert_eq!(used(&store, &world), [format!("s1 {TODAY} a: 1.25 USD")]);
}

#[test]
fn an_agent_that_is_started_again_may_count_anew() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &loads());
    desk.new_session("s1", CWD);
    turn(&mut desk, "s1", &["2"]);
    desk.revive(&loads());
    let out = ask_prompt(&mut desk, "turn", "s1", "Go");
    let asked = out.agent.iter().find(|message| message["method"] != "session/prompt").unwrap().clone();
    let out = desk.reply(&asked, json!({}));
    assert!(out.asked("session/prompt").is_some(), "{:?}", out.agent);
    costs(&mut desk, "s1", "0.5");
    desk.agent(json!({"id": "turn", "result": {"stopReason": "end_turn"}}));
    assert_eq!(recorded(&store, "s1").as_deref(), Some("2.5 USD"));
}

#[test]
fn a_deleted_session_leaves_nothing_of_what_it_has_used() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    desk.new_session("s1", CWD);
    turn(&mut desk, "s1", &["1"]);
    assert!(store.get(&[keys::usage("s1")]).unwrap()[0].is_some());
    desk.ask("session/delete", json!({"sessionId": "s1"}));
    assert!(store.get(&[keys::usage("s1")]).unwrap()[0].is_none());
    assert_eq!(used(&store, &world), [""; 0]);
}

#[test]
fn usage_costs_no_commit_and_a_store_that_fails_takes_it_later() {
    let (store, world) = (Faulty::default(), World::default());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    desk.new_session("s1", CWD);
    turn(&mut desk, "s1", &[]);
    let before = store.recordings.get();
    turn(&mut desk, "s1", &[]);
    let plain = store.recordings.get() - before;
    turn(&mut desk, "s1", &["1"]);
    assert_eq!(store.recordings.get() - before, 2 * plain, "a turn is written as often");
    ask_prompt(&mut desk, "turn", "s1", "Go");
    costs(&mut desk, "s1", "2");
    store.fail(0, 1000, StorageError::Full);
    answer(&mut desk, "turn", [5, 3, 2]);
    store.mend();
    desk.agent(says("later"));
    desk.wait(60_000);
    assert_eq!(recorded(&store, "s1").as_deref(), Some("2 USD"));
}

#[test]
fn what_cannot_be_read_is_left_and_everything_else_goes_on() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    desk.new_session("s1", CWD);
    desk.new_session("s2", CWD);
    turn(&mut desk, "s1", &["1"]);
    let damaged = Write::Put { key: keys::usage("s1"), value: "{".to_owned() };
    Store::new(&store).commit(&[], vec![damaged], acp_sessions_guest::storage::Durability::Relaxed).unwrap();
    turn(&mut desk, "s1", &["2"]);
    turn(&mut desk, "s2", &["3"]);
    assert_eq!(used(&store, &world), [format!("s2 {TODAY} a: 3 USD")]);
    assert_eq!(turns(&store, &world, "s1").len(), 2);
    let call = |cursor: &str| Call::ListUsage { limit: 0, cursor: Some(cursor.to_owned()) };
    assert!(world.recorder.typed(&store, world.time(), call("no cursor"))["error"]["invalid"].is_string());
}
