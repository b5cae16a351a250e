//! What was checked, how long it took, and what was missing.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::style;

/// How a step ended.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// As it should.
    Passed,
    /// Something is wrong.
    Failed(anyhow::Error),
    /// Something that the step needs is not here and cannot be installed.
    Missing(String),
}

/// The steps so far.
#[derive(Debug)]
pub(super) struct Report {
    strict: bool,
    steps: Vec<(String, Duration, Outcome)>,
}

impl Report {
    /// A strict report takes what is missing as a failure.
    pub(super) fn new(strict: bool) -> Self {
        Self { strict, steps: Vec::new() }
    }

    /// Runs a step under a heading. Returns whether it passed.
    pub(super) fn step(&mut self, name: &str, run: impl FnOnce() -> Outcome) -> bool {
        println!("\n{}", style::heading(format_args!("== {name}")));
        let start = Instant::now();
        let outcome = run();
        let took = start.elapsed();
        match &outcome {
            Outcome::Passed => println!("{} in {:.1} s", style::good("passed"), took.as_secs_f64()),
            Outcome::Failed(error) => println!("{} {error:#}", style::error("failed:")),
            Outcome::Missing(what) => println!("{} {what}", style::notice("missing:")),
        }
        let passed = matches!(outcome, Outcome::Passed);
        self.steps.push((name.to_owned(), took, outcome));
        passed
    }

    /// Prints the summary and the closing list of what was missing; an error if anything is wrong.
    pub(super) fn finish(self) -> Result<()> {
        println!("\n{}", style::heading("== Summary"));
        for (name, took, outcome) in &self.steps {
            let word = match outcome {
                Outcome::Passed => style::good("passed "),
                Outcome::Failed(_) => style::error("failed "),
                Outcome::Missing(_) => style::notice("missing"),
            };
            println!("{word} {:>7.1} s  {name}", took.as_secs_f64());
        }
        let total: Duration = self.steps.iter().map(|(_, took, _)| took).sum();
        println!("        {:>7.1} s  in all", total.as_secs_f64());

        let missing: Vec<_> =
            self.steps.iter().filter_map(|(name, _, outcome)| Some((name, outcome.missing()?))).collect();
        if !missing.is_empty() {
            println!("\n{}", style::notice("Not checked, for want of what is not here and cannot be installed:"));
            for (name, what) in &missing {
                println!("  {name}: {what}");
            }
        }
        let failed = self.steps.iter().filter(|(_, _, outcome)| matches!(outcome, Outcome::Failed(_))).count();
        if failed > 0 {
            bail!("{failed} of {} steps failed", self.steps.len());
        }
        if self.strict && !missing.is_empty() {
            bail!("with CI set nothing may be missing");
        }
        Ok(())
    }
}

impl Outcome {
    fn missing(&self) -> Option<&str> {
        match self {
            Self::Missing(what) => Some(what),
            Self::Passed | Self::Failed(_) => None,
        }
    }
}
