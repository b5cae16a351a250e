//! What several tell of one session's costs, the agents of two windows, a history and the agent's list: what is known counts once.

use acp_sessions_guest::storage::Memory;
use serde_json::json;

use crate::desk::{Desk, World};
use crate::scenes::{CWD, ask_load, ask_prompt, ask_resume, leave, listing, oblige};
use crate::usage::{TODAY, costing, costs, forked, loaded, loads, recorded, tells, turn, two_windows, used};

#[test]
fn what_is_told_again_counts_once_whoever_opens_the_session() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &loads());
    desk.new_session("s1", CWD);
    turn(&mut desk, "s1", &["1", "2"]);
    leave(desk);
    for _ in 0..2 {
        // A replay may tell how the sum has grown.
        let mut desk = loaded(&store, &world, "s1", &["1", "2"]);
        turn(&mut desk, "s1", &["2"]);
        assert_eq!(used(&store, &world), [format!("s1 {TODAY} a: 2 USD")]);
        leave(desk);
    }
    // What was spent elsewhere since is the session's, and has no day.
    let mut desk = Desk::ready(&store, &world, &loads());
    let asked = ask_load(&mut desk, "load", "s1").request("session/load");
    costs(&mut desk, "s1", "5");
    desk.reply(&asked, json!({}));
    assert_eq!(used(&store, &world), ["s1 - a: 3 USD".to_owned(), format!("s1 {TODAY} a: 2 USD")]);
    assert_eq!(recorded(&store, "s1").as_deref(), Some("5 USD"));
}

#[test]
fn two_windows_with_agents_of_their_own_count_each_for_itself() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &loads());
    desk.new_session("s1", CWD);
    turn(&mut desk, "s1", &["1"]);
    let mut other = Desk::ready(&store, &world, &loads());
    let out = ask_resume(&mut other, "resume", "s1");
    oblige(&mut other, out, &[], "fresh");
    ask_prompt(&mut other, "turn", "s1", "There");
    turn(&mut desk, "s1", &["3"]);
    costs(&mut other, "s1", "1.5");
    other.agent(json!({"id": "turn", "result": {"stopReason": "end_turn"}}));
    turn(&mut desk, "s1", &["4"]);
    assert_eq!(used(&store, &world), [format!("s1 {TODAY} a: 4.5 USD")]);
}

#[test]
fn what_one_window_was_told_counts_no_more_when_it_is_told_again() {
    for sum in ["0.7", "0.75", "1", "1.05"] {
        for is_listed in [false, true] {
            let (store, world) = (Memory::new(), World::unrecorded());
            two_windows(&store, &world, &["0.7", "1", "0.75"]).into_iter().for_each(leave);
            let again = |sum: &str| {
                leave(if is_listed {
                    listing(&store, &world, "a", &loads(), &[costing("s1", sum)])
                } else {
                    loaded(&store, &world, "s1", &[sum])
                });
            };
            for _ in 0..2 {
                again(sum);
                assert_eq!(used(&store, &world), [format!("s1 {TODAY} a: 1.05 USD")], "{sum} {is_listed}");
            }
            // What is more than both windows were told was spent elsewhere.
            again("1.25");
            let all = ["s1 - a: 0.2 USD".to_owned(), format!("s1 {TODAY} a: 1.05 USD")];
            assert_eq!(used(&store, &world), all, "{sum} {is_listed}");
            // And the next is compared with that.
            let mut desk = Desk::ready(&store, &world, &loads());
            let out = ask_resume(&mut desk, "resume", "s1");
            oblige(&mut desk, out, &[], "fresh");
            turn(&mut desk, "s1", &["1.3"]);
            assert_eq!(recorded(&store, "s1").as_deref(), Some("1.3 USD"), "{sum} {is_listed}");
        }
    }
}

#[test]
fn an_agent_that_was_started_again_may_have_taken_up_what_others_have_spent() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let [mut first, mut second] = two_windows(&store, &world, &["1", "1.5"]);
    let again = second.revive(&loads());
    assert!(again.client.is_empty());
    tells(&mut first, "s1", "2");
    let out = ask_prompt(&mut second, "next", "s1", "On");
    oblige(&mut second, out, &[], "fresh").answer("next");
    tells(&mut second, "s1", "2.75");
    assert_eq!(used(&store, &world), [format!("s1 {TODAY} a: 2.75 USD")]);
}

#[test]
fn a_smaller_sum_that_is_told_with_a_history_counts_nothing_and_the_next_is_compared_with_it() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut desk = Desk::ready(&store, &world, &loads());
    desk.new_session("s1", CWD);
    turn(&mut desk, "s1", &["1.5"]);
    turn(&mut desk, "s1", &["1.75"]);
    leave(desk);
    // The agent has not kept what it told last.
    for _ in 0..2 {
        leave(loaded(&store, &world, "s1", &["1.5"]));
        assert_eq!(used(&store, &world), [format!("s1 {TODAY} a: 1.75 USD")]);
    }
    let mut desk = loaded(&store, &world, "s1", &["1.5"]);
    turn(&mut desk, "s1", &["1.8"]);
    assert_eq!(used(&store, &world), [format!("s1 {TODAY} a: 2.05 USD")]);
    leave(desk);
    // What is more than that sum, and not more than is known, counts nothing either; what is more than is known does.
    for (sum, elsewhere) in [("2", None), ("2.05", None), ("1", None), ("2.5", Some("0.45")), ("2.25", Some("0.45"))] {
        leave(loaded(&store, &world, "s1", &[sum]));
        let elsewhere = elsewhere.map(|amount| format!("s1 - a: {amount} USD"));
        let all: Vec<String> = elsewhere.into_iter().chain([format!("s1 {TODAY} a: 2.05 USD")]).collect();
        assert_eq!(used(&store, &world), all, "{sum}");
    }
    // A process that counts anew says so outside of the history, and all of it counts.
    let mut desk = loaded(&store, &world, "s1", &["2.25"]);
    turn(&mut desk, "s1", &["0.5", "0.75"]);
    assert_eq!(recorded(&store, "s1").as_deref(), Some("3.25 USD"));
    leave(desk);
    // Or begins its count with the history.
    let mut desk = loaded(&store, &world, "s1", &["0"]);
    turn(&mut desk, "s1", &["0.25"]);
    assert_eq!(recorded(&store, "s1").as_deref(), Some("3.5 USD"));
}

#[test]
fn what_an_agents_list_says_that_a_session_has_cost_counts_as_far_as_it_was_not_heard_of() {
    let (store, world) = (Memory::new(), World::default());
    let capabilities = json!({"sessionCapabilities": {"resume": {}}});
    for (amount, days) in [
        ("1.5", "s1 - a: 1.5 USD"),
        // The same again, and an older list.
        ("1.5", "s1 - a: 1.5 USD"),
        ("1.25", "s1 - a: 1.5 USD"),
        ("2", "s1 - a: 2 USD"),
    ] {
        leave(listing(&store, &world, "a", &capabilities, &[costing("s1", amount)]));
        assert_eq!(used(&store, &world), [days], "{amount}");
    }
    // A turn here adds to the same sum, and is not counted again from the list.
    let mut desk = listing(&store, &world, "a", &capabilities, &[costing("s1", "2")]);
    let out = ask_resume(&mut desk, "resume", "s1");
    oblige(&mut desk, out, &[], "s1").answer("resume");
    turn(&mut desk, "s1", &["2.25"]);
    // What another window reads in the list meanwhile is left to this one.
    leave(listing(&store, &world, "a", &capabilities, &[costing("s1", "2.5")]));
    turn(&mut desk, "s1", &["2.5"]);
    leave(desk);
    let mut desk = listing(&store, &world, "a", &capabilities, &[costing("s1", "2.5"), costing("s1", "2.5")]);
    assert_eq!(used(&store, &world), ["s1 - a: 2 USD".to_owned(), format!("s1 {TODAY} a: 0.5 USD")]);
    let draft = json!({"limit": 10});
    assert_eq!(desk.ask("session/list", draft)["result"]["sessions"][0]["cost"]["amount"], 2.5);
}

#[test]
fn an_agents_list_may_have_the_sum_of_all_its_processes_which_each_count_for_themselves() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let capabilities = json!({"sessionCapabilities": {"resume": {}}});
    let mut desk = listing(&store, &world, "a", &capabilities, &[]);
    desk.new_session("s1", CWD);
    turn(&mut desk, "s1", &["2"]);
    leave(desk);
    let mut before = "2";
    for (told, sum) in [("1", "3"), ("0.5", "3.5"), ("0.25", "3.75")] {
        let mut desk = listing(&store, &world, "a", &capabilities, &[costing("s1", before)]);
        let out = ask_resume(&mut desk, "resume", "s1");
        oblige(&mut desk, out, &[], "s1").answer("resume");
        turn(&mut desk, "s1", &[told]);
        leave(desk);
        // An older list says less.
        for listed in [sum, before, sum] {
            leave(listing(&store, &world, "a", &capabilities, &[costing("s1", listed)]));
            assert_eq!(used(&store, &world), [format!("s1 {TODAY} a: {sum} USD")], "{listed}");
        }
        before = sum;
    }
    leave(listing(&store, &world, "a", &capabilities, &[costing("s1", "4")]));
    assert_eq!(used(&store, &world), ["s1 - a: 0.25 USD".to_owned(), format!("s1 {TODAY} a: 3.75 USD")]);
    // A fork has not spent what all of them have.
    let forks = [costing("s1", "4"), forked("f1", "s1", "4.5"), forked("f2", "s1", "0.5")];
    leave(listing(&store, &world, "a", &capabilities, &forks));
    let of = |id: &str| recorded(&store, id);
    assert_eq!([of("f1"), of("f2"), of("s1")], ["0.5 USD", "0.5 USD", "4 USD"].map(|cost| Some(cost.to_owned())));
}
