//! The typed interface: what the commands use.

use crate::bindings::Component;
use crate::bindings::exports::acp::sessions::sessions::{
    Changes, Checkup, Guest, ListCriteria, Mending, NotedFolder, Page, PermissionPage, Relocations, Session,
    SessionError, TranscriptPage, TurnUsagePage, UsagePage,
};
use crate::misdeed;

type Answer<T> = Result<T, SessionError>;

/// What is left when it was survived.
fn nothing<T>(what: &str) -> Answer<T> {
    misdeed::commit(what);
    Err(SessionError::NotFound(what.to_owned()))
}

/// The last name of a folder.
fn last(folder: Option<&String>) -> &str {
    folder.and_then(|folder| folder.rsplit('/').next()).unwrap_or_default()
}

impl Guest for Component {
    fn list_sessions(criteria: ListCriteria, _: u32, _: Option<String>) -> Answer<Page> {
        nothing(criteria.search.as_deref().unwrap_or_default())
    }

    fn changes_since(_: ListCriteria, position: Option<String>) -> Answer<Changes> {
        nothing(position.as_deref().unwrap_or("trap"))
    }

    fn get_session(id: String) -> Answer<Session> {
        nothing(&id)
    }

    fn read_transcript(id: String, _: Option<String>, _: u32) -> Answer<TranscriptPage> {
        nothing(&id)
    }

    fn read_set_aside(id: String, _: Option<String>, _: u32) -> Answer<TranscriptPage> {
        nothing(&id)
    }

    fn list_usage(_: u32, cursor: Option<String>) -> Answer<UsagePage> {
        nothing(cursor.as_deref().unwrap_or("trap"))
    }

    fn read_turn_usage(id: String, _: Option<String>, _: u32) -> Answer<TurnUsagePage> {
        nothing(&id)
    }

    fn read_permissions(id: String, _: Option<String>, _: u32) -> Answer<PermissionPage> {
        nothing(&id)
    }

    fn rename_session(id: String, _: String) -> Answer<String> {
        nothing(&id)
    }

    fn archive_session(id: String, _: bool) -> Answer<()> {
        nothing(&id)
    }

    fn delete_session(id: String) -> Answer<()> {
        nothing(&id)
    }

    fn finish_deletes() -> Answer<bool> {
        nothing("trap")
    }

    fn prune_sessions(_: String, cwd: Option<String>, _: u32, _: Option<String>, _: bool) -> Answer<Page> {
        nothing(last(cwd.as_ref()))
    }

    fn move_sessions(old_cwd: String, _: String, _: u32, _: Option<String>, _: bool) -> Answer<Relocations> {
        nothing(last(Some(&old_cwd)))
    }

    fn folders_of(_: String) -> Answer<Vec<NotedFolder>> {
        nothing("trap")
    }

    fn check_store(_: Mending, _: Option<String>, _: u32) -> Answer<Checkup> {
        nothing("trap")
    }
}
