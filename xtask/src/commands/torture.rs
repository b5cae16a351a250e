//! `cargo xtask torture`: trials that try to break a promise, in their long form. What they do is in `tests/src/torture`;
//! each has a short form among the whole-program tests.

use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result, bail};
use clap::ValueEnum;

use crate::{style, workspace};

/// Options of `cargo xtask torture`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Only this trial
    #[arg(long, value_enum)]
    only: Option<Trial>,
    /// Seed of the random numbers; another one each time if it is not given
    #[arg(long)]
    seed: Option<u64>,
    /// A few moments instead of minutes
    #[arg(long)]
    short: bool,
}

/// What is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Trial {
    /// 2,000 deletes beside five busy processes: no file of the store holds a deleted word in the end
    Deletes,
    /// 500 kills of agents, at rest and while they speak: nothing is lost or doubled, and the conversation goes on
    Agents,
    /// A crash after and within each write, and a loss of power at each: what was answered is there
    Crashes,
    /// 1,000 kills of programs, eight of which work on one store at a time, with full disks and clock steps: what was
    /// answered is there once
    Hosts,
    /// Four programs that follow lists while eight change what is in them: in the end they are what is listed
    Follow,
}

impl Trial {
    fn name(self) -> &'static str {
        match self {
            Self::Deletes => "deletes",
            Self::Agents => "agents",
            Self::Crashes => "crashes",
            Self::Hosts => "hosts",
            Self::Follow => "follow",
        }
    }

    /// What makes it short.
    fn short(self) -> &'static [&'static str] {
        match self {
            Self::Deletes => &["--deletes", "60", "--processes", "3", "--kill-one-in", "10"],
            Self::Agents => &["--rounds", "4"],
            Self::Crashes => &["--crashes", "20"],
            Self::Hosts => &["--kills", "50", "--processes", "4"],
            Self::Follow => &["--writers", "3", "--followers", "2", "--deeds", "60"],
        }
    }
}

/// Runs one trial, or all of them, also after one has found something.
pub(crate) fn run(options: &Options) -> Result<()> {
    super::wasm_target::ensure()?;
    if options.only.is_none_or(|only| matches!(only, Trial::Crashes | Trial::Hosts)) {
        super::trial_tools::ensure()?;
    }
    workspace::build(&["acp-sessions", "test_agent", "torture"])?;
    let seed = match options.seed {
        Some(seed) => seed,
        None => SystemTime::now().duration_since(UNIX_EPOCH).context("the clock is before 1970")?.as_secs(),
    };
    let mut broken = Vec::new();
    for trial in Trial::value_variants().iter().filter(|trial| options.only.is_none_or(|only| only == **trial)) {
        println!("{}", style::heading(format_args!("{}, from seed {seed}", trial.name())));
        let mut command = Command::new(workspace::program("torture")?);
        command.arg(trial.name()).args(["--seed", &seed.to_string()]);
        if options.short {
            command.args(trial.short());
        }
        if !command.status().context("cannot run the trial")?.success() {
            broken.push(trial.name());
        }
    }
    if broken.is_empty() { Ok(()) } else { bail!("not all has held: {}", broken.join(", ")) }
}
