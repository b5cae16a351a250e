//! What else happens on a computer: programs stand still for a while, others keep the store for themselves, the disk is full,
//! the clock is put forward or back.

use std::fmt;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use rusqlite::Connection;

use super::clock::Clock;
use super::ledger::Ledger;
use crate::process::signal;
use crate::scene::Scene;
use crate::torture::chance::Chance;

/// How long something lasts, at most, in milliseconds.
const LONGEST: usize = 400;

/// How often each happened.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Disturbed {
    stopped: usize,
    kept: usize,
    full: usize,
    clock: usize,
}

impl Disturbed {
    pub(super) fn add(&mut self, other: Self) {
        self.stopped += other.stopped;
        self.kept += other.kept;
        self.full += other.full;
        self.clock += other.clock;
    }
}

impl fmt::Display for Disturbed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { stopped, kept, full, clock } = self;
        write!(
            formatter,
            "{stopped} programs stopped for a while, {kept} locks, {full} full disks, {clock} clock steps"
        )
    }
}

/// Does so until it is over.
pub(super) fn until(over: &AtomicBool, scene: &Scene, ledger: &Ledger, clock: &Clock, seed: u64) -> Disturbed {
    let mut chance = Chance::new(seed);
    let mut disturbed = Disturbed::default();
    while !over.load(Ordering::Acquire) {
        let pause = Duration::from_millis(chance.below(LONGEST) as u64);
        match chance.below(5) {
            0 => ledger.with_running(&mut chance, |pid| {
                disturbed.stopped += 1;
                signal("STOP", pid);
                thread::sleep(pause);
                signal("CONT", pid);
            }),
            1 => disturbed.kept += usize::from(keep(scene, pause)),
            2 => {
                let room = chance.below(1 << 20);
                ledger.with_running(&mut chance, |pid| {
                    disturbed.full += 1;
                    limit_files(pid, &room.to_string());
                    thread::sleep(pause);
                    limit_files(pid, "unlimited");
                });
            }
            3 => {
                disturbed.clock += 1;
                clock.step(&mut chance);
                thread::sleep(pause);
            }
            _ => thread::sleep(pause),
        }
    }
    disturbed
}

/// Lets nobody write for so long. There may be no store yet, or somebody else who does the same.
fn keep(scene: &Scene, pause: Duration) -> bool {
    let store = scene.store();
    if store.exists()
        && let Ok(connection) = Connection::open(store)
        && connection.execute_batch("BEGIN IMMEDIATE").is_ok()
    {
        thread::sleep(pause);
        return true;
    }
    false
}

/// Lets a program write no file behind so many bytes: to it the disk is full.
fn limit_files(pid: u32, bytes: &str) {
    let limit = [format!("--fsize={bytes}:"), "--pid".to_owned(), pid.to_string()];
    let status = Command::new("prlimit").args(limit).status().expect("the command `prlimit`, of util-linux");
    assert!(status.success(), "process {pid} was not there to be limited");
}
