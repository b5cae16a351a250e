//! Chromium, in which the package for JavaScript is tried.

use std::process::Command;

use anyhow::Result;

use super::super::wasm_target::{answers, apt_get};
use super::report::Outcome;
use crate::workspace;

/// Installs it from Debian, unless it is there.
pub(super) fn install() -> Outcome {
    if answers("chromium") {
        println!("already installed");
        return Outcome::Passed;
    }
    let install = ["install", "--quiet", "--yes", "--no-install-recommends", "chromium"];
    let installed = apt_get(&["update", "--quiet"]).and_then(|()| apt_get(&install));
    installed.map_or_else(
        |error| Outcome::Missing(format!("{error:#}; the package for JavaScript was not tried in it")),
        |()| Outcome::Passed,
    )
}

/// The package as it is in a page, by the bindings that were made for the tests in Node.
pub(super) fn check() -> Result<()> {
    let mut node = Command::new("node");
    node.current_dir(workspace::root().join("embed/js"));
    // It reads a file of the package's.
    node.env("ACP_SESSIONS_PROGRAM", workspace::program("acp-sessions")?);
    let files = ["browser/chromium.js", "browser/opfs.js", "browser/opfs-tabs.js"];
    workspace::run(node.args(["--test", "--test-reporter=dot", "--test-timeout=180000"]).args(files))
}
