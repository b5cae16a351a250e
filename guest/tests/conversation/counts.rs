//! Which count a sum of an agent's goes on with: a fork's or its parent's, this window's or another's.

use acp_sessions_guest::storage::Memory;
use serde_json::json;

use crate::desk::{Desk, World};
use crate::scenes::{ask_fork, leave, listing, oblige};
use crate::usage::{TODAY, costing, costs, forked, loads, recorded, turn, two_windows, used};

/// The agent forks `s1`, and calls the fork `f1`; it tells these sums of the fork before it answers.
fn fork(desk: &mut Desk<'_>, told: &[&str]) {
    let asked = ask_fork(desk, "s1").request("session/fork");
    for sum in told {
        costs(desk, "f1", sum);
    }
    let out = desk.reply(&asked, json!({"sessionId": "f1"}));
    oblige(desk, out, &[], "fresh");
}

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
