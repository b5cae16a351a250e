//! What is made of the build for others: the engine for the web, the packages for JavaScript and Python, the program in every form
//! in which it is given away.

use std::fs::File;
use std::io::{self, Seek as _};
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, bail};

use super::super::bench::embeds;
use super::super::component::{again, web};
use super::report::Report;
use super::{chromium, engine, official, outcome, python};
use crate::workspace;

/// Runs every check of them. The build has been made.
pub(super) fn checks(report: &mut Report) {
    let for_web = report.step("The engine for the web", || outcome(web::build()));
    if for_web {
        // The other level of optimisation takes as long again: `cargo xtask component --again`.
        report.step("The same engine in another folder", || outcome(again::check(&[web::OPT_LEVEL])));
    }
    let mut is_everywhere = false;
    let for_javascript = report.step(official::JAVASCRIPT.name, || official::JAVASCRIPT.install());
    if for_web && for_javascript {
        let is_bound = report.step("The engine in Node", || outcome(engine::in_node()));
        if report.step("Chromium", chromium::install) && is_bound {
            is_everywhere = report.step("The engine in Chromium", || outcome(chromium::check()));
        }
    }
    if report.step("What the package for Python needs", python::install) {
        is_everywhere &= report.step("The engine in Python", || outcome(python::check()));
    }
    if is_everywhere {
        report.step("Figures of the packages", || outcome(embeds::briefly()));
    }
    report.step("What is given away", || outcome(super::super::dist::check()));
}

/// The checks under way in a process of their own.
pub(super) struct Checked {
    process: Child,
    printed: File,
}

/// Begins the checks beside what this process goes on with.
pub(super) fn begin() -> Result<Checked> {
    let printed = tempfile::tempfile().context("cannot create a file for what the checks of the packages print")?;
    let output = || printed.try_clone().context("cannot share the file for what the checks of the packages print");
    // Where the build has left it: it may have put another in the place of the one that runs.
    let mut own = Command::new(workspace::program("xtask")?);
    own.args(["test", "--packages"]).stdin(Stdio::null()).stdout(output()?).stderr(output()?);
    let process = own.spawn().context("cannot begin the checks of the packages")?;
    Ok(Checked { process, printed })
}

impl Checked {
    /// Waits for their end and prints what they printed, all at once.
    pub(super) fn told(mut self) -> Result<()> {
        let status = self.process.wait().context("cannot wait for the checks of the packages")?;
        self.printed.rewind().context("cannot read what the checks of the packages printed")?;
        io::copy(&mut self.printed, &mut io::stdout())
            .context("cannot print what the checks of the packages printed")?;
        if !status.success() {
            bail!("some of their steps failed ({status}): they are summed up above");
        }
        Ok(())
    }
}
