//! The licences of everything that is compiled into the program, as those who give it on must.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::super::component::{sbom, tree};
use crate::workspace;

/// How the files begin that have to be given on.
const NAMES: [&str; 4] = ["LICENSE", "LICENCE", "COPYING", "NOTICE"];

/// One text: each licence once, with the crates that it is of.
pub(super) fn of(package: &str, metadata: &Value) -> Result<String> {
    let known = sbom::known(metadata);
    let mut crates_by_text = BTreeMap::<String, BTreeSet<String>>::new();
    for name in tree::of(package, &workspace::host()?)?.keys() {
        let package = known.get(name).with_context(|| format!("nothing is known of {name}"))?;
        // The whole workspace is under the licence that is beside this file.
        if package["source"].is_null() {
            continue;
        }
        let text = |key: &str| package[key].as_str().unwrap_or_default();
        let label = format!("{} {} ({})", text("name"), text("version"), text("license"));
        let folder = Path::new(text("manifest_path")).parent().context("a manifest is in no folder")?;
        let texts = licences(folder)?;
        if texts.is_empty() {
            let named = format!("Under {}; its source has no text of it.\n", text("license"));
            crates_by_text.entry(named).or_default().insert(label.clone());
        }
        for text in texts {
            crates_by_text.entry(text).or_default().insert(label.clone());
        }
    }
    let mut all = "The program acp-sessions contains these libraries, under these licences.\n".to_owned();
    for (text, crates) in crates_by_text {
        let crates: Vec<_> = crates.into_iter().collect();
        let _ = write!(all, "\n{}\n\n{}\n\n{}\n", "=".repeat(80), crates.join("\n"), text.trim_end());
    }
    Ok(all)
}

fn licences(folder: &Path) -> Result<Vec<String>> {
    let mut texts = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
        if path.is_file() && NAMES.iter().any(|begin| name.starts_with(begin)) {
            let text = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
            texts.push(String::from_utf8_lossy(&text).replace("\r\n", "\n"));
        }
    }
    Ok(texts)
}
