//! What a list leaves out, as asked for in `session/list`.
//!
//! Three dialects in one method: the stable protocol's `cwd` and `cursor`, the draft that preceded it (its fields at
//! the root of params), and the same options under `_meta["acp-sessions"]` for clients that keep to the schema.

mod agents;
mod dialect;
mod fingerprint;

pub use agents::Agents;
pub use dialect::as_of_the_draft;

use super::cursor::{Cursor, Fields};
use super::list::{ListError, Options};
use super::states::AgentsWords;
use crate::rpc::{self, Object};
use crate::search::query::Query;
use crate::store::{DATELESS_END, LONG_TAIL, RowHead, Session, Shelf, directory};
use crate::time;

/// The most rows in a page.
pub const MOST_ROWS: u32 = 1000;
/// The most directories whose sessions are asked for together, and the most worktrees beside them: each is a range of its own.
const MOST_DIRECTORIES: usize = 128;
/// The rows in a page of a request in the draft dialect.
const DRAFT_ROWS: u32 = 50;

/// Which of the archived sessions (unstable: `SessionArchiveFilter`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Archived {
    /// None of them.
    #[default]
    Exclude,
    /// They and the others.
    Include,
    /// No others.
    Only,
}

/// What a list shows. Times are milliseconds since 1970; the bounds themselves are left out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    /// Whose sessions.
    pub agents: Agents,
    /// Exactly these directories, normalised, each once; all where none is named.
    pub cwds: Vec<String>,
    /// Those that correspond to them in other worktrees too, and their other paths, normalised; none where these are not asked
    /// for.
    pub worktrees: Option<Vec<String>>,
    /// Created later than this.
    pub created_after: Option<i64>,
    /// Created earlier than this.
    pub created_before: Option<i64>,
    /// Updated later than this.
    pub updated_after: Option<i64>,
    /// Holding these words.
    pub search: Option<Query>,
    /// Archived or not.
    pub archived: Archived,
    /// With the sessions that other sessions started.
    pub subagents: bool,
}

impl Filter {
    /// The shelves to look on.
    pub fn shelves(&self) -> impl Iterator<Item = Shelf> {
        let (archived, subagents) = (self.archived, self.subagents);
        Shelf::ALL.into_iter().filter(move |shelf| {
            let shown = match archived {
                Archived::Exclude => !shelf.archived,
                Archived::Include => true,
                Archived::Only => shelf.archived,
            };
            shown && (subagents || !shelf.subagent)
        })
    }

    /// The directories to look in; none where all are looked in.
    pub fn directories(&self) -> Vec<&str> {
        let others = self.worktrees.iter().flatten().filter(|_| !self.cwds.is_empty());
        self.cwds.iter().chain(others).map(String::as_str).collect()
    }

    /// Finds out which directories are meant, where worktrees are asked for.
    pub fn find(&mut self, worktrees: Worktrees<'_>) -> Found {
        let Some(known) = &mut self.worktrees else { return Found::Same };
        // Each is asked for, also behind one of which it is not known yet.
        let asked: Vec<Option<Vec<String>>> = self.cwds.iter().map(|cwd| worktrees(cwd)).collect();
        let Some(found) = asked.into_iter().collect::<Option<Vec<_>>>() else { return Found::NotYet };
        let mut found: Vec<String> = found.iter().flatten().filter_map(|path| directory::normalise(path)).collect();
        found.sort_unstable();
        found.dedup();
        found.retain(|path| !self.cwds.contains(path));
        found.truncate(MOST_DIRECTORIES);
        if found == *known {
            return Found::Same;
        }
        *known = found;
        Found::Others
    }

    /// Whether a creation time is in bounds.
    fn admits_created(&self, created: i64) -> bool {
        self.created_after.is_none_or(|after| created > after)
            && self.created_before.is_none_or(|before| created < before)
    }

    /// Whether a session passes that has no date, or has one: nothing without a date is later than another.
    fn admits_undated(&self, undated: bool) -> bool {
        !(undated && self.updated_after.is_some())
    }

    fn admits_updated(&self, updated: i64) -> bool {
        self.updated_after.is_none_or(|after| updated > after)
    }

    /// Whether a row matches that was found where [`Self::shelves`], agents and directory lead; it stands at this recency.
    pub fn admits_row(&self, row: &RowHead, recency: i64) -> bool {
        self.admits_created(row.created)
            && self.admits_updated(row.updated.unwrap_or(recency))
            && self.admits_undated(row.undated)
    }

    /// Whether what stands at this recency can match, by that alone.
    pub fn can_stand_at(&self, recency: i64) -> bool {
        recency >= self.earliest() || recency < DATELESS_END
    }

    /// The earliest recency that can match where there is a date: nothing else stands before its creation.
    pub fn earliest(&self) -> i64 {
        self.created_after.map_or(0, |after| after.saturating_add(1))
    }

    /// The earliest recency that can match, where there is a date, of what has no long tail: activity that goes on
    /// after the last prompt.
    pub fn earliest_without_tail(&self) -> i64 {
        let active = self.updated_after.map_or(0, |after| after.saturating_add(1).saturating_sub(LONG_TAIL));
        self.earliest().max(active)
    }

    /// Whether a session matches, its text aside.
    pub fn admits(&self, session: &Session) -> bool {
        self.shelves().any(|shelf| shelf == session.shelf())
            && self.admits_created(session.created)
            && self.admits_updated(session.updated)
            && self.admits_undated(session.undated)
            && self.agents.admit(session)
            && holds(&self.directories(), &session.cwd)
    }
}

/// Whether a session's directory is among these; among none is every one.
pub fn holds(directories: &[impl AsRef<str>], cwd: &str) -> bool {
    let is_in = |cwd: String| directories.iter().any(|directory| directory.as_ref() == cwd);
    directories.is_empty() || directory::normalise(cwd).is_some_and(is_in)
}

/// Directories as a filter has them.
fn normalised<'a>(field: &str, cwds: impl IntoIterator<Item = &'a str>) -> Result<Vec<String>, ListError> {
    let mut normalised = Vec::new();
    for cwd in cwds {
        let cwd = directory::normalise(cwd).ok_or_else(|| ListError::invalid(field, "must be an absolute path"))?;
        if !normalised.contains(&cwd) {
            normalised.push(cwd);
        }
    }
    if normalised.len() > MOST_DIRECTORIES {
        return Err(ListError::invalid(field, format!("must be {MOST_DIRECTORIES} directories at most")));
    }
    Ok(normalised)
}

/// What tells the directories that correspond to one in the other worktrees of its repository; none where it is not known yet.
pub type Worktrees<'a> = &'a dyn Fn(&str) -> Option<Vec<String>>;

/// What has come of asking which worktrees there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// Those that were known, or nobody had to be asked.
    Same,
    /// Others than were known.
    Others,
    /// It is not known yet: what was known stands.
    NotYet,
}

/// A `session/list`, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// What to show.
    pub filter: Filter,
    /// How many rows at most, 1 to [`MOST_ROWS`].
    pub limit: u32,
    /// Where to go on.
    pub cursor: Option<String>,
    /// What rows show beside what the stable protocol has.
    pub view: View,
    /// What is being done in sessions as somebody knows better than their open marks.
    pub agents_words: AgentsWords,
    /// What of the view the cursor of the next page carries: a client asks for it once.
    pub fields: Fields,
}

/// What rows show beside what the stable protocol has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct View {
    /// `createdAt` at their root, as the draft had it that preceded the stable protocol.
    pub created_at: bool,
    /// The members of the draft of list extensions.
    pub extended: bool,
    /// The present; see [`Options::now`].
    pub now: i64,
}

/// The request's members, the root before `_meta["acp-sessions"]`.
struct Members<'a> {
    root: &'a Object<'a>,
    meta: Object<'a>,
}

impl Members<'_> {
    fn get(&self, field: &str) -> Option<&str> {
        self.root.get_some(field).or_else(|| self.meta.get_some(field))
    }

    fn string(&self, field: &str) -> Result<Option<String>, ListError> {
        let Some(value) = self.get(field) else { return Ok(None) };
        serde_json::from_str(value).map(Some).map_err(|_| ListError::invalid(field, "must be a string"))
    }

    fn time(&self, field: &str) -> Result<Option<i64>, ListError> {
        // A time that says that there is none is no bound.
        let Some(text) = self.string(field)?.filter(|text| !time::is_none(text)) else { return Ok(None) };
        let time = time::parse(&text);
        time.map(Some).ok_or_else(|| {
            ListError::invalid(
                field,
                "must be an RFC 3339 time between 1970 and 9999, such as 2025-10-29T14:22:15Z, or a date",
            )
        })
    }

    fn agents(&self, options: &Options) -> Result<Agents, ListError> {
        let invalid = |message: &str| Err(ListError::invalid("agents", message));
        if self.meta.get_some("agents").is_none() {
            return Ok(options.agents.clone());
        }
        match self.meta.get_string("agents").as_deref() {
            Some("all") => Ok(Agents::All),
            Some("own") => match (&options.agents, &options.agent) {
                (Agents::Own(agent), _) | (Agents::All, Some(agent)) => Ok(Agents::Own(agent.clone())),
                (Agents::All, None) => invalid("cannot be `own`: there is no agent here, or it has no name"),
            },
            _ => invalid("must be `own` or `all`"),
        }
    }

    /// By the names of the draft of list extensions, by those of before, or as the archive's draft has it, where `true`
    /// means both.
    fn archived(&self) -> Result<Archived, ListError> {
        let archived = match self.get("archived") {
            None | Some("false") => return Ok(Archived::Exclude),
            Some("true") => return Ok(Archived::Include),
            Some(value) => serde_json::from_str::<String>(value).ok(),
        };
        match archived.as_deref() {
            Some("unarchived" | "exclude") => Ok(Archived::Exclude),
            Some("all" | "include") => Ok(Archived::Include),
            Some("archived" | "only") => Ok(Archived::Only),
            _ => Err(ListError::invalid("archived", "must be `unarchived`, `archived` or `all`")),
        }
    }

    fn limit(&self) -> Result<Option<u32>, ListError> {
        let Some(value) = self.get("limit") else { return Ok(None) };
        let limit = rpc::count(value).filter(|limit| *limit >= 1);
        // A page never has more, whatever is asked for.
        let limit = limit.map(|limit| u32::try_from(limit).map_or(MOST_ROWS, |limit| limit.min(MOST_ROWS)));
        limit.map(Some).ok_or_else(|| ListError::invalid("limit", "must be a whole number, at least 1"))
    }
}

const DRAFT_FIELDS: [&str; 5] = ["createdAfter", "createdBefore", "updatedAfter", "limit", "search"];

impl Request {
    /// Reads the params of a request of somebody who has no agent: all sessions, in pages of `page_size` rows if the
    /// request is a plain one.
    pub fn read(params: Option<&str>, page_size: u32, now: i64) -> Result<Self, ListError> {
        let options = Options { page_size, agents: Agents::All, agent: None, draft: false, extended: true, now };
        Self::read_for(params, &options)
    }

    /// Reads the params of a request; what it leaves open is as in the options.
    pub fn read_for(params: Option<&str>, options: &Options) -> Result<Self, ListError> {
        let params = params.unwrap_or("{}");
        let root = Object::parse(params).ok_or_else(|| ListError::invalid("params", "must be an object"))?;
        let meta = root.get_object("_meta");
        let members = Members { root: &root, meta: meta.get_object("acp-sessions") };
        let uses = |of: &Object<'_>| DRAFT_FIELDS.iter().any(|field| of.get_some(field).is_some());
        let created_at = options.draft || uses(members.root);
        let asks = ["limit", "archived", "includeWorktrees"].iter().any(|field| members.get(field).is_some());
        let extended = options.extended || created_at || asks;
        let cursor = members.string("cursor")?;
        let carried = cursor.as_deref().and_then(Cursor::decode).map(|cursor| cursor.fields).unwrap_or_default();
        let created_at = created_at || carried == Fields::OfTheDraft;
        let extended = extended || carried != Fields::AsEver;
        let default_limit = if created_at || uses(&members.meta) { DRAFT_ROWS } else { options.page_size };
        let cwds = normalised("cwd", members.string("cwd")?.as_deref())?;
        let archived = members.archived()?;
        let subagents = match members.meta.get_some("subagents") {
            None | Some("false") => false,
            Some("true") => true,
            Some(_) => return Err(ListError::invalid("subagents", "must be true or false")),
        };
        let worktrees = match members.get("includeWorktrees") {
            None | Some("false") => None,
            Some("true") => Some(Vec::new()),
            Some(_) => return Err(ListError::invalid("includeWorktrees", "must be true or false")),
        };
        let agents = members.agents(options)?;
        let search = members.string("search")?.map(|text| Query::parse(&text)).transpose();
        let filter = Filter {
            agents,
            cwds,
            worktrees,
            created_after: members.time("createdAfter")?,
            created_before: members.time("createdBefore")?,
            updated_after: members.time("updatedAfter")?,
            search: search.map_err(|error| ListError::invalid("search", error.to_string()))?.flatten(),
            archived,
            subagents,
        };
        let limit = members.limit()?.unwrap_or(default_limit);
        let fields = match (created_at && !options.draft, extended && !options.extended) {
            (true, _) => Fields::OfTheDraft,
            (false, true) => Fields::Extended,
            (false, false) => Fields::AsEver,
        };
        let view = View { created_at, extended, now: options.now };
        Ok(Self { filter, limit, cursor, view, fields, agents_words: AgentsWords::new() })
    }

    /// Shows the sessions of these directories; of all where none is named.
    pub fn look_in(&mut self, cwds: &[String]) -> Result<(), ListError> {
        self.filter.cwds = normalised("cwds", cwds.iter().map(String::as_str))?;
        Ok(())
    }

    /// The rows, those of later pages too, are to show the members of the draft of list extensions.
    pub fn extend(&mut self) {
        if !self.view.extended {
            self.view.extended = true;
            self.fields = Fields::Extended;
        }
    }

    /// Finds out which directories are meant, where worktrees are asked for.
    pub fn find(&mut self, worktrees: Worktrees<'_>) -> Found {
        self.filter.find(worktrees)
    }
}
