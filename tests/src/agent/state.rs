//! The sessions an agent knows, and where it keeps them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::{SessionConfigOption, SessionInfo, SessionModeState};
use futures::channel::oneshot;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Options;

/// One session as the agent remembers it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Session {
    pub(super) id: String,
    pub(super) cwd: PathBuf,
    pub(super) title: Option<String>,
    pub(super) mode: String,
    pub(super) effort: String,
    /// The updates of the conversation so far, prompts included.
    pub(super) history: Vec<Value>,
}

/// All sessions of the agent.
pub(super) struct Sessions {
    pub(super) options: Options,
    known: BTreeMap<String, Session>,
    /// Turns that go on until they are cancelled.
    waiting: BTreeMap<String, oneshot::Sender<()>>,
}

impl Sessions {
    pub(super) fn open(options: Options) -> Self {
        let mut known = BTreeMap::new();
        if let Some(folder) = options.state_dir.as_deref().filter(|_| !options.forgets) {
            for session in read_all(folder) {
                known.insert(session.id.clone(), session);
            }
        }
        Self { options, known, waiting: BTreeMap::new() }
    }

    pub(super) fn create(&mut self, cwd: PathBuf) -> Session {
        let mut number = self.known.len() + 1;
        while self.is_taken(&format!("session-{number}")) {
            number += 1;
        }
        let session = Session {
            id: format!("session-{number}"),
            cwd,
            title: None,
            mode: "ask".into(),
            effort: "low".into(),
            history: Vec::new(),
        };
        self.put(session.clone());
        session
    }

    pub(super) fn fork(&mut self, id: &str, cwd: PathBuf) -> Result<Session, Error> {
        let parent = self.get(id)?.clone();
        let child = Session { id: self.create(cwd.clone()).id, cwd, ..parent };
        self.put(child.clone());
        Ok(child)
    }

    pub(super) fn get(&self, id: &str) -> Result<&Session, Error> {
        self.known.get(id).ok_or_else(|| not_found(id))
    }

    /// Changes a session and keeps the change.
    pub(super) fn change(&mut self, id: &str, change: impl FnOnce(&mut Session)) -> Result<&Session, Error> {
        let file = self.file_of(id);
        let session = self.known.get_mut(id).ok_or_else(|| not_found(id))?;
        change(session);
        keep(session, file);
        Ok(session)
    }

    pub(super) fn delete(&mut self, id: &str) {
        self.known.remove(id);
        if let Some(file) = self.file_of(id) {
            // A session that was never there is deleted too.
            fs::remove_file(file).unwrap_or_default();
        }
    }

    /// A page of the list, in the order of the ids, and the cursor of the next.
    pub(super) fn page(&self, cursor: Option<&str>) -> (Vec<SessionInfo>, Option<String>) {
        let mut rest = self.known.values().filter(|session| cursor.is_none_or(|last| session.id.as_str() > last));
        let page: Vec<&Session> = rest.by_ref().take(self.options.page_size).collect();
        let next = rest.next().and(page.last()).map(|session| session.id.clone());
        let next = next.or_else(|| self.options.endless_list.then(String::new));
        let rows = page.iter().map(|session| {
            SessionInfo::new(session.id.clone(), &session.cwd)
                .title(session.title.clone())
                .updated_at("2026-01-02T03:04:05Z".to_owned())
        });
        (rows.collect(), next)
    }

    pub(super) fn modes(&self, session: &Session) -> Option<SessionModeState> {
        self.options.modes.then(|| {
            shape(json!({"currentModeId": session.mode,
                "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}]}))
        })
    }

    pub(super) fn config(&self, session: &Session) -> Option<Vec<SessionConfigOption>> {
        self.options.config.then(|| {
            shape(json!([{"id": "effort", "name": "Effort", "type": "select", "currentValue": session.effort,
                "options": [{"value": "low", "name": "Low"}, {"value": "high", "name": "High"}]}]))
        })
    }

    /// What ends when the session's turn is cancelled.
    pub(super) fn wait(&mut self, id: &str) -> oneshot::Receiver<()> {
        let (sender, receiver) = oneshot::channel();
        self.waiting.insert(id.to_owned(), sender);
        receiver
    }

    pub(super) fn cancel(&mut self, id: &str) {
        // Dropping the sender wakes the turn.
        self.waiting.remove(id);
    }

    fn put(&mut self, session: Session) {
        keep(&session, self.file_of(&session.id));
        self.known.insert(session.id.clone(), session);
    }

    fn is_taken(&self, id: &str) -> bool {
        self.known.contains_key(id) || self.file_of(id).is_some_and(|file| file.exists())
    }

    fn file_of(&self, id: &str) -> Option<PathBuf> {
        self.options.state_dir.as_ref().map(|folder| folder.join(format!("{id}.json")))
    }
}

fn not_found(id: &str) -> Error {
    Error::new(-32002, "Resource not found").data(json!({"sessionId": id}))
}

fn keep(session: &Session, file: Option<PathBuf>) {
    if let Some(file) = file {
        fs::write(file, json!(session).to_string()).expect("the agent's own folder is writable");
    }
}

fn read_all(folder: &Path) -> Vec<Session> {
    let files = fs::read_dir(folder).expect("the agent's own folder is readable");
    files.map(|file| fs::read(file.expect("a file").path()).expect("readable")).map(|text| parse(&text)).collect()
}

fn parse(text: &[u8]) -> Session {
    serde_json::from_slice(text).expect("a session as this agent wrote it")
}

/// Turns literal JSON into a type of the protocol.
pub(super) fn shape<T: serde::de::DeserializeOwned>(json: Value) -> T {
    serde_json::from_value(json).expect("the literal has the shape of the protocol's type")
}
