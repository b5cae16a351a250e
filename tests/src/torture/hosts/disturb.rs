//! What else happens on a computer: programs stand still for a while, and others keep the store for themselves.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use rusqlite::Connection;

use super::ledger::Ledger;
use crate::process::signal;
use crate::scene::Scene;
use crate::torture::chance::Chance;

/// How long something lasts, at most, in milliseconds.
const LONGEST: usize = 400;

/// Does so until it is over.
pub(super) fn until(over: &AtomicBool, scene: &Scene, ledger: &Ledger, seed: u64) {
    let mut chance = Chance::new(seed);
    while !over.load(Ordering::Acquire) {
        let pause = Duration::from_millis(chance.below(LONGEST) as u64);
        match chance.below(3) {
            0 => ledger.with_running(&mut chance, |pid| {
                signal("STOP", pid);
                thread::sleep(pause);
                signal("CONT", pid);
            }),
            1 => keep(scene, pause),
            _ => thread::sleep(pause),
        }
    }
}

/// Lets nobody write for so long. There may be no store yet, or somebody else who does the same.
fn keep(scene: &Scene, pause: Duration) {
    let store = scene.store();
    if store.exists()
        && let Ok(connection) = Connection::open(store)
        && connection.execute_batch("BEGIN IMMEDIATE").is_ok()
    {
        thread::sleep(pause);
    }
}
