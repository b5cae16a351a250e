//! What Git's own program says.

use std::io::Read as _;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use crate::component::folders::Repository;

/// How long Git may take, and how much it may say.
const WITHIN: Duration = Duration::from_secs(10);
const MOST_SAID: u64 = 4 << 20;

/// What others may have set that would have it speak of another repository than the folder's, or do more than look.
const CLEARED: [&str; 7] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
];
const SET: [(&str, &str); 4] =
    [("GIT_OPTIONAL_LOCKS", "0"), ("GIT_TERMINAL_PROMPT", "0"), ("GIT_NO_LAZY_FETCH", "1"), ("LC_ALL", "C")];

/// Those that run now.
static RUNNING: Mutex<Vec<Child>> = Mutex::new(Vec::new());

fn running() -> MutexGuard<'static, Vec<Child>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends those that run now: nobody waits for what they would say.
pub(super) fn stop() {
    for child in running().iter_mut() {
        // It may have ended by itself.
        let _ = child.kill();
    }
}

/// What it prints when it is run so in a folder; none where it fails, is not there or takes too long.
pub(super) fn git(folder: &Path, words: &[&str]) -> Option<Vec<u8>> {
    // What is no absolute path here may be one elsewhere.
    if !folder.is_absolute() {
        return None;
    }
    let mut command = Command::new("git");
    command.arg("-C").arg(folder).args(words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    for name in CLEARED {
        command.env_remove(name);
    }
    command.envs(SET);
    let mut child = command.spawn().ok()?;
    let (output, id) = (child.stdout.take()?, child.id());
    running().push(child);
    let said = said_in(output);
    let mut child = {
        let mut running = running();
        let at = running.iter().position(|child| child.id() == id)?;
        running.swap_remove(at)
    };
    if said.is_none() {
        // It may have ended by itself.
        let _ = child.kill();
    }
    let status = child.wait().ok()?;
    said.filter(|_| status.success())
}

fn said_in(output: ChildStdout) -> Option<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    let reader = thread::Builder::new().name("git".to_owned()).spawn(move || {
        let mut said = Vec::new();
        let read = output.take(MOST_SAID).read_to_end(&mut said);
        // Nobody may wait for it any more.
        let _ = sender.send(read.ok().map(|_| said));
    });
    reader.ok()?;
    receiver.recv_timeout(WITHIN).ok().flatten()
}

/// What git prints when it is run so in a folder, as text without the line feed at its end; none where it fails.
pub(super) fn git_text(folder: &Path, words: &[&str]) -> Option<String> {
    let mut said = String::from_utf8(git(folder, words)?).ok()?;
    if said.ends_with('\n') {
        said.pop();
    }
    Some(said)
}

/// The repository whose main worktree a directory is in. What is in a linked one is not said to be: those come and go.
pub(super) fn repository(cwd: &str) -> Option<Repository> {
    let cwd = Path::new(cwd);
    let place = git_text(cwd, &["rev-parse", "--show-prefix", "--git-dir", "--git-common-dir"])?;
    let mut lines = place.lines();
    let (prefix, own, common) = (lines.next()?, lines.next()?, lines.next()?);
    let real = |path: &str| cwd.join(path).canonicalize().ok();
    // Where links lead into the midst of it, its root is not to be told from the path.
    if real(own)? != real(common)? || !cwd.ends_with(prefix) {
        return None;
    }
    // The first parents alone: that is one commit, also where several histories were joined, and soon found.
    let first = git_text(cwd, &["rev-list", "--first-parent", "--max-parents=0", "HEAD"])?;
    let depth = u32::try_from(Path::new(prefix).components().count()).ok()?;
    Some(Repository { first_commit: first.lines().next()?.to_owned(), depth })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_folder_here_is_in_no_repository() {
        for folder in ["", "relative", "C:\\work", "/no/such/folder", "/dev/null"] {
            assert_eq!(repository(folder), None, "{folder}");
        }
    }
}
