//! Somebody whom the system refuses what it refuses others: where the tests run as root, for whom it refuses nothing, that
//! is the user `nobody`.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::path::{Path, PathBuf};

use crate::launch::{Launch, built};
use crate::scene::Scene;

const NOBODY: u32 = 65534;

/// The user that the program runs as.
pub struct Unprivileged {
    program: PathBuf,
    is_nobody: bool,
}

impl Unprivileged {
    /// In this scene, whose folder is opened for it.
    pub fn in_scene(scene: &Scene) -> Self {
        let is_nobody = fs::metadata(scene.folder()).expect("the scene's folder").uid() == 0;
        let mut program = built("acp-sessions");
        if is_nobody {
            set_mode(scene.folder(), 0o755);
            // What the tests were built into may be out of its reach.
            program = scene.file("acp-sessions");
            fs::copy(built("acp-sessions"), &program).expect("a copy of the program");
            set_mode(&program, 0o755);
        }
        Self { program, is_nobody }
    }

    /// `acp-sessions` with this command on this store, as this user.
    pub fn launch(&self, command: &str, store: &Path) -> Launch {
        let launch = if self.is_nobody {
            let id = NOBODY.to_string();
            let words = ["--reuid", &id, "--regid", &id, "--clear-groups"];
            Launch::new(Path::new("setpriv")).args(&words).arg(&self.program)
        } else {
            Launch::new(&self.program)
        };
        launch.arg(command).arg("--store").arg(store)
    }

    /// Gives a file or folder to the user.
    pub fn own(&self, path: &Path) {
        if self.is_nobody {
            chown(path, Some(NOBODY), Some(NOBODY)).expect("root may do that");
        }
    }
}

/// Sets the rights on a file or folder.
pub fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("it is ours");
}

/// The rights on a file or folder.
pub fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("it is there").mode() & 0o777
}
