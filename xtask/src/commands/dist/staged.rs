//! What every form is made of.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use super::super::component::{metadata, package};
use super::{links, notices};
use crate::workspace;

/// The shells that are told how the command line is completed, and how the file is called that tells them.
pub(super) const SHELLS: [(&str, &str); 3] =
    [("bash", "acp-sessions.bash"), ("zsh", "_acp-sessions"), ("fish", "acp-sessions.fish")];

/// What there is to read, `README.md` and what it leads to.
pub(super) const DOCUMENTS: [&str; 4] = ["README.md", "ARCHITECTURE.md", "LICENSE", "docs"];

/// A folder with the program `acp-sessions`, the documents, `NOTICES.txt`, `man1` and `completions`.
pub(super) struct Staged {
    pub(super) folder: PathBuf,
    pub(super) version: String,
    pub(super) description: String,
}

impl Staged {
    pub(super) fn make(folder: &Path) -> Result<Self> {
        let built = workspace::program("acp-sessions")?;
        let program = folder.join("acp-sessions");
        workspace::copy(&built, &program, &[])?;
        // A third of it are names of functions.
        workspace::run(Command::new("strip").arg(&program))?;
        for name in DOCUMENTS {
            workspace::copy(&workspace::root().join(name), &folder.join(name), &[])?;
        }
        links::take_out(folder)?;
        let completions = folder.join("completions");
        for (shell, name) in SHELLS {
            workspace::write(
                &completions.join(name),
                workspace::printed(Command::new(&program).args(["completions", shell]))?,
            )?;
        }
        workspace::run(Command::new(&program).arg("manual").arg(folder.join("man1")))?;
        let metadata = metadata()?;
        let package = package(&metadata, "acp-sessions")?;
        workspace::write(&folder.join("NOTICES.txt"), notices::of("acp-sessions", &metadata)?)?;
        let text = |key: &str| package[key].as_str().unwrap_or_default().to_owned();
        Ok(Self { folder: folder.to_owned(), version: text("version"), description: text("description") })
    }

    pub(super) fn program(&self) -> PathBuf {
        self.folder.join("acp-sessions")
    }

    /// The pages of the manual.
    pub(super) fn manual(&self) -> Result<Vec<PathBuf>> {
        let folder = self.folder.join("man1");
        let entries = fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?;
        let mut pages = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
        pages.sort();
        Ok(pages)
    }
}
