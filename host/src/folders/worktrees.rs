//! Which directories correspond to one in the other worktrees of its repository.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use super::git::{git, git_text};

/// A worktree as Git lists it: the main one first.
#[derive(Debug, Default, PartialEq, Eq)]
struct Worktree {
    path: PathBuf,
    /// It has no files, or Git takes it for gone.
    is_none: bool,
}

/// What `git worktree list --porcelain` says, each line of it ended by this. Of a worktree whose path is not text there is only
/// that it is one.
fn parse(list: &[u8], end: u8) -> Vec<Worktree> {
    let mut worktrees: Vec<Worktree> = Vec::new();
    for line in list.split(|byte| *byte == end) {
        let name = line.split(|byte| *byte == b' ').next().unwrap_or_default();
        match (name, worktrees.last_mut()) {
            (b"worktree", _) => {
                let path = line.get(name.len() + 1..).and_then(|path| std::str::from_utf8(path).ok());
                worktrees.push(Worktree { path: path.unwrap_or_default().into(), is_none: path.is_none() });
            }
            (b"bare" | b"prunable", Some(worktree)) => worktree.is_none = true,
            _ => {}
        }
    }
    worktrees
}

fn list(folder: &Path) -> Option<Vec<Worktree>> {
    let words = ["worktree", "list", "--porcelain", "-z"];
    // Before 2.36 Git had no other end of a line than a line feed.
    let ended = git(folder, &words).map(|list| parse(&list, 0));
    ended.or_else(|| Some(parse(&git(folder, &words[..3])?, b'\n')))
}

/// The directories that correspond to this one in the other worktrees of its repository.
pub(super) fn worktrees(cwd: &str) -> Vec<String> {
    corresponding(Path::new(cwd)).unwrap_or_default()
}

fn corresponding(cwd: &Path) -> Option<Vec<String>> {
    let real = cwd.canonicalize().ok()?;
    let own = PathBuf::from(git_text(&real, &["rev-parse", "--show-toplevel"])?).canonicalize().ok()?;
    let places = Places::of(cwd, &real, &own)?;
    let worktrees = list(&real)?;
    let mut found = BTreeSet::new();
    for (nth, other) in worktrees.into_iter().enumerate() {
        let root = if nth == 0 { main_worktree(&real, other) } else { Some(other).filter(|other| !other.is_none) };
        let Some(root) = root.filter(|root| root.path.canonicalize().is_ok_and(|root| root != own)) else { continue };
        // What only has its name is no worktree any more.
        if root.path.join(".git").exists() {
            places.in_worktree(&root.path, &mut found);
        }
    }
    Some(found.into_iter().filter_map(|directory| directory.into_os_string().into_string().ok()).collect())
}

/// The main worktree of the repository that a folder is in. Where its repository is not in it, Git lists that in its place, and
/// knows where it is if that is a submodule; where not, and it is asked from a linked one, nobody does.
fn main_worktree(folder: &Path, listed: Worktree) -> Option<Worktree> {
    if listed.is_none || listed.path.join(".git").exists() {
        return Some(listed).filter(|listed| !listed.is_none);
    }
    let common = folder.join(git_text(folder, &["rev-parse", "--git-common-dir"])?);
    let path = git_text(&common, &["rev-parse", "--show-toplevel"])?.into();
    Some(Worktree { path, is_none: false })
}

/// Where a directory is in its worktree.
struct Places<'a> {
    cwd: &'a Path,
    real: &'a Path,
    /// Below the worktree's root: as it really is and, where links in the worktree lead there, as it is called.
    below: Vec<PathBuf>,
}

impl<'a> Places<'a> {
    fn of(cwd: &'a Path, real: &'a Path, root: &Path) -> Option<Self> {
        let mut below = vec![real.strip_prefix(root).ok()?.to_owned()];
        let is_root = |above: &&Path| above.canonicalize().is_ok_and(|above| above == root);
        if let Some(called) = cwd.ancestors().find(is_root).and_then(|above| cwd.strip_prefix(above).ok())
            && below[0] != called
        {
            below.push(called.to_owned());
        }
        Some(Self { cwd, real, below })
    }

    /// The directories that correspond to it in this worktree.
    fn in_worktree(&self, root: &Path, found: &mut BTreeSet<PathBuf>) {
        for place in &self.below {
            let directory = root.join(place);
            if directory.is_dir() {
                found.extend(self.as_spelt(&directory));
                found.insert(directory);
            }
        }
    }

    /// A directory as it is reached by the links that lead to the one that was asked for: sessions go by the path that
    /// their clients have. None where it would be the same, or is another one.
    fn as_spelt(&self, directory: &Path) -> Option<PathBuf> {
        let same = self.cwd.components().rev().zip(self.real.components().rev()).take_while(|(a, b)| a == b).count();
        let without = |path: &Path| -> PathBuf {
            let parts: Vec<Component<'_>> = path.components().collect();
            parts[..parts.len() - same].iter().collect()
        };
        let rest = directory.strip_prefix(without(self.real)).ok()?;
        let spelt = without(self.cwd).join(rest);
        let is_same = spelt != directory && spelt.canonicalize().ok()? == directory.canonicalize().ok()?;
        is_same.then_some(spelt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worktrees_are_read_as_git_lists_them() {
        let list = "worktree /repo\nHEAD 1\nbranch refs/heads/main\n\nworktree /a b\nHEAD 2\ndetached\nlocked a reason\n\n\
            worktree /gone\nHEAD 3\ndetached\nprunable gitdir file points to non-existent location\n\n";
        let worktree = |path: &str, is_none| Worktree { path: path.into(), is_none };
        let all = [worktree("/repo", false), worktree("/a b", false), worktree("/gone", true)];
        assert_eq!(parse(list.as_bytes(), b'\n'), all);
        assert_eq!(parse(list.replace('\n', "\0").as_bytes(), 0), all);
        assert_eq!(parse(b"worktree /bare.git\nbare\n\n", b'\n'), [worktree("/bare.git", true)]);
        assert_eq!(
            parse(b"worktree /a\nb\0\0worktree /c\r\0\0", 0),
            [worktree("/a\nb", false), worktree("/c\r", false)]
        );
        assert_eq!(parse(b"worktree /\xff\0\0worktree /d\0\0", 0), [worktree("", true), worktree("/d", false)]);
        assert_eq!(parse(b"", 0), []);
        assert_eq!(parse(b"bare\nHEAD 1\n", b'\n'), []);
    }

    #[test]
    fn what_is_no_folder_here_has_none() {
        for folder in ["", "relative", "C:\\work", "/no/such/folder", "/dev/null"] {
            assert_eq!(worktrees(folder), [""; 0], "{folder}");
        }
    }
}
