//! The sessions an agent knows.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::{SessionConfigOption, SessionInfo, SessionModeState};
use futures::channel::oneshot;
use serde_json::{Value, json};

use super::folder::{Folder, Session, UNDATED, now};
use super::{Auth, Options};

/// All sessions of the agent.
pub(super) struct Sessions {
    pub(super) options: Options,
    /// Whether the client has said who it is.
    pub(super) is_authenticated: bool,
    folder: Option<Folder>,
    known: BTreeMap<String, Session>,
    /// Turns that go on until they are cancelled.
    waiting: BTreeMap<String, oneshot::Sender<()>>,
    /// What is to be deleted at the end.
    condemned: Vec<String>,
}

impl Sessions {
    pub(super) fn open(options: Options) -> Self {
        let folder = options.state_dir.as_deref().map(Folder::new);
        let mut sessions = Self {
            options,
            is_authenticated: false,
            folder,
            known: BTreeMap::new(),
            waiting: BTreeMap::new(),
            condemned: Vec::new(),
        };
        sessions.look_again();
        sessions
    }

    /// Sees what other processes have done to the sessions.
    pub(super) fn look_again(&mut self) {
        if let Some(folder) = self.folder.as_ref().filter(|_| !self.options.forgets) {
            self.known = folder.all().into_iter().map(|session| (session.id.clone(), session)).collect();
        }
    }

    /// Whether a request may be answered: to those who are known, if it is offered at all.
    pub(super) fn permit(&self, is_offered: bool) -> Result<(), Error> {
        if self.options.habits.auth == Some(Auth::All) && !self.is_authenticated {
            return Err(Error::auth_required());
        }
        if is_offered { Ok(()) } else { Err(Error::method_not_found()) }
    }

    /// The same for a prompt.
    pub(super) fn permit_prompt(&self) -> Result<(), Error> {
        if self.options.habits.auth.is_some() && !self.is_authenticated { Err(Error::auth_required()) } else { Ok(()) }
    }

    pub(super) fn create(&mut self, cwd: &Path) -> Session {
        let mut number = self.known.len() + 1;
        while self.is_taken(&format!("session-{number}")) {
            number += 1;
        }
        let session = Session::new(&format!("session-{number}"), cwd);
        self.put(session.clone());
        session
    }

    pub(super) fn fork(&mut self, id: &str, cwd: PathBuf) -> Result<Session, Error> {
        let parent = self.get(id)?.clone();
        let child = Session { id: self.create(&cwd).id, cwd, ..parent };
        self.put(child.clone());
        Ok(child)
    }

    pub(super) fn get(&self, id: &str) -> Result<&Session, Error> {
        self.known.get(id).ok_or_else(|| not_found(id))
    }

    /// Changes a session and keeps the change.
    pub(super) fn change(&mut self, id: &str, change: impl FnOnce(&mut Session)) -> Result<&Session, Error> {
        let session = self.known.get_mut(id).ok_or_else(|| not_found(id))?;
        change(session);
        if self.options.habits.dates {
            session.updated = now();
        }
        if let Some(folder) = &self.folder {
            folder.write(session);
        }
        Ok(session)
    }

    /// Deletes a session, now or at the end. Says whether it is done.
    pub(super) fn delete(&mut self, id: &str) -> bool {
        if self.options.habits.deletes_at_end {
            self.condemned.push(id.to_owned());
            return false;
        }
        self.remove(id);
        true
    }

    /// Does what was left for the end.
    pub(super) fn end(&mut self) {
        for id in std::mem::take(&mut self.condemned) {
            self.remove(&id);
        }
    }

    /// A page of the list, in the order of the ids, and the cursor of the next.
    pub(super) fn page(&self, cursor: Option<&str>) -> (Vec<SessionInfo>, Option<String>) {
        let mut rest = self.known.values().filter(|session| cursor.is_none_or(|last| session.id.as_str() > last));
        let page: Vec<&Session> = rest.by_ref().take(self.options.page_size).collect();
        let next = rest.next().and(page.last()).map(|session| session.id.clone());
        let next = next.or_else(|| self.options.endless_list.then(String::new));
        (page.iter().map(|session| self.row(session)).collect(), next)
    }

    fn row(&self, session: &Session) -> SessionInfo {
        let habits = &self.options.habits;
        let better = session.first_prompt().filter(|_| habits.better_titles).map(|prompt| format!("About: {prompt}"));
        let updated = if habits.dates { &session.updated } else { UNDATED };
        let row = SessionInfo::new(session.id.clone(), &session.cwd);
        row.title(better.or_else(|| session.title.clone())).updated_at(updated.to_owned())
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
        if let Some(folder) = &self.folder {
            folder.write(&session);
        }
        self.known.insert(session.id.clone(), session);
    }

    fn remove(&mut self, id: &str) {
        self.known.remove(id);
        if let Some(folder) = &self.folder {
            folder.remove(id);
        }
    }

    fn is_taken(&self, id: &str) -> bool {
        let remembers = !self.options.habits.counter_ids;
        self.known.contains_key(id) || (remembers && self.folder.as_ref().is_some_and(|folder| folder.has(id)))
    }
}

fn not_found(id: &str) -> Error {
    Error::new(-32002, "Resource not found").data(json!({"sessionId": id}))
}

/// Turns literal JSON into a type of the protocol.
pub(super) fn shape<T: serde::de::DeserializeOwned>(json: Value) -> T {
    serde_json::from_value(json).expect("the literal has the shape of the protocol's type")
}
