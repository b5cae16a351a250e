//! The packages: how what is measured of each is made, what starts it, and what it takes as it is given away.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::super::super::component::web;
use super::super::super::dist::source;
use super::super::super::javascript::{self, npm};
use super::super::super::python;
use super::contender::Contender;
use crate::workspace;

/// What has an engine beside the crate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Package {
    /// The package for JavaScript, in Node
    Node,
    /// The same in a browser
    Chromium,
    /// The package for Python
    Python,
}

impl Package {
    /// All of them, as they stand in the table.
    pub(super) const ALL: [Self; 3] = [Self::Node, Self::Chromium, Self::Python];

    /// Makes it of the component that the build made, as its tests have it.
    pub(super) fn install(self) -> Result<()> {
        match self {
            Self::Node | Self::Chromium => {
                web::build()?;
                javascript::install()?;
                javascript::bind()
            }
            Self::Python => {
                python::install()?;
                python::install_package()
            }
        }
    }

    /// With a store in memory, and with one that lasts.
    pub(super) fn contenders(self, folder: &Path) -> Result<Vec<Contender>> {
        match self {
            Self::Node => in_node(folder),
            Self::Chromium => in_chromium(),
            Self::Python => in_python(folder),
        }
    }
}

/// By the newer Node, whose SQLite the store in a file needs.
fn in_node(folder: &Path) -> Result<Vec<Contender>> {
    let print = "import { newerNode } from './newer/where.js'; console.log(newerNode())";
    let mut node = Command::new("node");
    node.current_dir(workspace::root().join("embed/js")).args(["--input-type=module", "--eval", print]);
    let newer = PathBuf::from(workspace::printed(&mut node)?.trim());
    let player = || driver(&newer, "embed/js", "bench/node.js");
    let mut in_file = player();
    in_file.arg(folder.join("node.db"));
    let size = size_of_npm()?;
    Ok(vec![
        Contender::new("Node, in memory", false, size, player()),
        Contender::new("Node, a file", true, size, in_file),
    ])
}

fn in_chromium() -> Result<Vec<Contender>> {
    let player = |store: &str| {
        let mut player = driver(Path::new("node"), "embed/js", "bench/chromium.js");
        player.arg(store);
        player
    };
    let size = size_of_npm()?;
    Ok(vec![
        Contender::new("Chromium, in memory", false, size, player("memory")).with_pages(),
        Contender::new("Chromium, OPFS", true, size, player("opfs")).with_pages(),
    ])
}

fn in_python(folder: &Path) -> Result<Vec<Contender>> {
    let player = || -> Result<Command> {
        let mut player = python::interpreter()?;
        // What it compiles is compiled once for a build.
        player.env("XDG_CACHE_HOME", python::environment()?.join("cache"));
        player.current_dir(python::package()).args(["-B", "bench/play.py"]);
        Ok(player)
    };
    let mut in_file = player()?;
    in_file.arg(folder.join("python.db"));
    let size = size_of_wheel(folder)?;
    Ok(vec![
        Contender::new("Python, in memory", false, size, player()?),
        Contender::new("Python, a file", true, size, in_file),
    ])
}

fn driver(program: &Path, package: &str, script: &str) -> Command {
    let mut driver = Command::new(program);
    driver.current_dir(workspace::root().join(package)).arg(script);
    driver
}

/// The crate's sources with the component, packed as `cargo package` packs them.
pub(super) fn size_of_crate(folder: &Path) -> Result<f64> {
    let (sources, packed) = (folder.join("crate"), folder.join("crate.tar.gz"));
    source::lay_out(&sources)?;
    let mut tar = Command::new("tar");
    workspace::run(tar.args(["--create", "--gzip", "--file"]).arg(&packed).arg("--directory").arg(&sources).arg("."))?;
    size_of(&packed)
}

/// What `npm pack` makes.
fn size_of_npm() -> Result<f64> {
    let said = workspace::printed(&mut npm(&["pack", "--dry-run", "--json", "--ignore-scripts"]))?;
    let packed: Value = serde_json::from_str(&said).context("cannot read what npm says")?;
    let bytes = packed[0]["size"].as_f64().context("npm does not say how large the package is")?;
    Ok(bytes / 1e3)
}

/// The wheel that fits every machine, without the program.
fn size_of_wheel(folder: &Path) -> Result<f64> {
    let (source, wheels) = (folder.join("python"), folder.join("wheel"));
    python::source(&source)?;
    size_of(&python::wheel(&source, &wheels)?)
}

/// In kB.
fn size_of(path: &Path) -> Result<f64> {
    let bytes = fs::metadata(path).with_context(|| format!("cannot look at {}", path.display()))?.len();
    #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
    let bytes = bytes as f64;
    Ok(bytes / 1e3)
}
