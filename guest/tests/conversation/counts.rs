//! Which count a sum of an agent's goes on with: a fork's or its parent's, this window's or another's.

use acp_sessions_guest::storage::Memory;
use serde_json::json;

use crate::desk::{Desk, World, update};
use crate::scenes::{CWD, ask_resume, leave, listing, oblige};
use crate::usage::{TODAY, costing, fork, forked, loaded, loads, recorded, turn, two_windows, used};

#[test]
fn a_fork_in_a_window_whose_agent_is_behind_is_not_charged_what_its_parent_is_known_to_have_cost() {
    for told in [&[][..], &["0.7"]] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut windows = two_windows(&store, &world, &["0.7", "1.05"]);
        fork(&mut windows[0], told);
        turn(&mut windows[0], "f1", &["0.8"]);
        windows.into_iter().for_each(leave);
        // The list has what both windows know of the parent, and the fork with it.
        for (sum, all) in [("1.15", "0.1"), ("0.8", "0.1"), ("1.2", "0.15")] {
            leave(listing(&store, &world, "a", &loads(), &[costing("s1", "1.05"), forked("f1", "s1", sum)]));
            assert_eq!(recorded(&store, "f1"), Some(format!("{all} USD")), "{sum} {told:?}");
        }
        let fork = ["f1 - a: 0.05 USD".to_owned(), format!("f1 {TODAY} a: 0.1 USD")];
        assert_eq!(used(&store, &world), [&fork[..], &[format!("s1 {TODAY} a: 1.05 USD")]].concat());
    }
}

#[test]
fn a_window_counts_from_what_was_told_when_it_opened_the_session_unless_its_agent_takes_up_what_came_since() {
    for (there, all) in [("12", "22"), ("22", "22"), ("9", "29")] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut first = Desk::ready(&store, &world, &loads());
        first.new_session("s1", CWD);
        turn(&mut first, "s1", &["10"]);
        let mut second = Desk::ready(&store, &world, &loads());
        let out = ask_resume(&mut second, "resume", "s1");
        oblige(&mut second, out, &[], "fresh");
        turn(&mut first, "s1", &["20"]);
        turn(&mut second, "s1", &[there]);
        assert_eq!(used(&store, &world), [format!("s1 {TODAY} a: {all} USD")], "{there}");
    }
}

#[test]
fn a_fork_is_counted_in_the_window_that_made_it_from_where_it_began_whatever_was_told_of_it_elsewhere() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut first = Desk::ready(&store, &world, &loads());
    first.new_session("s1", CWD);
    turn(&mut first, "s1", &["20"]);
    fork(&mut first, &[]);
    let mut second = Desk::ready(&store, &world, &loads());
    let out = ask_resume(&mut second, "resume", "f1");
    oblige(&mut second, out, &[], "fresh");
    turn(&mut second, "f1", &["35"]);
    turn(&mut first, "f1", &["24"]);
    assert_eq!(used(&store, &world), [format!("f1 {TODAY} a: 19 USD"), format!("s1 {TODAY} a: 20 USD")]);
}

/// The agent tells in a turn, or outside of one, what its session has cost so far in this currency.
fn costs_in(desk: &mut Desk<'_>, agent_id: &str, amount: u32, currency: &str) {
    let cost = json!({"amount": amount, "currency": currency});
    desk.agent(update(agent_id, json!({"sessionUpdate": "usage_update", "used": 1, "size": 2, "cost": cost})));
}

#[test]
fn a_fork_begins_at_each_of_its_parents_sums_also_where_the_agent_tells_one_of_them_when_it_forks() {
    for is_told_first in [false, true] {
        for is_known_from_elsewhere in [false, true] {
            let (store, world) = (Memory::new(), World::unrecorded());
            let mut desk = Desk::ready(&store, &world, &loads());
            desk.new_session("s1", CWD);
            turn(&mut desk, "s1", &["4"]);
            if is_known_from_elsewhere {
                let mut other = Desk::ready(&store, &world, &loads());
                let out = ask_resume(&mut other, "resume", "s1");
                oblige(&mut other, out, &[], "fresh");
                costs_in(&mut other, "s1", 6, "EUR");
                leave(other);
            } else {
                costs_in(&mut desk, "s1", 6, "EUR");
            }
            fork(&mut desk, if is_told_first { &["4"] } else { &[] });
            costs_in(&mut desk, "f1", 7, "EUR");
            costs_in(&mut desk, "f1", 6, "USD");
            leave(desk);
            let fork = format!("f1 {TODAY} a: 1 EUR, 2 USD");
            let parent = format!("s1 {TODAY} a: 4 USD, 6 EUR");
            assert_eq!(used(&store, &world), [fork, parent], "{is_told_first} {is_known_from_elsewhere}");
        }
    }
}

#[test]
fn what_another_window_is_told_first_is_known_in_the_window_that_has_made_the_session() {
    for has_prompted in [false, true] {
        for is_listed in [false, true] {
            let (store, world) = (Memory::new(), World::unrecorded());
            let mut first = Desk::ready(&store, &world, &loads());
            first.new_session("s1", CWD);
            if has_prompted {
                turn(&mut first, "s1", &[]);
            }
            let mut other = Desk::ready(&store, &world, &loads());
            let out = ask_resume(&mut other, "resume", "s1");
            oblige(&mut other, out, &[], "fresh");
            turn(&mut other, "s1", &["5"]);
            turn(&mut first, "s1", &["3"]);
            [first, other].into_iter().for_each(leave);
            // The agent has the sum of both.
            for (sum, all) in [("8", "8 USD"), ("8.5", "8.5 USD")] {
                leave(if is_listed {
                    listing(&store, &world, "a", &loads(), &[costing("s1", sum)])
                } else {
                    loaded(&store, &world, "s1", &[sum])
                });
                assert_eq!(recorded(&store, "s1").as_deref(), Some(all), "{has_prompted} {is_listed}");
            }
        }
    }
}

#[test]
fn the_first_sum_of_a_session_that_was_made_here_has_a_day_also_in_another_window_and_later() {
    for is_left in [false, true] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut first = Desk::ready(&store, &world, &loads());
        first.new_session("s1", CWD);
        turn(&mut first, "s1", &[]);
        let still_open = if is_left {
            leave(first);
            None
        } else {
            Some(first)
        };
        let mut other = Desk::ready(&store, &world, &loads());
        let out = ask_resume(&mut other, "resume", "s1");
        oblige(&mut other, out, &[], "fresh");
        turn(&mut other, "s1", &["5"]);
        assert_eq!(used(&store, &world), [format!("s1 {TODAY} a: 5 USD")], "{is_left}");
        drop(still_open);
    }
}

#[test]
fn a_fork_is_not_charged_a_smaller_sum_of_its_parents_that_a_list_or_a_history_tells_late() {
    for is_listed in [false, true] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut desk = Desk::ready(&store, &world, &loads());
        desk.new_session("s1", CWD);
        turn(&mut desk, "s1", &["4", "5"]);
        fork(&mut desk, &[]);
        leave(desk);
        // It has come to nothing, whatever is told of the past, until that is more than its parent's.
        for sum in ["4", "0.3", "0", "4.5", "5"] {
            leave(if is_listed {
                listing(&store, &world, "a", &loads(), &[costing("s1", "4"), forked("f1", "s1", sum)])
            } else {
                loaded(&store, &world, "f1", &[sum])
            });
            assert_eq!([recorded(&store, "f1"), recorded(&store, "s1")], [None, Some("5 USD".to_owned())], "{sum}");
        }
        let mut desk = loaded(&store, &world, "f1", &["5"]);
        turn(&mut desk, "f1", &["7"]);
        assert_eq!(recorded(&store, "f1").as_deref(), Some("2 USD"), "{is_listed}");
    }
}

#[test]
fn what_comes_to_a_fork_whose_agent_is_behind_with_its_history_is_what_it_has_cost() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut desk = Desk::ready(&store, &world, &loads());
    desk.new_session("s1", CWD);
    turn(&mut desk, "s1", &["1.5", "1.75"]);
    fork(&mut desk, &[]);
    leave(desk);
    let mut desk = loaded(&store, &world, "f1", &["1.5"]);
    assert_eq!(recorded(&store, "f1"), None);
    turn(&mut desk, "f1", &["1.6"]);
    assert_eq!(recorded(&store, "f1").as_deref(), Some("0.1 USD"));
}

#[test]
fn a_window_that_opens_a_session_again_goes_on_from_what_it_was_told_itself() {
    // What the first window is told, the second, and the first when it has opened the session again; what it has cost then.
    for (sums, again, all) in [
        // Each agent counts for itself.
        (["4", "1"], "4.5", "5.5"),
        // That of the first has let go of its count.
        (["4", "1"], "0.5", "5.5"),
        // It takes up what is counted elsewhere.
        (["4", "5"], "5.5", "5.5"),
    ] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut windows = two_windows(&store, &world, &sums);
        let desk = &mut windows[0];
        let out = desk.client(json!({"id": "close", "method": "session/close", "params": {"sessionId": "s1"}}));
        oblige(desk, out, &[], "fresh").answer("close");
        let out = ask_resume(desk, "resume", "s1");
        oblige(desk, out, &[], "fresh").answer("resume");
        turn(desk, "s1", &[again]);
        assert_eq!(recorded(&store, "s1"), Some(format!("{all} USD")), "{sums:?} {again}");
    }
    // An agent that was started again has none of it, and begins with what the store has.
    let (store, world) = (Memory::new(), World::unrecorded());
    let [mut desk, other] = two_windows(&store, &world, &["4", "1"]);
    let out = desk.client(json!({"id": "close", "method": "session/close", "params": {"sessionId": "s1"}}));
    oblige(&mut desk, out, &[], "fresh").answer("close");
    desk.revive(&loads());
    let out = ask_resume(&mut desk, "resume", "s1");
    oblige(&mut desk, out, &[], "fresh").answer("resume");
    turn(&mut desk, "s1", &["1.5"]);
    assert_eq!(recorded(&store, "s1").as_deref(), Some("5.5 USD"));
    leave(other);
}
