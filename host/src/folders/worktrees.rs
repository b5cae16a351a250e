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

/// The directories that correspond to this one in the other worktrees of its repository, and this one as it is called otherwise.
pub(super) fn worktrees(cwd: &str) -> Vec<String> {
    corresponding(Path::new(cwd)).unwrap_or_default()
}

fn corresponding(cwd: &Path) -> Option<Vec<String>> {
    let real = cwd.canonicalize().ok()?;
    let own = PathBuf::from(git_text(&real, &["rev-parse", "--show-toplevel"])?);
    let real_own = own.canonicalize().ok()?;
    let places = Places::of(cwd, &real, &real_own)?;
    let worktrees = list(&real)?;
    let mut found = BTreeSet::new();
    places.in_worktree(&own, &mut found);
    for (nth, other) in worktrees.into_iter().enumerate() {
        let root = if nth == 0 { main_worktree(&real, other) } else { Some(other).filter(|other| !other.is_none) };
        let is_other = |root: &Worktree| root.path.canonicalize().is_ok_and(|root| root != real_own);
        let Some(root) = root.filter(is_other) else { continue };
        // What only has its name is no worktree any more.
        if root.path.join(".git").exists() {
            places.in_worktree(&root.path, &mut found);
        }
    }
    found.remove(cwd);
    let plain = found.iter().map(|directory| directory.components().collect::<PathBuf>());
    Some(plain.filter_map(|directory| directory.into_os_string().into_string().ok()).collect())
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

/// How many links a path is followed along.
const MOST_LINKS: usize = 40;

/// A directory by each path that it is reached by as its links are followed, one after the other: the first is the one given, the last
/// its real one.
fn along_links(directory: &Path, real: &Path) -> Vec<PathBuf> {
    let mut paths = vec![directory.to_owned()];
    while let Some(next) = paths.last().and_then(|path| behind_link(path)).filter(|_| paths.len() < MOST_LINKS) {
        paths.push(next);
    }
    // What leads up again is no spelling that anybody has.
    paths.retain(|path| !path.components().any(|part| part == Component::ParentDir));
    paths.push(real.to_owned());
    paths
}

/// This path with where the first link in it leads in its place.
fn behind_link(path: &Path) -> Option<PathBuf> {
    let mut before = PathBuf::new();
    let mut parts = path.components();
    while let Some(part) = parts.next() {
        let here = before.join(part);
        let Ok(target) = here.read_link() else {
            before = here;
            continue;
        };
        let mut target = target.as_path();
        while let Ok(rest) = target.strip_prefix("..") {
            before.pop();
            target = rest;
        }
        return Some(before.join(target).join(parts.as_path()));
    }
    None
}

/// Where a directory is in its worktree.
struct Places {
    /// Below the worktree's root: as it really is and, where links in the worktree lead there, as it is called.
    below: BTreeSet<PathBuf>,
    /// Folders that are reached by links on the way to it, and what they really are.
    linked: BTreeSet<(PathBuf, PathBuf)>,
}

impl Places {
    fn of(cwd: &Path, real: &Path, root: &Path) -> Option<Self> {
        let mut below = BTreeSet::from([real.strip_prefix(root).ok()?.to_owned()]);
        let mut linked = BTreeSet::new();
        for path in along_links(cwd, real) {
            let mut is_behind_root = false;
            for above in path.ancestors() {
                let Ok(real_above) = above.canonicalize() else { continue };
                if real_above == root && !is_behind_root {
                    is_behind_root = true;
                    below.extend(path.strip_prefix(above).map(Path::to_owned));
                }
                if real_above != above {
                    linked.insert((above.to_owned(), real_above));
                }
            }
            linked.extend(before_same_names(&path, real));
        }
        Some(Self { below, linked })
    }

    /// The directories that correspond to it in this worktree, by their real paths and as they are reached by the links that lead to
    /// the one that was asked for: sessions go by the path that their clients have.
    fn in_worktree(&self, root: &Path, found: &mut BTreeSet<PathBuf>) {
        let Ok(real_root) = root.canonicalize() else { return };
        for place in &self.below {
            let Ok(real) = real_root.join(place).canonicalize() else { continue };
            if !real.is_dir() {
                continue;
            }
            let within = real_root.join(place);
            let spelt = self.linked.iter().filter_map(|(link, to)| Some(link.join(within.strip_prefix(to).ok()?)));
            found.extend(spelt.filter(|path| path.canonicalize().is_ok_and(|path| path == real)));
            found.insert(root.join(place));
        }
    }
}

/// What comes before the names that both paths end with.
fn before_same_names(path: &Path, real: &Path) -> Option<(PathBuf, PathBuf)> {
    let same = path.components().rev().zip(real.components().rev()).take_while(|(one, other)| one == other).count();
    let above = |path: &Path| path.ancestors().nth(same).map(Path::to_owned);
    Some((above(path)?, above(real)?)).filter(|(one, other)| one != other)
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

    #[cfg(unix)]
    fn run_git(folder: &Path, words: &[&str]) {
        let settings = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgSign=false"];
        let mut command = std::process::Command::new("git");
        command.args(settings).args(words).current_dir(folder).env("GIT_CONFIG_GLOBAL", "/dev/null");
        let ran = command.env("GIT_CONFIG_NOSYSTEM", "1").output().expect("git is installed");
        assert!(ran.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&ran.stderr));
    }

    #[cfg(unix)]
    #[test]
    fn a_directory_and_its_worktrees_are_found_by_the_real_path_and_by_each_link_on_the_way() {
        let scene = tempfile::tempdir().expect("a folder");
        let top = scene.path().canonicalize().expect("a folder");
        let repository = top.join("real/repo");
        std::fs::create_dir_all(repository.join("sub")).expect("a folder");
        std::fs::create_dir(top.join("named")).expect("a folder");
        std::fs::write(repository.join("sub/file"), "text").expect("a file");
        let links = [
            ("sub", "real/repo/link"),
            ("real", "home"),
            ("home", "far"),
            ("../home/repo", "real/up"),
            ("real/repo/sub", "into"),
            ("../real/repo", "named/repo"),
            ("../real/wt", "named/wt"),
            ("round", "round"),
        ];
        for (to, link) in links {
            std::os::unix::fs::symlink(to, top.join(link)).expect("a link");
        }
        let add_worktree = ["worktree", "add", "--quiet", "--detach", "../wt"];
        for words in
            [&["init", "--quiet"][..], &["add", "."], &["commit", "--quiet", "--message", "First"], &add_worktree]
        {
            run_git(&repository, words);
        }
        let of_both = "home/repo home/wt real/repo real/wt";
        for (cwd, expected) in [
            ("real/repo", "real/wt"),
            ("real/wt", "real/repo"),
            ("home/repo", "home/wt real/repo real/wt"),
            ("home/wt", "home/repo real/repo real/wt"),
            ("home/wt/sub", "home/repo/sub real/repo/sub real/wt/sub"),
            ("far/repo", &format!("far/wt {of_both}")),
            ("real/up", of_both),
            ("named/repo", "named/wt real/repo real/wt"),
            // The repository's root is not what such a link leads to.
            ("into", "real/repo/sub real/wt/sub"),
            ("real/repo/link", "real/repo/sub real/wt/link real/wt/sub"),
            (
                "home/repo/link",
                "home/repo/sub home/wt/link home/wt/sub real/repo/link real/repo/sub real/wt/link real/wt/sub",
            ),
            ("home/gone", ""),
            ("home/repo/gone", ""),
            ("round", ""),
            ("home", ""),
        ] {
            let found = worktrees(top.join(cwd).to_str().expect("a path that is text"));
            let expected: Vec<_> = expected.split_whitespace().map(|path| top.join(path)).collect();
            assert_eq!(found.iter().map(PathBuf::from).collect::<Vec<_>>(), expected, "{cwd}");
        }
    }
}
