//! `cargo xtask dist`: the program for those who do not build it, as an archive, a Debian package and an npm package, and in
//! the wheel for Python, and the crate for those who do. Linux only, so far.

mod archive;
mod deb;
mod installed;
mod linked;
mod links;
mod manifest;
mod notices;
mod npm;
pub(crate) mod source;
mod staged;
mod wheel;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use super::component::sums;
use crate::{style, workspace};
use staged::Staged;

const SUMS: &str = "SHA256SUMS";

/// Options of `cargo xtask dist`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The folder to write to; what is in it under the same names is replaced [default: dist in cargo's target directory]
    #[arg(long)]
    out: Option<PathBuf>,
    /// Install each in an empty folder, and play the life of a session with it
    #[arg(long)]
    check: bool,
}

/// Builds the program and writes it in every form.
pub(crate) fn run(options: &Options) -> Result<()> {
    super::wasm_target::ensure()?;
    workspace::build(&["acp-sessions"])?;
    super::component::web::build()?;
    let out = match &options.out {
        Some(out) => out.clone(),
        None => folder()?,
    };
    super::javascript::install()?;
    super::javascript::bind()?;
    let files = make(&out)?;
    if options.check {
        installed::check(&files)?;
    }
    println!("{}", style::good(out.display()));
    for file in files {
        println!("{}", style::dim(file.file_name().unwrap_or_default().display()));
    }
    Ok(())
}

/// Writes it in every form, installs each in an empty folder, and plays the life of a session with it. The program, the component
/// for the web and the bindings for JavaScript are there.
pub(crate) fn check() -> Result<()> {
    let files = make(&folder()?)?;
    installed::check(&files)
}

fn folder() -> Result<PathBuf> {
    Ok(workspace::target_dir()?.join("dist"))
}

/// Returns the files that are to be given away.
fn make(out: &Path) -> Result<Vec<PathBuf>> {
    fs::create_dir_all(out).with_context(|| format!("cannot create {}", out.display()))?;
    let work = tempfile::tempdir().context("cannot create a folder for temporary files")?;
    let staged = Staged::make(&work.path().join("staged"))?;
    let mut files = vec![archive::make(&staged, work.path(), out)?, deb::make(&staged, work.path(), out)?];
    files.extend(npm::make(&staged, work.path(), out)?);
    files.push(wheel::make(&staged, work.path(), out)?);
    files.push(source::make(&staged, work.path(), out)?);
    let mut contents = Vec::new();
    for file in &files {
        let bytes = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
        contents.push((PathBuf::from(file.file_name().unwrap_or_default()), bytes));
    }
    workspace::write(&out.join(SUMS), sums(&contents))?;
    Ok(files)
}
