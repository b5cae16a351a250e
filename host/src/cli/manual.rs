//! `acp-sessions manual`

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::CommandFactory as _;

use super::{Arguments as CommandLine, Outcome};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The folder to write to, as in /usr/local/share/man/man1
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    let folder = &arguments.folder;
    let written = fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(CommandLine::command(), folder));
    written.with_context(|| format!("the manual cannot be written to {}", folder.display()))?;
    Ok(ExitCode::SUCCESS)
}
