//! Trials that try to break a promise for as long as it is wanted: `cargo xtask torture`. Each has a short form among the
//! tests.

pub mod agents;
pub mod chance;
mod command;
pub mod crashes;
pub mod deletes;
pub mod follow;
pub mod hosts;

use std::fmt;

/// What came of a trial.
#[derive(Debug, Default)]
pub struct Report {
    /// What was done and measured, a line each.
    pub lines: Vec<String>,
    /// What should not be, a line each; none where the promise has held.
    pub findings: Vec<String>,
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in &self.lines {
            writeln!(formatter, "  {line}")?;
        }
        for finding in &self.findings {
            writeln!(formatter, "  FOUND: {finding}")?;
        }
        write!(formatter, "  {} found", self.findings.len())
    }
}

/// What a thread has panicked with.
fn panicked(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic").to_owned()
}
