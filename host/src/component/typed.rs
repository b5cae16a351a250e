//! The typed interface of an instance, call by call; [`crate::sessions`] is made of it.

use super::sessions::{
    Changes, Checkup, ListCriteria, Mending, NotedFolder, Page, PermissionPage, Relocations, Session, SessionError,
    TranscriptPage, TurnUsagePage, UsagePage,
};
use super::{Instance, storage};

/// The outer result is for an instance that is lost, the inner one is the engine's answer.
type Answer<T> = wasmtime::Result<Result<T, SessionError>>;

impl<S: storage::Host + Send + 'static> Instance<'_, S> {
    /// A page of sessions.
    pub(crate) fn list_sessions(&mut self, criteria: &ListCriteria, limit: u32, cursor: Option<&str>) -> Answer<Page> {
        let _running = self.begin_call();
        self.exports.acp_sessions_sessions().call_list_sessions(&mut self.store, criteria, limit, cursor)
    }

    /// What has changed in a list.
    pub(crate) fn changes_since(&mut self, criteria: &ListCriteria, position: Option<&str>) -> Answer<Changes> {
        let _running = self.begin_call();
        self.exports.acp_sessions_sessions().call_changes_since(&mut self.store, criteria, position)
    }

    /// One session.
    pub(crate) fn get_session(&mut self, session_id: &str) -> Answer<Session> {
        let _running = self.begin_call();
        self.exports.acp_sessions_sessions().call_get_session(&mut self.store, session_id)
    }

    /// Part of what happened in a session.
    pub(crate) fn read_transcript(
        &mut self,
        session_id: &str,
        after: Option<&str>,
        limit: u32,
    ) -> Answer<TranscriptPage> {
        let _running = self.begin_call();
        self.exports.acp_sessions_sessions().call_read_transcript(&mut self.store, session_id, after, limit)
    }

    /// Part of what was taken out of a session's conversation.
    pub(crate) fn read_set_aside(
        &mut self,
        session_id: &str,
        after: Option<&str>,
        limit: u32,
    ) -> Answer<TranscriptPage> {
        let _running = self.begin_call();
        self.exports.acp_sessions_sessions().call_read_set_aside(&mut self.store, session_id, after, limit)
    }

    /// What some sessions have used.
    pub(crate) fn list_usage(&mut self, limit: u32, cursor: Option<&str>) -> Answer<UsagePage> {
        let _running = self.begin_call();
        self.exports.acp_sessions_sessions().call_list_usage(&mut self.store, limit, cursor)
    }

    /// What was used in some turns of a session.
    pub(crate) fn read_turn_usage(
        &mut self,
        session_id: &str,
        after: Option<&str>,
        limit: u32,
    ) -> Answer<TurnUsagePage> {
        let _running = self.begin_call();
        self.exports.acp_sessions_sessions().call_read_turn_usage(&mut self.store, session_id, after, limit)
    }

    /// Some of the permissions that were asked for in a session.
    pub(crate) fn read_permissions(
        &mut self,
        session_id: &str,
        after: Option<&str>,
        limit: u32,
    ) -> Answer<PermissionPage> {
        let _running = self.begin_call();
        self.exports.acp_sessions_sessions().call_read_permissions(&mut self.store, session_id, after, limit)
    }

    /// Gives a session a title, and returns it as stored.
    pub(crate) fn rename_session(&mut self, session_id: &str, title: &str) -> Answer<String> {
        let _running = self.begin_call();
        self.exports.acp_sessions_sessions().call_rename_session(&mut self.store, session_id, title)
    }

    /// Puts a session into the archive, or takes it out.
    pub(crate) fn archive_session(&mut self, session_id: &str, archived: bool) -> Answer<()> {
        let _running = self.begin_call();
        self.exports.acp_sessions_sessions().call_archive_session(&mut self.store, session_id, archived)
    }

    /// Removes a session.
    pub(crate) fn delete_session(&mut self, session_id: &str) -> Answer<()> {
        let _running = self.begin_call();
        self.exports.acp_sessions_sessions().call_delete_session(&mut self.store, session_id)
    }

    /// Removes some of what deleted sessions have left; returns whether there is more.
    pub(crate) fn finish_deletes(&mut self) -> Answer<bool> {
        let _running = self.begin_call();
        self.exports.acp_sessions_sessions().call_finish_deletes(&mut self.store)
    }

    /// Removes sessions that have been idle since before a time, or names them only.
    pub(crate) fn prune_sessions(
        &mut self,
        idle_since: &str,
        cwd: Option<&str>,
        limit: u32,
        cursor: Option<&str>,
        dry_run: bool,
    ) -> Answer<Page> {
        let _running = self.begin_call();
        self.exports.acp_sessions_sessions().call_prune_sessions(
            &mut self.store,
            idle_since,
            cwd,
            limit,
            cursor,
            dry_run,
        )
    }

    /// Has sessions follow a folder that has moved, or says only where they would be.
    pub(crate) fn move_sessions(
        &mut self,
        old_cwd: &str,
        new_cwd: &str,
        limit: u32,
        cursor: Option<&str>,
        dry_run: bool,
    ) -> Answer<Relocations> {
        let _running = self.begin_call();
        self.exports.acp_sessions_sessions().call_move_sessions(
            &mut self.store,
            old_cwd,
            new_cwd,
            limit,
            cursor,
            dry_run,
        )
    }

    /// The directories of sessions that are of a repository.
    pub(crate) fn folders_of(&mut self, first_commit: &str) -> Answer<Vec<NotedFolder>> {
        let _running = self.begin_call();
        self.exports.acp_sessions_sessions().call_folders_of(&mut self.store, first_commit)
    }

    /// Compares a part of the store with itself, and puts right as much as that says.
    pub(crate) fn check_store(&mut self, mending: Mending, cursor: Option<&str>, limit: u32) -> Answer<Checkup> {
        let _running = self.begin_call();
        self.exports.acp_sessions_sessions().call_check_store(&mut self.store, mending, cursor, limit)
    }
}
