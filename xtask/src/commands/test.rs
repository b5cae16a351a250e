//! `cargo xtask test`: everything that must hold.

mod engine;
mod official;
mod report;

use std::process::Command;

use anyhow::Result;

use crate::workspace;
use report::{Outcome, Report};

/// Runs every check, also after one has failed, and sums up. Where `CI` is set nothing may be missing.
pub(crate) fn run() -> Result<()> {
    let mut report = Report::new(std::env::var("CI").is_ok_and(|set| !set.is_empty() && set != "false"));

    let targeted = report.step("Target for WebAssembly", || outcome(super::wasm_target::ensure()));
    report.step("Format", || tool("fmt", &["--all", "--check"]));
    let built = targeted && report.step("Build", || cargo(&["build", "--workspace", "--bins"]));
    if built {
        report.step("Lints", || {
            tool("clippy", &["--release", "--locked", "--workspace", "--all-targets", "--", "--deny", "warnings"])
        });
        report.step("The component's imports", || outcome(engine::imports()));
        report.step("The engine by Debian's compiler", engine::by_debian);
        report.step("Unit and documentation tests", || {
            cargo(&["test", "--workspace", "--exclude", "acp-sessions-tests", "--no-fail-fast"])
        });
        let left_out = install_official(&mut report);
        report.step("Whole-program tests", || match whole_program_tests(&left_out) {
            Ok(targets) => {
                let arguments = ["test", "--package", "acp-sessions-tests", "--no-fail-fast"];
                cargo(&[&arguments[..], &targets.iter().map(String::as_str).collect::<Vec<_>>()].concat())
            }
            Err(error) => Outcome::Failed(error),
        });
    }
    report.finish()
}

/// Installs the official clients and agents. Returns what is in the names of the tests that need the missing ones.
fn install_official(report: &mut Report) -> Vec<&'static str> {
    let mut missing = |package: &official::Package| !report.step(package.name, || package.install());
    official::PACKAGES.iter().filter(|package| missing(package)).map(|package| package.tests).collect()
}

/// The arguments that choose the whole-program tests: none for all of them, else a name for each that can run.
fn whole_program_tests(left_out: &[&str]) -> Result<Vec<String>> {
    if left_out.is_empty() {
        return Ok(Vec::new());
    }
    let mut arguments = vec!["--lib".to_owned(), "--bins".to_owned()];
    for file in workspace::root().join("tests/tests").read_dir()? {
        let path = file?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let is_test = path.extension().is_some_and(|extension| extension == "rs");
        if is_test && !left_out.iter().any(|part| name.contains(part)) {
            arguments.extend(["--test".to_owned(), name.into_owned()]);
        }
    }
    Ok(arguments)
}

/// Cargo, in the one profile and by the lock file.
fn cargo(arguments: &[&str]) -> Outcome {
    let (command, rest) = arguments.split_at(1);
    outcome(workspace::run(&mut workspace::cargo([command, &["--release", "--locked"], rest].concat())))
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
