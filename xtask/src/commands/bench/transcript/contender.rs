//! What is put between the client and the agent.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use super::client::Client;
use crate::workspace;

/// The agent alone.
pub(super) fn direct() -> Result<Command> {
    Ok(Command::new(workspace::program("fast_agent")?))
}

/// `cat` before it and after it.
pub(super) fn cat() -> Result<Command> {
    let mut command = Command::new("sh");
    command.args(["-c", r#"cat | "$0" | cat"#]).arg(workspace::program("fast_agent")?);
    Ok(command)
}

/// The Rust SDK's conductor.
pub(super) fn conductor() -> Result<Command> {
    let mut command = Command::new(workspace::program("conductor")?);
    command.arg("agent").arg(workspace::program("fast_agent")?);
    Ok(command)
}

/// This project, with a store in this file.
pub(super) fn sessions(store: &Path) -> Result<Command> {
    let mut command = Command::new(workspace::program("acp-sessions")?);
    command.args(["proxy", "--store"]).arg(store).arg("--").arg(workspace::program("fast_agent")?);
    Ok(command)
}

/// A connection over one of them, with a session open.
pub(super) struct Contender {
    pub(super) name: &'static str,
    pub(super) client: Client,
    pub(super) session: String,
}

impl Contender {
    pub(super) fn start(name: &'static str, mut command: Command) -> Result<Self> {
        let mut client = Client::start(&mut command)?;
        let session = client.open_session()?;
        Ok(Self { name, client, session })
    }
}
