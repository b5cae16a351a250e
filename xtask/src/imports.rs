//! What a WebAssembly component or module imports.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use wasmparser::{Parser, Payload};

/// All that the engine may import, without versions: whoever embeds it provides these and nothing else.
const ALLOWED: [&str; 4] =
    ["acp:sessions/folders", "acp:sessions/storage", "wasi:clocks/wall-clock", "wasi:random/random"];

/// Checks that the file imports exactly what the engine may import, and returns the names with their versions.
pub(crate) fn check(path: &Path) -> Result<Vec<String>> {
    let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let names = of(&bytes).with_context(|| format!("{} is not WebAssembly", path.display()))?;
    let interfaces: Vec<_> = names.iter().map(|name| name.split('@').next().unwrap_or(name)).collect();
    if interfaces != ALLOWED {
        bail!("{} imports {}; it may import {} only", path.display(), interfaces.join(", "), ALLOWED.join(", "));
    }
    Ok(names.into_iter().collect())
}

/// The interfaces that the outermost component, or the module, imports. A type import that an interface's function
/// needs counts with its interface.
fn of(bytes: &[u8]) -> Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    let mut depth = 0_u32;
    for payload in Parser::new(0).parse_all(bytes) {
        match payload? {
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
            Payload::End(_) => depth = depth.saturating_sub(1),
            Payload::ComponentImportSection(section) if depth == 0 => {
                for import in section {
                    names.insert(import?.name.name.to_owned());
                }
            }
            Payload::ImportSection(section) if depth == 0 => {
                for import in section.into_imports() {
                    names.insert(import?.module.to_owned());
                }
            }
            _ => {}
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A module that imports the function `f` of `module`.
    fn module(module: &str) -> Vec<u8> {
        let mut import = vec![1, u8::try_from(module.len()).expect("a short name")];
        import.extend(module.bytes());
        import.extend([1, b'f', 0, 0]);
        let mut bytes = b"\0asm\x01\0\0\0\x01\x04\x01\x60\0\0\x02".to_vec();
        bytes.push(u8::try_from(import.len()).expect("a short section"));
        bytes.extend(import);
        bytes
    }

    #[test]
    fn names_what_a_module_imports() {
        let names = of(&module("wasi:random/random@0.2.12")).expect("a module");
        assert_eq!(names.into_iter().collect::<Vec<_>>(), ["wasi:random/random@0.2.12"]);
    }

    #[test]
    fn refuses_an_import_too_many_or_too_few() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("engine.wasm");
        fs::write(&path, module("wasi:filesystem/types@0.2.12")).expect("a writable folder");
        let error = check(&path).expect_err("it imports files").to_string();
        assert!(error.contains("imports wasi:filesystem/types;"), "{error}");
    }

    #[test]
    fn refuses_what_is_no_webassembly() {
        assert!(of(b"#!/bin/sh").is_err());
    }
}
