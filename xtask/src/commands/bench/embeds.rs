//! What an engine costs in each package, beside the crate over wasmtime: all play the same lines (`bench/workload.json`), each in
//! a process of its own, and take turns.

mod contender;
mod measure;
mod package;
mod player;
mod sizes;
mod workload;

use anyhow::{Context as _, Result};
use serde_json::json;

use super::section::Section;
use crate::workspace;
use contender::Contender;
use measure::{COLUMNS, Figures};
use package::Package;
use sizes::Sizes;

/// Options of `cargo xtask bench embeds`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Small sizes: whether it works, not how fast it is
    #[arg(long)]
    short: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Only these beside the crate
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<Package>,
}

/// Builds and installs all that is measured, measures and prints.
pub(crate) fn run(options: &Options) -> Result<()> {
    let is_wanted = |package: &Package| options.only.is_empty() || options.only.contains(package);
    let packages: Vec<Package> = Package::ALL.into_iter().filter(is_wanted).collect();
    workspace::build(&["acp-sessions", "player"])?;
    for package in &packages {
        package.install()?;
    }
    let sections = measured(if options.short { Sizes::short() } else { Sizes::full() }, &packages)?;
    if options.json {
        let [costs, ratios] = sections.each_ref().map(Section::to_json);
        println!("{:#}", json!({"bench": "embeds", "costs": costs, "ratios": ratios}));
    } else {
        sections.iter().for_each(Section::print);
    }
    Ok(())
}

/// The whole in small, of what was built and installed before; an error where a figure does not come out.
pub(crate) fn briefly() -> Result<()> {
    measured(Sizes::short(), &Package::ALL)?.iter().for_each(Section::print);
    Ok(())
}

/// The figures of the crate and of these packages, and how many times the crate's they are.
fn measured(sizes: Sizes, packages: &[Package]) -> Result<[Section; 2]> {
    let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
    let mut contenders = Contender::of_crate(folder.path())?;
    for package in packages {
        contenders.extend(package.contenders(folder.path())?);
    }
    let rows = measure::measure(sizes, &mut contenders)?;
    let mut costs = Section::new(
        "costs",
        format!(
            "What an engine costs (the best of {}; {} sessions, one with {} updates)",
            sizes.rounds, sizes.sessions, sizes.loaded
        ),
        &COLUMNS.map(|column| (column.heading, column.key)),
    );
    let mut ratios = Section::new(
        "ratios",
        "The same, times the crate's with a store of the same kind",
        &COLUMNS.map(|column| (column.name, column.key)),
    );
    for (contender, figures) in contenders.iter().zip(&rows) {
        let floor = floor(&contenders, &rows, contender)?;
        costs.row(contender.name, figures.iter().copied().map(Some));
        ratios.row(contender.name, figures.iter().zip(floor).map(|(own, floor)| Some(own / floor)));
    }
    Ok([costs, ratios])
}

/// The figures of the crate with a store of the same kind: its rows come first.
fn floor<'a>(contenders: &[Contender], rows: &'a [Figures], own: &Contender) -> Result<&'a Figures> {
    let of_kind = |(other, _): &(&Contender, &Figures)| other.is_lasting == own.is_lasting;
    contenders.iter().zip(rows).find(of_kind).map(|(_, figures)| figures).context("nothing to compare with")
}
