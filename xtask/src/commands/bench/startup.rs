//! From exec to the answer to `initialize`, and memory at rest.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Value, json};

use super::figures::{median, millis, rounded};
use crate::{style, workspace};

const INITIALIZE: &str = concat!(
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}"#,
    "\n"
);

/// Options of `cargo xtask bench startup`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// How many starts of each
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What is started, and how long each start took.
struct Contender {
    name: &'static str,
    argv: Vec<PathBuf>,
    times: Vec<Duration>,
}

impl Contender {
    fn new(name: &'static str, argv: &[&Path]) -> Self {
        Self { name, argv: argv.iter().map(|word| (*word).to_owned()).collect(), times: Vec::new() }
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.argv[0]);
        command.args(&self.argv[1..]);
        command
    }
}

/// Measures and prints.
pub(crate) fn run(options: &Options) -> Result<()> {
    workspace::build(&["acp-sessions", "bare_agent"])?;
    let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
    let (sessions, bare) = (workspace::program("acp-sessions")?, workspace::program("bare_agent")?);
    let stores = ["proxy.db", "agent.db"].map(|name| folder.path().join(name));
    let mut contenders = [
        Contender::new("bare agent", &[&bare]),
        Contender::new(
            "proxy in front of it",
            &[&sessions, Path::new("proxy"), Path::new("--store"), &stores[0], Path::new("--"), &bare],
        ),
        Contender::new("with the built-in agent", &[&sessions, Path::new("agent"), Path::new("--store"), &stores[1]]),
    ];
    // The first start makes the store and warms the caches.
    for contender in &contenders {
        Started::start(&mut contender.command())?.stop()?;
    }
    for _ in 0..options.runs {
        for contender in &mut contenders {
            let started = Started::start(&mut contender.command())?;
            contender.times.push(started.took);
            started.stop()?;
        }
    }
    let memory = at_rest(&mut contenders[1].command())?;
    let times = contenders.map(|mut contender| (contender.name, median(&mut contender.times)));
    if options.json {
        print_json(options.runs, &times, memory);
    } else {
        print_table(options.runs, &times, memory);
    }
    Ok(())
}

/// A process that has answered `initialize`.
struct Started {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    took: Duration,
}

impl Started {
    fn start(command: &mut Command) -> Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let start = Instant::now();
        let mut child = command.spawn().context("cannot start the program")?;
        let mut stdin = child.stdin.take().context("no stdin")?;
        let mut stdout = BufReader::new(child.stdout.take().context("no stdout")?);
        stdin.write_all(INITIALIZE.as_bytes()).context("the program does not read")?;
        let mut answer = String::new();
        stdout.read_line(&mut answer).context("the program does not write")?;
        let took = start.elapsed();
        let answer: Value = serde_json::from_str(&answer).context("the answer to `initialize` is not JSON")?;
        ensure!(answer["result"]["protocolVersion"] == 1, "unexpected answer to `initialize`: {answer}");
        Ok(Self { child, stdin, stdout, took })
    }

    /// Closes its input and waits for its end.
    fn stop(self) -> Result<()> {
        let Self { mut child, stdin, stdout, .. } = self;
        drop((stdin, stdout));
        child.wait().context("cannot wait for the program")?;
        Ok(())
    }
}

/// Memory of one process in KiB.
#[derive(Debug, Clone, Copy)]
struct Memory {
    /// All that is mapped and present.
    resident: u64,
    /// The same, with shared pages divided among those that share them.
    proportional: u64,
    /// What no other process shares.
    private: u64,
}

/// Memory of `acp-sessions` alone, once it has answered; `None` on systems without `/proc`.
fn at_rest(command: &mut Command) -> Result<Option<Memory>> {
    let started = Started::start(command)?;
    let rollup = fs::read_to_string(format!("/proc/{}/smaps_rollup", started.child.id()));
    started.stop()?;
    let Ok(rollup) = rollup else { return Ok(None) };
    let field = |name: &str| -> Result<u64> {
        let line = rollup.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        let Some(kib) = line.and_then(|line| line.trim().strip_suffix(" kB")) else {
            bail!("no {name} in smaps_rollup")
        };
        kib.parse().with_context(|| format!("{name} is `{kib}`"))
    };
    let private = field("Private_Clean")? + field("Private_Dirty")?;
    Ok(Some(Memory { resident: field("Rss")?, proportional: field("Pss")?, private }))
}

fn print_table(runs: u32, times: &[(&str, Duration); 3], memory: Option<Memory>) {
    let floor = times[0].1;
    println!(
        "{}",
        style::heading(format_args!("From exec to the answer to `initialize`, median of {runs} starts each"))
    );
    println!("{:<26}{:>10}{:>10}{:>14}", "", "ms", "× bare", "ms over bare");
    for (name, time) in times {
        let (own, over) = (millis(*time), millis(*time) - millis(floor));
        println!("{name:<26}{own:>10.2}{:>10.2}{over:>14.2}", own / millis(floor));
    }
    if let Some(Memory { resident, proportional, private }) = memory {
        println!("\n{}", style::heading("Memory of `acp-sessions proxy` at rest, without the agent"));
        for (name, kib) in [("resident", resident), ("proportional", proportional), ("private", private)] {
            println!("{name:<26}{:>10.1} MiB", mebibytes(kib));
        }
    }
}

fn print_json(runs: u32, times: &[(&str, Duration); 3], memory: Option<Memory>) {
    let floor = millis(times[0].1);
    let row = |(name, time): &(&str, Duration)| {
        let own = millis(*time);
        json!({"name": name, "ms": rounded(own), "ratio": rounded(own / floor), "over_ms": rounded(own - floor)})
    };
    let memory = memory.map(|memory| {
        let [resident, proportional, private] =
            [memory.resident, memory.proportional, memory.private].map(|kib| rounded(mebibytes(kib)));
        json!({"resident_mib": resident, "proportional_mib": proportional, "private_mib": private})
    });
    let starts: Vec<_> = times.iter().map(row).collect();
    println!("{:#}", json!({"bench": "startup", "runs": runs, "starts": starts, "memory_at_rest": memory}));
}

fn mebibytes(kib: u64) -> f64 {
    // Exact below 2^52 KiB.
    #[allow(clippy::cast_precision_loss)]
    let kib = kib as f64;
    kib / 1024.0
}
