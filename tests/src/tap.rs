//! Reading what the `wiretap` has written, and judging it.
//!
//! A log has a line `=` at each start of the tapped program, then `>` and a message for each line that went to the
//! program, and `<` and a message for each line that came from it.

use std::path::Path;

use serde_json::Value;

use crate::schema::{Checker, Role};

/// A line that went over the tapped pipe.
#[derive(Debug)]
pub enum Tapped {
    /// The tapped program was started.
    Started,
    /// To the tapped program.
    To(Value),
    /// From the tapped program.
    From(Value),
}

/// Reads a log.
pub fn read(log: &Path) -> Vec<Tapped> {
    let text = std::fs::read_to_string(log).unwrap_or_else(|error| panic!("{}: {error}", log.display()));
    let parse = |json: &str| serde_json::from_str(json).unwrap_or_else(|error| panic!("not JSON ({error}): {json}"));
    let tapped = text.lines().map(|line| match line.split_at(1) {
        ("=", _) => Tapped::Started,
        (">", json) => Tapped::To(parse(json)),
        ("<", json) => Tapped::From(parse(json)),
        (mark, _) => panic!("a line of the log begins with {mark:?}"),
    });
    tapped.collect()
}

/// Judges everything that the tapped program said in its role; returns how many messages that were.
pub fn check(log: &Path, role: Role) -> usize {
    judge(log, role, |line| line)
}

/// Judges everything that was said *to* the tapped program, by a peer in this role.
pub fn check_peer(log: &Path, role: Role) -> usize {
    judge(log, role, |line| match line {
        Tapped::To(message) => Tapped::From(message),
        Tapped::From(message) => Tapped::To(message),
        Tapped::Started => Tapped::Started,
    })
}

fn judge(log: &Path, role: Role, turn: impl Fn(Tapped) -> Tapped) -> usize {
    let mut checker = Checker::new(role);
    let mut count = 0;
    for line in read(log) {
        match turn(line) {
            Tapped::Started => checker = Checker::new(role),
            Tapped::To(message) => checker.heard(&message),
            Tapped::From(message) => {
                checker.said(&message);
                count += 1;
            }
        }
    }
    count
}
