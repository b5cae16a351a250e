//! Cases as files: JSON with one step or one value of the storage on a line.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

use serde::Serialize;

use crate::case::Case;
use crate::content::Content;

/// What a case may take, so that the corpus stays small.
const MOST_BYTES: usize = 18_400;
/// The same of one with calls of the typed interface, or in which instances are lost: there are few.
const MOST_BYTES_RARE: usize = 40_000;

/// Where the cases are.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus")
}

/// The paths of all cases, in order.
pub fn all() -> io::Result<Vec<PathBuf>> {
    let (mut found, mut folders) = (Vec::new(), vec![folder()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "json") {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Reads a case.
pub fn read(path: &Path) -> io::Result<Case> {
    Ok(serde_json::from_str(&fs::read_to_string(path)?)?)
}

/// A case as its file holds it; `None` if it is too large for the corpus.
pub(crate) fn text(case: &Case) -> Option<String> {
    let text = written(case);
    let is_rare = case.steps.iter().any(|step| step.call.is_typed() || !step.has_returned());
    (text.len() <= if is_rare { MOST_BYTES_RARE } else { MOST_BYTES }).then_some(text)
}

/// What the file holds, if it is there.
pub(crate) fn kept(path: &Path) -> io::Result<Option<String>> {
    if path.exists() { fs::read_to_string(path).map(Some) } else { Ok(None) }
}

/// Writes the file, and the folder it is in; without a case a file that was there goes.
pub(crate) fn put(path: &Path, case: Option<String>) -> io::Result<()> {
    match (case, path.parent()) {
        (Some(text), Some(folder)) => fs::create_dir_all(folder).and_then(|()| fs::write(path, text)),
        _ if path.exists() => fs::remove_file(path),
        _ => Ok(()),
    }
}

fn json(value: &impl Serialize) -> String {
    // These types have no keys but texts and numbers.
    serde_json::to_string(value).unwrap_or_default()
}

fn written(case: &Case) -> String {
    let mut text = format!("{{\n\"about\": {},\n", json(&case.about));
    if case.without_text_search {
        text.push_str("\"without-text-search\": true,\n");
    }
    if !case.start.is_empty() {
        let _ = writeln!(text, "\"start\": {},", content(&case.start));
    }
    let steps: Vec<_> = case.steps.iter().map(json).collect();
    let _ = writeln!(text, "\"steps\": [\n{}\n],\n\"end\": {}\n}}", steps.join(",\n"), content(&case.end));
    text
}

fn content(content: &Content) -> String {
    let members =
        |pairs: Vec<String>| if pairs.is_empty() { "{}".to_owned() } else { format!("{{\n{}\n}}", pairs.join(",\n")) };
    let pair = |key: &str, value: String| format!("{}: {value}", json(&key));
    let records = content.records.iter().map(|(key, value)| pair(key, json(value))).collect();
    let logs = content.logs.iter().map(|(log, entries)| {
        let entries: Vec<_> = entries.iter().map(json).collect();
        pair(log, format!("[\n{}\n]", entries.join(",\n")))
    });
    let texts = content.texts.iter().map(|(owner, parts)| pair(owner, json(parts))).collect();
    format!(
        "{{\n\"records\": {},\n\"logs\": {},\n\"texts\": {}\n}}",
        members(records),
        members(logs.collect()),
        members(texts)
    )
}
