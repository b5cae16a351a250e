//! Builds the guest crate as a core WebAssembly module, in a cargo of its own.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::wasm_target::{TRIPLE, WasmTarget};

/// No runtime, browsers included, lets the guest grow beyond this.
const MAX_MEMORY: u32 = 512 << 20;

/// Deep enough for JSON of the greatest depth that the engine parses.
const STACK_SIZE: u32 = 1 << 20;

/// The guest's own settings, beside the level of optimisation; the workspace has one profile, made for the host.
/// What only expands macros in this build is not worth being optimised: it takes longer to compile than it works.
const PROFILE: [(&str, &str); 5] = [
    ("LTO", "fat"),
    ("CODEGEN_UNITS", "1"),
    ("PANIC", "abort"),
    ("STRIP", "symbols"),
    ("BUILD_OVERRIDE_OPT_LEVEL", "0"),
];

/// Variables of the outer cargo that the inner one must see: where things come from, how it shares the cores.
const KEPT: [&str; 8] = [
    "CARGO_HOME",
    "CARGO_HTTP_",
    "CARGO_MAKEFLAGS",
    "CARGO_NET_",
    "CARGO_REGISTRIES_",
    "CARGO_REGISTRY_",
    "CARGO_SOURCE_",
    "CARGO_TERM_",
];

/// Builds the package in the workspace at `root`, at a level of optimisation as cargo names it, below `target_dir`, which must
/// not be the outer cargo's: that one is locked while it waits, and holds the work of another compiler. The same sources give the
/// same bytes, wherever the two folders are. Returns the module's path, where the next build puts its own.
pub(crate) fn build(
    target: &WasmTarget,
    root: &Path,
    package: &str,
    opt_level: &str,
    target_dir: &Path,
) -> Result<PathBuf> {
    // One for each compiler and each level: cargo has one place for a module, whatever it was built with, and would build it anew
    // each time that another asks.
    let target_dir = target_dir.join(target.source().to_string()).join(opt_level);
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    forget_outer_cargo(&mut cargo);
    cargo.current_dir(root).args(["rustc", "--release", "--lib", "--crate-type", "cdylib", "--package", package]);
    cargo.args(["--target", TRIPLE, "--target-dir"]).arg(&target_dir);
    if root.join("Cargo.lock").is_file() {
        cargo.arg("--locked");
    }
    for (setting, value) in PROFILE.into_iter().chain([("OPT_LEVEL", opt_level)]) {
        cargo.env(format!("CARGO_PROFILE_RELEASE_{setting}"), value);
    }
    cargo.env("CARGO_ENCODED_RUSTFLAGS", compiler_flags(target, root, &target_dir)?.join("\x1f"));
    target.apply(&mut cargo);

    let output = cargo.output().context("cannot run cargo")?;
    if !output.status.success() {
        bail!(
            "the guest did not build with {} ({}):\n{}",
            target.compiler()?,
            target.source(),
            String::from_utf8_lossy(&output.stderr).trim_end()
        );
    }
    Ok(target_dir.join(TRIPLE).join("release").join(format!("{}.wasm", package.replace('-', "_"))))
}

/// Takes away what cargo tells a build script about the outer build: flags, compilers, and clippy as the compiler.
fn forget_outer_cargo(cargo: &mut Command) {
    for (name, _) in env::vars_os() {
        let name = name.to_string_lossy();
        let cargos = name.starts_with("CARGO_") && !KEPT.iter().any(|kept| name.starts_with(kept));
        let compilers = ["RUSTFLAGS", "RUSTDOC", "RUSTDOCFLAGS", "RUSTC_WORKSPACE_WRAPPER", "RUSTC_LINKER"];
        if cargos || compilers.contains(&&*name) {
            cargo.env_remove(&*name);
        }
    }
}

fn compiler_flags(target: &WasmTarget, root: &Path, target_dir: &Path) -> Result<Vec<String>> {
    let mut flags =
        vec![format!("-Clink-arg=--max-memory={MAX_MEMORY}"), format!("-Clink-arg=-zstack-size={STACK_SIZE}")];
    let mut remap = |from: &Path, to: &str| flags.push(format!("--remap-path-prefix={}={to}", from.display()));
    remap(root, "/acp-sessions");
    // The last one that fits counts.
    remap(target_dir, "/target");
    remap(&target.sysroot()?, "/rust");
    for registry in registries() {
        remap(&registry, "/registry");
    }
    Ok(flags)
}

/// The folders that hold unpacked dependencies, one for each registry.
fn registries() -> Vec<PathBuf> {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| Some(env::home_dir()?.join(".cargo")));
    let sources = home.and_then(|home| home.join("registry/src").read_dir().ok());
    sources.into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path())).collect()
}
