//! What a turn costs while other windows open its session: what is told in it is written with its end.

use acp_sessions_guest::engine::Peer;
use acp_sessions_guest::storage::Memory;
use serde_json::json;

use crate::desk::{Desk, World, update};
use crate::scenes::{CWD, LONG, ask_fork, ask_load, ask_prompt, ask_resume, leave, load, oblige};
use crate::usage::{TODAY, costs, fork, loads, recorded, turn, used};

/// A window at a turn of `s1`, in which its agent has told these sums, behind a turn that cost a dollar, if there was one.
fn at_turn<'a>(store: &'a Memory, world: &'a World, is_first: bool, sums: &[&str]) -> Desk<'a> {
    let mut desk = Desk::ready(store, world, &loads());
    desk.new_session("s1", CWD);
    if !is_first {
        turn(&mut desk, "s1", &["1"]);
    }
    ask_prompt(&mut desk, "open", "s1", "Go on");
    for sum in sums {
        costs(&mut desk, "s1", sum);
    }
    desk.wait(LONG);
    desk
}

/// The turn ends, with this sum told before.
fn end(desk: &mut Desk<'_>, sum: &str) {
    costs(desk, "s1", sum);
    desk.agent(json!({"id": "open", "result": {"stopReason": "end_turn"}}));
}

/// Another window has `s1` open, by a resume.
fn another<'a>(store: &'a Memory, world: &'a World) -> Desk<'a> {
    let mut desk = Desk::ready(store, world, &loads());
    let out = ask_resume(&mut desk, "resume", "s1");
    oblige(&mut desk, out, &[], "fresh").answer("resume");
    desk
}

#[test]
fn what_a_turn_costs_counts_once_and_on_its_day_though_another_window_opens_its_session_meanwhile() {
    for is_first in [false, true] {
        for is_loaded in [false, true] {
            for ends in ["ends", "is cancelled", "is left", "loses its agent"] {
                let (store, world) = (Memory::new(), World::unrecorded());
                let told = if is_first { "0.5" } else { "1.5" };
                let mut desk = at_turn(&store, &world, is_first, &[told]);
                let mut other = Desk::ready(&store, &world, &loads());
                if is_loaded {
                    load(&mut other, "s1", &[]).answer("load");
                } else {
                    other = another(&store, &world);
                }
                match ends {
                    "ends" => desk.agent(json!({"id": "open", "result": {"stopReason": "end_turn"}})),
                    "is cancelled" => {
                        desk.client(json!({"method": "session/cancel", "params": {"sessionId": "s1"}}));
                        desk.agent(json!({"id": "open", "result": {"stopReason": "cancelled"}}))
                    }
                    "is left" => {
                        desk.engine.peer_closed(Peer::Client);
                        desk.pull()
                    }
                    _ => desk.revive(&loads()),
                };
                let how = format!("{is_first} {is_loaded} {ends}");
                assert_eq!(recorded(&store, "s1"), Some(format!("{told} USD")), "{how}");
                assert_eq!(used(&store, &world), [format!("s1 {TODAY} a: {told} USD")], "{how}");
                leave(other);
                assert_eq!(used(&store, &world), [format!("s1 {TODAY} a: {told} USD")], "{how}");
            }
        }
    }
}

#[test]
fn windows_that_open_a_session_at_once_or_again_count_what_its_turn_costs_once() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut desk = at_turn(&store, &world, false, &["1.5"]);
    let mut others: Vec<Desk<'_>> = (0..2).map(|_| Desk::ready(&store, &world, &loads())).collect();
    let asked: Vec<_> = others.iter_mut().map(|other| ask_load(other, "load", "s1")).collect();
    for (other, out) in others.iter_mut().zip(asked) {
        oblige(other, out, &[], "fresh").answer("load");
    }
    costs(&mut desk, "s1", "1.625");
    desk.wait(LONG);
    others.push(another(&store, &world));
    end(&mut desk, "1.75");
    assert_eq!(used(&store, &world), [format!("s1 {TODAY} a: 1.75 USD")]);
    others.into_iter().for_each(leave);
    turn(&mut desk, "s1", &["2"]);
    assert_eq!(used(&store, &world), [format!("s1 {TODAY} a: 2 USD")]);
}

#[test]
fn a_window_that_is_prompted_amid_anothers_turn_counts_its_own_whether_its_agent_has_taken_up_the_others() {
    for sum in ["1.125", "1.625"] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut desk = at_turn(&store, &world, false, &["1.5"]);
        let mut other = another(&store, &world);
        turn(&mut other, "s1", &[sum]);
        end(&mut desk, "1.75");
        assert_eq!(used(&store, &world), [format!("s1 {TODAY} a: 1.875 USD")], "{sum}");
        assert_eq!(recorded(&store, "s1").as_deref(), Some("1.875 USD"), "{sum}");
        // An agent that has all of it says nothing new.
        [desk, other].into_iter().for_each(leave);
        let mut last = another(&store, &world);
        turn(&mut last, "s1", &["2"]);
        assert_eq!(recorded(&store, "s1").as_deref(), Some("2 USD"), "{sum}");
    }
}

#[test]
fn what_a_window_was_told_that_dies_in_its_turn_is_counted_by_who_has_opened_the_session_or_opens_it() {
    for is_opened_before in [false, true] {
        for sums in [&[][..], &["1.125"], &["1.625"]] {
            let (store, world) = (Memory::new(), World::unrecorded());
            let desk = at_turn(&store, &world, false, &["1.5"]);
            let mut before = is_opened_before.then(|| another(&store, &world));
            drop(desk);
            let mut windows = vec![before.take().unwrap_or_else(|| another(&store, &world))];
            if !sums.is_empty() {
                turn(&mut windows[0], "s1", sums);
            }
            windows.push(another(&store, &world));
            windows.into_iter().for_each(leave);
            let today = if sums.is_empty() { "1" } else { "1.125" };
            let expected = ["s1 - a: 0.5 USD".to_owned(), format!("s1 {TODAY} a: {today} USD")];
            assert_eq!(used(&store, &world), expected, "{is_opened_before} {sums:?}");
        }
    }
}

#[test]
fn a_window_that_was_not_believed_any_more_goes_on_with_its_turn() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut desk = at_turn(&store, &world, false, &["1.5"]);
    world.now.set(world.now.get() + 20_000);
    let other = another(&store, &world);
    end(&mut desk, "1.75");
    leave(other);
    assert_eq!(used(&store, &world), [format!("s1 {TODAY} a: 1.75 USD")]);
}

#[test]
fn what_another_window_has_counted_stays_counted_where_the_instance_was_lost_that_was_told_it() {
    for is_opened_after in [false, true] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let desk = at_turn(&store, &world, false, &["1.5"]);
        let before = (!is_opened_after).then(|| another(&store, &world));
        let mut desk = Desk::carry_on(&store, &world, &[], desk.memos, Vec::new());
        desk.pull();
        costs(&mut desk, "s1", "1.75");
        desk.wait(LONG);
        let other = before.unwrap_or_else(|| another(&store, &world));
        desk.agent(json!({"id": "open", "result": {"stopReason": "end_turn"}}));
        leave(other);
        let expected = ["s1 - a: 0.5 USD".to_owned(), format!("s1 {TODAY} a: 1.25 USD")];
        assert_eq!(used(&store, &world), expected, "{is_opened_after}");
        turn(&mut desk, "s1", &["2"]);
        assert_eq!(recorded(&store, "s1").as_deref(), Some("2 USD"), "{is_opened_after}");
    }
}

#[test]
fn each_currency_is_taken_back_by_itself() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut desk = at_turn(&store, &world, false, &["1.5"]);
    let mut others = vec![another(&store, &world)];
    let cost = json!({"amount": 3, "currency": "EUR"});
    desk.agent(update("s1", json!({"sessionUpdate": "usage_update", "used": 1, "size": 2, "cost": cost})));
    desk.wait(LONG);
    others.push(another(&store, &world));
    end(&mut desk, "1.75");
    others.into_iter().for_each(leave);
    assert_eq!(used(&store, &world), [format!("s1 {TODAY} a: 1.75 USD, 3 EUR")]);
}

#[test]
fn a_fork_amid_a_turn_is_not_charged_what_that_has_cost_in_whichever_window_it_is_made() {
    for is_first in [false, true] {
        // Another window has the parent open too, or does not.
        for is_open in [false, true] {
            let (store, world) = (Memory::new(), World::unrecorded());
            let (told, first) = if is_first { ("0.5", "4.5") } else { ("1.5", "5.5") };
            let mut desk = at_turn(&store, &world, is_first, &[told]);
            let mut other = if is_open { another(&store, &world) } else { Desk::ready(&store, &world, &loads()) };
            let asked = ask_fork(&mut other, "s1").request("session/fork");
            let out = other.reply(&asked, json!({"sessionId": "f1"}));
            oblige(&mut other, out, &[], "fresh");
            turn(&mut other, "f1", &[first]);
            desk.agent(json!({"id": "open", "result": {"stopReason": "end_turn"}}));
            leave(other);
            let expected = [format!("f1 {TODAY} a: 4 USD"), format!("s1 {TODAY} a: {told} USD")];
            assert_eq!(used(&store, &world), expected, "{is_first} {is_open}");
        }
    }
}

/// A window that loads `s1`; meanwhile that happens, and then its agent tells these sums with the history, as amounts and units.
fn loaded_while<'a>(store: &'a Memory, world: &'a World, meanwhile: impl FnOnce(), sums: &[(&str, &str)]) -> Desk<'a> {
    // Amid a turn it is loaded only where it cannot be resumed.
    let mut other = Desk::ready(store, world, &json!({"loadSession": true, "sessionCapabilities": {"fork": {}}}));
    let asked = ask_load(&mut other, "load", "s1").request("session/load");
    meanwhile();
    tell(&mut other, sums);
    let out = other.reply(&asked, json!({}));
    oblige(&mut other, out, &[], "fresh").answer("load");
    other
}

/// The agent tells these sums of what `s1` has cost so far, as amounts and units.
fn tell(desk: &mut Desk<'_>, sums: &[(&str, &str)]) {
    for (amount, unit) in sums {
        let amount: serde_json::Value = serde_json::from_str(amount).unwrap();
        let cost = json!({"amount": amount, "currency": unit});
        desk.agent(update("s1", json!({"sessionUpdate": "usage_update", "used": 1, "size": 2, "cost": cost})));
    }
}

#[test]
fn what_a_history_tells_of_a_turn_under_way_in_another_window_counts_once_and_on_its_day() {
    // What the turn is told before the other window asks for the history, while that is told, whether it lets others know of
    // that before the history ends or comes to that only later, and what the history says.
    for (before, meanwhile, is_known, history) in [
        (&[][..], &[("1.5", "USD")][..], true, &[("1.5", "USD")][..]),
        (&[], &[("1.5", "USD")], false, &[("1.5", "USD")]),
        (&[("1.5", "USD")], &[("1.625", "USD"), ("1.75", "USD")], true, &[("1.5", "USD"), ("1.75", "USD")]),
        (&[("1.5", "USD")], &[("1.625", "USD"), ("1.75", "USD")], false, &[("1.75", "USD")]),
        (&[("1.5", "USD"), ("2", "EUR")], &[], true, &[("1.5", "USD"), ("2", "EUR")]),
        (&[("2", "EUR"), ("1.5", "USD")], &[("3", "EUR")], false, &[("1.5", "USD"), ("3", "EUR")]),
        // The window at the turn is stopped: what it is told it reads only later.
        (&[], &[], true, &[("2", "USD"), ("3", "EUR")]),
    ] {
        for is_prompted in [false, true] {
            let (store, world) = (Memory::new(), World::unrecorded());
            let mut desk = at_turn(&store, &world, false, &[]);
            tell(&mut desk, before);
            desk.wait(LONG);
            let goes_on = || {
                tell(&mut desk, meanwhile);
                if is_known {
                    desk.wait(LONG);
                }
            };
            let mut other = loaded_while(&store, &world, goes_on, history);
            tell(&mut desk, &[("3", "EUR")]);
            end(&mut desk, "2");
            let told_there = history.iter().rfind(|(_, unit)| *unit == "USD").unwrap().0;
            let mut all = "2";
            if is_prompted {
                // Its agent goes on from what it has told. What it tells is not what was told last elsewhere: that would be the sum
                // of an agent that has all of it.
                let sums = [("1.5", "1.75", "2.25"), ("1.75", "1.9375", "2.1875"), ("2", "2.25", "2.25")];
                let (_, sum, sum_of_all) = sums.into_iter().find(|sums| sums.0 == told_there).unwrap();
                turn(&mut other, "s1", &[sum]);
                all = sum_of_all;
            }
            leave(other);
            let how = format!("{before:?} {meanwhile:?} {is_known} {history:?} {is_prompted}");
            let day = format!("s1 {TODAY} a: {all} USD, 3 EUR");
            assert_eq!(used(&store, &world), [day], "{how}");
        }
    }
}

#[test]
fn what_a_history_tells_of_several_turns_under_way_counts_once() {
    for is_second_first in [false, true] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut first = at_turn(&store, &world, false, &["1.5"]);
        let mut second = another(&store, &world);
        ask_prompt(&mut second, "open", "s1", "There");
        costs(&mut second, "s1", "1.625");
        // The agents share their sum: the first has cost a half, the second an eighth.
        let other = loaded_while(&store, &world, || {}, &[("1.625", "USD")]);
        let mut ends = [&mut first, &mut second];
        if is_second_first {
            ends.reverse();
        }
        for desk in ends {
            desk.agent(json!({"id": "open", "result": {"stopReason": "end_turn"}}));
        }
        [other, second, first].into_iter().for_each(leave);
        assert_eq!(used(&store, &world), [format!("s1 {TODAY} a: 1.625 USD")], "{is_second_first}");
    }
}

#[test]
fn what_was_counted_ahead_of_a_window_it_is_told_all_the_same() {
    for sum in ["1.5", "2"] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut desk = Desk::ready(&store, &world, &loads());
        desk.new_session("s1", CWD);
        turn(&mut desk, "s1", &["1"]);
        leave(desk);
        // It is told nothing of the session before its turn, and in that only when another window has opened the session.
        let mut desk = another(&store, &world);
        ask_prompt(&mut desk, "open", "s1", "Go on");
        desk.wait(LONG);
        let other = loaded_while(&store, &world, || {}, &[("1.5", "USD")]);
        assert_eq!(recorded(&store, "s1").as_deref(), Some("1.5 USD"));
        end(&mut desk, sum);
        [other, desk].into_iter().for_each(leave);
        assert_eq!(used(&store, &world), [format!("s1 {TODAY} a: {sum} USD")]);
    }
}

#[test]
fn a_window_that_opens_a_session_amid_a_turn_goes_on_from_what_its_agent_has_taken_up_of_it() {
    // The turn has cost 2 when the other window's agent has opened the session, and 3 in the end; or that agent has not kept it.
    for first in ["2.25", "1.25", "3.25"] {
        for is_known_before in [false, true] {
            let (store, world) = (Memory::new(), World::unrecorded());
            let mut desk = at_turn(&store, &world, false, if is_known_before { &["1.5"] } else { &[] });
            let goes_on = || {
                costs(&mut desk, "s1", "2");
                desk.wait(LONG);
            };
            let mut other = loaded_while(&store, &world, goes_on, &[]);
            end(&mut desk, "3");
            turn(&mut other, "s1", &[first]);
            leave(other);
            assert_eq!(used(&store, &world), [format!("s1 {TODAY} a: 3.25 USD")], "{first} {is_known_before}");
        }
    }
}

#[test]
fn a_fork_in_a_window_that_has_heard_nothing_of_what_its_parent_cost_since_is_not_charged_that() {
    // Whether what has come since is written or of a turn under way, and what the fork's agent goes on from: what its parent
    // has cost by now, or had when it was opened.
    for is_written in [false, true] {
        for first in ["3.5", "1.5"] {
            for is_loaded in [false, true] {
                let (store, world) = (Memory::new(), World::unrecorded());
                let mut desk = Desk::ready(&store, &world, &loads());
                desk.new_session("s1", CWD);
                turn(&mut desk, "s1", &["1"]);
                let mut other =
                    if is_loaded { loaded_while(&store, &world, || {}, &[]) } else { another(&store, &world) };
                ask_prompt(&mut desk, "open", "s1", "Go on");
                costs(&mut desk, "s1", "3");
                desk.wait(LONG);
                let ends = |desk: &mut Desk<'_>| {
                    desk.agent(json!({"id": "open", "result": {"stopReason": "end_turn"}}));
                };
                if is_written {
                    ends(&mut desk);
                }
                fork(&mut other, &[]);
                turn(&mut other, "f1", &[first]);
                if !is_written {
                    ends(&mut desk);
                }
                leave(other);
                let expected = [format!("f1 {TODAY} a: 0.5 USD"), format!("s1 {TODAY} a: 3 USD")];
                assert_eq!(used(&store, &world), expected, "{is_written} {first} {is_loaded}");
            }
        }
    }
}

#[test]
fn a_fork_goes_on_from_before_a_turn_that_its_agent_has_not_kept_whoever_has_opened_its_parent_amid_that() {
    // The window that forks, the one that has opened the parent or another; what the former is told as it opens it; and what the
    // fork's agent goes on from.
    for is_same in [true, false] {
        for (history, firsts) in [(&[][..], &["1.0625", "3.0625"][..]), (&[("1", "USD")], &["1.0625"])] {
            for first in firsts {
                let (store, world) = (Memory::new(), World::unrecorded());
                let mut desk = at_turn(&store, &world, false, &["3"]);
                let mut other = loaded_while(&store, &world, || {}, history);
                let mut last = Desk::ready(&store, &world, &loads());
                let forks = if is_same { &mut other } else { &mut last };
                fork(forks, &[]);
                turn(forks, "f1", &[first]);
                end(&mut desk, "3.5");
                [other, last].into_iter().for_each(leave);
                let expected = [format!("f1 {TODAY} a: 0.0625 USD"), format!("s1 {TODAY} a: 3.5 USD")];
                assert_eq!(used(&store, &world), expected, "{is_same} {first} {history:?}");
            }
        }
    }
}
