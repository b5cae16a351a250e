//! `acp-sessions delete`

use std::process::ExitCode;

use super::Outcome;
use super::answer::plain;
use super::store::{self, StoreOptions};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    store: StoreOptions,

    /// The session
    id: String,
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    let component = store::engine()?;
    let mut engine = component.instantiate(arguments.store.open_existing()?)?;
    // The engine takes an unknown id for deleted; a person has more likely mistyped it.
    plain(engine.get(&arguments.id))?;
    plain(engine.delete(&arguments.id))?;
    println!("Deleted {}.", arguments.id);
    Ok(ExitCode::SUCCESS)
}
