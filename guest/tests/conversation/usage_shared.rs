//! What a session costs whose agent tells all of its windows one sum, whoever has spent it; and the same of one that counts for
//! each of its processes.

use acp_sessions_guest::storage::Memory;
use serde_json::json;

use crate::desk::{Desk, World};
use crate::scenes::{CWD, LONG, ask_load, ask_prompt, ask_resume, leave, oblige};
use crate::usage::{TODAY, costs, fork, loaded, loads, recorded, tells, turn, turns, used};

/// How an agent counts.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Counts {
    /// What is stored of the session, whoever has spent it, which it tells with a history as well.
    Stored,
    /// For each process from nothing. It tells nothing with a history.
    OfProcess,
    /// The same, and what its process has counted it tells with a history.
    OfProcessTold,
}

const ALL: [Counts; 3] = [Counts::Stored, Counts::OfProcess, Counts::OfProcessTold];

/// A window, with what its agent's process has spent.
struct Window<'a> {
    desk: Desk<'a>,
    spent: f64,
}

/// The windows that have `s1` open, by their letters; what they do is written as `A+0.5` (a turn that costs so much), `B loads`,
/// `B resumes`, `B leaves`, `B is killed`, `B opens again` (in the same process), `A asks` (a turn of which no sum is told).
struct Windows<'a> {
    store: &'a Memory,
    world: &'a World,
    counts: Counts,
    open: Vec<(char, Window<'a>)>,
    spent: f64,
}

impl<'a> Windows<'a> {
    /// One window has begun the session.
    fn new(store: &'a Memory, world: &'a World, counts: Counts) -> Self {
        let mut desk = Desk::ready(store, world, &loads());
        desk.new_session("s1", CWD);
        Self { store, world, counts, open: vec![('A', Window { desk, spent: 0.0 })], spent: 0.0 }
    }

    fn window(&mut self, name: char) -> &mut Window<'a> {
        &mut self.open.iter_mut().find(|window| window.0 == name).unwrap().1
    }

    fn take(&mut self, name: char) -> Desk<'a> {
        let at = self.open.iter().position(|window| window.0 == name).unwrap();
        self.open.remove(at).1.desk
    }

    /// What an agent tells whose process has spent so much.
    fn sum(&self, of_process: f64) -> f64 {
        if self.counts == Counts::Stored { self.spent } else { of_process }
    }

    /// What an agent tells with a history whose process has spent so much.
    fn with_history(&self, of_process: f64) -> Option<String> {
        let sum = self.sum(of_process);
        Some(sum.to_string()).filter(|_| self.counts != Counts::OfProcess && sum > 0.0)
    }

    /// So much is spent in this window; what its agent tells then.
    fn spends(&mut self, name: char, amount: f64) -> String {
        self.spent += amount;
        let window = self.window(name);
        window.spent += amount;
        let spent = window.spent;
        self.sum(spent).to_string()
    }

    fn do_all(&mut self, what: &[&str]) {
        for what in what {
            self.does(what);
        }
    }

    fn does(&mut self, what: &str) {
        let name = what.chars().next().unwrap();
        match &what[1..] {
            " loads" => {
                let told = self.with_history(0.0);
                // Behind a turn whose window was killed it is loaded only where it cannot be resumed.
                let capabilities = json!({"loadSession": true, "sessionCapabilities": {"fork": {}}});
                let mut desk = Desk::ready(self.store, self.world, &capabilities);
                let asked = ask_load(&mut desk, "load", "s1").request("session/load");
                if let Some(sum) = &told {
                    costs(&mut desk, "s1", sum);
                }
                let out = desk.reply(&asked, json!({}));
                oblige(&mut desk, out, &[], "fresh");
                self.open.push((name, Window { desk, spent: 0.0 }));
            }
            " resumes" => {
                let mut desk = Desk::ready(self.store, self.world, &loads());
                let out = ask_resume(&mut desk, "resume", "s1");
                oblige(&mut desk, out, &[], "fresh");
                self.open.push((name, Window { desk, spent: 0.0 }));
            }
            " opens again" => {
                let spent = self.window(name).spent;
                let told = self.with_history(spent);
                let desk = &mut self.window(name).desk;
                let out = desk.client(json!({"id": "close", "method": "session/close", "params": {"sessionId": "s1"}}));
                oblige(desk, out, &[], "fresh").answer("close");
                let asked = ask_load(desk, "again", "s1").request("session/load");
                if let Some(sum) = &told {
                    costs(desk, "s1", sum);
                }
                let out = desk.reply(&asked, json!({}));
                oblige(desk, out, &[], "fresh");
            }
            " asks" => turn(&mut self.window(name).desk, "s1", &[]),
            " leaves" => leave(self.take(name)),
            " is killed" => drop(self.take(name)),
            amount => {
                let sum = self.spends(name, amount[1..].parse().unwrap());
                turn(&mut self.window(name).desk, "s1", &[&sum]);
            }
        }
    }
}

#[test]
fn what_all_windows_are_told_as_one_sum_counts_once_and_so_does_what_each_counts_for_itself() {
    for counts in ALL {
        for does in [
            &["A+1", "B loads", "B+0.5", "A+0.25", "B+0.125", "A+0.0625"][..],
            // The one that has loaded it is told nothing new, and then everything.
            &["A+1", "B loads", "A+0.5", "B+0.25", "A+0.125", "A+0.0625", "B+0.03125"],
            &["A+1", "B loads", "C loads", "B+0.5", "C+0.25", "A+0.125", "C+0.0625", "B+0.03125", "A+0.015625"],
            // The third has opened it without a history.
            &["A+1", "B loads", "B+0.5", "C resumes", "C+0.25", "A+0.125", "B+0.0625", "C+0.03125"],
            &["A+1", "B loads", "B+0.5", "A leaves", "A loads", "A+0.25", "B+0.125", "A+0.0625"],
            &["A+1", "B loads", "B+0.5", "B leaves", "A+0.25", "B loads", "B+0.125", "A+0.0625", "B+0.03125"],
            &["A+1", "B loads", "B+0.5", "A opens again", "A+0.25", "B opens again", "B+0.125", "A+0.0625"],
            &["A+1", "B loads", "B+0.5", "B is killed", "A+0.25", "C loads", "C+0.125", "A+0.0625", "C+0.03125"],
            &["A+1", "B loads", "A is killed", "B+0.5", "C resumes", "C+0.25", "B+0.125", "C+0.0625"],
            // Nothing was told before the other has opened it, or only there.
            &["B loads", "A+1", "C loads", "C+0.5", "A+0.25", "C+0.125"],
            &["B loads", "B+1", "C loads", "A+0.5", "C+0.25", "B+0.125", "A+0.0625"],
        ] {
            let (store, world) = (Memory::new(), World::unrecorded());
            let mut windows = Windows::new(&store, &world, counts);
            for (at, what) in does.iter().enumerate() {
                windows.does(what);
                let cost = (windows.spent > 0.0).then(|| format!("{} USD", windows.spent));
                assert_eq!(recorded(&store, "s1"), cost, "{counts:?} {:?}", &does[..=at]);
            }
            let spent = windows.spent;
            windows.open.into_iter().for_each(|(_, window)| leave(window.desk));
            assert_eq!(used(&store, &world), [format!("s1 {TODAY} a: {spent} USD")], "{counts:?} {does:?}");
        }
    }
}

/// Courses in which the second window opens the session before its agent has told that it has cost anything.
const OPENED_EARLY: [&[&str]; 5] = [
    &["B loads", "B+5", "A+7", "B+4", "A+2", "B+1"],
    &["A asks", "B loads", "B+5", "A+7", "B+4", "A+2", "B+1"],
    &["A+0", "B loads", "B+5", "A+7", "B+4", "A+2", "B+1"],
    &["A+0", "B loads", "A+5", "A+1", "B+8", "A+4", "B+1"],
    &["B loads", "C loads", "B+5", "A+7", "C+16", "B+4", "A+2", "B+1", "C+3"],
];

#[test]
fn in_a_session_that_a_window_opens_before_it_has_cost_anything_an_agent_does_what_it_did_in_another() {
    for does in OPENED_EARLY {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut first = Desk::ready(&store, &world, &loads());
        first.new_session("s0", CWD);
        turn(&mut first, "s0", &["1"]);
        loaded(&store, &world, "s0", &["1"]);
        let mut windows = Windows::new(&store, &world, Counts::Stored);
        for (at, what) in does.iter().enumerate() {
            windows.does(what);
            let cost = (windows.spent > 0.0).then(|| format!("{} USD", windows.spent));
            assert_eq!(recorded(&store, "s1"), cost, "{:?}", &does[..=at]);
        }
    }
}

#[test]
fn what_was_counted_twice_before_it_showed_that_all_are_told_one_sum_is_taken_back() {
    for does in OPENED_EARLY {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut windows = Windows::new(&store, &world, Counts::Stored);
        windows.do_all(does);
        for what in ["D loads", "B+0.5", "D+0.25", "A+0.125", "E loads", "E+0.0625"] {
            windows.does(what);
            assert_eq!(recorded(&store, "s1"), Some(format!("{} USD", windows.spent)), "{does:?} {what}");
        }
        let spent = windows.spent;
        windows.open.into_iter().for_each(|(_, window)| leave(window.desk));
        assert_eq!(used(&store, &world), [format!("s1 {TODAY} a: {spent} USD")], "{does:?}");
    }
}

#[test]
fn nothing_is_taken_back_of_what_processes_have_spent_that_each_count_for_themselves() {
    for counts in [Counts::OfProcess, Counts::OfProcessTold] {
        for does in [
            &["A asks", "B loads", "B+5", "A+7", "B+4", "A+2", "B+1"][..],
            &["A+0", "B loads", "B+5", "A+7", "B+4", "A+1"],
        ] {
            let (store, world) = (Memory::new(), World::unrecorded());
            let mut windows = Windows::new(&store, &world, counts);
            windows.do_all(does);
            for what in ["C loads", "C+0.5", "A+0.25", "B opens again", "B+0.125", "D loads", "A+0.0625"] {
                windows.does(what);
                assert_eq!(
                    recorded(&store, "s1"),
                    Some(format!("{} USD", windows.spent)),
                    "{counts:?} {does:?} {what}"
                );
            }
        }
    }
}

#[test]
fn a_fork_is_not_charged_what_was_spent_in_other_windows_of_its_parent() {
    for counts in ALL {
        for forks_in in ['A', 'B'] {
            for is_told_since in [false, true] {
                let (store, world) = (Memory::new(), World::unrecorded());
                let mut windows = Windows::new(&store, &world, counts);
                windows.do_all(&["A+1", "B loads", "B+0.5"]);
                if is_told_since {
                    windows.do_all(&["A+0.25", "B+0.125", "A+0.0625"]);
                }
                let spent = windows.window(forks_in).spent;
                let first = windows.sum(spent) + 0.5;
                let desk = &mut windows.window(forks_in).desk;
                fork(desk, &[]);
                turn(desk, "f1", &[&first.to_string()]);
                windows.does("A+0.03125");
                windows.does("B+0.015625");
                let expected = [format!("f1 {TODAY} a: 0.5 USD"), format!("s1 {TODAY} a: {} USD", windows.spent)];
                assert_eq!(used(&store, &world), expected, "{counts:?} {forks_in} {is_told_since}");
            }
        }
    }
}

/// A turn is begun in this window, in which so much is spent and told, and others can know of that.
fn begins(windows: &mut Windows<'_>, name: char, amount: f64) {
    ask_prompt(&mut windows.window(name).desk, "open", "s1", "Go on");
    goes_on(windows, name, amount);
}

/// So much more is spent and told.
fn goes_on(windows: &mut Windows<'_>, name: char, amount: f64) {
    let sum = windows.spends(name, amount);
    tells(&mut windows.window(name).desk, "s1", &sum);
}

/// The turn ends.
fn ends(windows: &mut Windows<'_>, name: char) {
    windows.window(name).desk.agent(json!({"id": "open", "result": {"stopReason": "end_turn"}}));
    windows.window(name).desk.wait(LONG);
}

#[test]
fn what_is_told_of_turns_that_overlap_counts_once_and_on_their_day() {
    for counts in [Counts::Stored, Counts::OfProcess] {
        for ends_first in ['A', 'B'] {
            for rounds in 1..4 {
                let (store, world) = (Memory::new(), World::unrecorded());
                let mut windows = Windows::new(&store, &world, counts);
                windows.do_all(&["A+1", "B loads", "B+0.5"]);
                begins(&mut windows, 'A', 0.25);
                begins(&mut windows, 'B', 0.125);
                for _ in 1..rounds {
                    goes_on(&mut windows, 'A', 0.0625);
                    goes_on(&mut windows, 'B', 0.03125);
                }
                let ends_last = if ends_first == 'A' { 'B' } else { 'A' };
                ends(&mut windows, ends_first);
                goes_on(&mut windows, ends_last, 1.0 / 64.0);
                ends(&mut windows, ends_last);
                windows.does("A+0.0078125");
                windows.does("B+0.00390625");
                let spent = windows.spent;
                windows.open.into_iter().for_each(|(_, window)| leave(window.desk));
                let expected = [format!("s1 {TODAY} a: {spent} USD")];
                assert_eq!(used(&store, &world), expected, "{counts:?} {ends_first} {rounds}");
            }
        }
    }
}

#[test]
fn what_a_third_window_counts_of_turns_that_overlap_is_taken_back() {
    for ends_first in ['A', 'B'] {
        for opens in ["C resumes", "C loads"] {
            let (store, world) = (Memory::new(), World::unrecorded());
            let mut windows = Windows::new(&store, &world, Counts::Stored);
            windows.do_all(&["A+1", "B loads"]);
            begins(&mut windows, 'A', 0.25);
            begins(&mut windows, 'B', 0.125);
            windows.does(opens);
            ends(&mut windows, ends_first);
            ends(&mut windows, if ends_first == 'A' { 'B' } else { 'A' });
            windows.does("C+0.0625");
            windows.does("A+0.03125");
            let expected = [format!("s1 {TODAY} a: {} USD", windows.spent)];
            assert_eq!(used(&store, &world), expected, "{ends_first} {opens}");
        }
    }
}

#[test]
fn what_was_told_in_a_turn_whose_window_was_killed_counts_once() {
    for killed in ['A', 'B'] {
        for is_opened_by_another in [false, true] {
            let (store, world) = (Memory::new(), World::unrecorded());
            let mut windows = Windows::new(&store, &world, Counts::Stored);
            windows.do_all(&["A+1", "B loads", "B+0.5"]);
            begins(&mut windows, killed, 0.25);
            drop(windows.take(killed));
            if is_opened_by_another {
                windows.does("C resumes");
                windows.does("C+0.125");
            }
            let left = if killed == 'A' { 'B' } else { 'A' };
            for what in [&format!("{left}+0.0625"), "D loads", "D+0.03125", &format!("{left}+0.015625")] {
                windows.does(what);
                assert_eq!(recorded(&store, "s1"), Some(format!("{} USD", windows.spent)), "{killed} {what}");
            }
        }
    }
}

#[test]
fn an_agent_that_takes_up_what_was_stored_and_counts_for_itself_is_told_by_a_sum_that_is_smaller() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut first = Desk::ready(&store, &world, &loads());
    first.new_session("s1", CWD);
    turn(&mut first, "s1", &["1"]);
    let mut other = loaded(&store, &world, "s1", &["1"]);
    turn(&mut other, "s1", &["1.5"]);
    for (sums, all) in [(["1.25", "1.75"], "2 USD"), (["2", "2.5"], "3.5 USD")] {
        turn(&mut first, "s1", &[sums[0]]);
        turn(&mut other, "s1", &[sums[1]]);
        assert_eq!(recorded(&store, "s1").as_deref(), Some(all));
    }
}

/// All orders in which several windows can do each their own, one after the other.
fn orders<'a>(of_each: &[&[&'a str]]) -> Vec<Vec<&'a str>> {
    let mut orders = Vec::new();
    for (at, own) in of_each.iter().enumerate() {
        let Some((first, rest)) = own.split_first() else { continue };
        let mut left = of_each.to_vec();
        left[at] = rest;
        orders.extend(self::orders(&left).into_iter().map(|behind| [&[*first], &behind[..]].concat()));
    }
    if orders.is_empty() { vec![Vec::new()] } else { orders }
}

/// In turns that are under way: `A 0.5` (so much is spent and told, and others cannot know of that yet), `A writes` (what it has said
/// is written, and others can know what was told), `A ends`.
fn do_in_turns(windows: &mut Windows<'_>, what: &[&str]) {
    for what in what {
        let name = what.chars().next().unwrap();
        match &what[2..] {
            "writes" => drop(windows.window(name).desk.wait(LONG)),
            "ends" => ends(windows, name),
            amount => {
                let sum = windows.spends(name, amount.parse().unwrap());
                costs(&mut windows.window(name).desk, "s1", &sum);
            }
        }
    }
}

/// What the turns have cost, by what is read of them, and what was counted without a turn.
fn of_turns(store: &Memory, world: &World) -> f64 {
    let turns = turns(store, world, "s1");
    let costs = turns.iter().flat_map(|turn| turn["used"]["costs"].as_array().unwrap());
    let of_turns: f64 = costs.map(|cost| cost["amount"].as_str().unwrap().parse::<f64>().unwrap()).sum();
    let undated = used(store, world).into_iter().filter(|row| row.contains(" - "));
    of_turns + undated.map(|row| row.rsplit(' ').nth(1).unwrap().parse::<f64>().unwrap()).sum::<f64>()
}

#[test]
fn what_is_told_in_two_windows_before_either_can_know_of_the_other_counts_once() {
    // Of an agent that counts for each of its processes it does not show whether the first sum of one has what another has spent.
    for (counts, before) in [
        (Counts::Stored, &["A+1", "B loads"][..]),
        (Counts::Stored, &["A+1", "B loads", "B+0.5", "A+0.25"]),
        (Counts::OfProcess, &["A+1", "B loads", "B+0.5", "A+0.25"]),
    ] {
        for [of_first, of_second] in [
            [&["A 8", "A writes", "A ends"][..], &["B 16", "B writes", "B ends"]],
            [&["A 8", "A writes", "A 32", "A ends"], &["B 16", "B writes", "B 64", "B ends"]],
            [&["A 8", "A 32", "A writes", "A ends"], &["B 16", "B writes", "B 64", "B ends"]],
        ] {
            for order in orders(&[of_first, of_second]) {
                let (store, world) = (Memory::new(), World::unrecorded());
                let mut windows = Windows::new(&store, &world, counts);
                windows.do_all(before);
                for name in ['A', 'B'] {
                    ask_prompt(&mut windows.window(name).desk, "open", "s1", "Go on");
                }
                do_in_turns(&mut windows, &order);
                let all = format!("{} USD", windows.spent);
                assert_eq!(recorded(&store, "s1").as_ref(), Some(&all), "{counts:?} {before:?} {order:?}");
                assert_eq!(of_turns(&store, &world).to_string(), windows.spent.to_string(), "{counts:?} {order:?}");
                windows.do_all(&["A+0.0078125", "B+0.00390625", "C loads", "C+0.001953125"]);
                let spent = windows.spent;
                windows.open.into_iter().for_each(|(_, window)| leave(window.desk));
                let expected = [format!("s1 {TODAY} a: {spent} USD")];
                assert_eq!(used(&store, &world), expected, "{counts:?} {before:?} {order:?}");
            }
        }
    }
}

#[test]
fn what_is_told_in_three_windows_before_any_can_know_of_the_others_counts_once() {
    let of_each =
        [&["A 8", "A writes", "A ends"][..], &["B 16", "B writes", "B ends"], &["C 32", "C writes", "C ends"]];
    let mut wrong = Vec::new();
    for order in orders(&of_each) {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut windows = Windows::new(&store, &world, Counts::Stored);
        windows.do_all(&["A+1", "B loads", "C loads"]);
        for name in ['A', 'B', 'C'] {
            ask_prompt(&mut windows.window(name).desk, "open", "s1", "Go on");
        }
        do_in_turns(&mut windows, &order);
        let counted: f64 = recorded(&store, "s1").unwrap().split(' ').next().unwrap().parse().unwrap();
        assert!(counted >= windows.spent, "{counted} {order:?}");
        if counted > windows.spent {
            wrong.push(order);
        }
    }
    assert!(wrong.is_empty(), "{} {wrong:?}", wrong.len());
}
