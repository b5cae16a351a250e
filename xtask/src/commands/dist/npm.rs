//! The npm package with the program, as `npx acp-sessions` runs it: the package for JavaScript, and one with the program for
//! this kind of machine, which the first asks for where it fits.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::linked::Processor;
use super::staged::Staged;
use crate::workspace;

/// What starts the program of the other package.
const STARTER: &str = include_str!("npm/acp-sessions.js");

/// What the package for JavaScript consists of.
const SOURCES: [&str; 3] = ["src", "bindings", "README.md"];

/// What npm does not need to know who installs it.
const OWN: [&str; 3] = ["private", "scripts", "devDependencies"];

/// Both packages, that with the program last.
pub(super) fn make(staged: &Staged, work: &Path, out: &Path) -> Result<[PathBuf; 2]> {
    let (main, program) = (work.join("npm/main"), work.join("npm/program"));
    let source = workspace::root().join("embed/js");
    let name = format!("acp-sessions-linux-{}", Processor::of_this_machine()?.npm);

    for part in SOURCES {
        workspace::copy(&source.join(part), &main.join(part), &[])?;
    }
    workspace::copy(&staged.folder.join("LICENSE"), &main.join("LICENSE"), &[])?;
    executable(&main.join("bin/acp-sessions.js"), STARTER)?;
    let text = fs::read_to_string(source.join("package.json")).context("cannot read embed/js/package.json")?;
    let mut package: Value = serde_json::from_str(&text).context("embed/js/package.json is no JSON")?;
    let members = package.as_object_mut().context("embed/js/package.json is no object")?;
    members.retain(|member, _| !OWN.contains(&member.as_str()));
    members.insert("version".to_owned(), json!(staged.version));
    members.insert("bin".to_owned(), json!({"acp-sessions": "bin/acp-sessions.js"}));
    members.insert("optionalDependencies".to_owned(), json!({ &*name: staged.version }));
    if let Some(files) = members.get_mut("files").and_then(Value::as_array_mut) {
        files.push(json!("bin"));
    }
    workspace::write(&main.join("package.json"), format!("{package:#}\n"))?;

    workspace::copy(&staged.program(), &program.join("bin/acp-sessions"), &[])?;
    for part in ["LICENSE", "NOTICES.txt"] {
        workspace::copy(&staged.folder.join(part), &program.join(part), &[])?;
    }
    let package = json!({
        "name": name,
        "version": staged.version,
        "description": "The program of acp-sessions for this kind of machine",
        "license": "Apache-2.0",
        "os": ["linux"],
        "cpu": [Processor::of_this_machine()?.npm],
        "libc": ["glibc"],
        "files": ["bin", "NOTICES.txt"],
    });
    workspace::write(&program.join("package.json"), format!("{package:#}\n"))?;
    Ok([pack(&main, out)?, pack(&program, out)?])
}

fn pack(package: &Path, out: &Path) -> Result<PathBuf> {
    let mut npm = Command::new("npm");
    npm.current_dir(package).args(["pack", "--json", "--ignore-scripts", "--pack-destination"]).arg(out);
    let packed: Value = serde_json::from_str(&workspace::printed(&mut npm)?).context("cannot read what npm says")?;
    let name = packed[0]["filename"].as_str().context("npm does not say what it has packed")?;
    Ok(out.join(name))
}

fn executable(path: &Path, text: &str) -> Result<()> {
    workspace::write(path, text)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
        .with_context(|| format!("cannot make {} a program", path.display()))
}
