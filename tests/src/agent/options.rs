//! Which kind of agent to be.

use std::path::PathBuf;

use super::Habits;

/// The flags of `test_agent`. Without any it keeps nothing and offers nothing beyond new sessions and prompts.
#[derive(Debug, Clone, Default, clap::Parser)]
#[command(about = "An agent for tests, written with the official Rust SDK")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub struct Options {
    /// Offers session/load, with a replay.
    #[arg(long)]
    pub load: bool,
    /// Offers session/resume.
    #[arg(long)]
    pub resume: bool,
    /// Offers session/list.
    #[arg(long)]
    pub list: bool,
    /// Offers session/fork.
    #[arg(long)]
    pub fork: bool,
    /// Offers session/delete.
    #[arg(long)]
    pub delete: bool,
    /// Offers session/close.
    #[arg(long)]
    pub close: bool,
    /// Knows no session of an earlier process, whatever it offers: -32002.
    #[arg(long)]
    pub forgets: bool,
    /// Sends the user's message back as an update before it answers.
    #[arg(long)]
    pub echo_user: bool,
    /// Has two modes, `ask` and `code`, and starts in `ask`.
    #[arg(long)]
    pub modes: bool,
    /// Has one configuration option, `effort`, that is `low` or `high` and starts as `low`.
    #[arg(long)]
    pub config: bool,
    /// Tells its modes and configuration only in the answer to session/new, never on load or resume.
    #[arg(long)]
    pub tells_once: bool,
    /// How many sessions a page of its list holds.
    #[arg(long, default_value_t = 2)]
    pub page_size: usize,
    /// Has a list that never ends: after the last page comes the first.
    #[arg(long)]
    pub endless_list: bool,
    /// Keeps its sessions in this folder, over the end of the process.
    #[arg(long)]
    pub state_dir: Option<PathBuf>,
    /// Appends to this file its process id and every line that it receives.
    #[arg(long)]
    pub log: Option<PathBuf>,
    /// Stays when it is asked to terminate and when its input ends.
    #[arg(long)]
    pub stubborn: bool,
    /// Connects to this socket when it starts. When its input has ended it stays until the other end lets go, and only then
    /// has it ended by itself, which it notes in its log.
    #[arg(long, value_name = "SOCKET")]
    pub lingers: Option<PathBuf>,
    /// What it does besides.
    #[command(flatten)]
    pub habits: Habits,
}
