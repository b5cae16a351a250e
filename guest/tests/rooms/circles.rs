//! Files that import each other, in a circle.

use std::collections::{BTreeMap, BTreeSet};

/// The circles among files with these imports, each as the imports that it is made of. Circles that share a file count as
/// one.
pub(crate) fn circles(imports: &BTreeMap<String, BTreeSet<String>>) -> BTreeSet<Vec<String>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        imports.keys().map(|file| (file.as_str(), reached(imports, file))).collect();
    let circle = |file: &str| -> BTreeSet<&str> {
        reached[file].iter().copied().filter(|other| reached[other].contains(file)).collect()
    };
    let circles = imports.keys().map(|file| circle(file)).filter(|circle| !circle.is_empty());
    circles.map(|circle| within(&circle, imports)).collect()
}

/// All files that a file imports from, and those that these import from, and so on.
fn reached<'i>(imports: &'i BTreeMap<String, BTreeSet<String>>, file: &str) -> BTreeSet<&'i str> {
    let mut reached = BTreeSet::new();
    let mut unread: Vec<&str> = imports[file].iter().map(String::as_str).collect();
    while let Some(other) = unread.pop() {
        if reached.insert(other) {
            unread.extend(imports[other].iter().map(String::as_str));
        }
    }
    reached
}

/// The imports among the files of a circle.
fn within(circle: &BTreeSet<&str>, imports: &BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    let line = |file: &str| {
        let others: Vec<&str> = imports[file].iter().map(String::as_str).filter(|file| circle.contains(file)).collect();
        format!("{file} imports from {}", others.join(", "))
    };
    circle.iter().map(|file| line(file)).collect()
}
