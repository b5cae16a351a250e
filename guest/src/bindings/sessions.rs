//! The typed export: what is done to sessions without a connection.

use super::exports::acp::sessions::sessions as wit;
use super::storage::HostStorage;
use super::{Component, HostEnvironment};
use crate::environment::Environment as _;
use crate::sessions::checkup::{self, Checkup, Finding, Mending};
use crate::sessions::folders::{self, Folder};
use crate::sessions::panel::{self, ArchivedSessions, Changes, ListCriteria, Page, Session, SessionError};
use crate::sessions::relocate::{Relocation, Relocations};
use crate::sessions::transcript::TranscriptPage;
use crate::sessions::{delete, removal};
use crate::store::{ActivityState, Store};

/// The store for the operations that need no connection.
fn store() -> Store<HostStorage> {
    Store::new(HostStorage)
}

/// An error of an operation as one of the interface.
fn error(error: impl Into<SessionError>) -> wit::SessionError {
    error.into().into()
}

impl wit::Guest for Component {
    fn list_sessions(
        criteria: wit::ListCriteria,
        limit: u32,
        cursor: Option<String>,
    ) -> Result<wit::Page, wit::SessionError> {
        let worktrees = |cwd: &str| HostEnvironment.worktrees(cwd);
        Ok(panel::list_sessions(
            &store(),
            &worktrees,
            &criteria.into(),
            limit,
            cursor.as_deref(),
            HostEnvironment.now(),
        )?
        .into())
    }

    fn changes_since(criteria: wit::ListCriteria, position: Option<String>) -> Result<wit::Changes, wit::SessionError> {
        let worktrees = |cwd: &str| HostEnvironment.worktrees(cwd);
        let (criteria, now) = (criteria.into(), HostEnvironment.now());
        Ok(panel::changes_since(&store(), &worktrees, &criteria, position.as_deref(), now)?.into())
    }

    fn get_session(session_id: String) -> Result<wit::Session, wit::SessionError> {
        Ok(panel::session(&store(), &session_id, HostEnvironment.now())?.into())
    }

    fn read_transcript(
        session_id: String,
        after: Option<String>,
        limit: u32,
    ) -> Result<wit::TranscriptPage, wit::SessionError> {
        Ok(panel::transcript(&store(), &session_id, after.as_deref(), limit, HostEnvironment.now())?.into())
    }

    fn read_set_aside(
        session_id: String,
        after: Option<String>,
        limit: u32,
    ) -> Result<wit::TranscriptPage, wit::SessionError> {
        Ok(panel::set_aside(&store(), &session_id, after.as_deref(), limit)?.into())
    }

    fn list_usage(limit: u32, cursor: Option<String>) -> Result<wit::UsagePage, wit::SessionError> {
        Ok(panel::list_usage(&store(), limit, cursor.as_deref())?.into())
    }

    fn read_turn_usage(
        session_id: String,
        after: Option<String>,
        limit: u32,
    ) -> Result<wit::TurnUsagePage, wit::SessionError> {
        Ok(panel::turn_usage(&store(), &session_id, after.as_deref(), limit)?.into())
    }

    fn read_permissions(
        session_id: String,
        after: Option<String>,
        limit: u32,
    ) -> Result<wit::PermissionPage, wit::SessionError> {
        Ok(panel::permissions(&store(), &session_id, after.as_deref(), limit)?.into())
    }

    fn rename_session(session_id: String, title: String) -> Result<String, wit::SessionError> {
        Ok(panel::rename(&store(), &session_id, &title)?)
    }

    fn archive_session(session_id: String, archived: bool) -> Result<(), wit::SessionError> {
        Ok(panel::archive(&store(), &session_id, archived)?)
    }

    fn delete_session(session_id: String) -> Result<(), wit::SessionError> {
        delete::delete(&store(), &session_id, HostEnvironment.now()).map(drop).map_err(error)
    }

    fn finish_deletes() -> Result<bool, wit::SessionError> {
        removal::step(&store()).map_err(error)
    }

    fn prune_sessions(
        idle_since: String,
        cwd: Option<String>,
        limit: u32,
        cursor: Option<String>,
        dry_run: bool,
    ) -> Result<wit::Page, wit::SessionError> {
        let now = HostEnvironment.now();
        Ok(panel::prune(&store(), &idle_since, cwd.as_deref(), limit, cursor, dry_run, now)?.into())
    }

    fn move_sessions(
        old_cwd: String,
        new_cwd: String,
        limit: u32,
        cursor: Option<String>,
        dry_run: bool,
    ) -> Result<wit::Relocations, wit::SessionError> {
        Ok(panel::relocate(&store(), old_cwd, new_cwd, limit, cursor, dry_run)?.into())
    }

    fn folders_of(first_commit: String) -> Result<Vec<wit::NotedFolder>, wit::SessionError> {
        let folders = folders::of_repository(&store(), &first_commit).map_err(error)?;
        Ok(folders.into_iter().map(|Folder { cwd, root }| wit::NotedFolder { cwd, root }).collect())
    }

    fn check_store(
        mending: wit::Mending,
        cursor: Option<String>,
        limit: u32,
    ) -> Result<wit::Checkup, wit::SessionError> {
        let now = HostEnvironment.now();
        checkup::check(&store(), mending.into(), cursor.as_deref(), limit, now).map(Into::into).map_err(error)
    }
}

impl From<wit::ListCriteria> for ListCriteria {
    fn from(criteria: wit::ListCriteria) -> Self {
        Self {
            cwds: criteria.cwds,
            created_after: criteria.created_after,
            created_before: criteria.created_before,
            updated_after: criteria.updated_after,
            search: criteria.search,
            archived: match criteria.archived {
                wit::ArchivedSessions::Hidden => ArchivedSessions::Hidden,
                wit::ArchivedSessions::Shown => ArchivedSessions::Shown,
                wit::ArchivedSessions::Only => ArchivedSessions::Only,
            },
            subagents: criteria.subagents,
            include_worktrees: criteria.include_worktrees,
        }
    }
}

impl From<SessionError> for wit::SessionError {
    fn from(error: SessionError) -> Self {
        match error {
            SessionError::Invalid(what) => Self::Invalid(what),
            SessionError::NotFound(id) => Self::NotFound(id),
            SessionError::NotYet(what) => Self::NotYet(what),
            SessionError::Storage(what) => Self::Storage(what),
        }
    }
}

impl From<Page> for wit::Page {
    fn from(page: Page) -> Self {
        Self { sessions: page.sessions.into_iter().map(Into::into).collect(), next_cursor: page.next_cursor }
    }
}

impl From<Session> for wit::Session {
    fn from(session: Session) -> Self {
        Self {
            id: session.id,
            cwd: session.cwd,
            title: session.title,
            created_at: session.created_at,
            updated_at: session.updated_at,
            last_prompt_at: session.last_prompt_at,
            last_turn_ended_at: session.last_turn_ended_at,
            model: session.model,
            forked_from: session.forked_from,
            state: session.state.map(|state| match state {
                ActivityState::Idle => wit::SessionState::Idle,
                ActivityState::Running => wit::SessionState::Running,
                ActivityState::RequiresAction => wit::SessionState::RequiresAction,
            }),
            cost: session.cost.as_ref().map(Into::into),
            archived: session.archived,
            agent: session.agent,
            meta: session.meta,
            matched_in: session.matched_in,
            snippet: session.snippet,
            set_aside: session.set_aside,
        }
    }
}

impl From<Changes> for wit::Changes {
    fn from(changes: Changes) -> Self {
        let Changes { sessions, removed, position, more, read_again } = changes;
        Self { sessions: sessions.into_iter().map(Into::into).collect(), removed, position, more, read_again }
    }
}

impl From<Relocations> for wit::Relocations {
    fn from(page: Relocations) -> Self {
        Self { sessions: page.sessions.into_iter().map(Into::into).collect(), next_cursor: page.next_cursor }
    }
}

impl From<Relocation> for wit::Relocation {
    fn from(relocation: Relocation) -> Self {
        let Relocation { id, title, old_cwd, new_cwd, directories } = relocation;
        Self { id, title, old_cwd, new_cwd, directories }
    }
}

impl From<TranscriptPage> for wit::TranscriptPage {
    fn from(page: TranscriptPage) -> Self {
        let update = |(cursor, update): (String, String)| wit::Update { cursor, update };
        Self { updates: page.updates.into_iter().map(update).collect(), more: page.more }
    }
}

impl From<wit::Mending> for Mending {
    fn from(mending: wit::Mending) -> Self {
        match mending {
            wit::Mending::Nothing => Self::Nothing,
            wit::Mending::Derived => Self::Derived,
            wit::Mending::Everything => Self::Everything,
        }
    }
}

impl From<Mending> for wit::Mending {
    fn from(mending: Mending) -> Self {
        match mending {
            Mending::Nothing => Self::Nothing,
            Mending::Derived => Self::Derived,
            Mending::Everything => Self::Everything,
        }
    }
}

impl From<Checkup> for wit::Checkup {
    fn from(checkup: Checkup) -> Self {
        Self {
            done: checkup.done,
            entries: checkup.entries,
            findings: checkup.findings.into_iter().map(Into::into).collect(),
            next_cursor: checkup.next,
        }
    }
}

impl From<Finding> for wit::Finding {
    fn from(finding: Finding) -> Self {
        Self {
            what: finding.fault.what().to_owned(),
            subject: finding.subject,
            remedy: finding.fault.remedy().into(),
            mended: finding.is_mended,
        }
    }
}
