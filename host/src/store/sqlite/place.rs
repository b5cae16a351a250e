//! Where a store lies: its files and folders, for their owner alone whatever the umask, and whether they are still there.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use super::OpenError;
use super::error::{Error, Result};
use crate::private;

/// What SQLite keeps beside the file itself.
const SIDES: [&str; 3] = ["-wal", "-shm", "-journal"];

/// The file of an open store.
#[derive(Debug)]
pub(super) struct Place {
    path: PathBuf,
    /// What tells the file from another one of the same name.
    identity: (u64, u64),
}

impl Place {
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        Ok(Self { path: path.to_owned(), identity: identity(path)? })
    }

    /// The file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// That the file is still where it was: what is written into one without a name is lost.
    pub(super) fn check(&self) -> Result<()> {
        if identity(&self.path).is_ok_and(|found| found == self.identity) {
            return Ok(());
        }
        Err(Error::Gone(self.path.clone()))
    }
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    let found = fs::metadata(path)?;
    Ok((found.dev(), found.ino()))
}

/// Makes the file and the folders above it where they are missing.
pub(super) fn create(file: &Path) -> std::result::Result<(), OpenError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        |cause| OpenError::Create { path, cause }
    };
    if let Some(folder) = file.parent() {
        private::create_folder(folder).map_err(failed(folder))?;
    }
    match private::create_file(file) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            // A link may point to a file that is not there yet. Nothing is made of the folders above that one.
            let target = private::link_target(file).filter(|_| !file.exists());
            target.map_or(Ok(()), |target| private::create_through_link(file).map_err(failed(&target)))
        }
        Err(error) => Err(failed(file)(error)),
    }
}

/// Takes from the store's files what rights others have on them. SQLite gives the main file's to those that it makes.
pub(super) fn narrow_files(file: &Path) -> std::result::Result<(), OpenError> {
    let sides = SIDES.map(|side| beside(file, side));
    [file].into_iter().chain(sides.iter().map(PathBuf::as_path)).try_for_each(narrow)
}

/// Takes from the folder of a store what rights others have on it.
pub(super) fn narrow_folder(file: &Path) -> std::result::Result<(), OpenError> {
    file.parent().map_or(Ok(()), narrow)
}

fn narrow(path: &Path) -> std::result::Result<(), OpenError> {
    let narrowed = match fs::metadata(path) {
        Err(error) => Err(error),
        Ok(found) if found.mode() & private::OTHERS == 0 => Ok(()),
        Ok(found) => fs::set_permissions(path, Permissions::from_mode(found.mode() & 0o777 & !private::OTHERS)),
    };
    match narrowed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        narrowed => narrowed.map_err(|cause| OpenError::Rights { path: path.to_owned(), cause }),
    }
}

/// Whether there is something in the journal beside the file that is not in the file yet.
pub(super) fn has_journal(file: &Path) -> bool {
    fs::metadata(beside(file, "-wal")).is_ok_and(|found| found.len() > 0)
}

/// Whether there is any file that SQLite keeps beside this one as long as somebody has it open.
pub(super) fn has_sides(file: &Path) -> bool {
    SIDES.iter().any(|side| beside(file, side).exists())
}

/// Removes a file and what SQLite keeps beside it.
pub(super) fn remove(file: &Path) -> io::Result<()> {
    let sides = SIDES.map(|side| beside(file, side));
    for path in sides.iter().map(PathBuf::as_path).chain([file]) {
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// What is called as this file and something more. SQLite has its own where the file lies, not where a link to it does.
pub(super) fn beside(file: &Path, side: &str) -> PathBuf {
    let mut path = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned()).into_os_string();
    path.push(side);
    path.into()
}
