//! Which list somebody follows, and what of all that has changed is news there.

use super::{Changed, Departed, SomeChanges};
use crate::sessions::filter::{self, Archived, Filter, Found, Request, View, Worktrees};
use crate::sessions::list::{self, ListError};

/// A list of sessions, whether they are archived or not: who follows it leaves out for itself what it does not show.
#[derive(Debug, Clone)]
pub struct Scope {
    filter: Filter,
    view: View,
}

/// What somebody who follows a list is to be told.
#[derive(Debug, Default)]
pub struct News {
    /// The rows that are new or have changed.
    pub rows: Vec<NewRow>,
    /// The ids of those that are not in the list any more.
    pub removed: Vec<String>,
}

impl News {
    /// How long the rows are together, in bytes.
    pub fn length(&self) -> usize {
        self.rows.iter().map(|row| row.json.len()).sum()
    }
}

/// A row that is new or has changed.
#[derive(Debug)]
pub struct NewRow {
    /// The session's id.
    pub id: String,
    /// A `SessionInfo` as JSON.
    pub json: String,
}

impl NewRow {
    fn of(changed: &Changed, view: View) -> Option<Self> {
        Some(Self { id: changed.session.id.clone(), json: list::row(changed, view)? })
    }
}

impl Scope {
    /// What a request lists. Not every list can be followed: a session may come and go by its words or times with nobody
    /// noting it.
    pub fn of(request: &Request) -> Result<Self, ListError> {
        let Request { filter, cursor, view, .. } = request;
        if cursor.is_some() {
            return Err(ListError::invalid("cursor", "is for later pages: a list is followed from the first one on"));
        }
        for (field, is_asked) in [
            ("search", filter.search.is_some()),
            ("createdAfter", filter.created_after.is_some()),
            ("createdBefore", filter.created_before.is_some()),
            ("updatedAfter", filter.updated_after.is_some()),
            ("subagents", filter.subagents),
        ] {
            if is_asked {
                return Err(ListError::invalid(field, "is for single pages: such a list cannot be followed"));
            }
        }
        let filter = Filter { archived: Archived::Include, ..filter.clone() };
        Ok(Self { filter, view: View { extended: true, ..*view } })
    }

    /// The whole list that a request is for a part of, by words or times. `None` for a later page.
    pub fn around(request: &Request) -> Option<Self> {
        let whole = Filter {
            search: None,
            created_after: None,
            created_before: None,
            updated_after: None,
            subagents: false,
            ..request.filter.clone()
        };
        Self::of(&Request { filter: whole, ..request.clone() }).ok()
    }

    /// Whether a change is one of this list.
    pub fn has(&self, changed: &Changed) -> bool {
        self.filter.admits(&changed.session)
    }

    /// Whether a session that was in this list has left it.
    pub fn lacks(&self, gone: &Departed) -> bool {
        gone.from.was_among(&self.filter.directories(), self.filter.agents.name())
            && !gone.now.as_ref().is_some_and(|now| self.filter.admits(now))
    }

    /// Whether a session may be in a worktree that was not there when it was asked which there are.
    pub fn may_lack(&self, changed: &Changed) -> bool {
        self.filter.worktrees.is_some() && !filter::holds(&self.filter.directories(), &changed.session.cwd)
    }

    /// The directories whose worktrees are asked for too.
    pub fn with_worktrees(&self) -> &[String] {
        if self.filter.worktrees.is_some() { &self.filter.cwds } else { &[] }
    }

    /// A number that differs for different directories; none where no worktrees are asked for.
    pub fn worktrees_fingerprint(&self) -> Option<u64> {
        self.filter.worktrees_fingerprint()
    }

    /// The agent whose sessions it lists; none where they are all agents'.
    pub fn agent(&self) -> Option<&str> {
        self.filter.agents.name()
    }

    /// Finds out anew which directories are meant, where worktrees are asked for.
    pub fn find(&mut self, worktrees: Worktrees<'_>) -> Found {
        self.filter.find(worktrees)
    }

    /// Whether all that the other lists is in this one, or will be when it is found out which worktrees there are.
    pub fn covers(&self, other: &Self) -> bool {
        let (own, others) = (self.filter.directories(), other.filter.directories());
        let has_all = !others.is_empty() && others.iter().all(|directory| own.contains(directory));
        let has_agents = self.filter.agents.name().is_none() || self.filter.agents == other.filter.agents;
        has_agents && (own.is_empty() || has_all || self.shares_worktrees(&other.filter))
    }

    /// Whether both are of the worktrees of one repository, whichever of them each knows of.
    fn shares_worktrees(&self, other: &Filter) -> bool {
        let has = |of: &Filter, cwds: &[String]| cwds.iter().any(|cwd| of.directories().contains(&cwd.as_str()));
        let are_asked_for = self.filter.worktrees.is_some() && other.worktrees.is_some();
        are_asked_for && (has(&self.filter, &other.cwds) || has(other, &self.filter.cwds))
    }

    /// Whether another list, whose worktrees have just been found out, is of others of the same repository than this one knows of.
    pub fn is_outdated_by(&self, found: &Filter) -> bool {
        let (own, others) = (self.filter.directories(), found.directories());
        let is_same = own.len() == others.len() && own.iter().all(|directory| others.contains(directory));
        self.shares_worktrees(found) && !is_same
    }

    /// What of a step is news here.
    pub fn news(&self, step: &SomeChanges) -> News {
        let changed = step.changed.iter().filter(|changed| self.has(changed));
        let removed = step.departed.iter().filter(|gone| self.lacks(gone));
        News {
            rows: changed.filter_map(|changed| NewRow::of(changed, self.view)).collect(),
            removed: removed.map(|gone| gone.id.clone()).collect(),
        }
    }
}
