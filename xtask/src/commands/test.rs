//! `cargo xtask test`: everything that must hold.
//!
//! What is made of the build for others ([`packages`]) is checked by a process of its own beside the rest: most of these steps keep
//! one processor busy.

mod chromium;
mod engine;
pub(crate) mod official;
mod packages;
mod python;
pub(crate) mod report;

use std::process::Command;
use std::thread::{self, ScopedJoinHandle};

use anyhow::{Context as _, Result, anyhow};
use serde_json::Value;

use super::wasm_target::{answers, apt_get};
use crate::workspace;
use report::{Outcome, Report};

/// Options of `cargo xtask test`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Check only the packages for other languages and what is given away, as they are made of what was built last
    #[arg(long)]
    packages: bool,
}

/// Runs every check, also after one has failed, and sums up. Where `CI` is set nothing may be missing.
pub(crate) fn run(options: &Options) -> Result<()> {
    let mut report = Report::new(std::env::var("CI").is_ok_and(|set| !set.is_empty() && set != "false"));
    if options.packages {
        packages::checks(&mut report);
        return report.finish();
    }
    thread::scope(|scope| {
        let targeted = report.step("Target for WebAssembly", || outcome(super::wasm_target::ensure()));
        // It needs nothing of the build, and by itself keeps no more than one processor busy.
        let by_debian = scope.spawn(engine::by_debian);
        checks(&mut report, targeted, by_debian);
    });
    report.finish()
}

/// All but the first, which has told whether the target for WebAssembly is there; one is under way.
fn checks(report: &mut Report, targeted: bool, by_debian: ScopedJoinHandle<'_, Outcome>) {
    report.step("Format", || tool("fmt", &["--all", "--check"]));
    // With the tests: what they ask of a dependency would otherwise have it built a second time, and all that needs it.
    let built = targeted && report.step("Build", || cargo(&["build", "--workspace", "--all-targets"]));
    if built {
        let packages = packages::begin();
        report.step("Lints", || {
            tool("clippy", &["--release", "--locked", "--workspace", "--all-targets", "--", "--deny", "warnings"])
        });
        report.step("Licences and sources", || outcome(super::deny::run()));
        report.step("The component's imports", || outcome(engine::imports()));
        report.step("The engine by Debian's compiler", || awaited(by_debian));
        report.step("Unit tests", || cargo_test(&["--lib", "--bins"]));
        report.step("Documentation tests", || cargo_test(&["--doc"]));
        report.step("Fuzz targets, for a moment", fuzz);
        let mut left_out = install_official(report);
        if !report.step("Tools of the trials", trial_tools) {
            left_out.push("torture");
        }
        if !report.step("Git", git) {
            left_out.push("worktrees");
        }
        report.step("Whole-program tests", || match whole_program_tests(&left_out) {
            Ok(names) => cargo_test(&names.iter().flat_map(|name| ["--test", name]).collect::<Vec<_>>()),
            Err(error) => Outcome::Failed(error),
        });
        report.step("Stories with instances that hand over whenever they can", renewed_stories);
        report.step("The packages", || outcome(packages.and_then(packages::Checked::told)));
    }
}

/// What a check came to that was under way; the step takes as long as is waited for it.
fn awaited(check: ScopedJoinHandle<'_, Outcome>) -> Outcome {
    check.join().unwrap_or_else(|_| Outcome::Failed(anyhow!("the check panicked")))
}

/// Every fuzz target, on a few thousand inputs.
fn fuzz() -> Outcome {
    if super::fuzz::compiler().is_none() {
        return Outcome::Missing("no C++ compiler to build libFuzzer with".to_owned());
    }
    outcome(super::fuzz::briefly())
}

/// What records writes for the trial of crashes, and moves the clock for that of programs at work.
fn trial_tools() -> Outcome {
    let result = super::trial_tools::ensure();
    result.map_or_else(|error| Outcome::Missing(format!("{error:#}; the trials did not run")), |()| Outcome::Passed)
}

/// What the tests of worktrees and moved repositories make these with.
fn git() -> Outcome {
    if answers("git") {
        return Outcome::Passed;
    }
    let installed = apt_get(&["update", "--quiet"])
        .and_then(|()| apt_get(&["install", "--quiet", "--yes", "--no-install-recommends", "git"]));
    installed
        .map_or_else(|error| Outcome::Missing(format!("{error:#}; nothing was tried with Git")), |()| Outcome::Passed)
}

/// Installs the official clients and agents. Returns what is in the names of the tests that need the missing ones.
fn install_official(report: &mut Report) -> Vec<&'static str> {
    let mut missing = |package: &official::Package| !report.step(package.name, || package.install());
    official::PACKAGES.iter().filter(|package| missing(package)).map(|package| package.tests).collect()
}

/// The test programs that can run: `*`, all of them, unless some need what is missing.
fn whole_program_tests(left_out: &[&str]) -> Result<Vec<String>> {
    if left_out.is_empty() {
        return Ok(vec!["*".to_owned()]);
    }
    let output = workspace::cargo(["metadata", "--no-deps", "--format-version", "1"]).output()?;
    let metadata: Value =
        serde_json::from_slice(&output.stdout).context("cannot read what cargo says of the workspace")?;
    let items = |value: &Value, key: &str| value[key].as_array().cloned().unwrap_or_default();
    let targets = items(&metadata, "packages").into_iter().flat_map(|package| items(&package, "targets"));
    let tests = targets.filter(|target| target["kind"][0] == "test");
    let names = tests.filter_map(|target| Some(target["name"].as_str()?.to_owned()));
    Ok(names.filter(|name| !left_out.iter().any(|part| name.contains(part))).collect())
}

/// Cargo, in the one profile and by the lock file.
fn cargo(arguments: &[&str]) -> Outcome {
    let (command, rest) = arguments.split_at(1);
    outcome(workspace::run(&mut workspace::cargo([command, &["--release", "--locked"], rest].concat())))
}

/// Tests of the whole workspace, so that dependencies get the same features as in the build.
fn cargo_test(selection: &[&str]) -> Outcome {
    cargo(&[&["test", "--workspace", "--no-fail-fast"], selection].concat())
}

/// The stories of conversations once more, each of whose instances hands over to a fresh one whenever it is at rest.
fn renewed_stories() -> Outcome {
    // The two that take minutes so.
    let skipped = ["--", "--skip", "courses", "--skip", "following::"];
    let arguments = ["test", "--release", "--locked", "--workspace", "--test", "conversation"];
    outcome(workspace::run(workspace::cargo(arguments).args(skipped).env("RENEW", "1")))
}

/// A tool of the toolchain that may not be installed: rustup's minimal profile has neither clippy nor rustfmt.
fn tool(name: &str, arguments: &[&str]) -> Outcome {
    let there = || workspace::cargo([name, "--version"]).output().is_ok_and(|output| output.status.success());
    if !there() {
        let component = if name == "fmt" { "rustfmt" } else { name };
        let added = workspace::run(Command::new("rustup").args(["component", "add", component]));
        if added.is_err() || !there() {
            return Outcome::Missing(format!("the toolchain has no `cargo {name}`, and rustup cannot add {component}"));
        }
    }
    outcome(workspace::run(workspace::cargo([name]).args(arguments)))
}

fn outcome<T>(result: Result<T>) -> Outcome {
    result.map_or_else(Outcome::Failed, |_| Outcome::Passed)
}
