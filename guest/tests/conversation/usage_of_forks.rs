//! What forks use: what they were begun with their parents have spent, however their agents go on counting.

use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, World};
use crate::scenes::{CWD, ask_resume, leave, listing, load, oblige, updates};
use crate::usage::{DAY, TODAY, costing, fork, forked, loaded, loads, recorded, turn, turns, two_windows, used};

#[test]
fn a_fork_has_not_spent_what_its_parent_has() {
    for (told, first) in [
        // The agent goes on counting, says so before anything was said, or begins at nothing.
        (&[][..], "2.5"),
        (&["1", "2"][..], "2.5"),
        (&["0"][..], "0.5"),
        (&[][..], "0.5"),
    ] {
        let (store, world) = (Memory::new(), World::default());
        let mut desk = Desk::ready(&store, &world, &loads());
        desk.new_session("s1", CWD);
        turn(&mut desk, "s1", &["2"]);
        world.now.set(1000);
        fork(&mut desk, told);
        assert_eq!(recorded(&store, "f1"), None, "{told:?}");
        turn(&mut desk, "f1", &[first]);
        turn(&mut desk, "s1", &["3"]);
        assert_eq!(used(&store, &world), [format!("f1 {TODAY} a: 0.5 USD"), format!("s1 {TODAY} a: 3 USD")]);
        assert_eq!((turns(&store, &world, "f1").len(), turns(&store, &world, "s1").len()), (1, 2));
    }
}

#[test]
fn a_fork_begins_at_what_its_own_windows_agent_has_said_of_its_parent() {
    for (sums, forks_in, first, parents) in [
        (&["0.7", "1"][..], 0, "0.8", "1"),
        (&["0.7", "1", "0.75"], 1, "1.1", "1.05"),
        // It begins at nothing.
        (&["0.7", "1"], 0, "0.1", "1"),
    ] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut windows = two_windows(&store, &world, sums);
        let desk = &mut windows[forks_in];
        fork(desk, &[]);
        assert_eq!(recorded(&store, "f1"), None, "{sums:?}");
        turn(desk, "f1", &[first]);
        assert_eq!(
            used(&store, &world),
            [format!("f1 {TODAY} a: 0.1 USD"), format!("s1 {TODAY} a: {parents} USD")],
            "{sums:?}"
        );
    }
}

#[test]
fn a_fork_begins_at_the_largest_sum_that_its_agent_can_have_taken_up_where_its_window_was_told_none() {
    // What all windows' agents have spent, what was told last, or nothing.
    for (first, used_by_fork) in [("1.15", "0.1"), ("0.85", "0.1"), ("0.1", "0.1")] {
        let (store, world) = (Memory::new(), World::unrecorded());
        two_windows(&store, &world, &["0.7", "1", "0.75"]).into_iter().for_each(leave);
        let mut desk = Desk::ready(&store, &world, &loads());
        fork(&mut desk, &[]);
        turn(&mut desk, "f1", &[first]);
        let expected = [format!("f1 {TODAY} a: {used_by_fork} USD"), format!("s1 {TODAY} a: 1.05 USD")];
        assert_eq!(used(&store, &world), expected, "{first}");
    }
}

#[test]
fn a_forks_history_does_not_tell_what_its_parent_has_cost() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut desk = Desk::ready(&store, &world, &loads());
    desk.new_session("s1", CWD);
    turn(&mut desk, "s1", &["2"]);
    fork(&mut desk, &[]);
    for (session, cost) in [("s1", json!({"amount": 2, "currency": "USD"})), ("f1", Value::Null)] {
        let out = load(&mut desk, session, &[]);
        let told = updates(&out, "usage_update");
        assert_eq!((&told[0]["used"], &told[0]["cost"]), (&json!(10), &cost), "{session}");
    }
}

#[test]
fn what_is_known_of_a_forks_own_count_is_without_its_parents() {
    // What the fork is told to have cost first, what it has cost then, and what is told with its history later.
    for (first, later) in [("2.5", "2.75"), ("0.5", "0.75")] {
        for is_told_later in [false, true] {
            let (store, world) = (Memory::new(), World::unrecorded());
            let mut desk = Desk::ready(&store, &world, &loads());
            desk.new_session("s1", CWD);
            turn(&mut desk, "s1", &["2"]);
            fork(&mut desk, &[]);
            turn(&mut desk, "f1", if is_told_later { &[] } else { std::slice::from_ref(&first) });
            leave(desk);
            for sum in [first, later, first] {
                leave(loaded(&store, &world, "f1", &[sum]));
            }
            // A smaller sum than its parent's says that the fork began at nothing only where it is told as it is spent.
            let cost = Some("0.75 USD").filter(|_| first == "2.5" || !is_told_later);
            assert_eq!(recorded(&store, "f1").as_deref(), cost, "{first} {is_told_later}");
        }
    }
}

#[test]
fn a_fork_in_the_agents_list_begins_at_what_its_parent_was_said_to_have_cost() {
    let rows = |sum: &str| {
        vec![
            costing("p1", "2"),
            forked("f1", "p1", sum),
            // A fork of that, one of which nothing was said since, and one that has a count of its own.
            forked("f2", "f1", "3.25"),
            forked("f3", "p1", "2"),
            forked("f4", "p1", "0.5"),
        ]
    };
    let of = |f1: &str, f2: &str| {
        [("f1", f1), ("f2", f2), ("f4", "0.5"), ("p1", "2")].map(|(id, all)| format!("{id} - a: {all} USD")).to_vec()
    };
    for is_turned in [false, true] {
        let (store, world) = (Memory::new(), World::default());
        for (sum, used_then) in [("2.5", of("0.5", "0.75")), ("2.5", of("0.5", "0.75")), ("3", of("1", "0.75"))] {
            let mut rows = rows(sum);
            if is_turned {
                rows.reverse();
            }
            leave(listing(&store, &world, "a", &json!({}), &rows));
            assert_eq!(used(&store, &world), used_then, "{sum} {is_turned}");
            assert_eq!(recorded(&store, "f3"), None);
        }
        // What is said of them here goes on from that.
        let capabilities = json!({"sessionCapabilities": {"resume": {}}});
        let mut desk = listing(&store, &world, "a", &capabilities, &rows("3"));
        for (id, sum) in [("f1", "3.5"), ("f3", "2.25")] {
            let out = ask_resume(&mut desk, "resume", id);
            oblige(&mut desk, out, &[], id).answer("resume");
            turn(&mut desk, id, &[sum]);
        }
        let today = [("f1", "0.5"), ("f3", "0.25")].map(|(id, more)| format!("{id} {TODAY} a: {more} USD"));
        assert!(today.iter().all(|row| used(&store, &world).contains(row)), "{:?}", used(&store, &world));
        assert_eq!(recorded(&store, "f1").as_deref(), Some("1.5 USD"));
        assert_eq!(recorded(&store, "f3").as_deref(), Some("0.25 USD"));
    }
}

#[test]
fn what_was_counted_of_a_fork_before_its_parent_was_known_is_counted_once() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = listing(&store, &world, "a", &json!({}), &[forked("f1", "p1", "2.5"), forked("f2", "p1", "0.5")]);
    assert_eq!(used(&store, &world), ["f1 - a: 2.5 USD", "f2 - a: 0.5 USD"]);
    desk.wait(2 * DAY);
    let rows = [forked("f1", "p1", "2.5"), forked("f2", "p1", "0.5"), costing("p1", "2")];
    for _ in 0..2 {
        let mut desk = listing(&store, &world, "a", &json!({}), &rows);
        assert_eq!(used(&store, &world), ["f1 - a: 0.5 USD", "f2 - a: 0.5 USD", "p1 - a: 2 USD"]);
        let listed = desk.ask("session/list", json!({"limit": 10}))["result"]["sessions"].clone();
        let fork = listed.as_array().unwrap().iter().find(|row| row["sessionId"] == "f1").unwrap();
        assert_eq!((&fork["cost"]["amount"], &fork["forkedFrom"]), (&json!(0.5), &json!("p1")));
        leave(desk);
    }
}
