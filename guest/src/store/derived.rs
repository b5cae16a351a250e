//! What is derived from a session: its list rows, its places in the other indexes, and its heading's text.

use super::{Row, RowHead, Session, directory, heading, keys};
use crate::index::Owner;
use crate::storage::Write;

/// The record and every index entry of a session: what goes with its old shape, what comes with the new. For whoever
/// makes many sessions at once; [`super::Change`] is for everybody else.
pub fn derived(before: Option<&Session>, after: Option<&Session>) -> Vec<Write> {
    let mut writes = Vec::new();
    let old_keys = before.map(Session::index_keys).unwrap_or_default();
    let new_keys = after.map(Session::index_keys).unwrap_or_default();
    writes.extend(old_keys.into_iter().filter(|key| !new_keys.contains(key)).map(|key| Write::Remove { key }));
    if let Some(session) = after {
        writes.push(Write::Put { key: keys::session(&session.id), value: session.to_text() });
        writes.extend(session.index_entries());
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

impl Session {
    /// The session's index entries.
    pub fn index_entries(&self) -> impl Iterator<Item = Write> {
        let row = Row::text(self);
        let spans: Vec<String> = self.span_keys().collect();
        self.index_keys().into_iter().map(move |key| {
            let value = match key.starts_with("i/") {
                true if spans.contains(&key) => RowHead::text(&row).to_owned(),
                true => row.clone(),
                false => String::new(),
            };
            Write::Put { key, value }
        })
    }

    /// The keys of the session's index entries.
    pub fn index_keys(&self) -> Vec<String> {
        let letter = self.shelf().letter();
        let place = keys::row_place(self.updated, &self.id);
        let cwd = directory::normalise(&self.cwd);
        let mut index = vec![keys::changed(self.revision, &self.id)];
        for agent in self.row_sets() {
            index.push(keys::rows(letter, agent, None) + &place);
            index.extend(cwd.as_ref().map(|cwd| keys::rows(letter, agent, Some(cwd)) + &place));
        }
        index.extend(self.span_keys());
        if self.is_unprompted() {
            index.push(keys::unprompted(self.created, &self.id));
        }
        if let Some(parent) = &self.parent {
            index.push(keys::subagent(parent, &self.id));
        }
        index
    }

    /// Those by how long there was activity.
    fn span_keys(&self) -> impl Iterator<Item = String> {
        let place = keys::row_place(self.updated, &self.id);
        let (letter, span) = (self.shelf().letter(), self.span().number());
        self.row_sets().map(move |agent| keys::rows_by_span(letter, agent, span) + &place)
    }
}
