//! What Git's own program says.

use std::io::Read as _;
use std::path::{Component, Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
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

/// What it prints when it is run so in a folder; none where it fails, is not there or takes too long.
fn git(folder: &Path, words: &[&str]) -> Option<String> {
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
    let said = said_by(&mut child);
    if said.is_none() {
        // It may have ended by itself.
        let _ = child.kill();
    }
    let status = child.wait().ok()?;
    said.filter(|_| status.success())
}

fn said_by(child: &mut Child) -> Option<String> {
    let output = child.stdout.take()?;
    let (sender, receiver) = mpsc::channel();
    let reader = thread::Builder::new().name("git".to_owned()).spawn(move || {
        let mut said = Vec::new();
        let read = output.take(MOST_SAID).read_to_end(&mut said);
        // Nobody may wait for it any more.
        let _ = sender.send(read.ok().and_then(|_| String::from_utf8(said).ok()));
    });
    reader.ok()?;
    receiver.recv_timeout(WITHIN).ok().flatten()
}

/// A worktree as Git lists it.
#[derive(Debug, Default, PartialEq, Eq)]
struct Worktree {
    path: PathBuf,
    /// It has no files, or Git takes it for gone.
    is_none: bool,
}

/// What `git worktree list --porcelain` says.
fn parse(list: &str) -> Vec<Worktree> {
    let mut worktrees: Vec<Worktree> = Vec::new();
    for line in list.lines() {
        let (name, value) = line.split_once(' ').unwrap_or((line, ""));
        match (name, worktrees.last_mut()) {
            ("worktree", _) => worktrees.push(Worktree { path: value.into(), is_none: false }),
            ("bare" | "prunable", Some(worktree)) => worktree.is_none = true,
            _ => {}
        }
    }
    worktrees
}

/// The directories that correspond to this one in the other worktrees of its repository.
pub(super) fn worktrees(cwd: &str) -> Vec<String> {
    corresponding(cwd).unwrap_or_default()
}

fn corresponding(cwd: &str) -> Option<Vec<String>> {
    let cwd = Path::new(cwd);
    let real = cwd.canonicalize().ok()?;
    let worktrees = parse(&git(&real, &["worktree", "list", "--porcelain"])?);
    // A worktree may lie in another one.
    let own = worktrees.iter().filter(|worktree| real.starts_with(&worktree.path));
    let own = own.max_by_key(|worktree| worktree.path.components().count())?;
    let place = real.strip_prefix(&own.path).ok()?;
    let mut found = Vec::new();
    for other in worktrees.iter().filter(|other| other.path != own.path && !other.is_none) {
        let directory = other.path.join(place);
        // What only has its name is no worktree any more.
        if !other.path.join(".git").exists() || !directory.is_dir() {
            continue;
        }
        found.extend(as_spelt(&directory, cwd, &real));
        found.push(directory);
    }
    Some(found.into_iter().filter_map(|directory| directory.into_os_string().into_string().ok()).collect())
}

/// A directory as it is reached by the links that lead to another one, whose real path is known too: sessions go by the path that
/// their clients have. None where it would be the same, or is another one.
fn as_spelt(directory: &Path, cwd: &Path, real: &Path) -> Option<PathBuf> {
    let same = cwd.components().rev().zip(real.components().rev()).take_while(|(a, b)| a == b).count();
    let without = |path: &Path| -> PathBuf {
        let parts: Vec<Component<'_>> = path.components().collect();
        parts[..parts.len() - same].iter().collect()
    };
    let rest = directory.strip_prefix(without(real)).ok()?;
    let spelt = without(cwd).join(rest);
    let is_same = spelt != directory && spelt.canonicalize().ok()? == directory.canonicalize().ok()?;
    is_same.then_some(spelt)
}

/// The repository whose main worktree a directory is in. What is in a linked one is not said to be: those come and go.
pub(super) fn repository(cwd: &str) -> Option<Repository> {
    let cwd = Path::new(cwd);
    let place = git(cwd, &["rev-parse", "--show-prefix", "--git-dir", "--git-common-dir"])?;
    let mut lines = place.lines();
    let (prefix, own, common) = (lines.next()?, lines.next()?, lines.next()?);
    let real = |path: &str| cwd.join(path).canonicalize().ok();
    // Where links lead into the midst of it, its root is not to be told from the path.
    if real(own)? != real(common)? || !cwd.ends_with(prefix) {
        return None;
    }
    // The first parents alone: that is one commit, also where several histories were joined, and soon found.
    let first = git(cwd, &["rev-list", "--first-parent", "--max-parents=0", "HEAD"])?;
    let depth = u32::try_from(Path::new(prefix).components().count()).ok()?;
    Some(Repository { first_commit: first.lines().next()?.to_owned(), depth })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worktrees_are_read_as_git_lists_them() {
        let list = "worktree /repo\nHEAD 1\nbranch refs/heads/main\n\nworktree /a b\nHEAD 2\ndetached\nlocked a reason\n\n\
            worktree /gone\nHEAD 3\ndetached\nprunable gitdir file points to non-existent location\n\n";
        let worktree = |path: &str, is_none| Worktree { path: path.into(), is_none };
        assert_eq!(parse(list), [worktree("/repo", false), worktree("/a b", false), worktree("/gone", true)]);
        assert_eq!(parse("worktree /bare.git\nbare\n\n"), [worktree("/bare.git", true)]);
        assert_eq!(parse(""), []);
        assert_eq!(parse("bare\nHEAD 1\n"), []);
    }

    #[test]
    fn what_is_no_folder_here_has_none() {
        for folder in ["", "relative", "C:\\work", "/no/such/folder", "/dev/null"] {
            assert_eq!((worktrees(folder), repository(folder)), (vec![], None), "{folder}");
        }
    }
}
