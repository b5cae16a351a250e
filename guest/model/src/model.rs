//! The model: all sessions in a `Vec`.

use std::cmp::Reverse;

use acp_sessions_guest::store::keys;

use crate::change::Change;
use crate::question::Question;
use crate::session::Session;

/// Every session there is.
#[derive(Debug, Clone, Default)]
pub struct Model {
    sessions: Vec<Session>,
}

impl Model {
    /// The sessions, in the order of their creation.
    pub fn sessions(&self) -> &[Session] {
        &self.sessions
    }

    /// A session by its id.
    pub fn get(&self, id: &str) -> Option<&Session> {
        self.sessions.iter().find(|session| session.id == id)
    }

    /// Makes a change.
    pub fn apply(&mut self, change: &Change) {
        if let Change::Create(session) = change {
            self.sessions.push((**session).clone());
            return;
        }
        let Some(at) = self.sessions.iter().position(|session| session.id == change.id()) else { return };
        let session = &mut self.sessions[at];
        match change {
            Change::Touch { at, .. } => {
                session.updated = session.created.max(*at);
                session.undated = false;
            }
            Change::Prompt { at, .. } => {
                session.updated = session.created.max(*at);
                session.prompted = Some(session.updated);
                session.undated = false;
            }
            Change::Rename { title, .. } => {
                session.ornament.clear();
                session.title.clone_from(title);
            }
            Change::Archive { archived, .. } => session.archived = *archived,
            Change::Know { agent, known: true, .. } => {
                session.agents.insert(*agent);
            }
            Change::Know { agent, known: false, .. } => {
                session.agents.remove(agent);
            }
            Change::Undate { .. } => session.undated = true,
            Change::Delete { .. } => {
                self.sessions.remove(at);
            }
            Change::Create(_) => {}
        }
    }

    /// What a list shows, in its order: last prompt, or activity, first; among equal times by the id as it stands in keys.
    pub fn list(&self, question: &Question) -> Vec<&Session> {
        let mut found: Vec<&Session> = self.sessions.iter().filter(|session| question.admits(session)).collect();
        found.sort_by_cached_key(|session| Reverse((session.place(), keys::encode(&session.id))));
        found
    }
}
