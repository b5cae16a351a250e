//! Whether a library is built twice because the program asks something else of it than what builds the program, or because the
//! workspace asks something else of it than the program alone.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, bail};

use crate::workspace;

/// What is short, and nothing long needs.
const MAY_BE_TWICE: [&str; 2] = ["serde_json", "wit-parser"];

/// As it is built, and with the tests.
const EDGES: [&str; 2] = ["normal,build", "normal,build,dev"];

/// What is built alone: this at the start of `cargo xtask`, the program by those who install it, and as the crate that is packed.
const ALONE: [&str; 2] = ["xtask", "acp-sessions"];

/// What one that is built alone may build anew of what the workspace has: it is short, and nothing long needs it.
const MAY_DIFFER: [&str; 9] = [
    "chrono",
    "getrandom",
    "libc",
    "num-traits",
    "once_cell",
    "serde_json",
    "tracing",
    "tracing-core",
    "tracing-subscriber",
];

/// An error names what has to be asked for in `host/features`, or of macros' libraries in the workspace's manifest.
pub(super) fn check() -> Result<()> {
    let whole = with_features(&["--workspace", "--edges", "normal,build,dev"])?;
    for package in ALONE {
        let anew = others(&with_features(&["--package", package, "--edges", "normal,build"])?, &whole);
        if !anew.is_empty() {
            bail!("{package} alone has these built anew, with other features than the workspace: {}", anew.join(", "));
        }
    }
    for edges in EDGES {
        let mut cargo = workspace::cargo(["tree", "--locked", "--workspace", "--duplicates", "--depth", "0"]);
        let twice = twice(&workspace::printed(cargo.args(["--prefix", "none", "--edges", edges]))?);
        if !twice.is_empty() {
            bail!(
                "built twice, with other features each time (host/features is to ask for the same): {}",
                twice.join(", ")
            );
        }
    }
    Ok(())
}

/// Each library that is built, with its features.
fn with_features(which: &[&str]) -> Result<String> {
    let mut cargo = workspace::cargo(["tree", "--locked", "--prefix", "none", "--format", "{p} [{f}]"]);
    workspace::printed(cargo.args(which))
}

/// The libraries that are in the tree of one with other features than in the whole.
fn others(one: &str, whole: &str) -> Vec<String> {
    let lines = |tree| lines(tree).collect::<BTreeSet<&str>>();
    let (one, whole) = (lines(one), lines(whole));
    one.difference(&whole).filter(|line| !is_of(line, &MAY_DIFFER)).map(|&line| line.to_owned()).collect()
}

/// What a tree says, without the mark of what it has said before.
fn lines(tree: &str) -> impl Iterator<Item = &str> {
    tree.lines().map(|line| line.trim_end_matches(" (*)")).filter(|line| !line.is_empty())
}

/// Whether a line is of one of these.
fn is_of(line: &str, names: &[&str]) -> bool {
    line.split(' ').next().is_some_and(|name| names.contains(&name))
}

/// The libraries that are there more than once in one version.
fn twice(tree: &str) -> Vec<String> {
    let mut times = BTreeMap::<&str, usize>::new();
    for line in lines(tree) {
        *times.entry(line).or_default() += 1;
    }
    let twice = times.into_iter().filter(|(line, times)| *times > 1 && !is_of(line, &MAY_BE_TWICE));
    twice.map(|(line, _)| line.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::{others, twice};

    #[test]
    fn only_what_is_there_twice_in_one_version_is_told() {
        let tree =
            "log v0.4.1\n\nlog v0.4.1 (*)\n\nsyn v2.0.0\n\nsyn v3.0.0\n\nserde_json v1.0.1\n\nserde_json v1.0.1\n";
        assert_eq!(twice(tree), ["log v0.4.1"]);
    }
    #[test]
    fn what_is_built_otherwise_than_in_the_workspace_is_told() {
        let whole = "syn v3.0.1 [full,visit]\nlog v0.4.1 [std]\nserde_json v1.0.1 [std]\n";
        let one = "log v0.4.1 [std] (*)\nsyn v3.0.1 [full]\nserde_json v1.0.1 []\n";
        assert_eq!(others(one, whole), ["syn v3.0.1 [full]"]);
    }
}
