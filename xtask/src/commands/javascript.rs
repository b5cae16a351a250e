//! The package for JavaScript: what makes its bindings, and the bindings.

use std::process::Command;

use anyhow::Result;

use super::component::web;
use super::test::official::JAVASCRIPT;
use super::test::report::Outcome;
use crate::workspace;

/// Installs what makes the bindings.
pub(crate) fn install() -> Result<()> {
    match JAVASCRIPT.install() {
        Outcome::Passed => Ok(()),
        Outcome::Missing(what) => anyhow::bail!(what),
        Outcome::Failed(error) => Err(error),
    }
}

/// npm, in the package's folder.
pub(crate) fn npm(arguments: &[&str]) -> Command {
    let mut npm = Command::new("npm");
    npm.current_dir(workspace::root().join("embed/js")).args(arguments);
    npm
}

/// Makes the bindings of the component, also as it is for the web: both are built.
pub(crate) fn bind() -> Result<()> {
    let (component, for_web) = (workspace::component()?, web::path()?);
    workspace::run(npm(&["run", "--silent", "build", "--", "--component"]).arg(component).arg("--web").arg(for_web))
}
