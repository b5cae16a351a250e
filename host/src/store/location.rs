//! Where the store lies when nobody says where.

use std::path::PathBuf;

use directories::ProjectDirs;

/// `sessions.db` in the platform's data folder; none where the user has no home.
pub fn default_path() -> Option<PathBuf> {
    Some(ProjectDirs::from("", "", "acp-sessions")?.data_dir().join("sessions.db"))
}
