//! What a crate is made of, as `cargo tree` says: `cargo metadata` knows of no features that only this crate's own build has.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result};

use crate::workspace;

/// A package by its name and version, as `serde v1.0.0`.
pub(crate) type Package = String;

/// Every package and what it uses.
pub(crate) type Graph = BTreeMap<Package, BTreeSet<Package>>;

/// All that is compiled into this crate for that target, itself included: neither what builds it nor what tests it.
pub(crate) fn of(package: &str, target: &str) -> Result<Graph> {
    let arguments =
        ["tree", "--locked", "--edges", "normal", "--prefix", "depth", "--package", package, "--target", target];
    let printed = workspace::printed(&mut workspace::cargo(arguments))?;
    read(&printed).context("cannot read what cargo says of dependencies")
}

/// Each line has how deep it is, the name and the version. What stands a second time is not taken apart again.
fn read(text: &str) -> Option<Graph> {
    let mut graph = Graph::new();
    let mut above: Vec<Package> = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty()) {
        let digits = line.find(|letter: char| !letter.is_ascii_digit())?;
        let (depth, rest) = line.split_at(digits);
        let mut words = rest.split(' ');
        let package = format!("{} {}", words.next()?, words.next()?);
        above.truncate(depth.parse().ok()?);
        if let Some(user) = above.last() {
            graph.entry(user.clone()).or_default().insert(package.clone());
        }
        graph.entry(package.clone()).or_default();
        above.push(package);
    }
    Some(graph)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_package_has_what_it_uses() {
        let text = "0engine v0.1.0 (/somewhere)\n1json v1.0.0\n2memory v2.0.0\n1derive v1.0.0 (proc-macro)\n2json v1.0.0 (*)\n";
        let graph = read(text).expect("a tree");
        let uses = |package: &str| graph[package].iter().map(String::as_str).collect::<Vec<_>>();
        assert_eq!(uses("engine v0.1.0"), ["derive v1.0.0", "json v1.0.0"]);
        assert_eq!((uses("json v1.0.0"), uses("derive v1.0.0")), (vec!["memory v2.0.0"], vec!["json v1.0.0"]));
        assert!(uses("memory v2.0.0").is_empty());
        assert!(read("what is this").is_none());
    }
}
