//! Several programs at work on one store, of which each is killed now and then at a chance moment, while others are stopped
//! for a while, somebody else keeps the store for himself, the disk is full for one of them, and the clock is put forward and
//! back. What was answered must be there once, what was deleted must be gone, and the indexes must agree.

mod clock;
mod disturb;
mod ledger;
mod worker;

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

use super::chance::Chance;
use super::{Report, panicked};
use crate::scene::Scene;
use clock::Clock;
use disturb::Disturbed;
use ledger::Ledger;
use worker::{Worked, Worker};

/// How much is done.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// What chance begins with.
    pub seed: u64,
    /// How many programs work at a time.
    pub processes: usize,
    /// How many programs are killed in all, at least.
    pub kills: usize,
}

/// Between two looks at the whole store each worker has so many programs killed.
const KILLS_A_ROUND: usize = 5;

/// Runs it.
pub fn run(options: Options) -> Report {
    let mut chance = Chance::new(options.seed);
    let began = Instant::now();
    let scene = Scene::new();
    let ledger = Ledger::default();
    let mut report = Report::default();
    let clock = Clock::of(&scene);
    let (mut all, mut disturbed) = (Worked::default(), Disturbed::default());
    let mut rounds = 0;
    while all.kills < options.kills && report.findings.is_empty() {
        rounds += 1;
        let seeds: Vec<u64> = (0..options.processes).map(|_| chance.number()).collect();
        let noise = chance.number();
        let over = AtomicBool::new(false);
        let worked: Vec<thread::Result<Worked>> = thread::scope(|scope| {
            let workers: Vec<_> = seeds
                .iter()
                .map(|seed| scope.spawn(|| Worker::new(&scene, &ledger, &clock, *seed).work(KILLS_A_ROUND)))
                .collect();
            let troubles = scope.spawn(|| disturb::until(&over, &scene, &ledger, &clock, noise));
            let worked = workers.into_iter().map(thread::ScopedJoinHandle::join).collect();
            over.store(true, Ordering::Release);
            disturbed.add(troubles.join().expect("nobody is disturbed any more"));
            worked
        });
        for result in worked {
            match result {
                Ok(worked) => all.add(&worked),
                Err(panic) => report.findings.push(format!("round {rounds}: {}", panicked(panic.as_ref()))),
            }
        }
        let missing = ledger.missing(&scene);
        report.findings.extend(missing.into_iter().map(|missing| format!("round {rounds}: {missing}")));
    }
    let Worked { requests, refused, kills, commands } = all;
    let took = began.elapsed();
    report
        .lines
        .push(format!("seed {}, {} processes, {rounds} rounds, {took:.0?} in all", options.seed, options.processes));
    report
        .lines
        .push(format!("{kills} kills, {requests} requests answered, {refused} of them refused, {commands} commands"));
    report.lines.push(disturbed.to_string());
    report.lines.push(ledger.summary());
    report
}
