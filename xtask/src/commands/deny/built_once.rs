//! Whether a library is built twice because the program asks something else of it than what builds the program.

use std::collections::BTreeMap;

use anyhow::{Result, bail};

use crate::workspace;

/// What is short, and nothing long needs.
const MAY_BE_TWICE: [&str; 2] = ["serde_json", "wit-parser"];

/// As it is built, and with the tests.
const EDGES: [&str; 2] = ["normal,build", "normal,build,dev"];

/// An error names what has to be asked for in `host/features`.
pub(super) fn check() -> Result<()> {
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

/// The libraries that are there more than once in one version.
fn twice(tree: &str) -> Vec<String> {
    let mut times = BTreeMap::<&str, usize>::new();
    for line in tree.lines().map(|line| line.trim_end_matches(" (*)")).filter(|line| !line.is_empty()) {
        *times.entry(line).or_default() += 1;
    }
    let may_be = |line: &str| line.split(' ').next().is_some_and(|name| MAY_BE_TWICE.contains(&name));
    let twice = times.into_iter().filter(|(line, times)| *times > 1 && !may_be(line));
    twice.map(|(line, _)| line.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::twice;

    #[test]
    fn only_what_is_there_twice_in_one_version_is_told() {
        let tree =
            "log v0.4.1\n\nlog v0.4.1 (*)\n\nsyn v2.0.0\n\nsyn v3.0.0\n\nserde_json v1.0.1\n\nserde_json v1.0.1\n";
        assert_eq!(twice(tree), ["log v0.4.1"]);
    }
}
