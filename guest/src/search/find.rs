//! Whether a session holds what a query asks for, and where.

use std::collections::BTreeSet;

use super::lookup::Lookup;
use super::parts::OwnersTexts;
use super::query::Query;
use super::snippet;
use crate::index::Owner;
use crate::storage::{Bounds, Result, Storage, TextScope, TextTerm};
use crate::store::{Segment, Session, Store, heading};
use crate::transcript::text;

/// A session that may match.
#[derive(Debug, Clone, Copy)]
pub enum Tried<'a> {
    /// By its id: one whose transcript is all of its own log and nothing else.
    Plain(&'a str),
    /// Any other.
    Session(&'a Session),
}

impl<'a> Tried<'a> {
    fn parts(self) -> Vec<OwnersTexts<'a>> {
        match self {
            Self::Plain(id) => OwnersTexts::of_plain(id),
            Self::Session(session) => OwnersTexts::of(session),
        }
    }
}

/// Where a session matched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Match {
    /// `title`, `metadata`, `conversation`, or `setAside` for what was taken out of that.
    pub place: &'static str,
    /// The text around it.
    pub snippet: String,
}

/// Where the first term of a query is in a session that holds them all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hit {
    /// In the title or the metadata.
    Heading,
    /// In this entry of this log.
    Entry {
        /// The log.
        log: String,
        /// The entry's number.
        seq: u32,
    },
}

/// For each session whether its title and metadata hold all terms.
pub fn heading_hits<'a>(query: &Query, sessions: impl IntoIterator<Item = &'a Session>) -> Vec<Option<Hit>> {
    sessions.into_iter().map(|session| heading_holds(query, session).then_some(Hit::Heading)).collect()
}

/// For each session whether it holds all terms, and where the first of them is. What is known of who holds a term need not be
/// asked for again; of sessions that have changed since, nothing is.
pub fn hits<S: Storage>(
    store: &Store<S>,
    query: &Query,
    sessions: &[Tried<'_>],
    known: Option<&Lookup<'_, S>>,
) -> Result<Vec<Option<Hit>>> {
    let parts: Vec<Vec<OwnersTexts<'_>>> = sessions.iter().map(|session| session.parts()).collect();
    let mut found: Vec<Option<Hit>> = vec![None; sessions.len()];
    let mut alive: Vec<usize> = (0..sessions.len()).collect();
    for (nth, term) in query.terms.iter().enumerate() {
        let asked: Vec<(usize, &OwnersTexts<'_>)> =
            alive.iter().flat_map(|at| parts[*at].iter().map(|parts| (*at, parts))).collect();
        let scopes: Vec<TextScope> = asked.iter().map(|(_, parts)| parts.scope()).collect();
        let firsts = match known.and_then(|known| known.first_parts(nth, &scopes)) {
            Some(firsts) => firsts,
            None => store.storage().find_text(term, &scopes)?,
        };
        let mut holds = BTreeSet::new();
        for ((at, parts), first) in asked.into_iter().zip(firsts) {
            let Some(first) = first.filter(|_| !holds.contains(&at)) else { continue };
            let Some(part) = parts.first(store.storage(), term, first)? else { continue };
            holds.insert(at);
            if nth == 0 {
                found[at] = Some(match parts.owner {
                    Owner::Log(log) => Hit::Entry { log: log.to_owned(), seq: part },
                    Owner::Heading(_) => Hit::Heading,
                });
            }
        }
        alive.retain(|at| holds.contains(at));
    }
    let alive: BTreeSet<usize> = alive.into_iter().collect();
    Ok(found.into_iter().enumerate().map(|(at, hit)| hit.filter(|_| alive.contains(&at))).collect())
}

/// What the row of a session says about its match.
pub fn describe<S: Storage>(store: &Store<S>, query: &Query, session: &Session, hit: &Hit) -> Result<Match> {
    let Hit::Entry { log, seq } = hit else { return Ok(heading_place(&query.terms[0], session)) };
    let is_aside = |part: &Segment| part.log == *log && (part.from..=part.until).contains(seq);
    let place = if session.aside.iter().any(is_aside) { "setAside" } else { "conversation" };
    Ok(Match { place, snippet: said(store, query, log, *seq)? })
}

/// What the row of a session says about its match where nothing was set aside of it, and an entry of a log matches.
pub fn describe_entry<S: Storage>(store: &Store<S>, query: &Query, log: &str, seq: u32) -> Result<Match> {
    Ok(Match { place: "conversation", snippet: said(store, query, log, seq)? })
}

fn said<S: Storage>(store: &Store<S>, query: &Query, log: &str, seq: u32) -> Result<String> {
    let page = store.storage().read_log(log, seq, Bounds { limit: 1, max_bytes: 1 })?;
    let text = page.entries.first().map(|entry| text::of_entry(&entry.value)).unwrap_or_default();
    Ok(snippet::snippet(&text, &query.terms[0]).unwrap_or_default())
}

fn heading_place(term: &TextTerm, session: &Session) -> Match {
    if let Some(snippet) = session.title.text().and_then(|title| snippet::snippet(title, term)) {
        return Match { place: "title", snippet };
    }
    let snippet = snippet::snippet(&heading::text(session), term).unwrap_or_default();
    Match { place: "metadata", snippet }
}

fn heading_holds(query: &Query, session: &Session) -> bool {
    let text = heading::text(session);
    query.terms.iter().all(|term| snippet::snippet(&text, term).is_some())
}
