//! `cargo xtask component`: the engine for those who embed it, in one folder.

pub(crate) mod again;
mod binary;
mod described;
mod envelope;
mod lock;
pub(crate) mod sbom;
pub(crate) mod tree;
pub(crate) mod web;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::wasm_target::WasmTarget;
use crate::{imports, style, workspace};
use lock::Lock;
use sbom::Sbom;

/// The crate that the component is made of.
const PACKAGE: &str = "acp-sessions-guest";
const TARGET: &str = "wasm32-unknown-unknown";

const COMPONENT: &str = "acp-sessions.wasm";
const SBOM: &str = "acp-sessions.cdx.json";
const WEB_SBOM: &str = "acp-sessions-web.cdx.json";
const SUMS: &str = "SHA256SUMS";

/// Options of `cargo xtask component`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The folder to write to; what is in it under the same names is replaced [default: embed in cargo's target directory]
    #[arg(long)]
    out: Option<PathBuf>,
    /// Build all of it again of a copy of the checkout elsewhere, which must give the same bytes (takes some minutes)
    #[arg(long)]
    again: bool,
}

/// Builds the component, also as it is for the web, and writes both with their interface, checksums and lists of what they
/// are made of.
pub(crate) fn run(options: &Options) -> Result<()> {
    super::wasm_target::ensure()?;
    workspace::build(&["acp-sessions"])?;
    let component = workspace::component()?;
    imports::check(&component)?;
    let folder = match &options.out {
        Some(folder) => folder.clone(),
        None => workspace::target_dir()?.join("embed"),
    };
    let lock = fs::read_to_string(workspace::root().join("Cargo.lock")).context("cannot read Cargo.lock")?;
    let (lock, metadata, tree) = (Lock::read(&lock), metadata()?, tree::of(PACKAGE, TARGET)?);
    let package = package(&metadata, PACKAGE)?;
    // Its standard library is in the component too.
    let compiler = WasmTarget::detect()?.compiler()?.trim_start_matches("rustc ").to_owned();
    let mut files = Vec::new();
    for (built, name, sbom) in [(component, COMPONENT, SBOM), (web::build()?, web::COMPONENT, WEB_SBOM)] {
        let bytes = fs::read(&built).with_context(|| format!("cannot read {}", built.display()))?;
        let bytes = described::described(&bytes, package)?;
        let made = Sbom { package: PACKAGE, digest: hex(&Sha256::digest(&bytes)), compiler: compiler.clone() };
        files.push((PathBuf::from(sbom), made.document(&tree, &metadata, &lock)?.into_bytes()));
        files.push((PathBuf::from(name), bytes));
    }
    files.extend(interface(&workspace::root().join("wit"), Path::new("wit"))?);
    files.sort();
    files.push((PathBuf::from(SUMS), sums(&files).into_bytes()));
    for (name, bytes) in &files {
        workspace::write(&folder.join(name), bytes)?;
    }
    if options.again {
        again::check(&["3", web::OPT_LEVEL])?;
    }
    println!("{}", style::good(folder.display()));
    for (name, bytes) in &files {
        println!("{}", style::dim(format_args!("{:>9} {}", bytes.len(), name.display())));
    }
    Ok(())
}

/// The files of the interface, those of packages that it uses included, under this name.
fn interface(folder: &Path, name: &Path) -> Result<Vec<(PathBuf, Vec<u8>)>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let entry = entry?;
        let name = name.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            files.extend(interface(&entry.path(), &name)?);
        } else {
            files.push((name, fs::read(entry.path())?));
        }
    }
    Ok(files)
}

/// As `sha256sum --check` reads them.
pub(crate) fn sums(files: &[(PathBuf, Vec<u8>)]) -> String {
    let mut sums = String::new();
    for (name, bytes) in files {
        let _ = writeln!(sums, "{}  {}", hex(&Sha256::digest(bytes)), name.display());
    }
    sums
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// What cargo says of all packages.
pub(crate) fn metadata() -> Result<Value> {
    let arguments = ["metadata", "--format-version", "1", "--locked"];
    let printed = workspace::printed(&mut workspace::cargo(arguments))?;
    serde_json::from_str(&printed).context("cannot read what cargo says of the packages")
}

/// What it says of this one of the workspace.
pub(crate) fn package<'a>(metadata: &'a Value, name: &str) -> Result<&'a Value> {
    let mut packages = metadata["packages"].as_array().into_iter().flatten();
    packages.find(|package| package["name"] == name).with_context(|| format!("cargo does not know {name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_as_sha256sum_writes_them() {
        let files = [(PathBuf::from("wit/world.wit"), b"abc".to_vec())];
        let sum = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sums(&files), format!("{sum}  wit/world.wit\n"));
    }

    #[test]
    fn the_interface_comes_with_what_it_uses() {
        let files = interface(&workspace::root().join("wit"), Path::new("wit")).expect("the interface");
        let has = |name: &str| files.iter().any(|(path, _)| path.starts_with(name));
        assert!(has("wit/world.wit") && has("wit/deps"), "{files:?}");
    }
}
