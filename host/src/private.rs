//! Files and folders for their owner alone, whatever the umask.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// Rights of a file for its owner alone.
const FILE: u32 = 0o600;
/// Rights of a folder for its owner alone.
const FOLDER: u32 = 0o700;
/// Rights that anybody else has.
pub(crate) const OTHERS: u32 = 0o077;

/// Makes a file, which must not be there, and opens it for writing.
pub(crate) fn create_file(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().write(true).create_new(true).mode(FILE).open(path)?;
    // The umask may have taken away what its owner needs.
    file.set_permissions(Permissions::from_mode(FILE))?;
    Ok(file)
}

/// What a symbolic link points to.
pub(crate) fn link_target(link: &Path) -> Option<PathBuf> {
    let target = fs::read_link(link).ok()?;
    Some(link.parent().map_or_else(|| target.clone(), |folder| folder.join(&target)))
}

/// Makes the file that a symbolic link points to, which should not be there yet: it may be made by another process meanwhile.
pub(crate) fn create_through_link(link: &Path) -> io::Result<()> {
    let file = OpenOptions::new().append(true).create(true).mode(FILE).open(link)?;
    file.set_permissions(Permissions::from_mode(FILE))
}

/// Makes the folder, and those above it, where they are missing.
pub(crate) fn create_folder(folder: &Path) -> io::Result<()> {
    if folder.as_os_str().is_empty() || folder.is_dir() {
        return Ok(());
    }
    if let Some(above) = folder.parent() {
        create_folder(above)?;
    }
    match DirBuilder::new().mode(FOLDER).create(folder) {
        Ok(()) => fs::set_permissions(folder, Permissions::from_mode(FOLDER)),
        // Another process was faster.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => Ok(()),
        Err(error) => Err(error),
    }
}
