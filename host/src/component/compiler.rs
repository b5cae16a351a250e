//! The compiler, where the program has one.

use std::path::Path;

use wasmtime::Engine;
use wasmtime::component::Component;

use super::file::LoadError;

/// Compiles a component. It may take as long as [`COMPILE_WITHIN`](super::file::COMPILE_WITHIN): the compiler cannot be
/// interrupted, so it is left to itself then, until the program ends.
#[cfg(feature = "compile")]
pub(super) fn compile(engine: &Engine, path: &Path, bytes: Vec<u8>) -> Result<Component, LoadError> {
    use std::sync::mpsc::{RecvTimeoutError, channel};
    use std::thread;

    use super::file::COMPILE_WITHIN;

    let (sender, receiver) = channel();
    let engine = engine.clone();
    // Functions nest deeper than the stack of a thread has room for by default.
    let compiling = thread::Builder::new().stack_size(STACK).spawn(move || {
        // Nobody may wait for it any more.
        sender.send(Component::from_binary(&engine, &bytes)).ok();
    });
    let failed = |cause| LoadError::Compile { path: path.to_owned(), cause };
    compiling.map_err(|error| failed(error.to_string()))?;
    match receiver.recv_timeout(COMPILE_WITHIN) {
        Ok(compiled) => compiled.map_err(|error| failed(format!("{error:#}"))),
        Err(RecvTimeoutError::Timeout) => Err(LoadError::TooSlow(path.to_owned())),
        Err(RecvTimeoutError::Disconnected) => Err(failed("the compiler has failed".to_owned())),
    }
}

/// Without a compiler there is nothing to do it.
#[cfg(not(feature = "compile"))]
pub(super) fn compile(_: &Engine, _: &Path, _: Vec<u8>) -> Result<Component, LoadError> {
    Err(LoadError::NoCompiler)
}

#[cfg(feature = "compile")]
const STACK: usize = 16 << 20;

/// What tells the settings and the version of the compiler from others.
#[cfg(feature = "compile")]
#[allow(clippy::unnecessary_wraps, reason = "it fails where there is no compiler")]
pub(super) fn identify(engine: &Engine, hasher: &mut impl std::hash::Hasher) -> Result<(), LoadError> {
    use std::hash::Hash as _;

    engine.precompile_compatibility_hash().hash(hasher);
    Ok(())
}

/// Without a compiler nothing was compiled.
#[cfg(not(feature = "compile"))]
pub(super) fn identify(_: &Engine, _: &mut impl std::hash::Hasher) -> Result<(), LoadError> {
    Err(LoadError::NoCompiler)
}
