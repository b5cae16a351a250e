//! `cargo xtask wasm-target`.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};

use crate::wasm_target::{Source, TRIPLE, WasmTarget};
use crate::{style, workspace};

const DEBIAN_PACKAGES: [&str; 2] = ["rustc-web", "rust-web-src"];

/// Options of `cargo xtask wasm-target`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Where to get it: `rustup` adds a target to the toolchain; `debian` installs a compiler and the source of its
    /// library by apt-get; `auto` takes what is there, else tries rustup, then Debian
    #[arg(long, value_enum, default_value = "auto")]
    from: From,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum From {
    Auto,
    Rustup,
    Debian,
}

/// Gets the target.
pub(crate) fn run(options: &Options) -> Result<()> {
    let target = match options.from {
        From::Auto => return ensure(),
        From::Rustup => obtain(Source::Rustup)?,
        From::Debian => obtain(Source::Debian)?,
    };
    announce(&target);
    Ok(())
}

/// Makes sure that there is a target, from wherever it can be had unless the environment asks for one source.
pub(crate) fn ensure() -> Result<()> {
    let target = match (WasmTarget::detect(), Source::wanted()?) {
        (Ok(target), _) => target,
        (Err(_), Some(source)) => obtain(source)?,
        (Err(_), None) => obtain(Source::Rustup).or_else(|rustup| {
            println!("{}", style::notice(format_args!("Not by rustup: {rustup:#}. Trying Debian's packages.")));
            obtain(Source::Debian)
                .with_context(|| format!("no {TRIPLE} by rustup ({rustup:#}) or by Debian's packages"))
        })?,
    };
    announce(&target);
    Ok(())
}

/// The target from this source, installed if it is not there.
pub(crate) fn obtain(source: Source) -> Result<WasmTarget> {
    WasmTarget::find(source).or_else(|_| {
        match source {
            Source::Rustup => add_by_rustup()?,
            Source::Debian => install_debian_packages()?,
        }
        WasmTarget::find(source)
    })
}

fn announce(target: &WasmTarget) {
    println!("{}", style::dim(format_args!("{TRIPLE} is there, from {}.", target.source())));
}

fn add_by_rustup() -> Result<()> {
    if !answers("rustup") {
        bail!("there is no rustup here");
    }
    println!("Adding {TRIPLE} by rustup.");
    // Where its server cannot be reached, its message is enough.
    workspace::run(Command::new("rustup").args(["target", "add", TRIPLE]).env_remove("RUST_BACKTRACE"))
}

fn install_debian_packages() -> Result<()> {
    if !Path::new("/etc/debian_version").exists() || !answers("apt-get") {
        bail!("this is not a Debian system");
    }
    println!("Installing {} by apt-get.", DEBIAN_PACKAGES.join(" and "));
    apt_get(&["update", "--quiet"])?;
    apt_get(&[&["install", "--quiet", "--yes", "--no-install-recommends"], &DEBIAN_PACKAGES[..]].concat())
}

/// Runs apt-get, by sudo unless this is root. It takes turns with itself: two of them at once would find its lists locked.
pub(crate) fn apt_get(arguments: &[&str]) -> Result<()> {
    let path = workspace::target_dir()?.join("apt-get.lock");
    let turn = File::create(&path).with_context(|| format!("cannot create {}", path.display()))?;
    turn.lock().with_context(|| format!("cannot lock {}", path.display()))?;
    let user = Command::new("id").arg("-u").output().context("cannot run id")?;
    let mut command = if user.stdout.trim_ascii() == b"0" {
        Command::new("apt-get")
    } else {
        let mut sudo = Command::new("sudo");
        sudo.arg("apt-get");
        sudo
    };
    workspace::run(command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive"))
}

/// Whether a program is there and tells its version.
pub(crate) fn answers(program: &str) -> bool {
    let status = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}
