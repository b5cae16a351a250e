//! Sessions of a repository that has moved: whoever lists them where it is now is told of them.

use std::io::Write as _;
use std::path::Path;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use super::printable::{Form, printable};
use super::store::StoreOptions;
use crate::folders::{self, Repository};
use crate::sessions::Sessions;
use crate::shell_word::quoted;
use crate::store::Sqlite;

/// How long a list waits for Git when it is printed.
const PATIENCE: Duration = Duration::from_secs(2);
/// Of how many places at most people are told.
const MOST: usize = 3;

/// A folder, and the repository that it is of, as soon as that is known.
pub(super) struct Here {
    folder: String,
    repository: Receiver<Option<Repository>>,
}

impl Here {
    /// Begins to find out.
    pub(super) fn begin(folder: String) -> Self {
        let (sender, repository) = mpsc::channel();
        let of = folder.clone();
        let asking = move || {
            // Nobody may wait for it any more.
            let _ = sender.send(folders::repository_of(&of));
        };
        // Without a thread it is not found out.
        let _ = thread::Builder::new().name("git".to_owned()).spawn(asking);
        Self { folder, repository }
    }

    /// Says which sessions have stayed where the repository was, and how they are had to follow. What cannot be found out is
    /// nobody's business: it was not asked for.
    pub(super) fn tell(self, sessions: &mut Sessions<'_, Sqlite>, store: &StoreOptions) {
        let Ok(Some(repository)) = self.repository.recv_timeout(PATIENCE) else { return };
        let Ok(folders) = sessions.folders_of(&repository.first_commit) else { return };
        let depth = usize::try_from(repository.depth).unwrap_or(usize::MAX);
        let Some(root) = Path::new(&self.folder).ancestors().nth(depth) else { return };
        let mut gone: Vec<&str> = folders.iter().map(|folder| folder.root.as_str()).collect();
        gone.sort_unstable();
        gone.dedup();
        gone.retain(|old| Path::new(old) != root && is_gone(Path::new(old)));
        for old in gone.into_iter().take(MOST) {
            let store = store.given().map(|path| path.to_string_lossy().into_owned());
            let command = command(old, &root.to_string_lossy(), store.as_deref());
            let told = format!("Sessions of this repository are still listed under {old}, which is gone: {command}");
            // There is nobody else to be told.
            let _ = writeln!(std::io::stderr(), "{}", printable(&told, Form::Line));
        }
    }
}

/// How sessions of a folder are had to follow to another one: by a third one where that is one that it was in. Nothing need be
/// there, since no file is touched.
fn command(old: &str, new: &str, store: Option<&str>) -> String {
    let between = format!("{new}.moving");
    let steps =
        if Path::new(old).starts_with(new) { vec![[old, between.as_str()], [&between, new]] } else { vec![[old, new]] };
    let store = store.map(|path| format!(" --store {}", quoted(path))).unwrap_or_default();
    let commands = steps.iter().map(|[from, to]| format!("acp-sessions move{store} {} {}", quoted(from), quoted(to)));
    commands.collect::<Vec<_>>().join(" && ")
}

/// Whether there is no such folder. One that cannot be looked at may be there.
fn is_gone(folder: &Path) -> bool {
    matches!(folder.try_exists(), Ok(false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_follow_to_a_folder_that_theirs_was_in_by_a_third_one() {
        for (old, new, expected) in [
            ("/m/b", "/n", "acp-sessions move --store /s /m/b /n"),
            ("/m/b", "/m/bc", "acp-sessions move --store /s /m/b /m/bc"),
            ("/m/b", "/m", "acp-sessions move --store /s /m/b /m.moving && acp-sessions move --store /s /m.moving /m"),
        ] {
            assert_eq!(command(old, new, Some("/s")), expected);
        }
        assert_eq!(command("/m/b c", "/n", None), "acp-sessions move '/m/b c' /n");
    }
}
