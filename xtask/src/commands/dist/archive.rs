//! An archive to unpack anywhere.

use std::env::consts::{ARCH, OS};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use super::staged::Staged;
use crate::workspace;

/// Everything below one folder. The same program gives the same bytes.
pub(super) fn make(staged: &Staged, work: &Path, out: &Path) -> Result<PathBuf> {
    let name = format!("acp-sessions-{}-{ARCH}-{OS}", staged.version);
    workspace::copy(&staged.folder, &work.join("archive").join(&name), &[])?;
    let file = out.join(format!("{name}.tar.gz"));
    let mut tar = Command::new("tar");
    tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mode=go=rX,u+rw", "--mtime=@0"]);
    tar.args(["--use-compress-program", "gzip --no-name --best", "--create", "--file"]).arg(&file);
    workspace::run(tar.arg("--directory").arg(work.join("archive")).arg(&name))?;
    Ok(file)
}
