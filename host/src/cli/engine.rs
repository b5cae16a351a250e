//! Which engine runs, and what it may use up.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use clap::builder::RangedI64ValueParser;

use crate::component::{Cache, Component, Limits};
use crate::folders::Folders;
use crate::store::Sqlite;

/// Under which the options stand in the help; the limits only in the long one.
const HEADING: &str = "The session engine";

/// The engine, for every command that runs one.
#[derive(Debug, Args)]
pub(super) struct EngineOptions {
    /// Runs the engine in this file instead of the built-in one: a WebAssembly component of the world session-engine, of up to
    /// 32 MiB. It is compiled once, in up to two minutes, and kept compiled in the user's cache folder
    #[arg(long, value_name = "FILE", help_heading = HEADING)]
    component: Option<PathBuf>,

    /// Memory that the engine may have, in MiB
    #[arg(long, value_name = "MIB", help_heading = HEADING, hide_short_help = true)]
    #[arg(default_value_t = mib(Limits::default().memory), value_parser = mebibytes())]
    engine_memory: u32,

    /// Seconds that one call of the engine may take. The store waits up to 10 s for other programs by itself
    #[arg(long, value_name = "SECONDS", help_heading = HEADING, hide_short_help = true)]
    #[arg(default_value_t = Limits::default().call_seconds, value_parser = clap::value_parser!(u64).range(1..=3600))]
    engine_seconds: u64,

    /// What the engine may hand over at once, or be handed by the store, in MiB
    #[arg(long, value_name = "MIB", help_heading = HEADING, hide_short_help = true)]
    #[arg(default_value_t = mib(Limits::default().call_bytes), value_parser = mebibytes())]
    engine_call: u32,

    /// How often one call of the engine may use the store
    #[arg(long, value_name = "N", help_heading = HEADING, hide_short_help = true)]
    #[arg(default_value_t = Limits::default().storage_calls, value_parser = clap::value_parser!(u32).range(1..))]
    engine_store_calls: u32,

    /// What may wait to be written of what the engine says, in MiB
    #[arg(long, value_name = "MIB", help_heading = HEADING, hide_short_help = true)]
    #[arg(default_value_t = mib(Limits::default().output), value_parser = mebibytes())]
    engine_output: u32,

    /// What the engine may have kept for the case that it is started anew, in MiB
    #[arg(long, value_name = "MIB", help_heading = HEADING, hide_short_help = true)]
    #[arg(default_value_t = mib(Limits::default().memos), value_parser = mebibytes())]
    engine_memos: u32,
}

const MIB: usize = 1 << 20;

fn mebibytes() -> RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..=4096)
}

fn mib(bytes: usize) -> u32 {
    u32::try_from(bytes / MIB).unwrap_or(u32::MAX)
}

impl EngineOptions {
    /// Loads the engine.
    pub(super) fn load(&self) -> anyhow::Result<Component<Sqlite>> {
        let limits = self.limits();
        let component = match &self.component {
            Some(path) => Component::from_file(path, &Cache::of_user(), limits)?,
            None => Component::embedded(limits)
                .map_err(anyhow::Error::from)
                .context("the built-in session engine cannot be loaded")?,
        };
        Ok(component.with_folders(Folders::of_git()))
    }

    fn limits(&self) -> Limits {
        let bytes = |mib: u32| (mib as usize).saturating_mul(MIB);
        Limits {
            memory: bytes(self.engine_memory),
            call_seconds: self.engine_seconds,
            call_bytes: bytes(self.engine_call),
            storage_calls: self.engine_store_calls,
            output: bytes(self.engine_output),
            memos: bytes(self.engine_memos),
        }
    }
}
