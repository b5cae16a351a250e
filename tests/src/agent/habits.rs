//! The habits of real agents, each a switch.

use std::path::PathBuf;

use clap::ValueEnum;

/// What the agent does besides what the protocol asks for, or instead of it.
#[derive(Debug, Clone, Default, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub struct Habits {
    /// Names a session after the first prompt that it sees in it, whatever that is, line breaks included, and says so.
    #[arg(long)]
    pub names_after_prompt: bool,
    /// Gives a session a better title, but only in its own list.
    #[arg(long)]
    pub better_titles: bool,
    /// Replays the parent's history as the fork's before it answers session/fork.
    #[arg(long)]
    pub replays_on_fork: bool,
    /// Sends the user's message back as one text, all blocks joined by an empty line, and keeps it like that.
    #[arg(long)]
    pub echo_joined: bool,
    /// Sends a usage update after the answer to a prompt.
    #[arg(long)]
    pub late_usage: bool,
    /// How long it needs to end after its input has ended, in milliseconds.
    #[arg(long, default_value_t = 0)]
    pub end_ms: u64,
    /// Does what session/delete asks for only at its own end, and never gets to the answer.
    #[arg(long)]
    pub deletes_at_end: bool,
    /// Answers -32000 until it was sent `authenticate`, and again after `logout`.
    #[arg(long)]
    pub auth: Option<Auth>,
    /// The name in its `agentInfo`, if it is not `test-agent`.
    #[arg(long)]
    pub name: Option<String>,
    /// Has no `agentInfo`.
    #[arg(long)]
    pub nameless: bool,
    /// Gives `models`, which the schema does not know, in the answer to session/new.
    #[arg(long)]
    pub models: bool,
    /// Dates its sessions by when they were last changed; without this all have one date.
    #[arg(long)]
    pub dates: bool,
    /// Numbers its sessions from 1 with each start, whatever it has handed out before.
    #[arg(long)]
    pub counter_ids: bool,
    /// Answers session/load only when this file is there. Meanwhile it streams.
    #[arg(long)]
    pub load_gate: Option<PathBuf>,
    /// Says nothing at all before this file is there.
    #[arg(long, requires = "load_gate")]
    pub silent_load: bool,
}

/// What is refused to somebody who is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Auth {
    /// Everything.
    All,
    /// Prompts only.
    Prompts,
}
