//! What `proxy` and `agent` have in common.

use std::time::Duration;

use clap::{Args, ValueEnum};

use super::engine::EngineOptions;
use super::store::StoreOptions;
use crate::component::connection::Setting;
use crate::runner::Timing;

/// Which form of the protocol is spoken to the client where there is a choice.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Dialect {
    /// What the stable schema knows.
    Stable,
    /// With the fields of drafts.
    Draft,
}

/// Whether an agent is told what was said in a session and it has not heard.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Rehydrate {
    /// Before its next prompt.
    On,
    /// Never, also not of what other windows said.
    Off,
}

/// Whose sessions a list shows.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Listed {
    /// Those of the agent that is started.
    Own,
    /// All that are in the store.
    All,
}

/// Whether an agent is started again that has ended though the client is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Restarted {
    /// A few times a minute.
    On,
    /// Never: the connection ends with it.
    Off,
}

#[derive(Debug, Args)]
pub(super) struct ConnectionOptions {
    #[command(flatten)]
    pub(super) store: StoreOptions,

    #[command(flatten)]
    pub(super) engine: EngineOptions,

    /// Sessions on one page of a list, if the client does not say how many it wants
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1000))]
    page_size: u32,

    /// Whose sessions are listed
    #[arg(long, value_enum, default_value_t = Listed::Own)]
    list: Listed,

    /// Which form of the protocol is spoken to the client
    #[arg(long, value_enum, default_value_t = Dialect::Stable)]
    dialect: Dialect,

    /// Hides from the client that sessions can be resumed, for clients that would resume and show an empty window
    #[arg(long)]
    prefer_load: bool,

    /// Whether an agent is told, before the next prompt, what was said in a session and it has not heard
    #[arg(long, value_enum, default_value_t = Rehydrate::On)]
    rehydrate: Rehydrate,

    /// Deletes sessions that were idle for this many days; 0: never
    #[arg(long, value_name = "N", default_value_t = 0)]
    retain_days: u32,

    /// Deletes sessions without a single prompt that were idle for this many hours; 0: never
    #[arg(long, value_name = "N", default_value_t = 24)]
    prune_empty_hours: u32,

    /// Writes to the store at least this often while an agent streams, in milliseconds
    #[arg(long, value_name = "N", default_value_t = Timing::default().flush_after.subsec_millis())]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=200))]
    flush_ms: u32,

    /// Gives up an agent that is asked to open or close a session and says nothing at all for so long
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = clap::value_parser!(u32).range(1..=3600))]
    agent_timeout: u32,

    /// Whether the agent is started again when it ends by itself
    #[arg(long, value_enum, default_value_t = Restarted::On)]
    restart: Restarted,

    /// How long the agent may take to end by itself once its input is closed, before it is terminated
    #[arg(long, value_name = "SECONDS", default_value_t = Timing::default().agent_grace.as_secs())]
    #[arg(value_parser = clap::value_parser!(u64).range(0..=3600))]
    agent_grace: u64,
}

/// Who has the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AgentOf {
    /// The program has started it.
    Program,
    /// The conductor of a chain.
    Conductor,
}

impl ConnectionOptions {
    /// For the engine. `agent` is what an agent is called that does not name itself.
    pub(super) fn settings(&self, agent: &str, agent_of: AgentOf) -> Vec<Setting> {
        let chain = match agent_of {
            AgentOf::Program => "off",
            AgentOf::Conductor => "on",
        };
        let list = match self.list {
            Listed::Own => "own",
            Listed::All => "all",
        };
        let dialect = match self.dialect {
            Dialect::Stable => "stable",
            Dialect::Draft => "draft",
        };
        let prefer_load = if self.prefer_load { "on" } else { "off" };
        let rehydrate = match self.rehydrate {
            Rehydrate::On => "on",
            Rehydrate::Off => "off",
        };
        [
            ("page-size", self.page_size.to_string()),
            ("dialect", dialect.to_owned()),
            ("prefer-load", prefer_load.to_owned()),
            ("rehydrate", rehydrate.to_owned()),
            ("retain-days", self.retain_days.to_string()),
            ("prune-empty-hours", self.prune_empty_hours.to_string()),
            ("flush-ms", self.flush_ms.to_string()),
            ("agent-timeout-ms", (self.agent_timeout * 1000).to_string()),
            ("list", list.to_owned()),
            ("chain", chain.to_owned()),
            ("agent", agent.to_owned()),
        ]
        .map(|(name, value)| Setting { name: name.to_owned(), value })
        .into()
    }

    /// Whether an agent is started again that has ended.
    pub(super) fn restarts(&self) -> bool {
        self.restart == Restarted::On
    }

    pub(super) fn timing(&self) -> Timing {
        Timing {
            flush_after: Duration::from_millis(self.flush_ms.into()),
            agent_grace: Duration::from_secs(self.agent_grace),
        }
    }
}
