//! A package for Debian and what is made of it.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use super::linked::{Processor, oldest_libc};
use super::staged::{DOCUMENTS, Staged};
use crate::workspace;

/// Where Debian looks for what each shell completes by.
const COMPLETIONS: [(&str, &str); 3] = [
    ("acp-sessions.bash", "usr/share/bash-completion/completions/acp-sessions"),
    ("_acp-sessions", "usr/share/zsh/vendor-completions/_acp-sessions"),
    ("acp-sessions.fish", "usr/share/fish/vendor_completions.d/acp-sessions.fish"),
];

const DOCUMENTS_FOLDER: &str = "usr/share/doc/acp-sessions";

/// As `dpkg` installs it.
pub(super) fn make(staged: &Staged, work: &Path, out: &Path) -> Result<PathBuf> {
    let root = work.join("deb");
    workspace::copy(&staged.program(), &root.join("usr/bin/acp-sessions"), &[])?;
    for (name, place) in COMPLETIONS {
        workspace::copy(&staged.folder.join("completions").join(name), &root.join(place), &[])?;
    }
    for page in staged.manual()? {
        let name = page.file_name().context("a page of the manual has no name")?;
        let place = root.join("usr/share/man/man1").join(name);
        workspace::copy(&page, &place, &[])?;
        compress(&place)?;
    }
    let documents = root.join(DOCUMENTS_FOLDER);
    for name in DOCUMENTS {
        workspace::copy(&staged.folder.join(name), &documents.join(name), &[])?;
    }
    workspace::copy(&staged.folder.join("LICENSE"), &documents.join("copyright"), &[])?;
    workspace::copy(&staged.folder.join("NOTICES.txt"), &documents.join("NOTICES"), &[])?;
    compress(&documents.join("NOTICES"))?;

    let processor = Processor::of_this_machine()?.debian;
    workspace::write(&root.join("DEBIAN/control"), described(staged, processor)?)?;
    let file = out.join(format!("acp-sessions_{}_{processor}.deb", staged.version));
    let mut build = Command::new("dpkg-deb");
    build.env("SOURCE_DATE_EPOCH", "0").args(["--build", "--root-owner-group"]);
    workspace::run(build.arg(&root).arg(&file))?;
    Ok(file)
}

fn described(staged: &Staged, processor: &str) -> Result<String> {
    let (major, minor) = oldest_libc(&staged.program())?;
    let (version, description) = (&staged.version, &staged.description);
    Ok(format!(
        "Package: acp-sessions\n\
         Version: {version}\n\
         Architecture: {processor}\n\
         Maintainer: The developers of acp-sessions\n\
         Section: devel\n\
         Priority: optional\n\
         Depends: libc6 (>= {major}.{minor}), libgcc-s1\n\
         Description: history of conversations with coding agents\n \
         {description}.\n"
    ))
}

fn compress(file: &Path) -> Result<()> {
    workspace::run(Command::new("gzip").args(["--no-name", "--best"]).arg(file))
}
