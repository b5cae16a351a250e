//! Compiled engines that are kept, so that each is compiled once.
//!
//! Native code is run as it is read, so only what nobody but this user could have written is taken for it: the folder and the
//! file are this user's and for nobody else to write, and no folder above is such that others could put another one in the
//! place. Each file begins with a digest of its name and of all that follows, so that neither what is cut off or damaged is
//! taken, nor one file for another. What does not pass is compiled anew, and written over.
//!
//! There is no key to sign with: it would lie where these files do, for the same people to read.

use std::fmt::Write as _;
use std::fs::{self, File, Metadata};
use std::hash::Hasher;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use directories::ProjectDirs;
use sha2::{Digest as _, Sha256};
use wasmtime::Engine;

use super::compiler;
use super::file::LoadError;
use crate::private;

/// Rights to write of whoever is not the owner.
const OTHERS_WRITE: u32 = 0o022;
/// In a folder that has this, nobody removes or renames what is another's.
const STICKY: u32 = 0o1000;

/// So many are kept, those that were used last.
const MOST: usize = 8;

const DIGEST: usize = 32;

/// Where compiled engines are kept.
#[derive(Debug, Clone)]
pub struct Cache(Option<PathBuf>);

/// Why nothing is kept. It names no path: it is for the log.
#[derive(Debug, thiserror::Error)]
enum Unkept {
    #[error("{0}")]
    System(#[from] io::Error),
    #[error("others than its owner could write to its folder")]
    Shared,
}

/// What a compiled engine is kept under: a digest of the component, of the compiler and of its settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Key(String);

/// What this program has written, and nobody else can have.
pub(super) struct Sound(Vec<u8>);

impl Cache {
    /// The folder `engines` in the platform's cache folder of this program; nothing is kept where the user has no home.
    pub fn of_user() -> Self {
        Self(ProjectDirs::from("", "", "acp-sessions").map(|folders| folders.cache_dir().join("engines")))
    }

    /// This folder, which is made where it is missing. Nothing else should be in it: what was not used for long is removed.
    pub fn in_folder(folder: impl Into<PathBuf>) -> Self {
        Self(Some(folder.into()))
    }

    /// Nothing is kept.
    pub fn none() -> Self {
        Self(None)
    }

    /// What was compiled, if it is there and sound.
    pub(super) fn get(&self, key: &Key) -> Option<Sound> {
        let read = safe(self.0.as_ref()?).and_then(|folder| read(&folder, key));
        read.unwrap_or_else(|why| {
            tracing::debug!("nothing is taken from the cache: {why}");
            None
        })
    }

    /// Keeps what was compiled. Where that fails it is compiled again the next time.
    pub(super) fn put(&self, key: &Key, code: &[u8]) {
        let Some(folder) = &self.0 else { return };
        let written =
            private::create_folder(folder).map_err(Unkept::from).and_then(|()| safe(folder)).and_then(|folder| {
                write(&folder, key, code)?;
                Ok(sweep(&folder)?)
            });
        if let Err(why) = written {
            tracing::warn!("the compiled engine is not kept: {why}");
        }
    }
}

impl Key {
    /// For a component that this engine compiles.
    pub(super) fn of(component: &[u8], engine: &Engine) -> Result<Self, LoadError> {
        let mut digest = Digesting(Sha256::new());
        digest.0.update(Sha256::digest(component));
        compiler::identify(engine, &mut digest)?;
        Ok(Self::named(&digest.0.finalize()))
    }

    fn named(digest: &[u8]) -> Self {
        let mut name = String::with_capacity(2 * digest.len());
        for byte in digest {
            write!(name, "{byte:02x}").expect("a string takes everything");
        }
        Self(name)
    }

    /// The beginning of the file that holds this code.
    fn seal(&self, code: &[u8]) -> [u8; DIGEST] {
        Sha256::new().chain_update(&self.0).chain_update(code).finalize().into()
    }
}

impl Sound {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.0[DIGEST..]
    }
}

/// Takes what is hashed into a longer digest than hashers give.
struct Digesting(Sha256);

impl Hasher for Digesting {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Nobody asks for it.
    fn finish(&self) -> u64 {
        0
    }
}

/// The folder without symbolic links, if it and those above are as they must be. Nobody else can change that then.
fn safe(folder: &Path) -> Result<PathBuf, Unkept> {
    let folder = folder.canonicalize()?;
    let user = rustix::process::geteuid().as_raw();
    for above in folder.ancestors().skip(1) {
        let found = fs::symlink_metadata(above)?;
        let is_shared = found.mode() & OTHERS_WRITE != 0 && found.mode() & STICKY == 0;
        if is_shared || (found.uid() != user && found.uid() != 0) {
            return Err(Unkept::Shared);
        }
    }
    if is_private(&fs::symlink_metadata(&folder)?) { Ok(folder) } else { Err(Unkept::Shared) }
}

/// Whether it is this user's, and nobody else has any right on it.
fn is_private(found: &Metadata) -> bool {
    found.uid() == rustix::process::geteuid().as_raw() && found.mode() & private::OTHERS == 0
}

fn read(folder: &Path, key: &Key) -> Result<Option<Sound>, Unkept> {
    let path = folder.join(&key.0);
    let found = match fs::symlink_metadata(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        found => found?,
    };
    // A file with a second name may have been written by that.
    if !found.is_file() || found.nlink() != 1 || !is_private(&found) {
        return Err(Unkept::Shared);
    }
    let mut file = File::open(&path)?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let is_sound = bytes.split_first_chunk().is_some_and(|(seal, code)| *seal == key.seal(code));
    // The last one used stays longest. One that cannot be marked so is none the worse.
    file.set_modified(SystemTime::now()).ok();
    Ok(is_sound.then_some(Sound(bytes)))
}

fn write(folder: &Path, key: &Key, code: &[u8]) -> io::Result<()> {
    let path = folder.join(&key.0);
    // Under a name of its own until it is whole.
    let draft = folder.join(format!("{}.{}", key.0, std::process::id()));
    let written = private::create_file(&draft).and_then(|mut file| {
        file.write_all(&key.seal(code))?;
        file.write_all(code)?;
        fs::rename(&draft, &path)
    });
    if written.is_err() {
        fs::remove_file(&draft).ok();
    }
    written
}

/// Removes what was not used for longest, beyond what is kept.
fn sweep(folder: &Path) -> io::Result<()> {
    let mut files = Vec::new();
    for file in fs::read_dir(folder)? {
        let file = file?;
        // Another process may sweep as well.
        if let Ok(found) = file.metadata() {
            files.push((found.modified()?, file.path()));
        }
    }
    files.sort();
    let too_many = files.len().saturating_sub(MOST);
    for (_, path) in files.drain(..too_many) {
        fs::remove_file(path)
            .or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
