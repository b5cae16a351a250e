//! Checks of the engine as built for WebAssembly.

use anyhow::Result;

use super::super::javascript::{self, npm};
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

/// The package for JavaScript: bindings of the component, also as it is for the web, the conformance corpus, its own tests.
pub(super) fn in_node() -> Result<()> {
    javascript::bind()?;
    // And of the one that does what it should not, which its deadline is tried with.
    let hostile = workspace::target_dir()?.join("hostile/engine.wasm");
    let out = ["--out", "hostile/bindings"];
    workspace::run(npm(&["run", "--silent", "build", "--", "--component"]).arg(hostile).args(out))?;
    let mut test = npm(&["test", "--silent", "--", "--test-reporter=dot"]);
    // It shares files with the package.
    workspace::run(test.env("ACP_SESSIONS_PROGRAM", workspace::program("acp-sessions")?))
}

/// Debian's compiler builds an engine too, with the same imports.
pub(super) fn by_debian() -> Outcome {
    let target = match obtain(Source::Debian) {
        Ok(target) => target,
        Err(error) => return Outcome::Missing(format!("{error:#}")),
    };
    let built = workspace::target_dir().and_then(|target_dir| {
        guest::build(&target, &workspace::root(), "acp-sessions-guest", "3", &target_dir.join("guest"))
    });
    match built.and_then(|module| imports::check(&module)) {
        Ok(names) => {
            println!("{}", names.join("\n"));
            Outcome::Passed
        }
        Err(error) => Outcome::Failed(error),
    }
}
