//! The same as `embed.rs`, for whoever has lines rather than pipes: the engine between a client and an agent, call by call. Here
//! too the client is on standard input and output: `lines STORE AGENT [ARGUMENT]...`

use std::io::{BufRead as _, BufReader, Read, Write as _, stdin, stdout};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use acp_sessions::component::connection::{Arrival, Content, Output, Peer};
use acp_sessions::component::{Component, Limits};
use acp_sessions::engine::{Engine, Room};
use acp_sessions::store::Sqlite;

/// A line of one side; none at its end.
type Heard = (Peer, Option<String>);
type Done = Result<(), Box<dyn std::error::Error>>;

/// The engine between the two, until the agent has ended.
fn serve(store: Sqlite, heard: &Receiver<Heard>, mut to_agent: Option<ChildStdin>) -> Done {
    let component = Component::embedded(Limits::default())?;
    let mut engine = Engine::connect(&component, store, Vec::new())?;
    let room = Room { client: 1 << 20, waiting: 0 };
    let (mut is_client_there, mut is_agent_there, mut next) = (true, true, Instant::now());
    while is_agent_there {
        let mut step = match heard.recv_timeout(next.saturating_duration_since(Instant::now())) {
            Ok((peer, Some(line))) => {
                next = next.min(Instant::now() + Duration::from_millis(20));
                engine.receive(vec![Arrival { peer, content: Content::Line(line) }], room)?
            }
            Ok((Peer::Client, None)) => {
                is_client_there = false;
                engine.pull(room)?
            }
            Ok((Peer::Agent, None)) => {
                is_agent_there = false;
                engine.peer_closed(Peer::Agent)?;
                engine.pull(room)?
            }
            Err(_) => {
                let wait = engine.idle()?.unwrap_or(1000);
                next = Instant::now() + Duration::from_millis(wait.into());
                engine.pull(room)?
            }
        };
        loop {
            for output in step.outputs {
                match output {
                    Output::ToClient(line) => writeln!(stdout(), "{line}")?,
                    Output::ToAgent(line) => to_agent.iter_mut().try_for_each(|agent| writeln!(agent, "{line}"))?,
                    Output::Warn(text) => eprintln!("{text}"),
                    Output::Keep(_) => {}
                }
            }
            if !step.more {
                break;
            }
            step = engine.pull(room)?;
        }
        // What the client has sent before it left is done first.
        if !is_client_there && !step.held && to_agent.take().is_some() {
            engine.peer_closed(Peer::Client)?;
            next = Instant::now();
        }
    }
    Ok(())
}

/// Reads lines of one side, to its end.
fn read(peer: Peer, from: impl Read + Send + 'static, tell: Sender<Heard>) {
    std::thread::spawn(move || {
        let lines = BufReader::new(from).lines().map_while(Result::ok);
        lines.map(Some).chain([None]).try_for_each(|line| tell.send((peer, line)))
    });
}

fn main() -> Done {
    let mut arguments = std::env::args_os().skip(1);
    let store = Sqlite::builder().file(arguments.next().ok_or("name a store")?).build()?;
    let mut agent = Command::new(arguments.next().ok_or("name an agent")?);
    let mut agent = agent.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let (tell, heard) = channel();
    read(Peer::Client, stdin(), tell.clone());
    read(Peer::Agent, agent.stdout.take().ok_or("the agent has no output")?, tell);
    let done = serve(store, &heard, agent.stdin.take());
    agent.wait()?;
    done
}
