//! `cargo xtask fuzz`: the fuzz targets of the engine, by the stable compiler.
//!
//! As `cargo fuzz` does it, without the sanitizers: those need a nightly compiler, and the engine has no `unsafe` for
//! them to look at. What was found stays in `target/fuzz/corpus`, so that the next run goes on from there.
//! With `--machine`, random conversations instead: `guest/tests/machine`, any number of cases; with `--courses`, all courses of two
//! windows of so many steps: `guest/tests/conversation/courses.rs`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result, bail, ensure};

use crate::{style, workspace};

/// Coverage for libFuzzer: edges, and what values are compared with.
const INSTRUMENTS: &[&str] = &[
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    // Else the linker drops the tables of the units it thinks unused.
    "-Ccodegen-units=1",
];

/// For how many seconds a target is run for a moment, at most.
const MOMENT: u32 = 20;

/// The longest input, in bytes.
const LONGEST: u32 = 4096;

/// Options of `cargo xtask fuzz`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Which target: a file in guest/fuzz/targets; all of them, one after the other, if none is named
    target: Option<String>,
    /// Plays this many random conversations (guest/tests/machine) instead of fuzzing targets
    #[arg(long, value_name = "CASES", conflicts_with = "target", value_parser = clap::value_parser!(u64).range(1..))]
    machine: Option<u64>,
    /// The machine's first seed; another each time if none is given
    #[arg(long, value_name = "SEED", requires = "machine")]
    from: Option<u64>,
    /// Plays all courses of two windows on one session of up to this many steps instead; 4 take ten minutes, each more twenty times that
    #[arg(long, value_name = "STEPS", conflicts_with_all = ["target", "machine"], value_parser = clap::value_parser!(u8).range(1..))]
    courses: Option<u8>,
    /// Seconds for each target
    #[arg(long, default_value_t = 300, value_parser = clap::value_parser!(u32).range(1..))]
    seconds: u32,
}

/// How long a run is.
#[derive(Debug, Clone, Copy)]
enum Length {
    Seconds(u32),
    Inputs(u32),
}

/// Runs one target, or all of them.
pub(crate) fn run(options: &Options) -> Result<()> {
    if let Some(cases) = options.machine {
        return machine(cases, options.from);
    }
    if let Some(steps) = options.courses {
        return courses(steps);
    }
    let targets = targets()?;
    let chosen = match &options.target {
        Some(target) if targets.contains(target) => vec![target.clone()],
        Some(target) => bail!("there is no fuzz target `{target}`, only {}", targets.join(", ")),
        None => targets,
    };
    fuzz(&chosen, Length::Seconds(options.seconds))
}

/// Runs cases of the machine that tries everything.
fn machine(cases: u64, from: Option<u64>) -> Result<()> {
    let from = match from {
        Some(from) => from,
        None => SystemTime::now().duration_since(UNIX_EPOCH).context("the clock is before 1970")?.as_secs() << 20,
    };
    println!("{}", style::heading(format_args!("{cases} cases of the machine, from seed {from}")));
    // With the features that the whole workspace asks for, so that dependencies are built once.
    let mut cargo = workspace::cargo(["test", "--release", "--locked", "--workspace", "--test", "machine"]);
    cargo.args(["--", "--nocapture"]).env("MACHINE_CASES", cases.to_string()).env("MACHINE_FROM", from.to_string());
    workspace::run(&mut cargo)
}

/// Runs all courses of two windows of up to so many steps.
fn courses(steps: u8) -> Result<()> {
    println!("{}", style::heading(format_args!("All courses of two windows of up to {steps} steps")));
    let mut cargo = workspace::cargo(["test", "--release", "--locked", "--workspace", "--test", "conversation"]);
    cargo.args(["--", "--nocapture", "courses::"]).env("COURSES_LENGTH", steps.to_string());
    workspace::run(&mut cargo)
}

/// Runs each of them for a moment.
pub(crate) fn briefly() -> Result<()> {
    fuzz(&targets()?, Length::Inputs(20_000))
}

/// The C++ compiler that builds libFuzzer, if there is one.
pub(crate) fn compiler() -> Option<String> {
    let named = std::env::var("CXX").ok().filter(|name| !name.is_empty());
    named
        .into_iter()
        .chain(["c++", "g++", "clang++"].map(str::to_owned))
        .find(|name| Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success()))
}

fn folder() -> PathBuf {
    workspace::root().join("guest/fuzz")
}

fn targets() -> Result<Vec<String>> {
    let mut targets = Vec::new();
    for file in fs::read_dir(folder().join("targets")).context("cannot find the fuzz targets")? {
        let path = file?.path();
        targets.extend(path.file_stem().map(|name| name.to_string_lossy().into_owned()));
    }
    targets.sort_unstable();
    Ok(targets)
}

fn fuzz(targets: &[String], length: Length) -> Result<()> {
    let compiler = compiler().context("no C++ compiler to build libFuzzer with: install g++")?;
    let work = workspace::target_dir()?.join("fuzz");
    let programs = build(&compiler, &work)?;
    for target in targets {
        println!("{}", style::heading(format_args!("Fuzzing {target}")));
        let (corpus, found) = (work.join("corpus").join(target), work.join("found").join(target));
        for folder in [&corpus, &found] {
            fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        }
        let mut command = Command::new(programs.join(target));
        // The first folder is added to, the second only read.
        command.arg(&corpus).arg(folder().join("seeds").join(target));
        command.arg(format!("-artifact_prefix={}/", found.display()));
        command.args([&format!("-max_len={LONGEST}"), "-timeout=10"]);
        let unable = || format!("cannot run the fuzz target {target}");
        let status = match length {
            Length::Seconds(seconds) => {
                command.arg(format!("-max_total_time={seconds}")).status().with_context(unable)?
            }
            Length::Inputs(inputs) => {
                // Whichever comes first: some targets take longer for each. The same inputs each time: what chance finds is for
                // the long form.
                command.args([format!("-runs={inputs}"), format!("-max_total_time={MOMENT}"), "-seed=1".to_owned()]);
                let output = command.output().with_context(unable)?;
                if !output.status.success() {
                    eprintln!("{}", String::from_utf8_lossy(&output.stderr));
                }
                output.status
            }
        };
        ensure!(status.success(), "{target} failed; the input that did it is in {}", found.display());
        let known = fs::read_dir(&corpus)?.count();
        println!("nothing found; {known} inputs in the corpus");
    }
    Ok(())
}

/// Builds the targets with their instruments; returns the folder they are in.
fn build(compiler: &str, work: &Path) -> Result<PathBuf> {
    let host = workspace::host()?;
    let mut cargo = workspace::cargo(["build", "--release", "--locked", "--bins"]);
    // With a target named, build scripts and macros are left without instruments.
    cargo.args(["--target", &host]).arg("--target-dir").arg(work);
    cargo.arg("--manifest-path").arg(folder().join("Cargo.toml"));
    cargo.env("CARGO_ENCODED_RUSTFLAGS", INSTRUMENTS.join("\u{1f}")).env("CXX", compiler);
    workspace::run(&mut cargo)?;
    Ok(work.join(host).join("release"))
}
