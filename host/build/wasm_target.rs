//! Which compiler on this machine can build the guest for `wasm32-unknown-unknown`.
//!
//! Shared by the build script and by `cargo xtask wasm-target`, so that both agree on what is there.

use std::env;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

/// The target's name.
pub(crate) const TRIPLE: &str = "wasm32-unknown-unknown";

/// Environment variable that asks for one source: `rustup` or `debian`. Without it the first that is there serves.
pub(crate) const SOURCE_VARIABLE: &str = "ACP_SESSIONS_WASM_TARGET";

const DEBIAN_RUSTC: &str = "/usr/bin/rustc";

/// The oldest Debian compiler that builds the guest: `rust-version` of the workspace.
const OLDEST_MINOR: u32 = 95;

/// Where the target comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// The toolchain in use has the target's standard library, as `rustup target add` installs it.
    Rustup,
    /// Debian's compiler and the source of its standard library, packages `rustc-web` and `rust-web-src`.
    Debian,
}

impl Source {
    /// The source that [`SOURCE_VARIABLE`] asks for, if it does.
    pub(crate) fn wanted() -> Result<Option<Self>> {
        match env::var(SOURCE_VARIABLE).as_deref() {
            Err(_) | Ok("") => Ok(None),
            Ok("rustup") => Ok(Some(Self::Rustup)),
            Ok("debian") => Ok(Some(Self::Debian)),
            Ok(other) => bail!("{SOURCE_VARIABLE} is `{other}`; it may be `rustup` or `debian`"),
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Rustup => "rustup",
            Self::Debian => "debian",
        })
    }
}

/// A compiler that can build the guest.
#[derive(Debug, Clone)]
pub(crate) struct WasmTarget {
    source: Source,
    rustc: OsString,
    linker: Option<PathBuf>,
}

impl WasmTarget {
    /// The first source that is there, or the one that [`SOURCE_VARIABLE`] names.
    pub(crate) fn detect() -> Result<Self> {
        let found = match Source::wanted()? {
            Some(source) => Self::find(source),
            None => Self::find(Source::Rustup).or_else(|_| Self::find(Source::Debian)),
        };
        found.context("no compiler for wasm32-unknown-unknown here: run `cargo xtask wasm-target --from auto` once")
    }

    /// This source, if all it needs is there.
    pub(crate) fn find(source: Source) -> Result<Self> {
        match source {
            Source::Rustup => Self::find_rustup(),
            Source::Debian => Self::find_debian(),
        }
    }

    fn find_rustup() -> Result<Self> {
        let rustc = toolchain_rustc();
        let libraries = PathBuf::from(print(&rustc, &["--print", "target-libdir", "--target", TRIPLE])?);
        let has_std = libraries.read_dir().is_ok_and(|mut files| {
            files.any(|file| file.is_ok_and(|file| file.file_name().to_string_lossy().starts_with("libstd-")))
        });
        if !has_std {
            bail!("the toolchain has no standard library for {TRIPLE}");
        }
        Ok(Self { source: Source::Rustup, rustc, linker: None })
    }

    fn find_debian() -> Result<Self> {
        let rustc = OsString::from(DEBIAN_RUSTC);
        let version = print(&rustc, &["--version"])?;
        if minor(&version).is_none_or(|minor| minor < OLDEST_MINOR) {
            bail!("{DEBIAN_RUSTC} is {version}; 1.{OLDEST_MINOR} or newer is needed");
        }
        let sysroot = PathBuf::from(print(&rustc, &["--print", "sysroot"])?);
        let library = sysroot.join("lib/rustlib/src/rust/library");
        if !library.join("std/Cargo.toml").is_file() {
            bail!("the source of the standard library is not in {}", library.display());
        }
        Ok(Self { source: Source::Debian, linker: Some(rust_lld(&sysroot)?), rustc })
    }

    /// Where this compiler comes from.
    pub(crate) fn source(&self) -> Source {
        self.source
    }

    /// The compiler with its version, as it says itself.
    pub(crate) fn compiler(&self) -> Result<String> {
        print(&self.rustc, &["--version"])
    }

    /// What to take out of the paths that the compiler leaves in the module: the place of the library source.
    pub(crate) fn sysroot(&self) -> Result<PathBuf> {
        print(&self.rustc, &["--print", "sysroot"]).map(PathBuf::from)
    }

    /// Makes a cargo command use this compiler.
    pub(crate) fn apply(&self, cargo: &mut Command) {
        cargo.env("RUSTC", &self.rustc);
        if let Some(linker) = &self.linker {
            // Debian ships no compiled standard library for the target, and building it takes an unstable flag. What
            // cargo says about the libraries of its own toolchain must not reach another compiler.
            cargo.env("RUSTC_BOOTSTRAP", "1").arg("-Zbuild-std=std,panic_abort").env_remove("LD_LIBRARY_PATH");
            cargo.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker);
        }
    }
}

/// The compiler of the toolchain in use; cargo names it to build scripts.
fn toolchain_rustc() -> OsString {
    env::var_os("RUSTC").unwrap_or_else(|| "rustc".into())
}

/// The linker: Debian's compiler comes without one for wasm, rustup's toolchain has it.
fn rust_lld(debian_sysroot: &Path) -> Result<PathBuf> {
    let toolchain = PathBuf::from(print(&toolchain_rustc(), &["--print", "sysroot"])?);
    let found = [debian_sysroot, &toolchain].into_iter().find_map(|sysroot| {
        let mut hosts = sysroot.join("lib/rustlib").read_dir().ok()?;
        hosts.find_map(|host| Some(host.ok()?.path().join("bin/rust-lld")).filter(|linker| linker.is_file()))
    });
    found.with_context(|| format!("rust-lld is not in {}", toolchain.display()))
}

/// The second number of `rustc 1.96.0 (…)`.
fn minor(version: &str) -> Option<u32> {
    version.strip_prefix("rustc 1.")?.split('.').next()?.parse().ok()
}

/// What the compiler prints, without the line end.
fn print(rustc: &OsString, arguments: &[&str]) -> Result<String> {
    let name = rustc.to_string_lossy();
    let output = Command::new(rustc).args(arguments).output().with_context(|| format!("cannot run {name}"))?;
    if !output.status.success() {
        bail!("{name} {} failed: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::minor;

    #[test]
    fn reads_the_version() {
        assert_eq!(minor("rustc 1.96.0 (ac68faa20 2026-05-25) (built from a source tarball)"), Some(96));
        assert_eq!(minor("rustc 2.0.0"), None);
    }
}
