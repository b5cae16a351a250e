//! The typed interface of an instance: what the commands are made of that look after a store.

use super::sessions::{Error, Filter, Page, Rebuilt, Session, TranscriptPage};
use super::{Instance, storage};

/// The outer result is for an instance that is lost, the inner one is the engine's answer.
type Answer<T> = wasmtime::Result<Result<T, Error>>;

impl<S: storage::Host + Send + 'static> Instance<'_, S> {
    /// A page of sessions.
    pub fn list(&mut self, filter: &Filter, limit: u32, cursor: Option<&str>) -> Answer<Page> {
        let _running = self.begin_call();
        self.exports.acp_sessions_sessions().call_list(&mut self.store, filter, limit, cursor)
    }

    /// One session.
    pub fn get(&mut self, id: &str) -> Answer<Session> {
        let _running = self.begin_call();
        self.exports.acp_sessions_sessions().call_get(&mut self.store, id)
    }

    /// Part of what happened in a session.
    pub fn transcript(&mut self, id: &str, after: Option<&str>, limit: u32) -> Answer<TranscriptPage> {
        let _running = self.begin_call();
        self.exports.acp_sessions_sessions().call_transcript(&mut self.store, id, after, limit)
    }

    /// The same of what was taken out of its conversation.
    pub fn set_aside(&mut self, id: &str, after: Option<&str>, limit: u32) -> Answer<TranscriptPage> {
        let _running = self.begin_call();
        self.exports.acp_sessions_sessions().call_set_aside(&mut self.store, id, after, limit)
    }

    /// Removes a session.
    pub fn delete(&mut self, id: &str) -> Answer<()> {
        let _running = self.begin_call();
        self.exports.acp_sessions_sessions().call_delete(&mut self.store, id)
    }

    /// Removes sessions that have been idle since before a time, or names them only.
    pub fn prune(
        &mut self,
        idle_since: &str,
        cwd: Option<&str>,
        limit: u32,
        cursor: Option<&str>,
        dry_run: bool,
    ) -> Answer<Page> {
        let _running = self.begin_call();
        self.exports.acp_sessions_sessions().call_prune(&mut self.store, idle_since, cwd, limit, cursor, dry_run)
    }

    /// Makes the indexes of some sessions anew.
    pub fn rebuild(&mut self, cursor: Option<&str>, limit: u32) -> Answer<Rebuilt> {
        let _running = self.begin_call();
        self.exports.acp_sessions_sessions().call_rebuild(&mut self.store, cursor, limit)
    }
}
