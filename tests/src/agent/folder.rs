//! Where an agent keeps its sessions: a folder with a file for each, which other processes may change at any time.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The date of every session of an agent that does not date them.
pub(super) const UNDATED: &str = "2026-01-02T03:04:05Z";

/// One session as the agent remembers it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Session {
    pub(super) id: String,
    pub(super) cwd: PathBuf,
    pub(super) title: Option<String>,
    pub(super) updated: String,
    pub(super) mode: String,
    pub(super) effort: String,
    /// The updates of the conversation so far, prompts included.
    pub(super) history: Vec<Value>,
}

impl Session {
    pub(super) fn new(id: &str, cwd: &Path) -> Self {
        Self {
            id: id.to_owned(),
            cwd: cwd.to_owned(),
            title: None,
            updated: UNDATED.into(),
            mode: "ask".into(),
            effort: "low".into(),
            history: Vec::new(),
        }
    }

    /// What the user said first, if anything.
    pub(super) fn first_prompt(&self) -> Option<&str> {
        let mut prompts = self.history.iter().filter(|update| update["sessionUpdate"] == "user_message_chunk");
        prompts.find_map(|update| update["content"]["text"].as_str())
    }
}

/// The folder.
#[derive(Debug, Clone)]
pub(super) struct Folder(PathBuf);

impl Folder {
    pub(super) fn new(path: &Path) -> Self {
        Self(path.to_owned())
    }

    pub(super) fn all(&self) -> Vec<Session> {
        let files = fs::read_dir(&self.0).expect("the agent's own folder is readable");
        let files = files.map(|file| file.expect("a file").path());
        let sessions = files.filter(|file| file.extension().is_some_and(|extension| extension == "json"));
        sessions.filter_map(|file| read(&file)).collect()
    }

    pub(super) fn read(&self, id: &str) -> Option<Session> {
        read(&self.file(id))
    }

    /// Nobody ever sees half of it, nor does another agent that writes the same session get in the way.
    pub(super) fn write(&self, session: &Session) {
        let fresh = self.0.join(format!("{}.{}.fresh", session.id, std::process::id()));
        let file = self.file(&session.id);
        fs::write(&fresh, json!(session).to_string()).expect("the agent's own folder is writable");
        fs::rename(fresh, file).expect("the agent's own folder is writable");
    }

    /// A session that was never there is deleted too.
    pub(super) fn remove(&self, id: &str) {
        fs::remove_file(self.file(id)).unwrap_or_default();
    }

    pub(super) fn has(&self, id: &str) -> bool {
        self.file(id).exists()
    }

    fn file(&self, id: &str) -> PathBuf {
        self.0.join(format!("{id}.json"))
    }
}

/// A session; nothing if it has just been deleted.
fn read(file: &Path) -> Option<Session> {
    match fs::read(file) {
        Ok(text) => Some(serde_json::from_slice(&text).expect("a session as this agent wrote it")),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => panic!("{}: {error}", file.display()),
    }
}

/// The time, as rows of a list have it.
pub(super) fn now() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock after 1970");
    let millis = i64::try_from(since.as_millis()).expect("a clock of this age of the world");
    let time = chrono::DateTime::from_timestamp_millis(millis).expect("a time within the calendar");
    time.to_rfc3339_opts(chrono::SecondsFormat::Millis, true)
}
