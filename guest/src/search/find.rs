//! Finding the sessions that a query matches.

use std::collections::BTreeSet;

use super::parts::Parts;
use super::query::Query;
use super::snippet;
use crate::index::Owner;
use crate::storage::{Bounds, Result, Storage, StorageError, TextHit, TextScope, TextTerm};
use crate::store::{Holders, Segment, Session, Store, heading, keys};
use crate::transcript::text;

/// Up to how many sessions may hold a term for it to be looked up; above that, sessions are tried in list order.
const FEW: usize = 2000;
/// How many hits are asked for at first, and at most: few terms have many, and each call has its price.
const BATCHES: (u32, u32) = (128, 4096);

/// How the sessions that match are best found.
#[derive(Debug, PartialEq, Eq)]
pub enum Plan {
    /// Only these can match.
    Among(Vec<String>),
    /// So many may match that trying them in list order finds a page soon.
    TryInOrder,
    /// The storage has no text search: titles and metadata only, in list order.
    HeadingsOnly,
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

/// Decides how to look: by the term that the fewest sessions hold, if those are few.
pub fn plan<S: Storage>(store: &Store<S>, query: &Query) -> Result<Plan> {
    if query.terms.is_empty() {
        return Ok(Plan::Among(Vec::new()));
    }
    let mut fewest: Option<Vec<String>> = None;
    for term in &query.terms {
        match owners(store, term, fewest.as_ref().map_or(FEW, Vec::len)) {
            Ok(Some(owners)) => fewest = Some(owners),
            Ok(None) => {}
            Err(StorageError::Unsupported) => return Ok(Plan::HeadingsOnly),
            Err(error) => return Err(error),
        }
    }
    let Some(owners) = fewest else { return Ok(Plan::TryInOrder) };
    let owners: Vec<Owner<'_>> = owners.iter().filter_map(|owner| Owner::of_name(owner)).collect();
    let shared: Vec<String> = owners.iter().map(|owner| keys::log_holders(owner.id())).collect();
    let mut ids: BTreeSet<String> = owners.iter().map(|owner| owner.id().to_owned()).collect();
    for holders in store.storage().get(&shared)?.into_iter().flatten() {
        ids.extend(Holders::parse(Some(&holders))?.holders.into_keys());
    }
    Ok(Plan::Among(ids.into_iter().collect()))
}

/// Whose texts hold the term; `None` if more than `most` do.
fn owners<S: Storage>(store: &Store<S>, term: &TextTerm, most: usize) -> Result<Option<Vec<String>>> {
    // A whole word is found at once, while all that begins like it may have to be gathered first. A common word is
    // mostly typed to its end, and then this is all there is to do.
    if term.prefix && owners_of(store, &TextTerm { prefix: false, ..term.clone() }, most)?.is_none() {
        return Ok(None);
    }
    owners_of(store, term, most)
}

fn owners_of<S: Storage>(store: &Store<S>, term: &TextTerm, most: usize) -> Result<Option<Vec<String>>> {
    let mut owners: Vec<String> = Vec::new();
    let mut after: Option<TextHit> = None;
    let (mut batch, largest) = BATCHES;
    loop {
        let hits = store.storage().search_text(term, after.as_ref(), batch)?;
        let complete = hits.len() < batch as usize;
        for hit in hits {
            if owners.last() != Some(&hit.owner) {
                owners.push(hit.owner);
            }
        }
        if owners.len() > most {
            return Ok(None);
        }
        match owners.last() {
            // The rest of this owner's texts can add nothing.
            Some(last) if !complete => after = Some(TextHit { owner: last.clone(), part: 0 }),
            _ => return Ok(Some(owners)),
        }
        batch = (batch * 4).min(largest);
    }
}

/// For each session whether it holds all terms, and where the first of them is.
pub fn hits<S: Storage>(
    store: &Store<S>,
    query: &Query,
    plan: &Plan,
    sessions: &[Session],
) -> Result<Vec<Option<Hit>>> {
    if *plan == Plan::HeadingsOnly {
        return Ok(sessions.iter().map(|session| heading_holds(query, session).then_some(Hit::Heading)).collect());
    }
    let parts: Vec<Vec<Parts<'_>>> = sessions.iter().map(Parts::of).collect();
    let mut found: Vec<Option<Hit>> = vec![None; sessions.len()];
    let mut alive: Vec<usize> = (0..sessions.len()).collect();
    for (nth, term) in query.terms.iter().enumerate() {
        let asked: Vec<(usize, &Parts<'_>)> =
            alive.iter().flat_map(|at| parts[*at].iter().map(|parts| (*at, parts))).collect();
        let scopes: Vec<TextScope> = asked.iter().map(|(_, parts)| parts.scope()).collect();
        let firsts = store.storage().find_text(term, &scopes)?;
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
    let term = &query.terms[0];
    let Hit::Entry { log, seq } = hit else { return Ok(heading_place(term, session)) };
    let page = store.storage().read_log(log, *seq, Bounds { limit: 1, max_bytes: 1 })?;
    let text = page.entries.first().map(|entry| text::of_entry(&entry.value)).unwrap_or_default();
    let is_aside = |part: &Segment| part.log == *log && (part.from..=part.until).contains(seq);
    let place = if session.aside.iter().any(is_aside) { "setAside" } else { "conversation" };
    Ok(Match { place, snippet: snippet::snippet(&text, term).unwrap_or_default() })
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
