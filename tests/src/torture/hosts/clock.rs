//! The clock of the computer on which the programs run, which is put forward and back.

use std::fs;
use std::path::PathBuf;

use crate::launch::Launch;
use crate::scene::Scene;
use crate::torture::chance::Chance;

/// How far it is put from the real one at most, in seconds: less than what counts as days with the program.
const FARTHEST: i64 = 10 * 3600;

/// It is a file in which libfaketime, of Debian's package `faketime`, reads how far the clock is from the real one.
#[derive(Debug)]
pub(super) struct Clock {
    library: PathBuf,
    file: PathBuf,
    draft: PathBuf,
}

impl Clock {
    /// As the real one is.
    pub(super) fn of(scene: &Scene) -> Self {
        let folders = fs::read_dir("/usr/lib").expect("libraries").filter_map(|folder| Some(folder.ok()?.path()));
        let library = folders.map(|folder| folder.join("faketime/libfaketime.so.1")).find(|library| library.exists());
        let library = library.expect("libfaketime, which `cargo xtask torture` installs");
        let clock = Self { library, file: scene.file("clock"), draft: scene.file("clock.draft") };
        clock.set(0);
        clock
    }

    /// A program that goes by this clock.
    pub(super) fn rules(&self, program: Launch) -> Launch {
        program
            .env("LD_PRELOAD", &self.library)
            .env("FAKETIME_TIMESTAMP_FILE", &self.file)
            .env("FAKETIME_NO_CACHE", "1")
            // What is waited for and what files say goes by the real one.
            .env("FAKETIME_DONT_FAKE_MONOTONIC", "1")
            .env("NO_FAKE_STAT", "1")
    }

    /// Puts it forward or back.
    pub(super) fn step(&self, chance: &mut Chance) {
        let seconds = chance.number() % (2 * FARTHEST.unsigned_abs());
        self.set(seconds.cast_signed() - FARTHEST);
    }

    fn set(&self, seconds: i64) {
        // Nobody is to read half of it.
        fs::write(&self.draft, format!("{seconds:+}\n")).expect("written");
        fs::rename(&self.draft, &self.file).expect("renamed");
    }
}
