//! What the program needs of the system that it is to run on.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::workspace;

/// The oldest version of the C library with all that the program asks of it, as `(2, 34)`.
pub(super) fn oldest_libc(program: &Path) -> Result<(u32, u32)> {
    let symbols = workspace::printed(Command::new("readelf").args(["--wide", "--version-info"]).arg(program))?;
    newest(&symbols).context("the program asks for no version of the C library")
}

fn newest(symbols: &str) -> Option<(u32, u32)> {
    let versions = symbols.split("GLIBC_").skip(1).filter_map(|rest| {
        let version = rest.split(|letter: char| !letter.is_ascii_digit() && letter != '.').next()?;
        let mut numbers = version.split('.').map_while(|number| number.parse().ok());
        Some((numbers.next()?, numbers.next()?))
    });
    versions.max()
}

/// How the different registries call this machine's kind of processor.
#[derive(Debug, Clone, Copy)]
pub(super) struct Processor {
    pub(super) debian: &'static str,
    pub(super) npm: &'static str,
    pub(super) python: &'static str,
}

impl Processor {
    pub(super) fn of_this_machine() -> Result<Self> {
        match std::env::consts::ARCH {
            "x86_64" => Ok(Self { debian: "amd64", npm: "x64", python: "x86_64" }),
            "aarch64" => Ok(Self { debian: "arm64", npm: "arm64", python: "aarch64" }),
            other => bail!("packages for {other} are not made yet"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::newest;

    #[test]
    fn the_newest_version_counts() {
        let symbols = "  0x0010: Name: GLIBC_2.9  Flags: none\n  Name: GLIBC_2.34  Version: 4\n Name: GLIBC_2.2.5\n";
        assert_eq!(newest(symbols), Some((2, 34)));
        assert_eq!(newest("GLIBC_PRIVATE"), None);
    }
}
