//! What is compared: a package with one of its stores.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};

use super::super::figures::millis;
use super::player::{Played, Player};
use super::workload::Part;
use super::{measure, package};
use crate::workspace;

/// One row of the table.
pub(super) struct Contender {
    pub(super) name: &'static str,
    /// Whether its store is in a file, or what a browser has for one.
    pub(super) is_lasting: bool,
    /// What the package takes as it is given away, in kB.
    pub(super) size: f64,
    /// Starts its driver.
    command: Command,
    /// Whether that goes on and opens a page for each engine, as a browser does.
    has_pages: bool,
    player: Option<Player>,
    /// For each column that is measured in rounds: how long each took, in its unit.
    pub(super) samples: [Vec<f64>; measure::TIMED],
}

impl Contender {
    pub(super) fn new(name: &'static str, is_lasting: bool, size: f64, command: Command) -> Self {
        let (has_pages, player, samples) = (false, None, [const { Vec::new() }; measure::TIMED]);
        Self { name, is_lasting, size, command, has_pages, player, samples }
    }

    /// Its driver is a browser's.
    pub(super) fn with_pages(mut self) -> Self {
        self.has_pages = true;
        self
    }

    /// What all others are compared with: the crate, with either kind of store.
    pub(super) fn of_crate(folder: &Path) -> Result<Vec<Self>> {
        let size = package::size_of_crate(folder)?;
        let player = || -> Result<Command> { Ok(Command::new(workspace::program("player")?)) };
        let mut in_file = player()?;
        in_file.arg(folder.join("rust.db"));
        Ok(vec![Self::new("Rust, in memory", false, size, player()?), Self::new("Rust, a file", true, size, in_file)])
    }

    /// From nothing to an engine that has answered `initialize`, which is played to from then on; in milliseconds. In a
    /// browser, which has been started, from going to the page.
    pub(super) fn start(&mut self, initialize: &Part) -> Result<f64> {
        let (took, played) = if self.has_pages {
            if self.player.is_none() {
                self.player = Some(Player::start(&mut self.command)?);
            }
            let played = self.play(&initialize.clone().in_new_page())?;
            (played.millis, played)
        } else {
            self.stop()?;
            let begun = Instant::now();
            self.player = Some(Player::start(&mut self.command)?);
            let played = self.play(initialize)?;
            (millis(begun.elapsed()), played)
        };
        ensure!(played.last["result"]["protocolVersion"] == 1, "{}: no answer to `initialize`: {played:?}", self.name);
        Ok(took)
    }

    pub(super) fn play(&mut self, part: &Part) -> Result<Played> {
        let player = self.player.as_mut().context("it was not started")?;
        player.play(part).with_context(|| self.name)
    }

    pub(super) fn stop(&mut self) -> Result<()> {
        self.player.take().map_or(Ok(()), Player::stop).with_context(|| self.name)
    }
}
