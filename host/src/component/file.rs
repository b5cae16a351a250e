//! Another engine, from a file: read, compiled under the same settings as the embedded one, and kept compiled.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use wasmtime::Engine;
use wasmtime::component::Component;

use super::cache::{Cache, Key};
use super::{compiler, precompiled};

/// A component may be so long. The embedded one has 4.5 MiB.
pub const LONGEST: u64 = 32 << 20;

/// Compiling may take so long.
pub const COMPILE_WITHIN: Duration = Duration::from_mins(2);

/// Why a file cannot be used for an engine.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The system does not give it.
    #[error("{} cannot be read: {cause}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        cause: io::Error,
    },
    /// It has more than [`LONGEST`].
    #[error("{} is longer than {} MiB", .0.display(), LONGEST >> 20)]
    TooLong(PathBuf),
    /// It holds something else.
    #[error("{} is no WebAssembly component: {what}", .path.display())]
    NotComponent {
        /// The file.
        path: PathBuf,
        /// What it is, as far as can be seen.
        what: &'static str,
    },
    /// It is damaged, or uses what engines have no business with.
    #[error("{} cannot be compiled: {cause}", .path.display())]
    Compile {
        /// The file.
        path: PathBuf,
        /// What the compiler says.
        cause: String,
    },
    /// It takes longer than [`COMPILE_WITHIN`].
    #[error("{} takes longer than {} s to compile", .0.display(), COMPILE_WITHIN.as_secs())]
    TooSlow(PathBuf),
    /// It wants what no engine is lent, or has not what every engine must have.
    #[error("{} is no session engine: {cause}", .path.display())]
    Unfit {
        /// The file.
        path: PathBuf,
        /// What is missing or too much.
        cause: String,
    },
    /// This program was built without the feature `compile`.
    #[error("this program has no compiler, and runs no other engine than its own: build it with the feature `compile`")]
    NoCompiler,
    /// wasmtime does not start.
    #[error("WebAssembly cannot be run here: {0}")]
    Runtime(wasmtime::Error),
}

/// The engine in this file, compiled now or before.
pub(super) fn load(engine: &Engine, path: &Path, cache: &Cache) -> Result<Component, LoadError> {
    let bytes = read(path)?;
    check_kind(path, &bytes)?;
    let key = Key::of(&bytes, engine)?;
    if let Some(code) = cache.get(&key) {
        match precompiled::load_compiled(engine, &code) {
            Ok(component) => return Ok(component),
            // One of another program's: it is made anew.
            Err(error) => tracing::debug!(%error, "what was compiled before is of no use"),
        }
    }
    let component = compiler::compile(engine, path, bytes)?;
    match component.serialize() {
        Ok(code) => cache.put(&key, &code),
        Err(error) => tracing::warn!(%error, "the compiled engine is not kept"),
    }
    Ok(component)
}

/// What it says of a component that does not fit.
pub(super) fn unfit(path: &Path, cause: &wasmtime::Error) -> LoadError {
    // The whole chain: what is missing stands last.
    LoadError::Unfit { path: path.to_owned(), cause: format!("{cause:#}") }
}

fn read(path: &Path) -> Result<Vec<u8>, LoadError> {
    let failed = |cause| LoadError::Read { path: path.to_owned(), cause };
    let mut bytes = Vec::new();
    // One more than it may have, so that it is seen: what a pipe or a device has is not told beforehand.
    File::open(path).and_then(|file| file.take(LONGEST + 1).read_to_end(&mut bytes)).map_err(failed)?;
    if bytes.len() as u64 > LONGEST {
        return Err(LoadError::TooLong(path.to_owned()));
    }
    Ok(bytes)
}

/// The compiler would take text for a component as well, and names a module's fault in its own words.
fn check_kind(path: &Path, bytes: &[u8]) -> Result<(), LoadError> {
    let what = match bytes {
        [b'\0', b'a', b's', b'm', _, _, 1, 0, ..] => return Ok(()),
        [b'\0', b'a', b's', b'm', 1, 0, 0, 0, ..] => {
            "it is a core module, of which wasm-tools or wit-component make one"
        }
        [] => "it is empty",
        _ => "it does not begin as one",
    };
    Err(LoadError::NotComponent { path: path.to_owned(), what })
}
