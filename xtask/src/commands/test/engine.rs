//! Checks of the engine as built for WebAssembly.

use anyhow::Result;

use super::super::wasm_target::obtain;
use super::report::Outcome;
use crate::wasm_target::Source;
use crate::{guest, imports, workspace};

/// The component that the build made imports what it may.
pub(super) fn imports() -> Result<()> {
    for name in imports::check(&workspace::component()?)? {
        println!("{name}");
    }
    Ok(())
}

/// Debian's compiler builds an engine too, with the same imports.
pub(super) fn by_debian() -> Outcome {
    let target = match obtain(Source::Debian) {
        Ok(target) => target,
        Err(error) => return Outcome::Missing(format!("{error:#}")),
    };
    let built = workspace::target_dir().and_then(|target_dir| {
        guest::build(&target, &workspace::root(), "acp-sessions-guest", &target_dir.join("guest"))
    });
    match built.and_then(|module| imports::check(&module)) {
        Ok(names) => {
            println!("{}", names.join("\n"));
            Outcome::Passed
        }
        Err(error) => Outcome::Failed(error),
    }
}
