//! An engine in this process that is played to, by the crate `acp-sessions`, over a store in memory or in a file.
//!
//! What is played are parts of `bench/workload.json`, as `cargo xtask bench embeds` sends them: one JSON a line, each of
//! which is answered.

use std::collections::VecDeque;
use std::io::{BufRead as _, Write as _, stdin, stdout};
use std::path::PathBuf;
use std::time::Instant;

use acp_sessions::component::connection::{Arrival, Content, Output, Peer, Step};
use acp_sessions::component::{Component, Limits};
use acp_sessions::engine::{Engine, Room};
use acp_sessions::store::Sqlite;
use anyhow::{Context as _, Result, bail};
use clap::Parser;
use serde_json::{Value, json};

#[derive(Debug, Parser)]
struct Options {
    /// The file; none: in memory
    store: Option<PathBuf>,
}

/// One line after the other, and all of them several times.
struct Part {
    lines: Vec<(Peer, String)>,
    times: u64,
    /// After how many lines it is time for that; 0 is never.
    idle: u64,
    /// Whether what the engine asks of the agent by itself is answered.
    is_answered: bool,
    /// What the client takes at once.
    room: Room,
}

impl Part {
    fn read(command: &str) -> Result<Self> {
        let command: Value = serde_json::from_str(command)?;
        let lines = command["lines"].as_array().context("no lines")?.iter().map(|said| {
            let peer = match said[0].as_str() {
                Some("client") => Peer::Client,
                Some("agent") => Peer::Agent,
                _ => bail!("a line is the client's or the agent's"),
            };
            Ok((peer, said[1].as_str().context("a line is a text")?.to_owned()))
        });
        let client = command["room"].as_u64().context("no room")?.try_into()?;
        Ok(Self {
            lines: lines.collect::<Result<_>>()?,
            times: command["times"].as_u64().unwrap_or(1),
            idle: command["idle"].as_u64().unwrap_or(0),
            is_answered: command["answered"].as_bool().unwrap_or(false),
            room: Room { client, waiting: 0 },
        })
    }
}

/// What has come out.
#[derive(Default)]
struct Played {
    lines: usize,
    /// The last one for the client.
    last: Option<String>,
    /// What the agent was asked and has not answered yet.
    asked: VecDeque<String>,
}

impl Played {
    /// Takes a step and all that follows from it.
    fn take(&mut self, engine: &mut Engine<'_, Sqlite>, mut step: Step, part: &Part) -> Result<()> {
        loop {
            for output in step.outputs {
                match output {
                    Output::ToClient(line) => self.last = Some(line),
                    Output::ToAgent(line) if part.is_answered => self.asked.push_back(line),
                    Output::ToAgent(_) => {}
                    Output::Keep(_) | Output::Warn(_) => continue,
                }
                self.lines += 1;
            }
            if !step.more {
                return Ok(());
            }
            step = engine.pull(part.room)?;
        }
    }
}

fn arrival(peer: Peer, line: String) -> Arrival {
    Arrival { peer, content: Content::Line(line) }
}

/// That of an agent that does whatever it is asked.
fn answer_to(line: &str) -> Result<Arrival> {
    let asked: Value = serde_json::from_str(line)?;
    Ok(arrival(Peer::Agent, json!({"jsonrpc": "2.0", "id": asked["id"], "result": {}}).to_string()))
}

/// Returns how long it took in milliseconds, how many lines came out, and the last one for the client.
fn play(engine: &mut Engine<'_, Sqlite>, part: &Part) -> Result<Value> {
    let mut played = Played::default();
    let mut until_idle = part.idle;
    let start = Instant::now();
    for _ in 0..part.times {
        for (peer, line) in &part.lines {
            let step = engine.receive(vec![arrival(*peer, line.clone())], part.room)?;
            played.take(engine, step, part)?;
            while let Some(line) = played.asked.pop_front() {
                let step = engine.receive(vec![answer_to(&line)?], part.room)?;
                played.take(engine, step, part)?;
            }
            if until_idle == 1 {
                engine.idle()?;
                until_idle = part.idle;
            } else {
                until_idle = until_idle.saturating_sub(1);
            }
        }
    }
    let took = start.elapsed().as_secs_f64() * 1e3;
    Ok(json!({"ms": took, "lines": played.lines, "last": played.last}))
}

fn main() -> Result<()> {
    let mut builder = Sqlite::builder();
    if let Some(store) = Options::parse().store {
        builder = builder.file(store);
    }
    let component = Component::embedded(Limits::default())?;
    let mut engine = Engine::connect(&component, builder.build()?, Vec::new())?;
    let mut output = stdout().lock();
    for command in stdin().lock().lines() {
        let answer = play(&mut engine, &Part::read(&command?)?)?;
        writeln!(output, "{answer}")?;
        output.flush()?;
    }
    Ok(())
}
