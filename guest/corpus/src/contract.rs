//! The conformance suite of storages (`tests/storage`, where its README has the format), played with any of them.

mod call;
mod case;
mod state;

use std::io;

use acp_sessions_guest::storage::{Durability, Storage, Write};
use serde_json::Value;

use self::case::{Case, Cost, Step, cases};

pub use self::call::{Call, Expected, Hit, Scope, Term, Wanted};
pub use self::case::{LARGE, SMALL};
pub use self::state::State;

/// The work may grow so many times while a store grows from [`SMALL`] to [`LARGE`].
pub const MOST_GROWTH: u64 = 2;

/// The errors that say in a text what is wrong.
const WITH_TEXT: [&str; 2] = ["corrupt", "unavailable"];

/// What a storage breaks of the contract, each with the name of the case; none where it keeps it. Each case is played with an
/// empty store that `open` gives. What it `lacks` is of the README's words; all states are among it.
pub fn broken<S: Storage>(lacks: &[&str], open: impl FnMut() -> S) -> io::Result<Vec<String>> {
    let lacks: Vec<_> = lacks.iter().copied().chain(State::ALL.map(State::name)).collect();
    broken_in_states(&lacks, open, |_, _| {})
}

/// The same, also in the states that a storage does not lack: `turn` brings it into one, and it stays in it.
pub fn broken_in_states<S: Storage>(
    lacks: &[&str],
    mut open: impl FnMut() -> S,
    mut turn: impl FnMut(&S, State),
) -> io::Result<Vec<String>> {
    let mut found = Vec::new();
    for (name, case) in of_storage(lacks)? {
        let store = open();
        for (nth, step) in case.steps.iter().enumerate() {
            let called = match step {
                Step::Turn(to) => {
                    turn(&store, to.turns);
                    continue;
                }
                Step::Call(called) => called,
            };
            let answer = called.call.answer(&store);
            if !is_wanted(&called.returns, &answer) {
                found.push(format!(
                    "{name}: {}\n  step {nth} {:?}\n  wanted   {}\n  returned {answer}",
                    case.about, called.call, called.returns
                ));
                break;
            }
        }
    }
    Ok(found)
}

/// What costs it more the more there is that was not asked for. `work` counts what a storage has done so far.
///
/// # Panics
/// Where a storage refuses what is written to it before.
pub fn costly<S: Storage>(
    lacks: &[&str],
    mut open: impl FnMut() -> S,
    work: impl Fn(&S) -> u64,
) -> io::Result<Vec<String>> {
    let mut found = Vec::new();
    for (name, measured) in costs(lacks)? {
        let mut needed = |size| {
            let store = open();
            for writes in measured.writes(size) {
                store.commit(&[], writes, Durability::Relaxed).expect("an empty storage takes what is written to it");
            }
            let before = work(&store);
            let answer = measured.call().answer(&store);
            (work(&store) - before, answer)
        };
        let ((small, first), (large, second)) = (needed(SMALL), needed(LARGE));
        found.extend(measured.verdict(&name, [(small, first), (large, second)]));
    }
    Ok(found)
}

/// What is measured.
#[derive(Debug)]
pub struct Measured {
    about: String,
    cost: Cost,
}

/// All that is to be measured of a storage that lacks this, by name.
pub fn costs(lacks: &[&str]) -> io::Result<Vec<(String, Measured)>> {
    let measured = |(name, case): (String, Case)| Some((name, Measured { about: case.about, cost: case.cost? }));
    let with_work = cases()?.into_iter().filter(|(_, case)| case.is_of(lacks));
    let found: Vec<_> = with_work.filter_map(measured).collect();
    if found.is_empty() { Err(io::Error::other("there is nothing to be measured")) } else { Ok(found) }
}

impl Measured {
    /// What is written before, commit by commit, where there is so much beside what is asked for.
    pub fn writes(&self, size: u32) -> [Vec<Write>; 2] {
        self.cost.writes(size)
    }

    /// What is called.
    pub fn call(&self) -> &Call {
        &self.cost.call
    }

    /// What is wrong with the work and the answer at [`SMALL`] and at [`LARGE`], if anything is.
    pub fn verdict(&self, name: &str, [(small, first), (large, second)]: [(u64, Value); 2]) -> Option<String> {
        let about = &self.about;
        if let Some(wrong) = [first, second].iter().find(|answer| !is_wanted(&self.cost.returns, answer)) {
            return Some(format!("{name}: {about}\n  wanted   {}\n  returned {wrong}", self.cost.returns));
        }
        // Who counts nothing cannot tell.
        let is_bounded = small > 0 && large <= MOST_GROWTH * small;
        (!is_bounded).then(|| format!("{name}: {about}\n  the work grew from {small} to {large}"))
    }
}

/// The cases that are of a storage which lacks this, but for those of its cost.
fn of_storage(lacks: &[&str]) -> io::Result<Vec<(String, Case)>> {
    let found: Vec<_> = cases()?.into_iter().filter(|(_, case)| case.cost.is_none() && case.is_of(lacks)).collect();
    if found.is_empty() { Err(io::Error::other("there are no cases")) } else { Ok(found) }
}

fn is_wanted(wanted: &Value, answer: &Value) -> bool {
    match wanted["either"].as_array() {
        Some(any) => any.iter().any(|wanted| is_same(wanted, answer)),
        None => is_same(wanted, answer),
    }
}

/// Whether it is that answer. What an error says in its text is left to the storage, but it must say something.
fn is_same(wanted: &Value, answer: &Value) -> bool {
    match wanted["error"].as_str() {
        Some(error) if WITH_TEXT.contains(&error) => {
            answer["error"][error].as_str().is_some_and(|text| !text.is_empty())
        }
        _ => wanted == answer,
    }
}
