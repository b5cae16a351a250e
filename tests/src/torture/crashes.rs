//! Computers that crash: what a program does to the files of its store is recorded by strace, and then the store is looked at
//! as it would have been after each write, in the middle of it, and with writes missing that were not on disk yet. The rules
//! for those are the ones that SQLite counts on: a sync puts all of a file on disk, and of what was written since any sectors
//! may be.

mod disk;
mod promises;
mod recording;
mod strace;
mod work;

use std::fs;
use std::path::Path;
use std::time::Instant;

use super::Report;
use super::chance::Chance;
use crate::scene::Scene;
use disk::{Crash, Disk};
use promises::Kept;
use work::Work;

/// One state of so many is also gone on with.
const WORKED_ON: usize = 20;

/// How much is done.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// What chance begins with.
    pub seed: u64,
    /// How many crashes there are, of each kind; all points of the recording if there are fewer.
    pub crashes: usize,
    /// Without them nothing is sure to be on disk: the trial has to find something.
    pub has_syncs: bool,
}

/// Runs it.
pub fn run(options: Options) -> Report {
    let mut chance = Chance::new(options.seed);
    let began = Instant::now();
    let mut work = Work::done(&mut chance);
    if !options.has_syncs {
        work.forget_syncs();
    }
    let events = work.events.len();
    let mut report = Report::default();
    report.lines.push(format!("seed {}, {events} writes and syncs recorded in {:.0?}", options.seed, began.elapsed()));
    for crash in Crash::ALL {
        let began = Instant::now();
        let points = points(events, options.crashes, &mut chance);
        let (mut tried, mut worked_on) = (0, 0);
        let (mut disk, mut played) = (Disk::default(), 0);
        for (nth, point) in points.iter().enumerate() {
            let scene = Scene::new();
            let before = point.saturating_sub(1);
            disk.play(&work.events[played..before]);
            played = before;
            let state = disk.crashed(work.events[..*point].last(), crash, &mut chance);
            lay_out(&state, &scene.store());
            let kept = Kept::at(&work.promises, *point);
            let is_worked_on = nth % WORKED_ON == 0;
            tried += 1;
            worked_on += usize::from(is_worked_on);
            let found = kept.missing(&scene, is_worked_on);
            report.findings.extend(found.into_iter().map(|found| format!("{crash}, after {point} events: {found}")));
        }
        report.lines.push(format!("{crash}: {tried} stores, {worked_on} gone on with, in {:.0?}", began.elapsed()));
    }
    report
}

/// At which events it crashes, in their order.
fn points(events: usize, wanted: usize, chance: &mut Chance) -> Vec<usize> {
    if wanted >= events {
        return (0..=events).collect();
    }
    let mut points: Vec<usize> = (0..wanted).map(|_| chance.below(events + 1)).collect();
    points.sort_unstable();
    points.dedup();
    points
}

fn lay_out(state: &Disk, store: &Path) {
    let folder = store.parent().expect("a folder");
    fs::create_dir_all(folder).expect("a folder");
    for (name, bytes) in state.files() {
        fs::write(folder.join(name), bytes).expect("written");
    }
}
