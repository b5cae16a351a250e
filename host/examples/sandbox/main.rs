//! The price of the sandbox: the engine as a component and the same engine in machine code, on the same lines and each
//! over an SQLite file of its own. Prints the figures as JSON; `cargo xtask bench transcript` shows them.

use std::path::Path;
use std::time::{Duration, Instant};

use acp_sessions::component::connection::{Arrival, Content, Output, Peer};
use acp_sessions::component::{Component, Instance, Limits};
use acp_sessions::store::Sqlite;
use acp_sessions_adapter::Lent;
use acp_sessions_guest::engine as native;
use acp_sessions_guest::environment::Environment;
use anyhow::{Context as _, Result, ensure};
use serde_json::json;

/// How often both sides take turns.
const ROUNDS: usize = 7;
/// Lines of an agent that arrive together.
const BATCH: usize = 32;
/// Updates in a turn.
const TURN: usize = 1000;
/// How many updates of the stream there are for each short turn, which is on disk before it ends.
const PER_SHORT_TURN: usize = 250;
/// The room of a client that reads.
const ROOM: u32 = 256 << 10;

/// The engine, in either form.
trait Engine {
    /// Hands over lines and returns the lines that come of them.
    fn exchange(&mut self, peer: Peer, lines: Vec<String>) -> Result<Vec<String>>;
}

impl Engine for Instance<'_, Sqlite> {
    fn exchange(&mut self, peer: Peer, lines: Vec<String>) -> Result<Vec<String>> {
        let arrivals: Vec<_> = lines.into_iter().map(|line| Arrival { peer, content: Content::Line(line) }).collect();
        let mut step = self.receive(&arrivals, ROOM)?;
        let mut all = Vec::new();
        loop {
            all.extend(step.outputs.into_iter().filter_map(|output| match output {
                Output::ToClient(line) | Output::ToAgent(line) => Some(line),
                Output::Keep(_) | Output::Warn(_) => None,
            }));
            if !step.more {
                return Ok(all);
            }
            step = self.pull(ROOM)?;
        }
    }
}

/// The system's clock and randomness.
struct System;

impl Environment for System {
    fn now(&self) -> i64 {
        let now = std::time::UNIX_EPOCH.elapsed().unwrap_or_default();
        i64::try_from(now.as_millis()).unwrap_or(i64::MAX)
    }

    fn random(&self) -> u64 {
        getrandom::u64().unwrap_or_default()
    }
}

impl Engine for native::Engine<Lent<Sqlite>, System> {
    fn exchange(&mut self, peer: Peer, lines: Vec<String>) -> Result<Vec<String>> {
        let peer = match peer {
            Peer::Client => native::Peer::Client,
            Peer::Agent => native::Peer::Agent,
        };
        let arrival = |line| native::Arrival { peer, content: native::Content::Line(line) };
        self.receive(lines.into_iter().map(arrival).collect::<Vec<_>>());
        let mut all = Vec::new();
        loop {
            all.extend(self.pull(ROOM).into_iter().filter_map(|output| match output {
                native::Output::ToClient(line) | native::Output::ToAgent(line) => Some(line),
                native::Output::Keep { .. } | native::Output::Warn(_) => None,
            }));
            if !self.has_more() {
                return Ok(all);
            }
        }
    }
}

/// How long each part took.
#[derive(Default)]
struct Times {
    recording: Vec<Duration>,
    passing: Vec<Duration>,
    turns: Vec<Duration>,
    replaying: Vec<Duration>,
}

fn request(id: usize, method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)
}

fn update(at: usize) -> String {
    let update = if at.is_multiple_of(2) {
        r#""agent_message_chunk","content":{"type":"text","text":"some words of output that are streamed, a line of them\n"}"#
            .to_owned()
    } else {
        format!(r#""tool_call_update","toolCallId":"c{at}","status":"completed""#)
    };
    format!(
        r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s","update":{{"sessionUpdate":{update}}}}}}}"#
    )
}

fn initialize(engine: &mut impl Engine) -> Result<()> {
    engine.exchange(Peer::Client, vec![request(0, "initialize", r#"{"protocolVersion":1}"#)])?;
    let profile = r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentCapabilities":{"sessionCapabilities":{"resume":{}}}}}"#;
    engine.exchange(Peer::Agent, vec![profile.to_owned()])?;
    Ok(())
}

/// Turns of a conversation, then requests that only pass.
fn converse(engine: &mut impl Engine, updates: usize, times: &mut Times) -> Result<()> {
    initialize(engine)?;
    engine.exchange(Peer::Client, vec![request(1, "session/new", r#"{"cwd":"/bench","mcpServers":[]}"#)])?;
    engine.exchange(Peer::Agent, vec![r#"{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}"#.to_owned()])?;
    let lines: Vec<String> = (0..updates).map(update).collect();
    let start = Instant::now();
    for (turn, lines) in lines.chunks(TURN).enumerate() {
        let id = turn + 2;
        let prompt = r#"{"sessionId":"s","prompt":[{"type":"text","text":"Go on"}]}"#;
        engine.exchange(Peer::Client, vec![request(id, "session/prompt", prompt)])?;
        for batch in lines.chunks(BATCH) {
            engine.exchange(Peer::Agent, batch.to_vec())?;
        }
        let end = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"stopReason":"end_turn"}}}}"#);
        engine.exchange(Peer::Agent, vec![end])?;
    }
    times.recording.push(start.elapsed());
    let start = Instant::now();
    for id in 0..updates / 2 {
        let id = id + updates;
        engine.exchange(Peer::Client, vec![request(id, "_bench/ping", r#"{"some":"params"}"#)])?;
        engine.exchange(Peer::Agent, vec![format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)])?;
    }
    times.passing.push(start.elapsed());
    let start = Instant::now();
    for turn in 0..short_turns(updates) {
        let id = turn + 2 * updates;
        let prompt = format!(r#"{{"sessionId":"s","prompt":[{{"type":"text","text":"Go on with number {turn}"}}]}}"#);
        engine.exchange(Peer::Client, vec![request(id, "session/prompt", &prompt)])?;
        engine.exchange(Peer::Agent, vec![update(0)])?;
        let end = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"stopReason":"end_turn"}}}}"#);
        engine.exchange(Peer::Agent, vec![end])?;
    }
    times.turns.push(start.elapsed());
    Ok(())
}

/// How many short turns are had beside a stream of so many updates.
fn short_turns(updates: usize) -> usize {
    (updates / PER_SHORT_TURN).max(1)
}

/// The whole of it back.
fn load(engine: &mut impl Engine, updates: usize, times: &mut Times) -> Result<()> {
    initialize(engine)?;
    let start = Instant::now();
    let params = r#"{"sessionId":"s","cwd":"/bench","mcpServers":[]}"#;
    let mut lines = engine.exchange(Peer::Client, vec![request(1, "session/load", params)])?;
    let asked = lines.iter().find(|line| line.contains("\"session/resume\"")).context("the agent is not asked")?;
    let asked: serde_json::Value = serde_json::from_str(asked)?;
    let answer = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{}}}}"#, asked["id"]);
    lines.extend(engine.exchange(Peer::Agent, vec![answer])?);
    times.replaying.push(start.elapsed());
    ensure!(lines.len() > updates / 2, "{} lines came back", lines.len());
    Ok(())
}

fn run_native(folder: &Path, updates: usize, times: &mut Times) -> Result<()> {
    let store = folder.join("native.db");
    let open = || -> Result<_> {
        let storage = Lent::new(Sqlite::builder().file(&store).build()?);
        Ok(native::Engine::connect(storage, System, [], Vec::new(), Vec::new())?)
    };
    converse(&mut open()?, updates, times)?;
    load(&mut open()?, updates, times)
}

fn run_component(component: &Component<Sqlite>, folder: &Path, updates: usize, times: &mut Times) -> Result<()> {
    let store = folder.join("component.db");
    let open = || -> Result<_> {
        let mut instance = component.instantiate(Sqlite::builder().file(&store).build()?)?;
        instance.connect(&[], &[], &[])??;
        Ok(instance)
    };
    converse(&mut open()?, updates, times)?;
    load(&mut open()?, updates, times)
}

fn main() -> Result<()> {
    let updates: usize = std::env::args().nth(1).context("say how many updates")?.parse()?;
    let component = Component::embedded(Limits::default())?;
    let (mut native, mut sandboxed) = (Times::default(), Times::default());
    for _ in 0..ROUNDS {
        let folder = tempfile::tempdir()?;
        run_native(folder.path(), updates, &mut native)?;
        run_component(&component, folder.path(), updates, &mut sandboxed)?;
    }
    #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
    let each = |times: &mut Vec<Duration>, count: usize| {
        times.sort_unstable();
        times[times.len() / 2].as_secs_f64() * 1e6 / count as f64
    };
    let row = |name: &str, count, native: &mut Vec<Duration>, component: &mut Vec<Duration>| json!({"name": name, "native_us": each(native, count), "component_us": each(component, count)});
    let figures = [
        row("recording a stream", updates, &mut native.recording, &mut sandboxed.recording),
        row("passing requests and answers, one by one", updates, &mut native.passing, &mut sandboxed.passing),
        row("a whole turn, on disk", short_turns(updates), &mut native.turns, &mut sandboxed.turns),
        row("replaying", updates, &mut native.replaying, &mut sandboxed.replaying),
    ];
    println!("{:#}", json!(figures));
    Ok(())
}
