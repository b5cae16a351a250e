//! The price of the sandbox: the example `sandbox` of the host crate runs the engine both ways on the same lines.

use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::super::section::Section;
use super::sizes::Sizes;
use crate::workspace;

/// Runs the example and takes over its figures.
pub(super) fn measure(sizes: &Sizes) -> Result<Section> {
    let program = workspace::program("examples/sandbox")?;
    let output = Command::new(program).arg(sizes.sandboxed.to_string()).output().context("cannot run the example")?;
    ensure!(output.status.success(), "the example failed: {}", String::from_utf8_lossy(&output.stderr));
    let figures: Vec<Value> = serde_json::from_slice(&output.stdout).context("the example printed no figures")?;
    let mut section = Section::new(
        "sandbox",
        "The engine alone, without pipes, on the same lines and a store of the same kind: µs for each line (median)",
        &[("native", "native_us"), ("component", "component_us"), ("ratio", "ratio")],
    );
    for row in figures {
        let (native, component) = (row["native_us"].as_f64(), row["component_us"].as_f64());
        let ratio = native.zip(component).map(|(native, component)| component / native);
        section.row(row["name"].as_str().unwrap_or_default(), [native, component, ratio]);
    }
    Ok(section)
}
