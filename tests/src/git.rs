//! Repositories, made with Git's own program.

use std::fs;
use std::path::Path;
use std::process::Command;

/// Has Git do this in a folder, whatever its user has configured.
pub fn git(folder: &Path, words: &[&str]) {
    let mut command = Command::new("git");
    for setting in ["user.name=Ada", "user.email=ada@example.org", "init.defaultBranch=main", "commit.gpgSign=false"] {
        command.args(["-c", setting]);
    }
    command.args(words).current_dir(folder).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    let ran = command.output().expect("git is installed");
    assert!(ran.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&ran.stderr));
}

/// A repository in this folder, which is made, with a folder `sub` and one commit that no other repository has.
pub fn repository(folder: &Path) {
    fs::create_dir_all(folder.join("sub")).expect("a folder");
    fs::write(folder.join("sub/file"), folder.to_string_lossy().as_bytes()).expect("a file");
    git(folder, &["init", "--quiet"]);
    git(folder, &["add", "."]);
    git(folder, &["commit", "--quiet", "--message", "First"]);
}
