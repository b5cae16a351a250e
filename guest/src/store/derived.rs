//! What is derived from a session: its list rows, its places in the other indexes, and its heading's text.

use super::{Row, RowHead, Session, directory, heading, keys};
use crate::index::Owner;
use crate::storage::Write;

/// The record and every index entry of a session: what goes with its old shape, what comes with the new. For whoever
/// makes many sessions at once; [`super::Change`] is for everybody else.
pub fn derived(before: Option<&Session>, after: Option<&Session>) -> Vec<Write> {
    let index = after.map(Session::index).unwrap_or_default();
    let stale = before.map(Session::index_keys).unwrap_or_default().into_iter();
    let stale = stale.filter(|key| index.iter().all(|(stays, _)| stays != key));
    let mut writes: Vec<Write> = stale.map(|key| Write::Remove { key }).collect();
    if let Some(session) = after {
        writes.push(Write::Put { key: keys::session(&session.id), value: session.to_text() });
        writes.extend(session.entries(index));
        let tokens = heading::tokens(session);
        if before.is_none_or(|before| heading::tokens(before) != tokens) {
            let owner = Owner::Heading(&session.id).name();
            writes.push(Write::IndexText { owner, part: 0, tokens });
        }
    } else if let Some(session) = before {
        writes.push(Write::Remove { key: keys::session(&session.id) });
        writes.push(Write::DropText { owner: Owner::Heading(&session.id).name(), start: 0 });
    }
    writes
}

/// What an index entry says beside its key.
enum Says {
    /// The row.
    Row,
    /// What the row begins with.
    Head,
    Nothing,
}

impl Session {
    /// The session's index entries.
    pub fn index_entries(&self) -> impl Iterator<Item = Write> {
        self.entries(self.index())
    }

    /// The keys of the session's index entries.
    pub fn index_keys(&self) -> Vec<String> {
        self.index().into_iter().map(|(key, _)| key).collect()
    }

    fn entries(&self, index: Vec<(String, Says)>) -> impl Iterator<Item = Write> {
        let row = Row::text(self);
        index.into_iter().map(move |(key, says)| {
            let value = match says {
                Says::Row => row.clone(),
                Says::Head => RowHead::text(&row).to_owned(),
                Says::Nothing => String::new(),
            };
            Write::Put { key, value }
        })
    }

    /// Where the session stands in the indexes.
    fn index(&self) -> Vec<(String, Says)> {
        let (letter, span) = (self.shelf().letter(), self.span().number());
        let place = keys::row_place(self.recency(), &self.id);
        let cwd = directory::normalise(&self.cwd);
        let mut index = vec![(keys::changed(self.revision, &self.id), Says::Nothing)];
        for agent in self.row_sets() {
            index.push((keys::rows(letter, agent, None) + &place, Says::Row));
            index.extend(cwd.as_ref().map(|cwd| (keys::rows(letter, agent, Some(cwd)) + &place, Says::Row)));
            index.push((keys::rows_by_span(letter, agent, span) + &place, Says::Head));
            if self.has_long_tail() {
                index.push((keys::rows_with_long_tails(letter, agent) + &place, Says::Row));
            }
        }
        if self.is_unprompted() {
            index.push((keys::unprompted(self.created, &self.id), Says::Nothing));
        }
        if let Some(parent) = &self.parent {
            index.push((keys::subagent(parent, &self.id), Says::Nothing));
        }
        index
    }
}
