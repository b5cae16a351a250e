//! A session layer in front of any agent, over a store in a file: `embed STORE AGENT [ARGUMENT]...`

use std::io::{pipe, stdin, stdout};
use std::os::fd::AsFd;

use acp_sessions::component::{Component, Limits};
use acp_sessions::downstream::Command;
use acp_sessions::runner::{Connection, Ends, Timing};
use acp_sessions::store::Sqlite;
use acp_sessions::transport::{Input, Output, Side};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let [store, agent, arguments @ ..] = arguments.as_slice() else { return Err("name a store and an agent".into()) };

    let component = Component::embedded(Limits::default())?;
    let store = Sqlite::builder().file(store).build()?;
    let (downstream, agent) = Command::spawn(agent, arguments)?;
    let from = Input::new(stdin().as_fd().try_clone_to_owned()?, 16 << 20);
    let to = Output::new(stdout().as_fd().try_clone_to_owned()?);
    let (stop, _asked) = pipe()?;

    let client = Side { from, to };
    let ends = Ends { client, agent, downstream: Box::new(downstream), restart: None, stop: stop.into() };
    let end = Connection::open(&component, store, Vec::new(), ends, Timing::default())?.run()?;
    eprintln!("{end:?}");
    Ok(())
}
