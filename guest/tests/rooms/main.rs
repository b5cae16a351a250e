//! Imports run one way: so each room can be read with what stands before it here and nothing else, and within a room each
//! file with what it imports, which never leads back to it.

mod circles;
mod imports;

use std::fs;
use std::path::{Path, PathBuf};

use circles::circles;
use imports::{Files, code, paths};

/// The rooms of the crate, each of which may use those before it.
const ROOMS: &[&str] = &[
    "time",
    "checksum",
    "environment",
    "storage",
    "rpc",
    "settings",
    "exchange",
    "index",
    "store",
    "transcript",
    "search",
    "reconcile",
    "sessions",
    "connection",
    "engine",
];

/// The rooms of `connection`.
const IN_CONNECTION: &[&str] = &[
    "client_request",
    "load",
    "running",
    "generation",
    "key",
    "step",
    "sums",
    "told",
    "requests",
    "method",
    "handled",
    "held",
    "turn",
    "params",
    "terminals",
    "asked",
    "list_meta",
    "profile",
    "effect",
    "answer",
    "cx",
    "restore",
    "showing",
    "put_away",
    "live",
    "router",
];

/// All files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// The room a file belongs to: the first part of its path.
fn room(path: &Path) -> String {
    let first = path.iter().next().expect("a name");
    Path::new(first).file_stem().expect("a name").to_string_lossy().into_owned()
}

/// The names that follow this path in a text.
fn names_after<'t>(text: &'t str, path: &str) -> Vec<&'t str> {
    let name = |rest: &'t str| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
    text.split(path).skip(1).map(name).filter(|name| !name.is_empty()).collect()
}

/// Each use of a room by one that stands before it, or by one that stands nowhere.
fn against_the_order(folder: &Path, rooms: &[&str], path: &str, at_top: &str) -> Vec<String> {
    let place = |room: &str| rooms.iter().position(|known| *known == room);
    let mut wrong = Vec::new();
    for file in files(folder) {
        let relative = file.strip_prefix(folder).expect("it is in the folder");
        let room = room(relative);
        let text = fs::read_to_string(&file).expect("text");
        let code = code(&text);
        let mut used = names_after(&code, path);
        if relative.iter().count() == 1 {
            used.extend(names_after(&code, at_top));
        }
        let own = place(&room);
        wrong.extend(own.is_none().then(|| format!("{} is in no room", relative.display())));
        let later = used.into_iter().filter(|used| place(used).is_some_and(|used| own.is_some_and(|own| used > own)));
        wrong.extend(later.map(|used| format!("{} uses {used}", relative.display())));
    }
    wrong
}

#[test]
fn imports_run_one_way() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../src");
    let mut wrong = against_the_order(&source, ROOMS, "crate::", "crate::");
    wrong.retain(|wrong| !wrong.starts_with("lib.rs") && !wrong.starts_with("bindings"));
    wrong.extend(against_the_order(&source.join("connection"), IN_CONNECTION, "crate::connection::", "super::"));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_files_import_each_other_in_a_circle() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../src");
    let circles = circles(&Files::read(&source).imports());
    let circles: Vec<String> = circles.into_iter().map(|circle| circle.join("\n")).collect();
    assert!(circles.is_empty(), "these import each other in a circle:\n{}", circles.join("\n\n"));
}

/// What others have written is read as it stands: in a `Value` of `serde_json` numbers lose digits, and all of a text is lost in
/// which one has no room.
#[test]
fn json_is_read_into_no_value() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../src");
    let is_value = |path: &String| {
        let last = path.rsplit("::").next().unwrap_or_default();
        path.starts_with("serde_json::") && ["Value", "Map", "*"].contains(&last)
    };
    let is_test = |file: &Path| file.with_extension("").iter().any(|part| part.to_string_lossy().ends_with("tests"));
    let mut named = Vec::new();
    for file in files(&source) {
        let relative = file.strip_prefix(&source).expect("it is in the folder");
        let text = fs::read_to_string(&file).expect("text");
        let values = paths(&text).into_iter().filter(|path| is_value(path) && !is_test(relative));
        named.extend(values.map(|path| format!("{} names {path}", relative.display())));
    }
    named.sort();
    // This one asks whether those can take a text who read it so.
    assert_eq!(named, ["sessions/checkup/text.rs names serde_json::Value"]);
}
