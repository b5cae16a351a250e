//! The sessions of a store, without a connection: what a page, an extension or a command that looks after them is made of.

use crate::component::sessions::{
    ArchivedSessions, Changes, Checkup, ListCriteria, Mending, NotedFolder, Page, PermissionPage, Relocations, Session,
    SessionError, TranscriptPage, TurnUsagePage, UsagePage,
};
use crate::component::{Component, Instance, storage};

/// Why something was not done with sessions.
#[derive(Debug, thiserror::Error)]
pub enum SessionsError {
    /// What was wrong with the arguments; the text says which, and what would be right.
    #[error("{0}")]
    Invalid(String),
    /// There is no session of this id (any more).
    #[error("there is no session {0}")]
    NotFound(String),
    /// The store failed; the text is for people. Nothing was done, or a part of what goes session by session.
    #[error("{0}")]
    Storage(String),
    /// What the answer depends on, as the worktrees of a directory, is still being found out: the same call a moment later has it.
    #[error("{0}")]
    NotYet(String),
    /// The engine failed at this call. What it was asked may be done or not; the next call has another instance.
    #[error("the session engine failed: {}", .0.root_cause())]
    Engine(wasmtime::Error),
}

impl From<SessionError> for SessionsError {
    fn from(error: SessionError) -> Self {
        match error {
            SessionError::Invalid(what) => Self::Invalid(what),
            SessionError::NotFound(id) => Self::NotFound(id),
            SessionError::Storage(what) => Self::Storage(what),
            SessionError::NotYet(what) => Self::NotYet(what),
        }
    }
}

/// All sessions but those that are archived or that another session's agent started.
impl Default for ListCriteria {
    fn default() -> Self {
        Self {
            cwds: Vec::new(),
            created_after: None,
            created_before: None,
            updated_after: None,
            search: None,
            archived: ArchivedSessions::Hidden,
            subagents: false,
            include_worktrees: false,
        }
    }
}

/// Which sessions [`Sessions::prune`] is to remove.
#[derive(Debug, Clone, Copy)]
pub struct Prune<'a> {
    /// Those that have been idle since before this time, as in RFC 3339, and are open nowhere.
    pub idle_since: &'a str,
    /// Only those of exactly this directory.
    pub cwd: Option<&'a str>,
    /// They are only named.
    pub dry_run: bool,
}

/// The folder that [`Sessions::relocate`] has sessions follow.
#[derive(Debug, Clone, Copy)]
pub struct Relocate<'a> {
    /// Where it was, absolute.
    pub old: &'a str,
    /// Where it is, absolute, and neither there, nor below it, nor a folder that it was in.
    pub new: &'a str,
    /// They are only named.
    pub dry_run: bool,
}

/// The sessions of a store. Others may use it meanwhile, connections above all.
///
/// ```
/// use acp_sessions::component::{Component, Limits};
/// use acp_sessions::component::sessions::ListCriteria;
/// use acp_sessions::sessions::Sessions;
/// use acp_sessions::store::Sqlite;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let component = Component::embedded(Limits::default())?;
/// let mut sessions = Sessions::of(&component, Sqlite::builder().in_memory().build()?)?;
/// let page = sessions.list(&ListCriteria { search: Some("roof".into()), ..ListCriteria::default() }, 50, None)?;
/// for session in page.sessions {
///     println!("{} {}", session.id, session.title.unwrap_or_default());
/// }
/// # Ok(())
/// # }
/// ```
pub struct Sessions<'c, S: storage::Host + Send + 'static> {
    component: &'c Component<S>,
    /// None for good once no other could be made.
    instance: Option<Instance<'c, S>>,
    is_lost: bool,
}

/// What a call returns, with the text of the WIT (`acp:sessions/sessions`) in its own words.
type Answer<T> = Result<T, SessionsError>;

impl<'c, S: storage::Host + Send + 'static> Sessions<'c, S> {
    /// The sessions in this storage. Fails where no instance of the engine can be made.
    pub fn of(component: &'c Component<S>, storage: S) -> Answer<Self> {
        let instance = component.instantiate(storage).map_err(SessionsError::Engine)?;
        Ok(Self { component, instance: Some(instance), is_lost: false })
    }

    /// A page of at most `limit` sessions, from 1 to 1000, and about 1 MiB; the last prompted first. `cursor` is that of the
    /// page before. A search may end a page early, or without any session, but not without a cursor where there is more.
    pub fn list(&mut self, criteria: &ListCriteria, limit: u32, cursor: Option<&str>) -> Answer<Page> {
        self.call(|instance| instance.list_sessions(criteria, limit, cursor))
    }

    /// What has changed in a list since a position; without one nothing, and the position to go on from, which is to be had
    /// before the first page is read. To be asked again at once where there is more, and once a second otherwise.
    pub fn changes_since(&mut self, criteria: &ListCriteria, position: Option<&str>) -> Answer<Changes> {
        self.call(|instance| instance.changes_since(criteria, position))
    }

    /// One session, with all of its metadata.
    pub fn get(&mut self, id: &str) -> Answer<Session> {
        self.call(|instance| instance.get_session(id))
    }

    /// What was said, in the order in which it is replayed, after a cursor or from the beginning: about `limit` updates and
    /// 4 MiB. An update's cursor is to read on behind it.
    pub fn transcript(&mut self, id: &str, after: Option<&str>, limit: u32) -> Answer<TranscriptPage> {
        self.call(|instance| instance.read_transcript(id, after, limit))
    }

    /// What was taken out of the conversation because its agent went back behind it, in order, about `limit` updates
    /// and 4 MiB, with cursors of its own.
    pub fn set_aside(&mut self, id: &str, after: Option<&str>, limit: u32) -> Answer<TranscriptPage> {
        self.call(|instance| instance.read_set_aside(id, after, limit))
    }

    /// What sessions have used by day and agent, of at most `limit` sessions, from 1 to 1000. `cursor` is that of the page
    /// before; a page may be empty and have one. Sums over several sessions are for the caller to make.
    pub fn usage(&mut self, limit: u32, cursor: Option<&str>) -> Answer<UsagePage> {
        self.call(|instance| instance.list_usage(limit, cursor))
    }

    /// What was used in the turns of a session, as far as its agents have said so, after a cursor or from the beginning: at
    /// most `limit` turns, of about 4 MiB of the conversation.
    pub fn turn_usage(&mut self, id: &str, after: Option<&str>, limit: u32) -> Answer<TurnUsagePage> {
        self.call(|instance| instance.read_turn_usage(id, after, limit))
    }

    /// What permission was asked for in a session and what was answered, after a cursor or from the beginning: at most
    /// `limit` questions, of about 4 MiB of the conversation.
    pub fn permissions(&mut self, id: &str, after: Option<&str>, limit: u32) -> Answer<PermissionPage> {
        self.call(|instance| instance.read_permissions(id, after, limit))
    }

    /// Gives a session a title that no agent replaces, of up to 500 characters; returns it as stored, as one line: a space
    /// stands for line ends and control characters.
    pub fn rename(&mut self, id: &str, title: &str) -> Answer<String> {
        self.call(|instance| instance.rename_session(id, title))
    }

    /// Puts a session into the archive, or takes it out.
    pub fn archive(&mut self, id: &str, archived: bool) -> Answer<()> {
        self.call(|instance| instance.archive_session(id, archived))
    }

    /// Deletes a session for good, with those that its agent started; an unknown one is taken for deleted. What was said in it
    /// goes little by little, by [`finish_deletes`](Self::finish_deletes) and beside any connection.
    pub fn delete(&mut self, id: &str) -> Answer<()> {
        self.call(|instance| instance.delete_session(id))
    }

    /// Removes some of what deleted sessions have left; returns whether there is more. Not needed where connections are open.
    pub fn finish_deletes(&mut self) -> Answer<bool> {
        self.call(Instance::finish_deletes)
    }

    /// Removes about `limit` sessions, each with those that its agent started, and returns them; to be called again with the
    /// cursor until none comes.
    pub fn prune(&mut self, which: Prune<'_>, limit: u32, cursor: Option<&str>) -> Answer<Page> {
        let Prune { idle_since, cwd, dry_run } = which;
        self.call(|instance| instance.prune_sessions(idle_since, cwd, limit, cursor, dry_run))
    }

    /// Has at most `limit` sessions follow a folder that was renamed or moved, with all below it, and returns them; to be called
    /// again with the cursor until none comes, also after an empty page.
    pub fn relocate(&mut self, which: Relocate<'_>, limit: u32, cursor: Option<&str>) -> Answer<Relocations> {
        let Relocate { old, new, dry_run } = which;
        self.call(|instance| instance.move_sessions(old, new, limit, cursor, dry_run))
    }

    /// The directories that sessions are in and that were noted to be of the repository with this first commit; 1000 at most.
    pub fn folders_of(&mut self, first_commit: &str) -> Answer<Vec<NotedFolder>> {
        self.call(|instance| instance.folders_of(first_commit))
    }

    /// Compares a part of the store, about `limit` sessions from 1 to 256, with itself, and puts right as much as `mending`
    /// says; to be called again with the cursor until none comes.
    pub fn check(&mut self, mending: Mending, limit: u32, cursor: Option<&str>) -> Answer<Checkup> {
        self.call(|instance| instance.check_store(mending, cursor, limit))
    }

    /// The storage, to be used for something else. It is gone where an instance was lost and no other could be made.
    pub fn into_storage(self) -> Answer<S> {
        self.instance.map(Instance::into_storage).ok_or_else(gone)
    }

    /// A call of an instance that works; where it fails, the next has a fresh one.
    fn call<T>(
        &mut self,
        call: impl FnOnce(&mut Instance<'c, S>) -> wasmtime::Result<Result<T, SessionError>>,
    ) -> Answer<T> {
        if std::mem::take(&mut self.is_lost)
            && let Some(lost) = self.instance.take()
        {
            let fresh = self.component.instantiate(lost.into_storage()).map_err(SessionsError::Engine)?;
            self.instance = Some(fresh);
        }
        let instance = self.instance.as_mut().ok_or_else(gone)?;
        let answer = call(instance).map_err(|trap| {
            self.is_lost = true;
            SessionsError::Engine(trap)
        })?;
        Ok(answer?)
    }
}

fn gone() -> SessionsError {
    SessionsError::Engine(wasmtime::Error::msg("no other instance could be made"))
}
